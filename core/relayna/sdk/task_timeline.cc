#include "redouble/core/relayna/sdk/task_timeline.h"

#include <algorithm>
#include <tuple>

#include "redouble/core/python/text.h"

namespace redouble::inline v0_1::relayna {
namespace {

using python::Value;

Value MemberOf(const Value& observation, std::string_view name) {
  const Value* const member = observation.Find(name);
  return member == nullptr ? Value() : *member;
}

// What Python sorts by. An array or an object, which no observation has here, sorts as the empty
// text.
std::string SortText(const Value& timestamp) {
  if (timestamp.is_null()) return "None";
  return python::TextOf(timestamp).value_or("");
}

}  // namespace

std::vector<TimelineEntry> BuildTaskTimeline(std::span<const Value> observations,
                                             std::string_view task_id) {
  std::vector<TimelineEntry> entries;
  for (const Value& observation : observations) {
    const Value id = MemberOf(observation, "task_id");
    if (id.text() == nullptr || *id.text() != task_id) continue;
    TimelineEntry& entry = entries.emplace_back();
    const Value type = MemberOf(observation, "event_type");
    if (type.text() != nullptr) entry.event_type = *type.text();
    entry.task_id = std::string(task_id);
    entry.stage = MemberOf(observation, "stage");
    entry.timestamp = MemberOf(observation, "timestamp");
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const TimelineEntry& a, const TimelineEntry& b) {
                     return std::tuple(SortText(a.timestamp), a.event_type) <
                            std::tuple(SortText(b.timestamp), b.event_type);
                   });
  return entries;
}

}  // namespace redouble::inline v0_1::relayna
