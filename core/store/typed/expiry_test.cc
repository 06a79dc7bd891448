#include "redouble/core/store/typed/expiry.h"

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "redouble/core/store/command.h"

namespace redouble::inline v0_1::store {
namespace {

std::vector<std::string> WordsOf(const Expiry& expiry) {
  Command command(CommandId::kSet);
  expiry.AppendTo(command);
  return {command.arguments().begin(), command.arguments().end()};
}
using Words = std::vector<std::string>;

TEST(Expiry, SaysNothingByDefault) { EXPECT_EQ(WordsOf(Expiry()), Words()); }

TEST(Expiry, IsInSecondsWhenTheyAreWhole) {
  EXPECT_EQ(WordsOf(Expiry::In(absl::Hours(1))), (Words{"EX", "3600"}));
  EXPECT_EQ(WordsOf(Expiry::In(absl::Milliseconds(2000))), (Words{"EX", "2"}));
}

TEST(Expiry, IsInMillisecondsOtherwise) {
  EXPECT_EQ(WordsOf(Expiry::In(absl::Milliseconds(1500))), (Words{"PX", "1500"}));
  EXPECT_EQ(WordsOf(Expiry::In(absl::Microseconds(1'500'999))), (Words{"PX", "1500"}));
}

TEST(Expiry, LeavesTheRefusalOfANonPositiveTtlToRedis) {
  EXPECT_EQ(WordsOf(Expiry::In(absl::ZeroDuration())), (Words{"EX", "0"}));
  EXPECT_EQ(WordsOf(Expiry::In(-absl::Milliseconds(1))), (Words{"PX", "-1"}));
}

TEST(Expiry, IsAtAMoment) {
  EXPECT_EQ(WordsOf(Expiry::At(absl::FromUnixSeconds(1'700'000'000))),
            (Words{"EXAT", "1700000000"}));
  EXPECT_EQ(WordsOf(Expiry::At(absl::FromUnixMillis(1'700'000'000'001))),
            (Words{"PXAT", "1700000000001"}));
  EXPECT_EQ(WordsOf(Expiry::At(absl::FromUnixMicros(1'700'000'000'001'999))),
            (Words{"PXAT", "1700000000001"}));
}

TEST(Expiry, IsRemoved) { EXPECT_EQ(WordsOf(Expiry::Persist()), (Words{"PERSIST"})); }

}  // namespace
}  // namespace redouble::inline v0_1::store
