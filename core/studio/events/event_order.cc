#include "redouble/core/studio/events/event_order.h"

#include "redouble/core/python/iso_time.h"

namespace redouble::inline v0_1::studio {

std::optional<absl::Time> EventTime(std::string_view text) {
  return python::ParseTimestamp(text, absl::UTCTimeZone());
}

std::optional<absl::Time> EventTime(const std::optional<std::string>& text) {
  return text ? EventTime(std::string_view(*text)) : std::nullopt;
}

// nullopt is less than every time.
bool IsEarlier(std::string_view a, std::string_view b) { return EventTime(a) < EventTime(b); }

bool Supersedes(const std::optional<std::string>& timestamp,
                const std::optional<std::string>& latest) {
  return timestamp && (!latest || IsEarlier(*latest, *timestamp));
}

}  // namespace redouble::inline v0_1::studio
