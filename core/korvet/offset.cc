#include "redouble/core/korvet/offset.h"

#include "absl/strings/str_cat.h"
#include "redouble/core/korvet/errors.h"

namespace redouble::inline v0_1::korvet {
namespace {

absl::Status DoesNotFit(store::StreamId id, absl::string_view part, uint64_t greatest, int bits) {
  return MakeError(
      ErrorCode::kUnknownServerError,
      absl::StrCat("the id ", id.ToString(), " has no offset: its ", part, " is above ", greatest,
                   ", the greatest with ", bits, " bits of sequence"));
}

}  // namespace

absl::StatusOr<OffsetCodec> OffsetCodec::Create(int64_t sequence_bits) {
  if (sequence_bits < kMinSequenceBits || sequence_bits > kMaxSequenceBits) {
    return MakeError(ErrorCode::kInvalidConfig,
                     absl::StrCat("offsetSequenceBits is ", sequence_bits, ", not one of ",
                                  kMinSequenceBits, " to ", kMaxSequenceBits));
  }
  return OffsetCodec(static_cast<int>(sequence_bits));
}

absl::StatusOr<int64_t> OffsetCodec::Encode(store::StreamId id) const {
  if (id.seq > max_sequence()) return DoesNotFit(id, "sequence", max_sequence(), sequence_bits_);
  if (id.ms > max_ms()) return DoesNotFit(id, "time", max_ms(), sequence_bits_);
  return static_cast<int64_t>((id.ms << sequence_bits_) | id.seq);
}

absl::StatusOr<store::StreamId> OffsetCodec::Decode(int64_t offset) const {
  if (offset < 0) {
    return MakeError(ErrorCode::kOffsetOutOfRange,
                     absl::StrCat("the offset ", offset, " is below 0"));
  }
  const auto bits = static_cast<uint64_t>(offset);
  return store::StreamId{bits >> sequence_bits_, bits & max_sequence()};
}

}  // namespace redouble::inline v0_1::korvet
