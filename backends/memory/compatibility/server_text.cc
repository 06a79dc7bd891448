#include "redouble/backends/memory/compatibility/server_text.h"

#include "absl/strings/str_replace.h"
#include "redouble/backends/memory/compatibility/feature.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::memory {

std::string ServerText(const Compatibility& compatibility, std::string_view redis_text) {
  if (!compatibility.Has(Feature::kValkeyNames)) return std::string(redis_text);
  return absl::StrReplaceAll(base::ToAbsl(redis_text),
                             {{"Redis is ", "Valkey is "},
                              {"Redis ", ""},
                              {"Lua redis lib command arguments", "Command arguments"},
                              {"redis lib ", ""},
                              {"redis.", "server."},
                              {" Please use EVAL.", ""}});
}

}  // namespace redouble::inline v0_1::memory
