// The catalogue of hazards: the tables that `redouble explore --catalogue` writes between two marks
// of a Markdown file.
//
// The first table has a row for each explored world. The second has the documented hazards that no
// world shows, or only in part, with the reason. They are in the file "documented.jsonl" beside the
// Markdown file, one object per line and hazard:
//
//   {"source": "docs/systems/gateway.md R3"}
//   {"source": "docs/systems/gateway.md R4", "hazard": "...", "reason": "..."}
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_CLI_EXPLORE_CATALOGUE_H_
#define REDOUBLE_SIM_CLI_EXPLORE_CATALOGUE_H_

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace redouble::inline v0_1::sim {

// A row of documented.jsonl.
struct DocumentedHazard {
  std::string source;  // As in the worlds.
  std::string hazard;  // Both empty if a world shows the whole hazard.
  std::string reason;
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
    std::string schedules;  // The number of schedules until the violation.
    std::string shortest;   // The shortest schedule.
    std::string hardened;   // The result of the hardened world.
  };
  void Add(const Row& row);

  // Writes the tables; without a documented.jsonl, only the first. Errors: Unavailable if the file
  // cannot be read or written; InvalidArgument if it does not have the two marks; those of
  // ParseDocumentedHazards, with the name of the file.
  absl::Status Write() const;

 private:
  absl::StatusOr<std::string> TableOfReasons() const;

  const std::filesystem::path folder_;
  const std::string file_;
  std::string rows_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLI_EXPLORE_CATALOGUE_H_
