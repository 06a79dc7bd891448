#include "redouble/sim/cli/explore/catalogue.h"

#include <fstream>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
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
  row.hazard = fields.OptionalString("hazard").value_or("");
  row.reason = fields.OptionalString("reason").value_or("");
  if (row.hazard.empty() != row.reason.empty()) {
    fields.Refuse("reason", "a hazard and a reason come together");
  }
  REDOUBLE_RETURN_IF_ERROR(fields.Finish());
  return row;
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

void Catalogue::Add(const Row& row) {
  const std::filesystem::path table(file_);
  const std::string link =
      std::filesystem::path(row.file).lexically_relative(table.parent_path()).string();
  absl::StrAppend(&rows_, "| [", row.name, "](", link, ") | ", row.source, " | ", row.schedules,
                  " | ", row.shortest, " | ", row.hardened, " |\n");
}

absl::StatusOr<std::string> Catalogue::TableOfReasons() const {
  const std::filesystem::path path = (folder_ / file_).parent_path() / kDocumented;
  if (!std::filesystem::exists(path)) return "";
  REDOUBLE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  const absl::StatusOr<std::vector<DocumentedHazard>> rows = ParseDocumentedHazards(text);
  if (!rows.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(kDocumented, ": ", rows.status().message()));
  }
  std::string table;
  for (const DocumentedHazard& row : *rows) {
    if (row.reason.empty()) continue;
    absl::StrAppend(&table, "| ", row.hazard, " | ", row.source, " | ", row.reason, " |\n");
  }
  return absl::StrCat(
      "Documented hazards that have no world, or whose world shows only a part:\n\n"
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
  REDOUBLE_ASSIGN_OR_RETURN(const std::string reasons, TableOfReasons());
  std::ofstream file(path, std::ios::binary);
  file << text->substr(0, begin) << kTableBegins << "\n\n"
       << "| hazard | source | schedules until found | shortest schedule | hardened |\n"
       << "| --- | --- | --- | --- | --- |\n"
       << rows_ << "\n"
       << reasons << text->substr(end);
  file.close();
  return file ? absl::OkStatus()
              : absl::UnavailableError(absl::StrCat(file_, ": cannot be written"));
}

}  // namespace redouble::inline v0_1::sim
