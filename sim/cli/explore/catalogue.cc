#include "redouble/sim/cli/explore/catalogue.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/sim/cli/support/scenario_files.h"
#include "redouble/sim/json/strict_json.h"
#include "redouble/sim/operations/arguments.h"

namespace redouble::inline v0_1::sim {
namespace {

constexpr char kTableBegins[] = "<!-- catalogue -->";
constexpr char kTableEnds[] = "<!-- end of catalogue -->";
constexpr char kDocumented[] = "documented.jsonl";

absl::StatusOr<DocumentedHazard> ParseDocumentedHazard(std::string_view line) {
  REDOUBLE_ASSIGN_OR_RETURN(const Json json, ParseStrictJson(line));
  ArgumentReader fields(json);
  DocumentedHazard row;
  row.source = fields.String("source");
  if (fields.Find("scenarios") != nullptr) row.scenarios = fields.Strings("scenarios");
  row.hazard = fields.OptionalString("hazard").value_or("");
  row.reason = fields.OptionalString("reason").value_or("");
  row.option = fields.OptionalString("option").value_or("");
  row.no_option = fields.OptionalString("no_option").value_or("");
  if (row.hazard.empty() != row.reason.empty()) {
    fields.Refuse("reason", "a hazard and a reason come together");
  }
  if (row.option.empty() == row.no_option.empty()) {
    fields.Refuse("option", "expected either an option or the reason why there is none");
  }
  REDOUBLE_RETURN_IF_ERROR(fields.Finish());
  return row;
}

std::string SpaceOf(const WorldSurvey& survey) {
  if (survey.complete) return absl::StrCat("all ", survey.schedules, ", ", survey.failing, " fail");
  if (survey.complete_bound < 0) return "";
  return absl::StrCat("complete up to ", survey.complete_bound);
}

}  // namespace

absl::StatusOr<std::vector<DocumentedHazard>> ParseDocumentedHazards(std::string_view text) {
  std::vector<DocumentedHazard> rows;
  std::set<std::string> sources;
  size_t number = 0;
  for (const absl::string_view line : absl::StrSplit(base::ToAbsl(text), '\n')) {
    ++number;
    if (line.empty()) continue;
    absl::StatusOr<DocumentedHazard> row = ParseDocumentedHazard(base::ToStd(line));
    if (row.ok() && !sources.insert(row->source).second) {
      row = absl::InvalidArgumentError(absl::StrCat(row->source, " is there twice"));
    }
    if (!row.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", number, ": ", row.status().message()));
    }
    rows.push_back(*std::move(row));
  }
  return rows;
}

Catalogue::Catalogue(std::filesystem::path folder, std::string file)
    : folder_(std::move(folder)), file_(std::move(file)) {}

void Catalogue::Add(const Row& row) { rows_.push_back(row); }

std::string Catalogue::LinkTo(std::string_view name) const {
  const std::filesystem::path table(file_);
  return std::filesystem::path(name).lexically_relative(table.parent_path()).string();
}

std::string Catalogue::TableOfWorlds() const {
  std::string table =
      "| race | source | fails | in serial orders | fewest | schedules | with the remedy |\n"
      "| --- | --- | --- | --- | --- | --- | --- |\n";
  for (const Row& row : rows_) {
    const WorldSurvey& survey = row.survey;
    absl::StrAppend(&table, "| [", row.name, "](", LinkTo(row.file), ") | ", row.source, " | ",
                    survey.random_failing, " of ", survey.random_schedules, " | ",
                    survey.serial_failing, " of ", survey.serial_orders, " | ",
                    survey.fewest ? absl::StrCat(*survey.fewest) : "not found", " | ",
                    SpaceOf(survey), " | ", row.hardened, " |\n");
  }
  return table;
}

std::string Catalogue::TableOfHazards(std::span<const DocumentedHazard> hazards) const {
  std::multimap<std::string, std::string> evidence;
  for (const Row& row : rows_) evidence.emplace(row.source, LinkTo(row.file));
  for (const DocumentedHazard& hazard : hazards) {
    for (const std::string& link : hazard.scenarios) evidence.emplace(hazard.source, link);
  }
  const auto has_option = [](const DocumentedHazard& hazard) { return !hazard.option.empty(); };
  const auto with = std::count_if(hazards.begin(), hazards.end(), has_option);
  std::string table = absl::StrCat(
      "Of ", hazards.size(), " documented hazards, ", with,
      " have an option that removes them, and ", hazards.size() - static_cast<size_t>(with),
      " have none:\n\n| hazard | shown by | option |\n| --- | --- | --- |\n");
  for (const DocumentedHazard& hazard : hazards) {
    std::vector<std::string> links;
    const auto [first, last] = evidence.equal_range(hazard.source);
    for (auto link = first; link != last; ++link) {
      const std::string name = std::filesystem::path(link->second).filename().string();
      links.push_back(absl::StrCat("[", name.substr(0, name.find('.')), "](", link->second, ")"));
    }
    absl::StrAppend(&table, "| ", hazard.source, " | ", absl::StrJoin(links, ", "), " | ",
                    has_option(hazard) ? hazard.option : "none: " + hazard.no_option, " |\n");
  }
  return table;
}

absl::StatusOr<std::string> Catalogue::DocumentedTables() const {
  const std::filesystem::path path = (folder_ / file_).parent_path() / kDocumented;
  if (!std::filesystem::exists(path)) return "";
  REDOUBLE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  const absl::StatusOr<std::vector<DocumentedHazard>> hazards = ParseDocumentedHazards(text);
  if (!hazards.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(kDocumented, ": ", hazards.status().message()));
  }
  std::string table;
  for (const DocumentedHazard& hazard : *hazards) {
    if (hazard.reason.empty()) continue;
    absl::StrAppend(&table, "| ", hazard.hazard, " | ", hazard.source, " | ", hazard.reason,
                    " |\n");
  }
  return absl::StrCat(TableOfHazards(*hazards),
                      "\nWhat neither a world nor a scenario shows:\n\n"
                      "| hazard | source | why |\n| --- | --- | --- |\n",
                      table, "\n");
}

absl::Status Catalogue::Write() const {
  const std::filesystem::path path = folder_ / file_;
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) {
    return absl::UnavailableError(absl::StrCat(file_, ": ", text.status().message()));
  }
  const size_t begin = text->find(kTableBegins);
  const size_t end = text->find(kTableEnds);
  if (begin == std::string::npos || end == std::string::npos || end < begin) {
    return absl::InvalidArgumentError(
        absl::StrCat(file_, ": expected the lines ", kTableBegins, " and ", kTableEnds));
  }
  REDOUBLE_ASSIGN_OR_RETURN(const std::string documented, DocumentedTables());
  std::ofstream file(path, std::ios::binary);
  file << text->substr(0, begin) << kTableBegins << "\n\n"
       << TableOfWorlds() << "\n"
       << documented << text->substr(end);
  file.close();
  return file ? absl::OkStatus()
              : absl::UnavailableError(absl::StrCat(file_, ": cannot be written"));
}

}  // namespace redouble::inline v0_1::sim
