// The timeline of a task: what its observations say happened to it, in the order of time.
//
//   absl::StatusOr<std::vector<python::Value>> history = co_await observations.GetHistory("t1");
//   for (const TimelineEntry& entry : BuildTaskTimeline(*history, "t1")) ...
//
// Thread-safety: plain values and a pure function.
// Source: docs/systems/relayna.md 4.15.
#ifndef REDOUBLE_CORE_RELAYNA_SDK_TASK_TIMELINE_H_
#define REDOUBLE_CORE_RELAYNA_SDK_TASK_TIMELINE_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/core/python/value.h"

namespace redouble::inline v0_1::relayna {

struct TimelineEntry {
  std::string event_type;  // The class of the observation; empty if it has none.
  std::string task_id;
  python::Value stage;      // Null if the observation has none.
  python::Value timestamp;  // As it is stored; null if the observation has none.

  friend bool operator==(const TimelineEntry&, const TimelineEntry&) = default;
};

// Returns an entry for each observation whose member `task_id` is this text, in any order of the
// observations. The entries are ordered by the text of their timestamps, an absent one as `None`,
// and then by event type; equal ones stay in the order of the observations. Timestamps with
// different offsets are therefore not in the order of time, as in the documented SDK.
std::vector<TimelineEntry> BuildTaskTimeline(std::span<const python::Value> observations,
                                             std::string_view task_id);

}  // namespace redouble::inline v0_1::relayna

#endif  // REDOUBLE_CORE_RELAYNA_SDK_TASK_TIMELINE_H_
