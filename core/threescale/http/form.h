// Parameters of queries and forms, with nested names as Ruby's Rack reads them.
//
//   absl::StatusOr<FormValue> form = ParseForm("app_id=a&usage[hits]=2");
//   form->TextOf("app_id")                  // "a"
//   form->Find("usage")->TextOf("hits")     // "2"
//
// Thread-safety: plain values and pure functions.
// Source: docs/systems/threescale.md 4.27.
#ifndef REDOUBLE_CORE_THREESCALE_HTTP_FORM_H_
#define REDOUBLE_CORE_THREESCALE_HTTP_FORM_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace redouble::inline v0_1::threescale {

// A parameter: nothing ("a" without "="), a text, a map ("a[b]=c") or a list ("a[]=c").
class FormValue {
 public:
  enum class Kind { kNone, kText, kMap, kList };
  using Members = std::vector<std::pair<std::string, FormValue>>;

  Kind kind() const { return kind_; }
  bool is_map() const { return kind_ == Kind::kMap; }
  // The text; nullopt for another kind.
  std::optional<std::string_view> text() const {
    return kind_ == Kind::kText ? std::optional<std::string_view>(text_) : std::nullopt;
  }
  // The members of a map in the order of their first appearance, or the elements of a list, whose
  // names are empty.
  const Members& members() const { return members_; }
  // The member of a map, or null if it has none or is no map.
  const FormValue* Find(std::string_view name) const;
  // The text of a member; nullopt if there is no such member or it is no text.
  std::optional<std::string_view> TextOf(std::string_view name) const;

 private:
  friend class FormReader;

  Kind kind_ = Kind::kNone;
  std::string text_;
  Members members_;
};

// Returns the parameters as a map. Of a repeated name the last value counts, at the first position.
// Parts are separated by `&`. Errors: BadRequest for a name that is used as two kinds, such as
// "a=1&a[b]=2", and for more than 32 levels.
absl::StatusOr<FormValue> ParseForm(std::string_view query);

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_HTTP_FORM_H_
