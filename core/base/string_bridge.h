// The one bridge between std::string_view and Debian's absl::string_view, which are different
// types there. Public headers of the project speak std::string_view; these two functions stand
// where a view goes into Abseil or comes out of it, and cost nothing.
//
//   absl::StrCat("key ", base::ToAbsl(key))
#ifndef REDOUBLE_CORE_BASE_STRING_BRIDGE_H_
#define REDOUBLE_CORE_BASE_STRING_BRIDGE_H_

#include <string_view>

#include "absl/strings/string_view.h"

namespace redouble::base {

inline absl::string_view ToAbsl(std::string_view text) {
  return absl::string_view(text.data(), text.size());
}

inline std::string_view ToStd(absl::string_view text) {
  return std::string_view(text.data(), text.size());
}

}  // namespace redouble::base

#endif  // REDOUBLE_CORE_BASE_STRING_BRIDGE_H_
