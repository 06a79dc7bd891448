#include "redouble/core/base/settings/variables.h"

#include <array>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::base {
namespace {

absl::Status Expected(std::string_view what, std::string_view value) {
  return absl::InvalidArgumentError(
      absl::StrCat("expected ", ToAbsl(what), ", got '", ToAbsl(value), "'"));
}

bool IsOneOf(std::string_view value, std::span<const std::string_view> words) {
  for (const std::string_view word : words) {
    if (absl::EqualsIgnoreCase(ToAbsl(value), ToAbsl(word))) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<int64_t> ParseInteger(std::string_view value, int64_t least) {
  int64_t number = 0;
  if (absl::SimpleAtoi(ToAbsl(value), &number) && number >= least) return number;
  if (least == kAnyInteger) return Expected("an integer", value);
  return Expected(absl::StrCat("an integer of at least ", least), value);
}

absl::StatusOr<absl::Duration> ParseSeconds(std::string_view value) {
  double seconds = 0;
  const bool parsed = absl::SimpleAtod(ToAbsl(value), &seconds);
  if (parsed && std::isfinite(seconds) && seconds > 0) return absl::Seconds(seconds);
  return Expected("a positive number of seconds", value);
}

absl::StatusOr<bool> ParseFlag(std::string_view value) {
  constexpr std::array<std::string_view, 4> kOn = {"1", "true", "yes", "on"};
  constexpr std::array<std::string_view, 4> kOff = {"0", "false", "no", "off"};
  if (IsOneOf(value, kOn)) return true;
  if (IsOneOf(value, kOff)) return false;
  return Expected("true or false", value);
}

bool IsOff(std::string_view value) {
  constexpr std::array<std::string_view, 4> kOff = {"", "none", "null", "off"};
  return IsOneOf(value, kOff);
}

namespace internal {

std::string_view StripBlanks(std::string_view value) {
  return ToStd(absl::StripAsciiWhitespace(ToAbsl(value)));
}

absl::Status AtVariable(std::string_view name, const absl::Status& status) {
  // The payload stays: it can be the class of an exception or the code of a protocol.
  absl::Status named(status.code(), absl::StrCat(ToAbsl(name), ": ", status.message()));
  status.ForEachPayload([&named](absl::string_view url, const absl::Cord& payload) {
    named.SetPayload(url, payload);
  });
  return named;
}

}  // namespace internal
}  // namespace redouble::inline v0_1::base
