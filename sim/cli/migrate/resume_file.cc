#include "redouble/sim/cli/migrate/resume_file.h"

#include <cstdint>
#include <fstream>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/keyspace/key_layout.h"
#include "redouble/sim/cli/support/scenario_files.h"

namespace redouble::inline v0_1::sim {

ResumeFile::ResumeFile(std::filesystem::path path, std::string_view system, LayoutPair layouts)
    : path_(std::move(path)),
      heading_(absl::StrCat(base::ToAbsl(system), " ",
                            base::ToAbsl(store::KeyLayoutName(layouts.from)), " ",
                            base::ToAbsl(store::KeyLayoutName(layouts.to)), " ")) {}

absl::StatusOr<std::string> ResumeFile::Read() const {
  std::error_code error;
  if (!std::filesystem::exists(path_, error)) return "0";
  REDOUBLE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path_));
  absl::string_view cursor = text;
  uint64_t number = 0;
  if (!absl::ConsumePrefix(&cursor, heading_) || !absl::ConsumeSuffix(&cursor, "\n") ||
      !absl::SimpleAtoi(cursor, &number)) {
    return absl::InvalidArgumentError(absl::StrCat("--resume: ", path_.string(), ": expected \"",
                                                   heading_, "CURSOR\", got \"",
                                                   absl::StripSuffix(text, "\n"), "\""));
  }
  return std::string(cursor);
}

absl::Status ResumeFile::Write(std::string_view cursor) const {
  std::error_code error;
  if (cursor == "0") {
    std::filesystem::remove(path_, error);
  } else {
    // A rename replaces the file at once: a kill leaves the old cursor or the new one.
    std::filesystem::path next = path_;
    next += ".next";
    std::ofstream file(next);
    file << heading_ << cursor << "\n";
    file.close();
    if (!file) error = std::make_error_code(std::errc::io_error);
    if (!error) std::filesystem::rename(next, path_, error);
  }
  if (!error) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("--resume: ", path_.string(), ": ", error.message()));
}

}  // namespace redouble::inline v0_1::sim
