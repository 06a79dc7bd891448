// ScenarioWriter: makes a scenario of what MONITOR printed, or of a trace.
//
// * Time: the scenario starts at the time of the first command; advance steps keep the distances.
// * Clients: each address becomes "client-1", "client-2" and so on, in the order of appearance.
// * Generated ids (UUIDs, ULIDs, and hexadecimal numbers of 16 digits and more) become "id-1",
//   "id-2" and so on, in keys and values alike. Ids of streams follow from the time.
// * Secrets (AUTH, HELLO AUTH, ACL SETUSER, CONFIG SET requirepass and the like, MIGRATE AUTH)
//   become "(redacted)".
// * Expectations: the replies of the memory engine, so that a later replay shows what changes. A
//   command that waits for another is written after the command that ended its wait; one that
//   waited in vain is left out.
//
//   ScenarioWriter writer({.name = "checkout"});
//   writer.Add(*ParseMonitorLine(line));
//   std::ofstream(path) << writer.Text();
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_CLI_RECORD_SCENARIO_WRITER_H_
#define REDOUBLE_SIM_CLI_RECORD_SCENARIO_WRITER_H_

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/store.h"
#include "redouble/sim/cli/record/monitor_line.h"
#include "redouble/sim/json/json.h"
#include "redouble/sim/scenario/memory_backend.h"

namespace redouble::inline v0_1::sim {

struct ScenarioWriterOptions {
  std::string name = "a recording";
  // Keeps generated ids as they are.
  bool keep_ids = false;
};

class ScenarioWriter {
 public:
  explicit ScenarioWriter(ScenarioWriterOptions options) : options_(std::move(options)) {}

  void Add(MonitorLine line);

  // The number of commands in the scenario so far.
  size_t commands() const { return commands_; }
  // The scenario as JSON. Requires that there is a command.
  std::string Text() const;
  // Lines for people: commands that were left out, or that fail on an empty server.
  std::vector<std::string> Notes() const;

 private:
  // A command that has not returned yet.
  struct Blocked {
    std::string client;
    store::Command command;
    Json words;
    std::optional<base::Task<absl::StatusOr<store::Reply>>> task;
  };

  void AdvanceTo(int64_t us);
  void Run(const std::string& client, const std::vector<std::string>& words);
  // Writes the steps of blocked commands that have returned.
  void TakeReleased();
  void AddStep(const std::string& client, Json words, const absl::StatusOr<store::Reply>& reply);
  std::string ClientOf(const MonitorLine& line);
  store::Store& StoreOf(const std::string& client);
  std::string WithNames(std::string_view word);

  const ScenarioWriterOptions options_;
  MemoryBackend backend_;
  std::optional<int64_t> start_us_;
  Json steps_ = Json::array();
  size_t commands_ = 0;
  size_t errors_ = 0;
  std::map<std::string, std::string> clients_;                   // By address.
  std::map<std::string, int> databases_;                         // By client.
  std::map<std::string, std::string> ids_;                       // Names of generated ids.
  std::map<std::string, std::unique_ptr<store::Store>> stores_;  // By client.
  // Declared after the stores, which the tasks use.
  std::list<Blocked> blocked_;
};

// Returns the words of a command with its secrets masked.
std::vector<std::string> WithoutSecrets(std::vector<std::string> words);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLI_RECORD_SCENARIO_WRITER_H_
