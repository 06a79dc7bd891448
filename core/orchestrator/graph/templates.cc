#include "redouble/core/orchestrator/graph/templates.h"

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/orchestrator/document_reader.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

constexpr std::string_view kReference = "$nodes.";

// "fetch.links.0" as a node and a path.
struct Reference {
  std::string_view node;
  std::vector<std::string_view> path;
};

std::optional<Reference> ParseReference(std::string_view text) {
  if (!text.starts_with(kReference)) return std::nullopt;
  text.remove_prefix(kReference.size());
  Reference reference;
  bool first = true;
  for (const absl::string_view part : absl::StrSplit(base::ToAbsl(text), '.')) {
    if (part.empty()) return std::nullopt;
    if (first) {
      reference.node = base::ToStd(part);
    } else {
      reference.path.push_back(base::ToStd(part));
    }
    first = false;
  }
  if (!IsId(reference.node)) return std::nullopt;
  return reference;
}

// The member or element of that name; null if there is none.
const Json* Member(const Json& value, std::string_view name) {
  if (value.is_object()) {
    const auto found = value.find(name);
    return found == value.end() ? nullptr : &*found;
  }
  size_t index = 0;
  if (!value.is_array() || !absl::SimpleAtoi(base::ToAbsl(name), &index)) return nullptr;
  return index < value.size() ? &value[index] : nullptr;
}

// Visits the references of a document, and replaces those that have a value.
class Resolver {
 public:
  explicit Resolver(std::span<const NodeOutput> outputs) {
    for (const NodeOutput& output : outputs) {
      Json json = Json::parse(output.output_json, nullptr, /*allow_exceptions=*/false);
      if (!json.is_discarded()) outputs_.emplace(output.node_id, std::move(json));
    }
  }

  const std::set<std::string>& referenced() const { return referenced_; }
  bool replaced() const { return replaced_; }

  void Visit(Json& value) {
    if (value.is_string()) {
      VisitText(value);
    } else if (value.is_structured()) {
      for (Json& child : value) Visit(child);
    }
  }

 private:
  void VisitText(Json& value) {
    const std::string text = value.get<std::string>();
    if (ParseReference(text)) {
      if (const Json* const found = Find(text)) {
        value = Json(*found);
        replaced_ = true;
      }
      return;
    }
    value = Interpolated(text);
  }

  std::string Interpolated(std::string_view text) {
    constexpr std::string_view kBegin = "${";
    std::string result;
    while (true) {
      const size_t begin = text.find(kBegin);
      const size_t end = begin == text.npos ? text.npos : text.find('}', begin);
      if (end == text.npos) return result.append(text);
      const std::string_view inner =
          text.substr(begin + kBegin.size(), end - begin - kBegin.size());
      const Json* const found = ParseReference(inner) ? Find(inner) : nullptr;
      if (found == nullptr) {
        result.append(text.substr(0, end + 1));
      } else {
        result.append(text.substr(0, begin));
        result.append(found->is_string() ? found->get<std::string>() : found->dump());
        replaced_ = true;
      }
      text.remove_prefix(end + 1);
    }
  }

  const Json* Find(std::string_view text) {
    const std::optional<Reference> reference = ParseReference(text);
    referenced_.emplace(reference->node);
    const auto output = outputs_.find(reference->node);
    if (output == outputs_.end()) return nullptr;
    const Json* value = &output->second;
    for (const std::string_view name : reference->path) {
      value = Member(*value, name);
      if (value == nullptr) return nullptr;
    }
    return value;
  }

  std::map<std::string, Json, std::less<>> outputs_;
  std::set<std::string> referenced_;
  bool replaced_ = false;
};

}  // namespace

std::vector<std::string> ReferencedNodes(std::string_view config_json) {
  // Most configurations have no reference, and need not be parsed.
  if (config_json.find(kReference) == config_json.npos) return {};
  Json config = Json::parse(config_json, nullptr, /*allow_exceptions=*/false);
  Resolver resolver({});
  if (!config.is_discarded()) resolver.Visit(config);
  return {resolver.referenced().begin(), resolver.referenced().end()};
}

std::string ResolveTemplates(std::string_view config_json, std::span<const NodeOutput> outputs) {
  Json config = Json::parse(config_json, nullptr, /*allow_exceptions=*/false);
  if (config.is_discarded()) return std::string(config_json);
  Resolver resolver(outputs);
  resolver.Visit(config);
  if (!resolver.replaced()) return std::string(config_json);
  const absl::StatusOr<std::string> text = JsonText(config);
  return text.ok() ? *text : std::string(config_json);
}

}  // namespace redouble::inline v0_1::orchestrator
