#include "scenarios/operations/python_json.h"

#include "core/python/json.h"

namespace redouble::scenarios {

using python::Value;
using sim::Json;

Value ToValue(const Json& json) {
  // Both sides agree on the text: what the one writes the other reads.
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

}  // namespace redouble::scenarios
