// A number that an absl::Status carries as a payload, such as the code of a documented error.
//
// The error tables of the systems (core/gateway/errors.h, core/korvet/errors.h) attach their codes
// with it, so that callers can tell errors with the same status code apart.
//
//   SetStatusNumber(status, "redouble/korvet/error-code", 3);
//   StatusNumber(status, "redouble/korvet/error-code")   // 3
//
// Thread-safety: pure functions; `status` as any absl::Status.
#ifndef REDOUBLE_CORE_BASE_STATUS_STATUS_NUMBER_H_
#define REDOUBLE_CORE_BASE_STATUS_STATUS_NUMBER_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace redouble::inline v0_1::base {

// Attaches `number` under `type_url`, which replaces an earlier one. No effect if `status` is OK.
inline void SetStatusNumber(absl::Status& status, absl::string_view type_url, int number) {
  // Not a Cord of the string: clang 19 has another name for that function than g++'s archives.
  const std::string text = absl::StrCat(number);
  status.SetPayload(type_url, absl::Cord(absl::string_view(text)));
}

// Returns the number under `type_url`; nullopt if `status` has none.
inline std::optional<int> StatusNumber(const absl::Status& status, absl::string_view type_url) {
  const absl::optional<absl::Cord> payload = status.GetPayload(type_url);
  int number = 0;
  if (!payload || !absl::SimpleAtoi(std::string(*payload), &number)) return std::nullopt;
  return number;
}

}  // namespace redouble::inline v0_1::base

#endif  // REDOUBLE_CORE_BASE_STATUS_STATUS_NUMBER_H_
