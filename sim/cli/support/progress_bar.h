// ProgressBar: a line on a terminal that shows how much of a file has been read.
//
// For long reads of a subcommand whose messages go to a terminal (ProgramContext::on_terminal); a
// log would only be longer by it.
//
//   ProgressBar bar(std::cerr, "dump.rdb", size);
//   bar.Show(bytes, keys);   // "dump.rdb [########            ]  42 %  1,234,567 keys"
//   // The destructor clears the line.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_CLI_SUPPORT_PROGRESS_BAR_H_
#define REDOUBLE_SIM_CLI_SUPPORT_PROGRESS_BAR_H_

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <utility>

namespace redouble::inline v0_1::sim {

// Returns the line for `bytes` of `total_bytes`.
std::string ProgressLine(const std::string& name, uint64_t bytes, uint64_t total_bytes,
                         uint64_t keys);

class ProgressBar {
 public:
  // `out` must outlive the bar.
  ProgressBar(std::ostream& out, std::string name, uint64_t total_bytes)
      : out_(out), name_(std::move(name)), total_bytes_(total_bytes) {}
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar();

  // Replaces the line.
  void Show(uint64_t bytes, uint64_t keys);

 private:
  std::ostream& out_;
  const std::string name_;
  const uint64_t total_bytes_;
  size_t width_ = 0;  // Of the line that is shown.
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLI_SUPPORT_PROGRESS_BAR_H_
