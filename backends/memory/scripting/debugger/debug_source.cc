#include "redouble/backends/memory/scripting/debugger/debug_source.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::memory {
namespace {

constexpr size_t kMaxBreakpoints = 64;

}  // namespace

// Empty lines at the end are none.
DebugSource::DebugSource(std::string_view text) {
  const size_t last = text.find_last_not_of("\r\n");
  if (last == std::string_view::npos) return;
  text = text.substr(0, last + 1);
  for (const absl::string_view line : absl::StrSplit(base::ToAbsl(text), '\n')) {
    // Redis shows lines as C strings.
    lines_.emplace_back(line.substr(0, line.find('\0')));
  }
}

std::string DebugSource::LineAt(int number, int current) const {
  const char* const arrow = number == current ? "->" : "  ";
  const char mark = IsBreakpoint(number) ? '#' : ' ';
  const bool exists = number >= 1 && number <= size();
  const absl::string_view text = exists ? absl::string_view(lines_[static_cast<size_t>(number) - 1])
                                        : "<out of range source code line>";
  return absl::StrFormat("%s%c%-3d %s", arrow, mark, number, text);
}

bool DebugSource::has_room_for_breakpoint() const { return breakpoints_.size() < kMaxBreakpoints; }

bool DebugSource::IsBreakpoint(int number) const {
  return std::find(breakpoints_.begin(), breakpoints_.end(), number) != breakpoints_.end();
}

bool DebugSource::AddBreakpoint(int number) {
  if (number <= 0 || number > size()) return false;
  if (IsBreakpoint(number) || !has_room_for_breakpoint()) return false;
  breakpoints_.push_back(number);
  return true;
}

bool DebugSource::RemoveBreakpoint(int number) {
  const auto found = std::find(breakpoints_.begin(), breakpoints_.end(), number);
  if (found == breakpoints_.end()) return false;
  breakpoints_.erase(found);
  return true;
}

}  // namespace redouble::inline v0_1::memory
