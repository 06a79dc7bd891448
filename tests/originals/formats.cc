// Answers requests for functions that reproduce formats of Python and Ruby, for formats_test.py.
//
// A request is a line "FUNCTION HEX" or "dumps:FLAGS HEX", where HEX are the bytes of the argument
// in hexadecimal. The answer is a line "ok HEX", "none", or "error CLASS" with the class of
// Python's exception.
#include <cstdint>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "redouble/core/base/text/hex.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/python/error.h"
#include "redouble/core/python/iso_time.h"
#include "redouble/core/python/json.h"
#include "redouble/core/python/text.h"
#include "redouble/core/threescale/text/timestamp.h"

namespace redouble::inline v0_1 {
namespace {

std::string Ok(std::string_view text) {
  return absl::StrCat("ok ", absl::BytesToHexString(base::ToAbsl(text)));
}

std::string Error(const absl::Status& status) {
  return absl::StrCat("error ", python::ErrorType(status).value_or("?"));
}

// The flags: 1 sorted, 2 compact, 4 ASCII.
std::string Dumps(std::string_view text, int flags) {
  const absl::StatusOr<python::Value> value = python::ParseJson(text);
  if (!value.ok()) return Error(value.status());
  const python::PyJsonOptions options = {
      .sorted = (flags & 1) != 0, .compact = (flags & 2) != 0, .ascii = (flags & 4) != 0};
  const absl::StatusOr<std::string> written = python::PyJson(*value, options);
  return written.ok() ? Ok(*written) : Error(written.status());
}

std::string Iso(std::string_view text) {
  const std::optional<python::DateTime> time = python::ParseDateTime(text);
  return time ? Ok(python::FormatIso(*time)) : "none";
}

std::string Seconds(std::string_view text) {
  const std::optional<absl::Time> time = threescale::ParseTimestamp(text);
  if (!time) return "none";
  constexpr int64_t kFar = 1'000'000'000'000'000;
  const int64_t seconds = absl::ToUnixSeconds(*time);
  return seconds > kFar || seconds < -kFar ? Ok("far") : Ok(absl::StrCat(seconds));
}

std::string Answer(std::string_view function, std::string_view argument) {
  constexpr std::string_view kDumps = "dumps:";
  if (function.starts_with(kDumps)) return Dumps(argument, function.back() - '0');
  if (function == "iso") return Iso(argument);
  if (function == "strip") return Ok(python::Strip(argument));
  if (function == "lower") return Ok(python::Lower(argument));
  if (function == "seconds") return Seconds(argument);
  return "unknown function";
}

int Main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    const size_t space = line.find(' ');
    const std::optional<std::string> argument =
        space == line.npos ? std::nullopt : base::HexToBytes(line.substr(space + 1));
    std::cout << (argument ? Answer(line.substr(0, space), *argument) : "malformed request")
              << "\n";
  }
  return 0;
}

}  // namespace
}  // namespace redouble::inline v0_1

int main() { return redouble::Main(); }
