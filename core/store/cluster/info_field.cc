#include "redouble/core/store/cluster/info_field.h"

#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::store {

std::string_view InfoField(std::string_view info, std::string_view name) {
  for (absl::string_view line : absl::StrSplit(base::ToAbsl(info), absl::ByAnyChar("\r\n"))) {
    if (absl::ConsumePrefix(&line, base::ToAbsl(name)) && absl::ConsumePrefix(&line, ":")) {
      return {line.data(), line.size()};
    }
  }
  return {};
}

}  // namespace redouble::inline v0_1::store
