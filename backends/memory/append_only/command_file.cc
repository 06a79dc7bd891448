#include "redouble/backends/memory/append_only/command_file.h"

#include <algorithm>
#include <limits>

#include "redouble/core/base/status/status_macros.h"

namespace redouble::inline v0_1::memory {
namespace {

constexpr size_t kMinFetchBytes = size_t{1} << 16;
constexpr size_t kMaxFetchBytes = size_t{1} << 24;

// A master has checked the lengths.
constexpr store::RequestParser::Limits kNoLimits = {.longest_bulk_bytes =
                                                        std::numeric_limits<int64_t>::max()};

}  // namespace

absl::StatusOr<bool> CommandFile::Fetch() {
  buffer_.erase(0, std::exchange(begin_, 0));
  const size_t old_size = buffer_.size();
  // No more than has arrived already, whatever a length in the file claims.
  buffer_.resize(old_size + std::clamp(old_size, kMinFetchBytes, kMaxFetchBytes));
  const absl::StatusOr<size_t> count =
      source_.Read({buffer_.data() + old_size, buffer_.size() - old_size});
  buffer_.resize(old_size + count.value_or(0));
  REDOUBLE_RETURN_IF_ERROR(count.status());
  return *count > 0;
}

absl::StatusOr<CommandFile::Next> CommandFile::Read() {
  using Progress = store::RequestParser::Progress;
  for (;;) {
    while (left().starts_with('#')) {
      const size_t end = left().find('\n');
      if (end == std::string_view::npos) break;
      Skip(end + 1);
    }
    const std::string_view input = left();
    if (!input.empty() && input[0] != '#') {
      if (input[0] != '*') return Next::kMalformed;
      const Progress progress = parser_.Parse(input, kNoLimits);
      if (progress == Progress::kCommand && !parser_.words().empty()) {
        Skip(parser_.consumed());
        return Next::kCommand;
      }
      if (progress != Progress::kIncomplete) return Next::kMalformed;
    }
    REDOUBLE_ASSIGN_OR_RETURN(const bool has_more, Fetch());
    if (!has_more) return left().empty() ? Next::kEnd : Next::kTruncated;
  }
}

}  // namespace redouble::inline v0_1::memory
