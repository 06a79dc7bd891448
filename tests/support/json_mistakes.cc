#include "redouble/tests/support/json_mistakes.h"

#include <vector>

namespace redouble::inline v0_1::tests {
namespace {

using sim::Json;
using Place = Json::json_pointer;

void CollectPlaces(const Json& json, const Place& at, std::vector<Place>& places) {
  places.push_back(at);
  if (json.is_object()) {
    for (const auto& [name, value] : json.items()) CollectPlaces(value, at / name, places);
  } else if (json.is_array()) {
    for (size_t i = 0; i < json.size(); ++i) CollectPlaces(json[i], at / i, places);
  }
}

}  // namespace

void ForEachMistake(const Json& good, const std::function<void(const Json&)>& visit) {
  const std::vector<Json> mistakes = {nullptr, true,   -1,          1e300,         0.5,
                                      "",      "none", "bytes:\\x", Json::array(), Json::object()};
  std::vector<Place> places;
  CollectPlaces(good, Place(), places);
  for (const Place& place : places) {
    for (const Json& mistake : mistakes) {
      Json bad = good;
      bad[place] = mistake;
      visit(bad);
    }
  }
}

}  // namespace redouble::inline v0_1::tests
