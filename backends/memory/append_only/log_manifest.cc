#include "redouble/backends/memory/append_only/log_manifest.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/text/quoted_words.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::memory {
namespace {

constexpr size_t kLongestLineBytes = 1024;
constexpr std::string_view kBadFormat = "Invalid AOF manifest file format";

constexpr char kBaseType = 'b';
constexpr char kHistoryType = 'h';
constexpr char kIncrementType = 'i';

// Redis quotes a name with a byte that is no letter or sign, a space or a quote.
bool NeedsQuotes(std::string_view name) {
  return std::any_of(name.begin(), name.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return std::isprint(byte) == 0 || std::isspace(byte) != 0 || c == '\\' || c == '"' || c == '\'';
  });
}

void AppendLine(const LogFile& file, char type, std::string& text) {
  const std::string name = NeedsQuotes(file.name) ? store::QuoteBytes(file.name) : file.name;
  absl::StrAppend(&text, "file ", name, " seq ", file.sequence, " type ",
                  absl::string_view(&type, 1), "\n");
}

// atoll: what follows the number does not matter.
int64_t NumberOf(const std::string& text) { return std::strtoll(text.c_str(), nullptr, 10); }

absl::Status ErrorAt(int line_number, std::string_view line, std::string_view reason) {
  return absl::DataLossError(absl::StrCat("Reading the manifest file, at line ", line_number, ": '",
                                          base::ToAbsl(line), "': ", base::ToAbsl(reason)));
}

}  // namespace

absl::StatusOr<LogManifest> LogManifest::Parse(std::string_view text) {
  LogManifest manifest;
  if (text.empty()) return absl::DataLossError("Found an empty AOF manifest");
  int line_number = 0;
  while (!text.empty()) {
    ++line_number;
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const bool is_comment = line.starts_with('#');
    if (!is_comment && (end == text.npos || line.size() >= kLongestLineBytes)) {
      return ErrorAt(line_number, line, "The AOF manifest file contains too long line");
    }
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    if (is_comment) continue;
    if (const std::optional<std::string_view> reason = manifest.AddLine(line)) {
      return ErrorAt(line_number, line, *reason);
    }
  }
  return manifest;
}

std::optional<std::string_view> LogManifest::AddLine(std::string_view line) {
  const std::optional<std::vector<std::string>> words = base::SplitQuotedWords(line);
  // Later versions may add further pairs of words.
  if (!words || words->size() < 6 || words->size() % 2 != 0) return kBadFormat;
  LogFile file;
  char type = 0;
  for (size_t i = 0; i < words->size(); i += 2) {
    const std::string& value = (*words)[i + 1];
    if (absl::EqualsIgnoreCase((*words)[i], "file")) {
      file.name = value;
      if (value.find('/') != value.npos) return "File can't be a path, just a filename";
    } else if (absl::EqualsIgnoreCase((*words)[i], "seq")) {
      file.sequence = NumberOf(value);
    } else if (absl::EqualsIgnoreCase((*words)[i], "type")) {
      type = value.empty() ? '\0' : value[0];
    }
  }
  if (file.name.empty() || file.sequence == 0 || type == 0) return kBadFormat;
  if (type == kBaseType) {
    if (base_) return "Found duplicate base file information";
    last_base_ = file.sequence;
    base_ = std::move(file);
  } else if (type == kHistoryType) {
    history_.push_back(std::move(file));
  } else if (type == kIncrementType) {
    if (file.sequence <= last_increment_) return "Found a non-monotonic sequence number";
    last_increment_ = file.sequence;
    increments_.push_back(std::move(file));
  } else {
    return "Unknown AOF file type";
  }
  return std::nullopt;
}

std::string LogManifest::Text() const {
  std::string text;
  if (base_) AppendLine(*base_, kBaseType, text);
  for (const LogFile& file : history_) AppendLine(file, kHistoryType, text);
  for (const LogFile& file : increments_) AppendLine(file, kIncrementType, text);
  return text;
}

void LogManifest::SetOldBase(std::string_view name) {
  base_ = LogFile{.name = std::string(name), .sequence = ++last_base_};
}

const std::string& LogManifest::AddBase(std::string_view log_name, bool is_rdb) {
  if (base_) history_.push_back(*std::move(base_));
  ++last_base_;
  base_ = LogFile{.name = absl::StrCat(base::ToAbsl(log_name), ".", last_base_, ".base",
                                       is_rdb ? ".rdb" : ".aof"),
                  .sequence = last_base_};
  return base_->name;
}

const std::string& LogManifest::AddIncrement(std::string_view log_name) {
  ++last_increment_;
  increments_.push_back(
      {.name = absl::StrCat(base::ToAbsl(log_name), ".", last_increment_, ".incr.aof"),
       .sequence = last_increment_});
  return increments_.back().name;
}

void LogManifest::RetireIncrements(bool is_used) {
  std::vector<LogFile> kept;
  if (is_used && !increments_.empty()) {
    kept.push_back(std::move(increments_.back()));
    increments_.pop_back();
  }
  for (LogFile& file : increments_) history_.push_back(std::move(file));
  increments_ = std::move(kept);
}

}  // namespace redouble::inline v0_1::memory
