#include "redouble/sim/inspect/rules_file.h"

#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/sim/inspect/rule_table.h"
#include "redouble/sim/json/strict_json.h"
#include "redouble/sim/operations/arguments.h"

namespace redouble::inline v0_1::sim {

struct RulesFile::Data {
  // Keeps a text at one address.
  std::string_view Keep(std::string text) { return texts.emplace_back(std::move(text)); }

  std::deque<std::string> texts;
  std::vector<store::KeyFamily> families;
  std::vector<store::KeyBinding> defaults;
  std::vector<store::KeyRelation> relations;
  std::vector<store::ExpiringKeys> expiring;
};

namespace {

constexpr std::string_view kChannel = "channel";

store::KeyType ReadType(ArgumentReader& reader) {
  const std::string name = reader.String("type");
  if (name == kChannel) return store::KeyType::kNone;
  const std::optional<store::KeyType> type = store::ParseKeyType(name);
  if (type && *type != store::KeyType::kNone) return *type;
  reader.Refuse("type", absl::StrCat("unknown type \"", name,
                                     "\"; known: string, list, set, zset, hash, stream, channel"));
  return store::KeyType::kNone;
}

std::optional<absl::Duration> ReadTtl(ArgumentReader& reader) {
  const std::optional<std::string> text = reader.OptionalString("ttl");
  if (!text) return std::nullopt;
  absl::Duration ttl;
  if (absl::ParseDuration(*text, &ttl) && ttl > absl::ZeroDuration()) return ttl;
  reader.Refuse("ttl", absl::StrCat("expected a duration such as \"30m\", got \"", *text, "\""));
  return std::nullopt;
}

// Calls `read` for each element of the array `name`, which must consist of objects.
void ForEach(ArgumentReader& file, std::string_view name,
             const std::function<void(ArgumentReader&)>& read) {
  const Json* const list = file.Find(name);
  if (list == nullptr) return;
  if (!list->is_array()) return file.Refuse(name, "expected an array of objects");
  size_t index = 0;
  for (const Json& element : *list) {
    const std::string path = absl::StrCat("/", std::string(name), "/", index++);
    if (!element.is_object()) {
      file.Refuse(name, "expected an array of objects");
      continue;
    }
    ArgumentReader reader(element, path);
    read(reader);
    file.Add(reader.Finish());
  }
}

}  // namespace

RulesFile::RulesFile(std::unique_ptr<Data> data) : data_(std::move(data)) {}
RulesFile::RulesFile(RulesFile&&) noexcept = default;
RulesFile& RulesFile::operator=(RulesFile&&) noexcept = default;
RulesFile::~RulesFile() = default;

absl::StatusOr<RulesFile> RulesFile::Parse(std::string_view text) {
  REDOUBLE_ASSIGN_OR_RETURN(const Json json, ParseStrictJson(text));
  if (!json.is_object()) return absl::InvalidArgumentError("expected an object");
  auto data = std::make_unique<Data>();
  ArgumentReader file(json);
  const std::string_view system = data->Keep(file.String("system"));
  file.Any("families");
  const auto keep = [&data](std::optional<std::string> text) {
    return data->Keep(std::move(text).value_or(""));
  };
  ForEach(file, "families", [&](ArgumentReader& reader) {
    store::KeyFamily family;
    family.system = system;
    family.id = data->Keep(reader.String("id"));
    family.pattern = data->Keep(reader.String("pattern"));
    family.type = ReadType(reader);
    family.ttl = ReadTtl(reader);
    family.ttl_rule = keep(reader.OptionalString("ttl_rule"));
    family.lifecycle = keep(reader.OptionalString("lifecycle"));
    family.purpose = keep(reader.OptionalString("purpose"));
    family.source = keep(reader.OptionalString("source"));
    family.overlaps = keep(reader.OptionalString("overlaps"));
    data->families.push_back(family);
  });
  ForEach(file, "relations", [&](ArgumentReader& reader) {
    const std::string_view family = data->Keep(reader.String("family"));
    const std::string_view needs = data->Keep(reader.String("needs"));
    data->relations.push_back({family, needs, data->Keep(reader.String("without"))});
  });
  ForEach(file, "expiring", [&](ArgumentReader& reader) {
    const std::string_view family = data->Keep(reader.String("family"));
    const std::string_view placeholder = keep(reader.OptionalString("placeholder"));
    data->expiring.push_back({family, placeholder, keep(reader.OptionalString("value"))});
  });
  if (const Json* const defaults = file.Find("defaults")) {
    if (!defaults->is_object()) {
      file.Refuse("defaults", "expected an object");
    } else {
      ArgumentReader reader(*defaults, "/defaults");
      for (const auto& [name, value] : defaults->items()) {
        data->defaults.push_back({data->Keep(name), data->Keep(reader.String(name))});
      }
      file.Add(reader.Finish());
    }
  }
  REDOUBLE_RETURN_IF_ERROR(file.Finish());
  RulesFile rules(std::move(data));
  REDOUBLE_RETURN_IF_ERROR(RuleTable::Create({{rules.rules()}}).status());
  return rules;
}

store::KeyRules RulesFile::rules() const {
  return {.families = data_->families,
          .defaults = data_->defaults,
          .relations = data_->relations,
          .expiring = data_->expiring};
}

}  // namespace redouble::inline v0_1::sim
