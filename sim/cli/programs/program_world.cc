#include "redouble/sim/cli/programs/program_world.h"

#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/quoted_words.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/sim/cli/programs/program_operations.h"
#include "redouble/sim/json/bytes.h"

namespace redouble::inline v0_1::sim {
namespace {

absl::StatusOr<Json> WordsOf(std::string_view option, const std::string& line) {
  const std::optional<std::vector<std::string>> words = base::SplitQuotedWords(line);
  if (!words || words->empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        base::ToAbsl(option), " \"", line, words ? "\" is empty" : "\": a quote is not closed"));
  }
  Json json = Json::array();
  for (const std::string& word : *words) json.push_back(EncodeBytes(word));
  return json;
}

}  // namespace

absl::StatusOr<Json> ProgramWorld(const std::vector<std::string>& programs,
                                  const std::vector<std::string>& setup) {
  Json world{{"name", "Programs"},
             {"description", "The programs leave the keys of some serial order."},
             {"source", "redouble explore --program"},
             {"system", kProgramSystem},
             {"start", "2026-01-01T00:00:00Z"},
             {"setup", Json::array()}};
  for (const std::string& line : setup) {
    REDOUBLE_ASSIGN_OR_RETURN(Json words, WordsOf("--setup", line));
    world["setup"].push_back({{"kind", "command"}, {"command", std::move(words)}});
  }
  for (const std::string& line : programs) {
    REDOUBLE_ASSIGN_OR_RETURN(Json words, WordsOf("--program", line));
    const std::string name = absl::StrCat("program ", world["actors"].size() + 1);
    world["actors"][name] = Json::array({{{"kind", "call"},
                                          {"operation", kRunProgram},
                                          {"arguments", {{"command", std::move(words)}}}}});
  }
  world["invariants"] = Json::array({{{"kind", "results"},
                                      {"name", "each program ends with status 0"},
                                      {"operation", kRunProgram},
                                      {"where", {{"error", ""}}},
                                      {"at_most", 0}},
                                     {{"kind", "serializable"},
                                      {"name", "the keys are those of a serial order"},
                                      {"results", false}}});
  return world;
}

}  // namespace redouble::inline v0_1::sim
