// The catalogue of hazards: the tables that `redouble explore --catalogue` writes between two marks
// of a Markdown file.
//
// The first table has a row for each explored world, with its survey. The others come from the file
// "documented.jsonl" beside the Markdown file, which has an object per line and documented hazard:
//
//   {"source": "docs/systems/gateway.md R3", "option": "atomic_check_and_reserve"}
//   {"source": "docs/systems/gateway.md R11", "scenarios": ["../gateway/corrupt_counter.json"],
//    "no_option": "An operator must repair the counter"}
//   {"source": "docs/systems/gateway.md R4", "hazard": "...", "reason": "...", "no_option": "..."}
//
// | member               | meaning                                                                |
// | -------------------- | ---------------------------------------------------------------------- |
// | "scenarios"          | Links to the scenarios that show the hazard: it needs no race.         |
// | "hazard" and         | What neither a world nor a scenario shows, and why. If the reason      |
// | "reason"             | begins with "In part: ", they show the rest of the hazard.             |
// | "option"             | What removes the hazard. Each row has this or the next member.         |
// | "no_option"          | Why nothing removes it, and what to do instead.                        |
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_CLI_EXPLORE_CATALOGUE_H_
#define REDOUBLE_SIM_CLI_EXPLORE_CATALOGUE_H_

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/sim/world_file/world_survey.h"

namespace redouble::inline v0_1::sim {

// A row of documented.jsonl.
struct DocumentedHazard {
  std::string source;  // As in the worlds.
  std::vector<std::string> scenarios = {};
  std::string hazard = {};  // Both empty if worlds and scenarios show the whole hazard.
  std::string reason = {};
  std::string option = {};  // One of the two is set.
  std::string no_option = {};
};

// Reads the lines of documented.jsonl. Errors: InvalidArgument, with the number of the line (from
// 1), for a line of another form or a source that occurs twice.
absl::StatusOr<std::vector<DocumentedHazard>> ParseDocumentedHazards(std::string_view text);

class Catalogue {
 public:
  // `file` is relative to `folder`, as the names of worlds are.
  Catalogue(std::filesystem::path folder, std::string file);

  struct Row {
    std::string name;
    std::string file;
    std::string source;
    WorldSurvey survey;
    std::string hardened;  // The result of the hardened world.
  };
  void Add(const Row& row);

  // Writes the tables; without a documented.jsonl, only the first. Errors: Unavailable if the file
  // cannot be read or written; InvalidArgument if it does not have the two marks; those of
  // ParseDocumentedHazards, with the name of the file.
  absl::Status Write() const;

 private:
  std::string LinkTo(std::string_view name) const;
  std::string TableOfWorlds() const;
  std::string TableOfHazards(std::span<const DocumentedHazard> hazards) const;
  absl::StatusOr<std::string> DocumentedTables() const;

  const std::filesystem::path folder_;
  const std::string file_;
  std::vector<Row> rows_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLI_EXPLORE_CATALOGUE_H_
