#include "redouble/core/relayna/sdk/task_timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "redouble/core/python/json.h"

namespace redouble::inline v0_1::relayna {
namespace {

using python::Value;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Value Observation(std::string_view json) { return python::ParseJson(json).value(); }

TEST(TaskTimeline, OrdersTheObservationsOfATask) {
  const std::vector<Value> history = {
      Observation(R"({"task_id": "t1", "event_type": "B", "timestamp": "2026-01-01T10:00:01"})"),
      Observation(R"({"task_id": "t2", "event_type": "B", "timestamp": "2026-01-01T10:00:00"})"),
      Observation(R"({"task_id": "t1", "event_type": "A", "timestamp": "2026-01-01T10:00:01",
                      "stage": "ocr"})"),
      Observation(R"({"task_id": "t1", "event_type": "C", "timestamp": "2026-01-01T10:00:00"})"),
      Observation(R"({"task_id": "t1", "timestamp": null})"),
      Observation(R"({"task_id": 1, "event_type": "D"})"),
      Observation("[]"),
  };
  EXPECT_THAT(BuildTaskTimeline(history, "t1"),
              ElementsAre(TimelineEntry{"C", "t1", Value(), Value("2026-01-01T10:00:00")},
                          TimelineEntry{"A", "t1", Value("ocr"), Value("2026-01-01T10:00:01")},
                          TimelineEntry{"B", "t1", Value(), Value("2026-01-01T10:00:01")},
                          TimelineEntry{"", "t1", Value(), Value()}));
  EXPECT_THAT(BuildTaskTimeline(history, "t3"), IsEmpty());
}

}  // namespace
}  // namespace redouble::inline v0_1::relayna
