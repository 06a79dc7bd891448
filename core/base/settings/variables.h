// Variables: reads a settings structure from names and values, such as environment variables.
//
// A system declares one row for each name; ReadVariables fills the structure. kUrl and kLimit are
// pointers to members of Settings:
//
//   constexpr std::array kRows = {VariableRow<Settings>{"SERVER_URL", ReadText<kUrl>},
//                                 VariableRow<Settings>{"SERVER_LIMIT", ReadInteger<kLimit>}};
//   absl::StatusOr<Settings> settings = ReadVariables<Settings>(kRows, variables);
//
// White space around a value is removed. A blank value means the default, except for an optional
// member, which is off if the value is blank, "none", "null" or "off". Names without a row are
// ignored. Of a repeated name the last value counts.
//
// Thread-safety: pure functions.
#ifndef REDOUBLE_CORE_BASE_SETTINGS_VARIABLES_H_
#define REDOUBLE_CORE_BASE_SETTINGS_VARIABLES_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/status/status_macros.h"

namespace redouble::inline v0_1::base {

// A name and its value.
using Variables = std::span<const std::pair<std::string_view, std::string_view>>;

// The least value of a row that takes every integer.
inline constexpr int64_t kAnyInteger = std::numeric_limits<int64_t>::min();

// Parse one value. Errors: InvalidArgument that says what was expected and what was found.
absl::StatusOr<int64_t> ParseInteger(std::string_view value, int64_t least);
// A positive, finite number of seconds, also with decimals.
absl::StatusOr<absl::Duration> ParseSeconds(std::string_view value);
// On: 1, true, yes, on. Off: 0, false, no, off. In any case.
absl::StatusOr<bool> ParseFlag(std::string_view value);
// Whether the value turns an optional member off: blank, "none", "null" or "off", in any case.
bool IsOff(std::string_view value);

// One name of a settings structure, and how its value is read. `value` has no white space around
// it.
template <typename Settings>
struct VariableRow {
  std::string_view name;
  absl::Status (*read)(std::string_view value, Settings& settings);
};

namespace internal {

std::string_view StripBlanks(std::string_view value);
// The error with the name before its message.
absl::Status AtVariable(std::string_view name, const absl::Status& status);

template <typename T>
struct MemberOf;
template <typename Settings, typename Value>
struct MemberOf<Value Settings::*> {
  using Owner = Settings;
};

// The structure that a pointer to a member belongs to.
template <auto kMember>
using Owner = typename MemberOf<decltype(kMember)>::Owner;

}  // namespace internal

// Reads a text. As the readers below, keeps the default if the value is blank.
template <auto kMember>
absl::Status ReadText(std::string_view value, internal::Owner<kMember>& settings) {
  if (!value.empty()) settings.*kMember = std::string(value);
  return absl::OkStatus();
}

// Reads an integer of at least kLeast.
template <auto kMember, int64_t kLeast = 1>
absl::Status ReadInteger(std::string_view value, internal::Owner<kMember>& settings) {
  if (value.empty()) return absl::OkStatus();
  REDOUBLE_ASSIGN_OR_RETURN(settings.*kMember, ParseInteger(value, kLeast));
  return absl::OkStatus();
}

// Reads an absl::Duration, as ParseSeconds.
template <auto kMember>
absl::Status ReadSeconds(std::string_view value, internal::Owner<kMember>& settings) {
  if (value.empty()) return absl::OkStatus();
  REDOUBLE_ASSIGN_OR_RETURN(settings.*kMember, ParseSeconds(value));
  return absl::OkStatus();
}

// Reads a bool, as ParseFlag.
template <auto kMember>
absl::Status ReadFlag(std::string_view value, internal::Owner<kMember>& settings) {
  if (value.empty()) return absl::OkStatus();
  REDOUBLE_ASSIGN_OR_RETURN(settings.*kMember, ParseFlag(value));
  return absl::OkStatus();
}

// Reads an optional integer of at least kLeast; IsOff makes it nullopt.
template <auto kMember, int64_t kLeast = 1>
absl::Status ReadOptionalInteger(std::string_view value, internal::Owner<kMember>& settings) {
  settings.*kMember = std::nullopt;
  return IsOff(value) ? absl::OkStatus() : ReadInteger<kMember, kLeast>(value, settings);
}

// Reads an optional absl::Duration; IsOff makes it nullopt.
template <auto kMember>
absl::Status ReadOptionalSeconds(std::string_view value, internal::Owner<kMember>& settings) {
  settings.*kMember = std::nullopt;
  return IsOff(value) ? absl::OkStatus() : ReadSeconds<kMember>(value, settings);
}

// Returns the defaults of `Settings`, changed by the variables. Errors: InvalidArgument that begins
// with the name of the variable.
template <typename Settings, typename Rows>
absl::StatusOr<Settings> ReadVariables(const Rows& rows, Variables variables) {
  Settings settings;
  for (const auto& [name, value] : variables) {
    for (const VariableRow<Settings>& row : rows) {
      if (row.name != name) continue;
      const absl::Status read = row.read(internal::StripBlanks(value), settings);
      if (!read.ok()) return internal::AtVariable(name, read);
    }
  }
  return settings;
}

}  // namespace redouble::inline v0_1::base

#endif  // REDOUBLE_CORE_BASE_SETTINGS_VARIABLES_H_
