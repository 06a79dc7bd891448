#include "redouble/core/store/resp/request_parser.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "redouble/core/base/text/quoted_words.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::store {
namespace {

constexpr size_t kMaxLineBytes = 64 * 1024;
constexpr int64_t kMaxWords = std::numeric_limits<int32_t>::max();
constexpr int64_t kMaxUnauthenticatedWords = 10;
constexpr int64_t kMaxUnauthenticatedBytes = 16'384;

// Parses one or two digits, the usual case, without the general parser.
std::optional<int64_t> ReadSize(std::string_view line) {
  if (line.size() == 1 && line[0] >= '0' && line[0] <= '9') return line[0] - '0';
  if (line.size() == 2 && line[0] >= '1' && line[0] <= '9' && line[1] >= '0' && line[1] <= '9') {
    return (line[0] - '0') * 10 + (line[1] - '0');
  }
  return base::ParseInt64(line);
}

constexpr int64_t kMaxShortNumber = 99;

// Parses "$17\r\n" or "$7\r\n" and moves `at` after it. Returns false, without moving, for anything
// else.
[[gnu::always_inline]] inline bool ReadShortNumber(char type, const char*& at, const char* end,
                                                   size_t& number) {
  constexpr ptrdiff_t kLongest = 5;
  if (end - at < kLongest || at[0] != type) return false;
  const auto digit = [&](int index) { return static_cast<unsigned char>(at[index] - '0'); };
  const unsigned char first = digit(1);
  if (first > 9) return false;
  if (at[2] == '\r') {
    number = first;
    at += 4;
    return true;
  }
  const unsigned char second = digit(2);
  if (second > 9 || first == 0 || at[3] != '\r') return false;
  number = first * size_t{10} + second;
  at += kLongest;
  return true;
}

// Parses "$3\r\nkey\r\n" with such a number, and moves `at` after it.
[[gnu::always_inline]] inline bool ReadShortBulk(const char*& at, const char* end,
                                                 std::string_view& word) {
  size_t size = 0;
  if (!ReadShortNumber('$', at, end, size)) return false;
  if (static_cast<size_t>(end - at) < size + 2) return false;
  word = {at, size};
  at += size + 2;
  return true;
}

}  // namespace

RequestParser::Progress RequestParser::Parse(std::string_view input, const Limits& limits) {
  wanted_ = 0;
  if (input.empty()) return Progress::kIncomplete;
  if (input[0] != '*') return ParseInline(input);
  const bool may_be_short = missing_words_ < 0 && !limits.unauthenticated;
  if (may_be_short && limits.longest_bulk_bytes > kMaxShortNumber && ParseShort(input)) {
    return Progress::kCommand;
  }
  return ParseArray(input, limits);
}

bool RequestParser::Skim(std::string_view input, size_t& size, std::string_view& second_word) {
  const char* at = input.data();
  const char* const end = at + input.size();
  size_t count = 0;
  if (!ReadShortNumber('*', at, end, count)) return false;
  second_word = {};
  for (size_t i = 0; i < count; ++i) {
    std::string_view word;
    if (!ReadShortBulk(at, end, word)) return false;
    if (i == 1) second_word = word;
  }
  size = static_cast<size_t>(at - input.data());
  return true;
}

bool RequestParser::ParseShort(std::string_view input) {
  const char* at = input.data();
  const char* const end = at + input.size();
  size_t count = 0;
  if (!ReadShortNumber('*', at, end, count)) return false;
  words_.resize(count);
  for (std::string_view& word : words_) {
    if (!ReadShortBulk(at, end, word)) return false;
  }
  consumed_ = static_cast<size_t>(at - input.data());
  return true;
}

void RequestParser::Forget() {
  position_ = 0;
  missing_words_ = -1;
  bulk_bytes_ = -1;
  found_.clear();
}

size_t RequestParser::word_bytes() const {
  size_t bytes = 0;
  for (const Word& word : found_) bytes += word.size;
  return bytes;
}

RequestParser::Progress RequestParser::Fail(std::string error) {
  Forget();
  error_ = "Protocol error: " + std::move(error);
  return Progress::kError;
}

RequestParser::Progress RequestParser::Finish(size_t consumed) {
  Forget();
  consumed_ = consumed;
  return Progress::kCommand;
}

