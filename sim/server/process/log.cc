#include "redouble/sim/server/process/log.h"

#include <unistd.h>

#include <cstddef>
#include <iterator>

#include "absl/strings/match.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::sim {

std::optional<LogLevel> FindLogLevel(std::string_view name) {
  for (size_t i = 0; i < std::size(kLogLevelNames); ++i) {
    if (absl::EqualsIgnoreCase(base::ToAbsl(kLogLevelNames[i]), base::ToAbsl(name))) {
      return static_cast<LogLevel>(i);
    }
  }
  return std::nullopt;
}

void Log::Write(LogLevel level, absl::Time time, std::string_view text) const {
  constexpr char kMarks[] = ".-*#";
  if (!writes(level)) return;
  *out_ << getpid() << ":M " << absl::FormatTime("%d %b %Y %H:%M:%E3S", time, absl::UTCTimeZone())
        << " " << kMarks[static_cast<size_t>(level)] << " " << text << std::endl;
}

}  // namespace redouble::inline v0_1::sim
