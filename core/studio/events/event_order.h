// The order of event timestamps.
//
// Events carry timestamps as text, and a text need not be a valid timestamp. These functions define
// when one of two texts is earlier. For this folder only.
//
// Thread-safety: pure functions.
// Source: docs/systems/studio.md 2.7 and 2.12.
#ifndef REDOUBLE_CORE_STUDIO_EVENTS_EVENT_ORDER_H_
#define REDOUBLE_CORE_STUDIO_EVENTS_EVENT_ORDER_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"

namespace redouble::inline v0_1::studio {

// The instant of an event's timestamp, in UTC if it has no offset. nullopt if the text is missing
// or not a valid timestamp.
std::optional<absl::Time> EventTime(std::string_view text);
std::optional<absl::Time> EventTime(const std::optional<std::string>& text);

// True if `a` is earlier than `b`. A text that is not a valid timestamp is earlier than every valid
// one, and equal to every other invalid text.
bool IsEarlier(std::string_view a, std::string_view b);

// True if `timestamp` replaces the stored text `latest`: if `latest` is missing or strictly
// earlier. A missing `timestamp` replaces nothing.
bool Supersedes(const std::optional<std::string>& timestamp,
                const std::optional<std::string>& latest);

}  // namespace redouble::inline v0_1::studio

#endif  // REDOUBLE_CORE_STUDIO_EVENTS_EVENT_ORDER_H_
