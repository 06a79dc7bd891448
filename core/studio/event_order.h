// How Studio compares the timestamps of events.
//
// Thread-safety: pure functions. For this folder only.
// Source: reference/relayna.md 0.2 and 7.
#ifndef REDOUBLE_CORE_STUDIO_EVENT_ORDER_H_
#define REDOUBLE_CORE_STUDIO_EVENT_ORDER_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"

namespace redouble::studio {

// The instant of an event's timestamp, one without an offset being UTC; none for a text that is no
// timestamp, and for none.
std::optional<absl::Time> EventTime(std::string_view text);
std::optional<absl::Time> EventTime(const std::optional<std::string>& text);

// True when `a` is earlier than `b`. A text that is no timestamp is earlier than every timestamp
// and as early as any other such text.
bool IsEarlier(std::string_view a, std::string_view b);

// True when a stored latest timestamp gives way to `timestamp`: when there is none, or it is
// earlier. No timestamp replaces nothing.
bool Supersedes(const std::optional<std::string>& timestamp,
                const std::optional<std::string>& latest);

}  // namespace redouble::studio

#endif  // REDOUBLE_CORE_STUDIO_EVENT_ORDER_H_
