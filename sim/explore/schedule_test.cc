#include "redouble/sim/explore/schedule.h"

#include "gtest/gtest.h"
#include "redouble/core/base/status/status_matchers.h"

namespace redouble::inline v0_1::sim {
namespace {

using base::IsOkAndHolds;
using base::StatusIs;

TEST(Schedule, IsWrittenAndRead) {
  for (const Schedule& schedule :
       {Schedule{.seed = 7, .decisions = {0, 0, 1}}, Schedule{.seed = 1, .decisions = {}}}) {
    EXPECT_THAT(ParseSchedule(schedule.ToString()), IsOkAndHolds(schedule));
  }
  EXPECT_EQ((Schedule{.seed = 7, .decisions = {0, 12}}.ToString()), "7:0,12");
}

TEST(Schedule, RefusesOtherForms) {
  for (const char* text : {"", "seven", "7:0,x", ":0", "-7:0"}) {
    EXPECT_THAT(ParseSchedule(text), StatusIs(absl::StatusCode::kInvalidArgument)) << text;
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
