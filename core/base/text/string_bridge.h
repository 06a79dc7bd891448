// Converts between std::string_view and absl::string_view.
//
// Debian's Abseil has a string_view of its own. Public headers of the project use std::string_view;
// call these functions where a view is passed to Abseil or returned by it. They do not copy.
//
//   absl::StrCat("key ", base::ToAbsl(key))
//
// Thread-safety: pure functions.
#ifndef REDOUBLE_CORE_BASE_TEXT_STRING_BRIDGE_H_
#define REDOUBLE_CORE_BASE_TEXT_STRING_BRIDGE_H_

#include <string_view>

#include "absl/strings/string_view.h"

namespace redouble::inline v0_1::base {

// Return the same view as the other type.
inline absl::string_view ToAbsl(std::string_view text) {
  return absl::string_view(text.data(), text.size());
}
inline std::string_view ToStd(absl::string_view text) {
  return std::string_view(text.data(), text.size());
}

}  // namespace redouble::inline v0_1::base

#endif  // REDOUBLE_CORE_BASE_TEXT_STRING_BRIDGE_H_
