#include "redouble/backends/memory/scripting/shebang.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::memory {
namespace {

using store::Reply;

Reply Error(absl::string_view what, absl::string_view word) {
  return Reply::Error(base::ToStd(absl::StrCat("ERR ", what, word)));
}

std::optional<Reply> ReadFlags(absl::string_view list, ScriptFlags& flags) {
  for (const absl::string_view word : absl::StrSplit(list, ',', absl::SkipEmpty())) {
    const auto* row =
        std::find_if(std::begin(kScriptFlags), std::end(kScriptFlags),
                     [&](const ScriptFlagRow& known) { return known.name == base::ToStd(word); });
    if (row == std::end(kScriptFlags)) return Error("Unexpected flag in script shebang: ", word);
    flags.*(row->member) = true;
  }
  return std::nullopt;
}

}  // namespace

Shebang ReadShebang(std::string_view body) {
  if (!body.starts_with("#!")) return {.flags = {}, .code = body, .error = std::nullopt};
  const size_t end = body.find('\n');
  if (end == std::string_view::npos) {
    return {.flags = {}, .code = {}, .error = Reply::Error("ERR Invalid script shebang")};
  }
  Shebang shebang{.flags = {.declared = true}, .code = body.substr(end), .error = std::nullopt};
  const std::vector<absl::string_view> words = absl::StrSplit(
      base::ToAbsl(body.substr(0, end)), absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
  if (words[0] != "#!lua") {
    shebang.error = Error("Unexpected engine in script shebang: ", words[0]);
    return shebang;
  }
  for (size_t i = 1; i < words.size() && !shebang.error; ++i) {
    constexpr absl::string_view kPrefix = "flags=";
    if (words[i].substr(0, kPrefix.size()) == kPrefix) {
      shebang.error = ReadFlags(words[i].substr(kPrefix.size()), shebang.flags);
    } else {
      shebang.error = Error("Unknown lua shebang option: ", words[i]);
    }
  }
  return shebang;
}

}  // namespace redouble::memory
