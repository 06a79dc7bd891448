#include "redouble/sim/inspect/report.h"

#include <algorithm>
#include <array>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/table/key_type.h"
#include "redouble/sim/json/bytes.h"
#include "redouble/sim/operations/operation.h"

namespace redouble::inline v0_1::sim {
namespace {

using Row = std::array<std::string, 7>;

bool IsInBytes(const FamilyKeys& family) { return family.family->type == store::KeyType::kString; }

std::string SizeText(const FamilyKeys& family, int64_t size) {
  return absl::StrCat(size, IsInBytes(family) ? " B" : "");
}

std::string TtlText(const FamilyKeys& family) {
  if (!family.shortest_ttl_ms) return "-";
  const std::string shortest = absl::FormatDuration(absl::Milliseconds(*family.shortest_ttl_ms));
  const std::string longest = absl::FormatDuration(absl::Milliseconds(*family.longest_ttl_ms));
  return shortest == longest ? shortest : absl::StrCat(shortest, " .. ", longest);
}

std::string TypeText(const FamilyKeys& family) {
  const store::KeyType type = family.family->type;
  return std::string(type == store::KeyType::kNone ? "channel" : store::KeyTypeName(type));
}

std::string Plural(int64_t count, std::string_view one, std::string_view many) {
  return absl::StrCat(count, " ", base::ToAbsl(count == 1 ? one : many));
}

std::string FormatRows(const std::vector<Row>& rows) {
  std::array<size_t, std::tuple_size_v<Row>> widths = {};
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      const bool last = i + 1 == row.size();
      absl::StrAppend(&text, row[i], last ? "\n" : std::string(widths[i] - row[i].size() + 2, ' '));
    }
  }
  return text;
}

template <typename Action>
void ForEachKind(const Inspection& inspection, const Action& action) {
  for (size_t i = 0; i < kAnomalyKinds; ++i) {
    const auto kind = static_cast<AnomalyKind>(i);
    std::vector<const Anomaly*> listed;
    for (const Anomaly& anomaly : inspection.anomalies) {
      if (anomaly.kind == kind) listed.push_back(&anomaly);
    }
    action(kind, inspection.CountOf(kind), listed);
  }
}

}  // namespace

std::string InspectionTable(const Inspection& inspection) {
  std::vector<Row> rows = {{"FAMILY", "TYPE", "KEYS", "SIZE", "LARGEST", "TTL", "NO TTL"}};
  for (const FamilyKeys& family : inspection.families) {
    rows.push_back({std::string(family.family->id), TypeText(family), absl::StrCat(family.keys),
                    SizeText(family, family.size), SizeText(family, family.largest),
                    TtlText(family), absl::StrCat(family.without_ttl)});
  }
  int64_t anomalies = 0;
  for (const int64_t count : inspection.anomaly_counts) anomalies += count;
  std::string text = FormatRows(rows);
  absl::StrAppend(&text, Plural(inspection.keys, "key", "keys"), ", ",
                  Plural(anomalies, "anomaly", "anomalies"), "\n");
  ForEachKind(inspection, [&](AnomalyKind kind, int64_t count, const auto& listed) {
    if (count == 0) return;
    absl::StrAppend(&text, base::ToAbsl(AnomalyKindName(kind)), " (", count, ")\n");
    for (const Anomaly* anomaly : listed) {
      absl::StrAppend(&text, "  ", Json(EncodeBytes(anomaly->key)).dump(), "  ", anomaly->message,
                      "\n");
    }
    const int64_t more = count - static_cast<int64_t>(listed.size());
    if (more > 0) absl::StrAppend(&text, "  and ", more, " more\n");
  });
  return text;
}

std::string InspectionJson(const Inspection& inspection) {
  Json families = Json::array();
  for (const FamilyKeys& family : inspection.families) {
    Json row{{"family", std::string(family.family->id)},
             {"system", std::string(family.family->system)},
             {"type", TypeText(family)},
             {"keys", family.keys},
             {"size", family.size},
             {"unit", IsInBytes(family) ? "bytes" : "elements"},
             {"largest", family.largest},
             {"largest_key", EncodeBytes(family.largest_key)},
             {"without_ttl", family.without_ttl},
             {"ttl_ms", nullptr}};
    if (family.shortest_ttl_ms) {
      row["ttl_ms"] =
          Json{{"shortest", *family.shortest_ttl_ms}, {"longest", *family.longest_ttl_ms}};
    }
    families.push_back(std::move(row));
  }
  Json anomalies = Json::object();
  ForEachKind(inspection, [&](AnomalyKind kind, int64_t count, const auto& listed) {
    Json array = Json::array();
    for (const Anomaly* anomaly : listed) {
      array.push_back(Json{{"key", EncodeBytes(anomaly->key)}, {"message", anomaly->message}});
    }
    anomalies[std::string(AnomalyKindName(kind))] = Json{{"count", count}, {"listed", array}};
  });
  const Json report{{"keys", inspection.keys}, {"families", families}, {"anomalies", anomalies}};
  return report.dump(2) + "\n";
}

}  // namespace redouble::inline v0_1::sim
