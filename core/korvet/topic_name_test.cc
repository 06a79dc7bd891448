#include "redouble/core/korvet/topic_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/korvet/errors.h"

namespace redouble::inline v0_1::korvet {
namespace {

using base::IsOk;
using ::testing::HasSubstr;

std::string Refusal(std::string_view name) {
  const absl::Status status = CheckTopicName(name);
  EXPECT_EQ(ErrorCodeOf(status), ErrorCode::kInvalidTopic) << name;
  return std::string(status.message());
}

TEST(TopicName, TakesEveryCharacterOfKafkasAlphabetAndNoOther) {
  constexpr std::string_view kAlphabet =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  EXPECT_THAT(CheckTopicName(kAlphabet), IsOk());
  for (int byte = 0; byte < 256; ++byte) {
    const std::string name = {'t', static_cast<char>(byte)};
    EXPECT_EQ(CheckTopicName(name).ok(),
              kAlphabet.find(static_cast<char>(byte)) != std::string_view::npos)
        << byte;
  }
}

TEST(TopicName, HasOneTo249Characters) {
  EXPECT_THAT(Refusal(""), HasSubstr("is empty"));
  EXPECT_THAT(CheckTopicName("t"), IsOk());
  EXPECT_THAT(CheckTopicName(std::string(kMaxTopicNameBytes, 't')), IsOk());
  EXPECT_THAT(Refusal(std::string(kMaxTopicNameBytes + 1, 't')), HasSubstr("longer than 249"));
}

TEST(TopicName, IsNotADotNorTwo) {
  EXPECT_THAT(Refusal("."), HasSubstr("is reserved"));
  EXPECT_THAT(Refusal(".."), HasSubstr("is reserved"));
  EXPECT_THAT(CheckTopicName("..."), IsOk());
}

TEST(TopicName, IsQuotedInTheErrorWithItsOddBytesEscaped) {
  EXPECT_THAT(Refusal("a:b\n"), HasSubstr("\"a:b\\n\" has a character other than"));
}

}  // namespace
}  // namespace redouble::inline v0_1::korvet
