#include "redouble/backends/memory/scripting/shebang.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "redouble/backends/memory/compatibility/feature.h"
#include "redouble/core/base/text/quoted_words.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::memory {
namespace {

using store::Reply;

Reply Error(absl::string_view what, absl::string_view word) {
  return Reply::Error(base::ToStd(absl::StrCat("ERR ", what, word)));
}

std::optional<Reply> ReadFlags(absl::string_view list, ScriptFlags& flags) {
  if (list.empty()) return std::nullopt;
  for (const absl::string_view word : absl::StrSplit(list, ',')) {
    const auto* row =
        std::find_if(std::begin(kScriptFlags), std::end(kScriptFlags),
                     [&](const ScriptFlagRow& known) { return known.name == base::ToStd(word); });
    if (row == std::end(kScriptFlags)) return Error("Unexpected flag in script shebang: ", word);
    flags.*(row->member) = true;
  }
  return std::nullopt;
}

}  // namespace

Shebang ReadShebang(std::string_view body, const Compatibility& compatibility) {
  if (!body.starts_with("#!")) return {.flags = {}, .code = body, .error = std::nullopt};
  // Like Redis, reads a C string.
  const size_t end = body.substr(0, body.find('\0')).find('\n');
  if (end == std::string_view::npos) {
    return {.flags = {}, .code = {}, .error = Reply::Error("ERR Invalid script shebang")};
  }
  Shebang shebang{.flags = {.declared = true}, .code = body.substr(end), .error = std::nullopt};
  const std::optional<std::vector<std::string>> words = base::SplitQuotedWords(body.substr(0, end));
  if (!words) {
    shebang.error = Error("Invalid engine in script shebang", "");
    return shebang;
  }
  if (words->front() != "#!lua") {
    shebang.error = compatibility.Has(Feature::kScriptEngines)
                        ? Error("Could not find scripting engine '",
                                words->front().substr(std::string_view("#!").size()) + "'")
                        : Error("Unexpected engine in script shebang: ", words->front());
    return shebang;
  }
  for (size_t i = 1; i < words->size() && !shebang.error; ++i) {
    constexpr std::string_view kPrefix = "flags=";
    const std::string_view word = (*words)[i];
    if (word.starts_with(kPrefix)) {
      shebang.error = ReadFlags(base::ToAbsl(word.substr(kPrefix.size())), shebang.flags);
    } else {
      shebang.error = Error("Unknown lua shebang option: ", base::ToAbsl(word));
    }
  }
  return shebang;
}

}  // namespace redouble::inline v0_1::memory