// Words without quotes are views into the line. Redis looks for the line's end in a C string: a
// zero byte hides it.
RequestParser::Progress RequestParser::ParseInline(std::string_view input) {
  const size_t end = input.find_first_of(std::string_view("\n\0", 2), position_);
  if (end == std::string_view::npos || input[end] == '\0') {
    if (input.size() > kMaxLineBytes) return Fail("too big inline request");
    position_ = std::min(end, input.size());
    return Progress::kIncomplete;
  }
  std::string_view line = input.substr(0, end);
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.find_first_of("\"'") != std::string_view::npos) {
    std::optional<std::vector<std::string>> words = base::SplitQuotedWords(line);
    if (!words) return Fail("unbalanced quotes in request");
    unquoted_ = *std::move(words);
    words_.assign(unquoted_.begin(), unquoted_.end());
    return Finish(end + 1);
  }
  words_.clear();
  for (size_t at = 0; at < line.size();) {
    if (base::IsSpaceBetweenWords(line[at])) {
      ++at;
      continue;
    }
    size_t stop = at;
    while (stop < line.size() && !base::EndsWord(line[stop])) ++stop;
    words_.push_back(line.substr(at, stop - at));
    at = stop;
  }
  return Finish(end + 1);
}

RequestParser::Line RequestParser::ReadLine(std::string_view input, std::string_view& line) {
  const char* const begin = input.data() + position_;
  const size_t size = input.size() - position_;
  const auto* end = static_cast<const char*>(std::memchr(begin, '\r', size));
  // Redis searches for "\r" alone, in a C string, and requires one more byte.
  if (end != nullptr && std::memchr(begin, '\0', end - begin) != nullptr) end = nullptr;
  if (end == nullptr) return size > kMaxLineBytes ? Line::kTooBig : Line::kIncomplete;
  if (end + 2 > begin + size) return Line::kIncomplete;
  line = std::string_view(begin, end - begin);
  return Line::kWhole;
}

RequestParser::Progress RequestParser::ParseCount(std::string_view input, const Limits& limits) {
  std::string_view line;
  switch (ReadLine(input, line)) {
    case Line::kTooBig:
      return Fail("too big mbulk count string");
    case Line::kIncomplete:
      return Progress::kIncomplete;
    case Line::kWhole:
      break;
  }
  const std::optional<int64_t> count = ReadSize(line.substr(1));
  if (!count || *count > kMaxWords) return Fail("invalid multibulk length");
  if (limits.unauthenticated && *count > kMaxUnauthenticatedWords) {
    return Fail("unauthenticated multibulk length");
  }
  position_ += line.size() + 2;
  missing_words_ = *count < 0 ? 0 : *count;
  return Progress::kCommand;
}

RequestParser::Progress RequestParser::ParseBulkSize(std::string_view input, const Limits& limits) {
  std::string_view line;
  switch (ReadLine(input, line)) {
    case Line::kTooBig:
      return Fail("too big bulk count string");
    case Line::kIncomplete:
      return Progress::kIncomplete;
    case Line::kWhole:
      break;
  }
  if (input[position_] != '$') {
    return Fail(std::string("expected '$', got '") + input[position_] + "'");
  }
  const std::optional<int64_t> size = ReadSize(line.substr(1));
  if (!size || *size < 0 || *size > limits.longest_bulk_bytes) return Fail("invalid bulk length");
  if (limits.unauthenticated && *size > kMaxUnauthenticatedBytes) {
    return Fail("unauthenticated bulk length");
  }
  position_ += line.size() + 2;
  bulk_bytes_ = *size;
  return Progress::kCommand;
}

RequestParser::Progress RequestParser::ParseArray(std::string_view input, const Limits& limits) {
  if (missing_words_ < 0) {
    const Progress progress = ParseCount(input, limits);
    if (progress != Progress::kCommand) return progress;
  }
  while (missing_words_ > 0) {
    if (bulk_bytes_ < 0) {
      const Progress progress = ParseBulkSize(input, limits);
      if (progress != Progress::kCommand) return progress;
    }
    const auto size = static_cast<size_t>(bulk_bytes_);
    if (input.size() < position_ + size + 2) {
      wanted_ = position_ + size + 2;
      return Progress::kIncomplete;
    }
    found_.push_back({position_, size});
    position_ += size + 2;
    bulk_bytes_ = -1;
    --missing_words_;
  }
  words_.clear();
  words_.reserve(found_.size());
  for (const Word& word : found_) words_.push_back(input.substr(word.begin, word.size));
  return Finish(position_);
}

void ForEachCommand(std::string_view bytes,
                    absl::FunctionRef<void(const std::vector<std::string_view>& words)> run) {
  RequestParser parser;
  while (!bytes.empty()) {
    const RequestParser::Progress progress = parser.Parse(bytes, {});
    assert(progress == RequestParser::Progress::kCommand);
    (void)progress;
    bytes.remove_prefix(parser.consumed());
    run(parser.words());
  }
}

}  // namespace redouble::inline v0_1::store
