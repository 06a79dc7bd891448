#include "sim/scenario/bytes.h"

#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace redouble::sim {
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

TEST(Bytes, KnowWhatUtf8Is) {
  for (const std::string_view valid : {"", "a", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80",
                                       "\xed\x9f\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(IsUtf8(valid)) << EncodeBytes(valid);
  }
  for (const std::string_view invalid :
       {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xc2", "a\xe2\x82"}) {
    EXPECT_FALSE(IsUtf8(invalid)) << EncodeBytes(invalid);
  }
}

RC_GTEST_PROP(Bytes, ComeBackFromTheirText, (const std::string& bytes)) {
  const std::string text = EncodeBytes(bytes);
  RC_ASSERT(IsUtf8(text));
  RC_ASSERT(DecodeBytes(text).value() == bytes);
}

}  // namespace
}  // namespace redouble::sim
