#include "redouble/core/korvet/offset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <fstream>
#include <limits>
#include <string>

#include "nlohmann/json.hpp"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/korvet/errors.h"

namespace redouble::inline v0_1::korvet {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using ::testing::HasSubstr;
using Json = nlohmann::ordered_json;
using store::StreamId;

constexpr int64_t kMaxOffset = std::numeric_limits<int64_t>::max();

OffsetCodec WithBits(int sequence_bits) { return OffsetCodec::Create(sequence_bits).value(); }

// Tables that were computed independently of this code.
const Json& Golden() {
  static const Json* const golden =
      new Json(Json::parse(std::ifstream("tests/data/golden/korvet/offset_encoding.json")));
  return *golden;
}

StreamId IdOf(const Json& text) { return StreamId::Parse(text.get<std::string>()).value(); }

// The form of the golden: an offset, or the part of the id that does not fit.
Json EncodedAsRecorded(int sequence_bits, StreamId id) {
  const absl::StatusOr<int64_t> offset = WithBits(sequence_bits).Encode(id);
  if (offset.ok()) return *offset;
  EXPECT_EQ(ErrorCodeOf(offset.status()), ErrorCode::kUnknownServerError);
  const bool sequence =
      std::string(offset.status().message()).find("its sequence") != std::string::npos;
  return sequence ? "ERR_SEQUENCE_OVERFLOW" : "ERR_TIMESTAMP_OVERFLOW";
}

rc::Gen<OffsetCodec> GenCodec() {
  return rc::gen::map(
      rc::gen::inRange(OffsetCodec::kMinSequenceBits, OffsetCodec::kMaxSequenceBits + 1),
      [](int bits) { return WithBits(bits); });
}

rc::Gen<int64_t> GenOffset() {
  return rc::gen::map(rc::gen::arbitrary<uint64_t>(),
                      [](uint64_t bits) { return static_cast<int64_t>(bits >> 1); });
}

TEST(OffsetCodec, HasTheLayoutOfTheSeed) {
  const OffsetCodec codec;
  EXPECT_THAT(codec.Encode({1234567890123, 5}), IsOkAndHolds((int64_t{1234567890123} << 10) | 5));
}

TEST(OffsetCodec, CorrectsTheArithmeticOfTheSeed) {
  const OffsetCodec codec;
  EXPECT_THAT(codec.Encode({1234567890123, 5}), IsOkAndHolds(1264197519485957));
  EXPECT_THAT(codec.Encode({1234567890123, 0}), IsOkAndHolds(1264197519485952));
  EXPECT_EQ(codec.Decode(1264197519485957).value().ToString(), "1234567890123-5");
  EXPECT_EQ(codec.Decode(1264197008485893).value().ToString(), "1234567391099-517");
}

TEST(OffsetCodec, EncodesEveryRowOfTheTable) {
  ASSERT_GE(Golden()["encode"].size(), 10u);
  for (const Json& row : Golden()["encode"]) {
    for (const auto& [column, expected] : row.items()) {
      if (column == "id") continue;
      EXPECT_EQ(EncodedAsRecorded(std::stoi(column), IdOf(row["id"])), expected)
          << row["id"] << " with " << column << " bits";
    }
  }
}

TEST(OffsetCodec, DecodesEveryRowOfTheTable) {
  ASSERT_GE(Golden()["decode"].size(), 8u);
  for (const Json& row : Golden()["decode"]) {
    for (const auto& [column, expected] : row.items()) {
      if (column == "offset") continue;
      EXPECT_EQ(WithBits(std::stoi(column)).Decode(row["offset"].get<int64_t>()).value().ToString(),
                expected.get<std::string>())
          << row["offset"] << " with " << column << " bits";
    }
  }
}

TEST(OffsetCodec, HasTheLimitsOfTheTable) {
  ASSERT_EQ(Golden()["max_ms"].size(), 7u);
  for (int bits = OffsetCodec::kMinSequenceBits; bits <= OffsetCodec::kMaxSequenceBits; ++bits) {
    const std::string column = std::to_string(bits);
    const OffsetCodec codec = WithBits(bits);
    EXPECT_EQ(codec.sequence_bits(), bits);
    EXPECT_EQ(codec.max_ms(), Golden()["max_ms"][column].get<uint64_t>());
    EXPECT_EQ(codec.max_sequence(), Golden()["max_seq"][column].get<uint64_t>());
    EXPECT_THAT(codec.Encode({codec.max_ms(), codec.max_sequence()}), IsOkAndHolds(kMaxOffset));
    EXPECT_THAT(codec.Decode(kMaxOffset),
                IsOkAndHolds((StreamId{codec.max_ms(), codec.max_sequence()})));
  }
}

// Combining unchecked parts with `|` or `+` would yield the offset of another entry.
TEST(OffsetCodec, RefusesASequenceThatWouldTakeAnotherEntrysOffset) {
  const absl::Status status = OffsetCodec().Encode({1234567890123, 1024}).status();
  EXPECT_EQ(ErrorCodeOf(status), ErrorCode::kUnknownServerError);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("the id 1234567890123-1024 has no offset: its sequence is above 1023, the "
                        "greatest with 10 bits of sequence"));
}

