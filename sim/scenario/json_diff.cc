#include "sim/scenario/json_diff.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/base/string_bridge.h"
#include "sim/scenario/arguments.h"

namespace redouble::sim {
namespace {

constexpr std::string_view kNothing = "nothing";

JsonDifference Different(std::string path, const Json* expected, const Json* got) {
  const auto text = [](const Json* value) {
    return value == nullptr ? std::string(kNothing) : value->dump();
  };
  return JsonDifference{std::move(path), text(expected), text(got)};
}

std::string Below(std::string_view path, std::string_view name) {
  return absl::StrCat(base::ToAbsl(path), PointerPart(name));
}

std::optional<JsonDifference> CompareObjects(const Json& expected, const Json& got,
                                             std::string_view path) {
  for (const auto& [name, value] : expected.items()) {
    const auto found = got.find(name);
    if (found == got.end()) return Different(Below(path, name), &value, nullptr);
    if (auto difference = FindDifference(value, *found, Below(path, name))) return difference;
  }
  for (const auto& [name, value] : got.items()) {
    if (!expected.contains(name)) return Different(Below(path, name), nullptr, &value);
  }
  return std::nullopt;
}

std::optional<JsonDifference> CompareArrays(const Json& expected, const Json& got,
                                            std::string_view path) {
  const size_t size = std::max(expected.size(), got.size());
  for (size_t i = 0; i < size; ++i) {
    const std::string place = absl::StrCat(base::ToAbsl(path), "/", i);
    if (i >= got.size()) return Different(place, &expected[i], nullptr);
    if (i >= expected.size()) return Different(place, nullptr, &got[i]);
    if (auto difference = FindDifference(expected[i], got[i], place)) return difference;
  }
  return std::nullopt;
}

}  // namespace

std::optional<JsonDifference> FindDifference(const Json& expected, const Json& got,
                                             std::string_view path) {
  if (expected.is_object() && got.is_object()) return CompareObjects(expected, got, path);
  if (expected.is_array() && got.is_array()) return CompareArrays(expected, got, path);
  if (expected == got) return std::nullopt;
  return Different(std::string(path), &expected, &got);
}

}  // namespace redouble::sim
