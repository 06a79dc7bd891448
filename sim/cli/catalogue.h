// The catalogue of hazards: the tables that `redouble explore --catalogue` puts into a Markdown
// file, between two marks, in place of those that stand there.
//
// One table has a row per world that was explored. The other has the documented hazards that are no
// world, or in part only, with the reason: they stand in the file "documented.jsonl" beside the
// Markdown file, an object per line and documented row:
//
//   {"source": "gateway.md 7 R3"}
//   {"source": "gateway.md 7 R4", "hazard": "...", "reason": "..."}
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_CLI_CATALOGUE_H_
#define REDOUBLE_SIM_CLI_CATALOGUE_H_

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace redouble::sim {

// A row of documented.jsonl.
struct DocumentedHazard {
  std::string source;  // As the worlds name it.
  std::string hazard;  // Both empty where a world shows all of it.
  std::string reason;
};

// Reads the lines of documented.jsonl. Errors: InvalidArgument, with the number of the line from 1,
// for one that is not of that form or names a source again.
absl::StatusOr<std::vector<DocumentedHazard>> ParseDocumentedHazards(std::string_view text);

class Catalogue {
 public:
  // `file` is relative to `folder`, as the names of worlds are.
  Catalogue(std::filesystem::path folder, std::string file);

  struct Row {
    std::string name;
    std::string file;
    std::string source;
    std::string schedules;  // Until it was found.
    std::string shortest;   // The schedule.
    std::string hardened;   // What came of the hardened world.
  };
  void Add(const Row& row);

  // Writes the tables. Errors: Unavailable when the file cannot be read or written, InvalidArgument
  // when it has not the two marks; as ParseDocumentedHazards, with the name of the file. Where
  // there is no documented.jsonl there is no second table.
  absl::Status Write() const;

 private:
  absl::StatusOr<std::string> TableOfReasons() const;

  const std::filesystem::path folder_;
  const std::string file_;
  std::string rows_;
};

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_CLI_CATALOGUE_H_
