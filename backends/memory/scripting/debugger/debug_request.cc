#include "redouble/backends/memory/scripting/debugger/debug_request.h"

#include <cstddef>
#include <cstdlib>
#include <optional>

namespace redouble::inline v0_1::memory {
namespace {

constexpr size_t kMaxBytes = 1 << 20;
constexpr int kMaxWords = 1024;
constexpr int kMaxWordBytes = 1024;

// Takes the line at `position`, which then is after it, and returns the number that follows its
// first character; nullopt if the line has not ended.
std::optional<int> TakeNumber(const std::string& bytes, size_t& position) {
  // What is after a zero byte has no end for Redis.
  const size_t end = bytes.find("\r\n", position);
  if (end == std::string::npos || bytes.find('\0', position) < end) return std::nullopt;
  const std::string line = bytes.substr(position + 1, end - position - 1);
  position = end + 2;
  return std::atoi(line.c_str());
}

}  // namespace

bool DebugRequest::Receive(std::string_view bytes) {
  bytes_.append(bytes);
  if (bytes_.size() <= kMaxBytes) return true;
  bytes_.clear();
  return false;
}

DebugRequest::Progress DebugRequest::Parse() {
  words_.clear();
  if (bytes_.empty()) return Progress::kIncomplete;
  const Progress progress = ParseWords();
  if (progress == Progress::kComplete) bytes_.clear();
  return progress;
}

// What precedes the first asterisk is ignored.
DebugRequest::Progress DebugRequest::ParseWords() {
  size_t position = bytes_.find('*');
  if (position == std::string::npos || bytes_.find('\0') < position) return Progress::kError;
  const std::optional<int> count = TakeNumber(bytes_, position);
  if (!count) return Progress::kIncomplete;
  if (*count <= 0 || *count > kMaxWords) return Progress::kError;
  for (int i = 0; i < *count; ++i) {
    if (position >= bytes_.size() || bytes_[position] == '\0') return Progress::kIncomplete;
    if (bytes_[position] != '$') return Progress::kError;
    const std::optional<int> size = TakeNumber(bytes_, position);
    if (!size) return Progress::kIncomplete;
    if (*size <= 0 || *size > kMaxWordBytes) return Progress::kError;
    const auto word_bytes = static_cast<size_t>(*size);
    if (position + word_bytes + 2 > bytes_.size()) return Progress::kIncomplete;
    words_.push_back(bytes_.substr(position, word_bytes));
    position += word_bytes;
    if (bytes_.compare(position, 2, "\r\n") != 0) return Progress::kError;
    position += 2;
  }
  return Progress::kComplete;
}

}  // namespace redouble::inline v0_1::memory
