// DebugSource: the lines of a debugged script and its breakpoints.
//
//   DebugSource source("local a = 1\nreturn a");
//   source.AddBreakpoint(2);
//   source.LineAt(2, /*current=*/1);  // "  #2   return a"
//
// Lines count from 1.
//
// Thread-safety: one thread.
// Source: Redis 7.0 SCRIPT DEBUG.
#ifndef REDOUBLE_BACKENDS_MEMORY_SCRIPTING_DEBUGGER_DEBUG_SOURCE_H_
#define REDOUBLE_BACKENDS_MEMORY_SCRIPTING_DEBUGGER_DEBUG_SOURCE_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace redouble::inline v0_1::memory {

class DebugSource {
 public:
  explicit DebugSource(std::string_view text);

  int size() const { return static_cast<int>(lines_.size()); }
  // The line with its number and marks: "->#2   return a".
  std::string LineAt(int number, int current) const;

  // In the order in which they were set.
  const std::vector<int>& breakpoints() const { return breakpoints_; }
  bool has_room_for_breakpoint() const;
  bool IsBreakpoint(int number) const;
  // Returns false if there is no such line or too many breakpoints.
  bool AddBreakpoint(int number);
  // Returns false if there was none.
  bool RemoveBreakpoint(int number);
  void RemoveAllBreakpoints() { breakpoints_.clear(); }

 private:
  std::vector<std::string> lines_;
  std::vector<int> breakpoints_;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SCRIPTING_DEBUGGER_DEBUG_SOURCE_H_