TEST(OffsetCodec, RefusesATimeAbove63Bits) {
  const OffsetCodec codec;
  EXPECT_THAT(codec.Encode({codec.max_ms(), 0}), IsOk());
  EXPECT_THAT(std::string(codec.Encode({codec.max_ms() + 1, 0}).status().message()),
              HasSubstr("its time is above 9007199254740991"));
}

TEST(OffsetCodec, RefusesAnOffsetBelowZero) {
  for (const int64_t offset : {int64_t{-1}, std::numeric_limits<int64_t>::min()}) {
    EXPECT_EQ(ErrorCodeOf(OffsetCodec().Decode(offset).status()), ErrorCode::kOffsetOutOfRange);
  }
  EXPECT_THAT(OffsetCodec().Decode(0), IsOkAndHolds(StreamId::Min()));
}

TEST(OffsetCodec, Takes10To16BitsOfSequence) {
  EXPECT_EQ(WithBits(10), OffsetCodec());
  for (const int64_t bits :
       {int64_t{9}, int64_t{17}, int64_t{0}, int64_t{-10}, int64_t{1} << 32 | 10}) {
    EXPECT_EQ(ErrorCodeOf(OffsetCodec::Create(bits).status()), ErrorCode::kInvalidConfig) << bits;
  }
}

RC_GTEST_PROP(OffsetCodec, GivesEveryOffsetBack, ()) {
  const OffsetCodec codec = *GenCodec();
  const int64_t offset = *GenOffset();
  RC_ASSERT(codec.Encode(codec.Decode(offset).value()).value() == offset);
}

RC_GTEST_PROP(OffsetCodec, KeepsTheOrderOfIds, ()) {
  const OffsetCodec codec = *GenCodec();
  const int64_t left = *GenOffset();
  const int64_t right = *GenOffset();
  RC_ASSERT((left <=> right) == (codec.Decode(left).value() <=> codec.Decode(right).value()));
}

RC_GTEST_PROP(OffsetCodec, EncodesAnIdOrRefusesIt, (uint64_t ms, uint64_t seq)) {
  const OffsetCodec codec = *GenCodec();
  const StreamId id{ms >> *rc::gen::inRange(0, 40), seq >> *rc::gen::inRange(40, 64)};
  const absl::StatusOr<int64_t> offset = codec.Encode(id);
  RC_ASSERT(offset.ok() == (id.ms <= codec.max_ms() && id.seq <= codec.max_sequence()));
  if (offset.ok()) RC_ASSERT(codec.Decode(*offset).value() == id);
}

}  // namespace
}  // namespace redouble::inline v0_1::korvet
