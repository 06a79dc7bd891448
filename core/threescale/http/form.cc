#include "redouble/core/threescale/http/form.h"

#include "absl/strings/str_split.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/threescale/errors.h"
#include "redouble/core/threescale/text/query_text.h"

namespace redouble::inline v0_1::threescale {
namespace {

constexpr size_t kMostLevels = 32;

// Splits "a[b][]" into "a", "b" and "". What follows a part without brackets belongs to it.
std::vector<std::string_view> PathOf(std::string_view name) {
  std::vector<std::string_view> path;
  const size_t open = name.find('[');
  path.push_back(name.substr(0, open));
  while (name.find('[') != std::string_view::npos) {
    name.remove_prefix(name.find('[') + 1);
    const size_t close = name.find(']');
    path.push_back(name.substr(0, close));
    if (close == std::string_view::npos) break;
    name.remove_prefix(close + 1);
  }
  return path;
}

}  // namespace

const FormValue* FormValue::Find(std::string_view name) const {
  if (!is_map()) return nullptr;
  for (const auto& [member, value] : members_) {
    if (member == name) return &value;
  }
  return nullptr;
}

std::optional<std::string_view> FormValue::TextOf(std::string_view name) const {
  const FormValue* const value = Find(name);
  return value == nullptr ? std::nullopt : value->text();
}

// Puts parameters into a map.
class FormReader {
 public:
  FormReader() { form_.kind_ = FormValue::Kind::kMap; }

  absl::Status Put(std::string_view name, std::optional<std::string> text) {
    const std::vector<std::string_view> path = PathOf(name);
    if (path.size() > kMostLevels) return MakeError(ErrorCode::kBadRequest);
    FormValue* place = &form_;
    for (size_t i = 0; i < path.size(); ++i) {
      using Kind = FormValue::Kind;
      const bool lists = path[i].empty() && i > 0;
      const Kind kind = lists ? Kind::kList : Kind::kMap;
      if (place->kind_ == Kind::kNone) place->kind_ = kind;
      if (place->kind_ != kind) return MakeError(ErrorCode::kBadRequest);
      place = lists ? &place->members_.emplace_back().second : Member(*place, path[i]);
    }
    const bool leaf =
        place->kind_ == FormValue::Kind::kNone || place->kind_ == FormValue::Kind::kText;
    if (!leaf) return MakeError(ErrorCode::kBadRequest);
    place->kind_ = text ? FormValue::Kind::kText : FormValue::Kind::kNone;
    place->text_ = text.value_or("");
    return absl::OkStatus();
  }
  FormValue Take() { return std::move(form_); }

 private:
  static FormValue* Member(FormValue& map, std::string_view name) {
    for (auto& [member, value] : map.members_) {
      if (member == name) return &value;
    }
    return &map.members_.emplace_back(std::string(name), FormValue()).second;
  }

  FormValue form_;
};

absl::StatusOr<FormValue> ParseForm(std::string_view query) {
  FormReader reader;
  for (const absl::string_view part : absl::StrSplit(base::ToAbsl(query), '&', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> sides =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    const std::string name = DecodeQueryText(base::ToStd(sides.first));
    std::optional<std::string> text;
    if (sides.first.size() < part.size()) text = DecodeQueryText(base::ToStd(sides.second));
    REDOUBLE_RETURN_IF_ERROR(reader.Put(name, std::move(text)));
  }
  return reader.Take();
}

}  // namespace redouble::inline v0_1::threescale
