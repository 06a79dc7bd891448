#include "redouble/sim/cli/support/progress_bar.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace redouble::inline v0_1::sim {
namespace {

constexpr uint64_t kCells = 20;

// 1234567 as "1,234,567".
std::string WithCommas(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t i = text.size(); i > 3;) text.insert(i -= 3, ",");
  return text;
}

}  // namespace

std::string ProgressLine(const std::string& name, uint64_t bytes, uint64_t total_bytes,
                         uint64_t keys) {
  const double part =
      total_bytes == 0
          ? 1.0
          : std::min(1.0, static_cast<double>(bytes) / static_cast<double>(total_bytes));
  const auto cells = static_cast<size_t>(part * kCells);
  return absl::StrCat(name, " [", std::string(cells, '#'), std::string(kCells - cells, ' '), "] ",
                      absl::StrFormat("%3d", static_cast<int>(part * 100)), " %  ",
                      WithCommas(keys), " keys");
}

void ProgressBar::Show(uint64_t bytes, uint64_t keys) {
  const std::string line = ProgressLine(name_, bytes, total_bytes_, keys);
  width_ = std::max(width_, line.size());
  out_ << "\r" << line << std::flush;
}

ProgressBar::~ProgressBar() {
  if (width_ > 0) out_ << "\r" << std::string(width_, ' ') << "\r" << std::flush;
}

}  // namespace redouble::inline v0_1::sim
