#include "redouble/core/korvet/topic_name.h"

#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/korvet/errors.h"

namespace redouble::inline v0_1::korvet {
namespace {

bool IsLegal(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-';
}

absl::Status Illegal(std::string_view name, std::string_view rule) {
  return MakeError(ErrorCode::kInvalidTopic,
                   absl::StrCat("the topic name \"", absl::CEscape(base::ToAbsl(name)), "\" ",
                                base::ToAbsl(rule)));
}

}  // namespace

absl::Status CheckTopicName(std::string_view name) {
  if (name.empty()) return Illegal(name, "is empty");
  if (name == "." || name == "..") return Illegal(name, "is reserved");
  if (name.size() > kMaxTopicNameBytes) return Illegal(name, "is longer than 249 characters");
  if (!std::all_of(name.begin(), name.end(), IsLegal)) {
    return Illegal(name, "has a character other than a-z, A-Z, 0-9, '.', '_' and '-'");
  }
  return absl::OkStatus();
}

}  // namespace redouble::inline v0_1::korvet
