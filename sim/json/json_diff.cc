#include "redouble/sim/json/json_diff.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/json/json_reading.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::sim {
namespace {

constexpr std::string_view kNothing = "nothing";

JsonDifference Different(std::string path, const Json* expected, const Json* got) {
  const auto text = [](const Json* value) {
    return value == nullptr ? std::string(kNothing) : value->dump();
  };
  return JsonDifference{std::move(path), text(expected), text(got)};
}

std::string Below(std::string_view path, std::string_view name) {
  return absl::StrCat(base::ToAbsl(path), base::PointerPart(name));
}

// Collects differences up to a limit.
class Comparison {
 public:
  explicit Comparison(size_t limit) : limit_(limit) {}

  void Compare(const Json& expected, const Json& got, std::string_view path) {
    if (expected.is_object() && got.is_object()) return CompareObjects(expected, got, path);
    if (expected.is_array() && got.is_array()) return CompareArrays(expected, got, path);
    if (expected != got) Add(std::string(path), &expected, &got);
  }

  std::vector<JsonDifference> Take() { return std::move(found_); }

 private:
  bool is_full() const { return found_.size() >= limit_; }
  void Add(std::string path, const Json* expected, const Json* got) {
    if (!is_full()) found_.push_back(Different(std::move(path), expected, got));
  }

  void CompareObjects(const Json& expected, const Json& got, std::string_view path) {
    for (const auto& [name, value] : expected.items()) {
      if (is_full()) return;
      const auto found = got.find(name);
      if (found == got.end()) {
        Add(Below(path, name), &value, nullptr);
      } else {
        Compare(value, *found, Below(path, name));
      }
    }
    for (const auto& [name, value] : got.items()) {
      if (!expected.contains(name)) Add(Below(path, name), nullptr, &value);
    }
  }

  void CompareArrays(const Json& expected, const Json& got, std::string_view path) {
    const size_t size = std::max(expected.size(), got.size());
    for (size_t i = 0; i < size && !is_full(); ++i) {
      const std::string place = absl::StrCat(base::ToAbsl(path), "/", i);
      if (i >= got.size()) {
        Add(place, &expected[i], nullptr);
      } else if (i >= expected.size()) {
        Add(place, nullptr, &got[i]);
      } else {
        Compare(expected[i], got[i], place);
      }
    }
  }

  const size_t limit_;
  std::vector<JsonDifference> found_;
};

}  // namespace

std::vector<JsonDifference> FindDifferences(const Json& expected, const Json& got,
                                            std::string_view path, size_t limit) {
  Comparison comparison(limit);
  comparison.Compare(expected, got, path);
  return comparison.Take();
}

std::optional<JsonDifference> FindDifference(const Json& expected, const Json& got,
                                             std::string_view path) {
  std::vector<JsonDifference> found = FindDifferences(expected, got, path, 1);
  if (found.empty()) return std::nullopt;
  return std::move(found.front());
}

}  // namespace redouble::inline v0_1::sim
