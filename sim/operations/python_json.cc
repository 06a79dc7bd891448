#include "redouble/sim/operations/python_json.h"

#include "redouble/core/python/json.h"

namespace redouble::inline v0_1::scenarios {

using python::Value;
using sim::Json;

Value ToValue(const Json& json) {
  // Neither conversion loses anything by the detour over text, because each side reads what the
  // other writes.
  return python::ParseJson(
             json.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace))
      .value_or(Value());
}

Json ToJson(const Value& value) {
  const absl::StatusOr<std::string> text = python::PydanticJson(value);
  if (!text.ok()) return Json();
  Json json = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  return json.is_discarded() ? Json() : json;
}

Json ToJson(const std::optional<std::string>& text) { return text ? Json(*text) : Json(); }

}  // namespace redouble::inline v0_1::scenarios
