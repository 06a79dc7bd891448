#include "redouble/sim/json/bytes.h"

#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"
#include "redouble/core/base/text/utf8.h"

namespace redouble::inline v0_1::sim {
namespace {

using namespace std::string_literals;

struct Pair {
  std::string bytes;
  std::string text;
};

TEST(Bytes, AreWrittenAsTheyAreWhenTheyAreText) {
  for (const std::string& text : {""s, "plain"s, "caf\xc3\xa9"s, "a\\xff"s, "nul\0inside"s}) {
    EXPECT_EQ(EncodeBytes(text), text);
    EXPECT_EQ(DecodeBytes(text).value(), text);
  }
}

TEST(Bytes, AreEscapedWhenTheyAreNotText) {
  const Pair pairs[] = {
      {"\0\xff"s, R"(bytes:\x00\xff)"},
      {"bytes:1", "bytes:bytes:1"},
      {"\xff\\", R"(bytes:\xff\\)"},
      {"caf\xc3\xa9\xff", R"(bytes:caf\xc3\xa9\xff)"},
  };
  for (const Pair& pair : pairs) {
    EXPECT_EQ(EncodeBytes(pair.bytes), pair.text);
    EXPECT_EQ(DecodeBytes(pair.text).value(), pair.bytes);
  }
}

TEST(Bytes, MayBeEscapedMoreThanNeeded) {
  EXPECT_EQ(DecodeBytes(R"(bytes:\x41b)").value(), "Ab");
  EXPECT_EQ(DecodeBytes("bytes:").value(), "");
}

TEST(Bytes, RefuseAnUnknownEscape) {
  for (const std::string_view text :
       {R"(bytes:\n)", R"(bytes:\x)", R"(bytes:\x1)", R"(bytes:\xzz)", R"(bytes:\)"}) {
    const absl::StatusOr<std::string> bytes = DecodeBytes(text);
    EXPECT_EQ(bytes.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_NE(bytes.status().ToString().find(text), std::string::npos) << bytes.status();
  }
}

RC_GTEST_PROP(Bytes, ComeBackFromTheirText, (const std::string& bytes)) {
  const std::string text = EncodeBytes(bytes);
  RC_ASSERT(base::IsValidUtf8(text));
  RC_ASSERT(DecodeBytes(text).value() == bytes);
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
