#include "redouble/tests/judges/judges.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "redouble/backends/memory/engine_options.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/reply.h"
#include "redouble/tests/conformance/cluster_server.h"
#include "redouble/tests/support/target/memory_target.h"
#include "redouble/tests/support/target/server_target.h"

namespace redouble::inline v0_1::tests {
namespace {

constexpr std::string_view kFirst = "redis-7.0";

// A script for each case of a file. What precedes the first case are notes.
std::vector<Script> CasesOf(const Script& script) {
  std::vector<Script> cases;
  for (const Step& step : script.steps) {
    if (step.kind == Step::Kind::kCase) cases.emplace_back();
    if (!cases.empty()) cases.back().steps.push_back(step);
  }
  return cases;
}

// Cases whose replies depend on a random number or on the time of a server's cron in some version.
constexpr std::string_view kUndetermined[] = {
    "a server alone",  // LOLWUT draws a poem.
    "PSUBSCRIBE counts with channels, SSUBSCRIBE for itself",
    "SET with a deadline in the past",
    "FLUSHALL empties all databases",  // FLUSHALL SYNC: see JudgeConfig.
    "FLUSHDB empties the selected database only",
    "CLIENT NO-TOUCH",  // OBJECT IDLETIME: the clock that the server's timer has seen.
};

bool IsUndetermined(std::string_view title) {
  return std::find(std::begin(kUndetermined), std::end(kUndetermined), title) !=
         std::end(kUndetermined);
}

const std::string& TitleOf(const Script& one) { return one.steps.front().argument; }

// Gives the steps of undetermined cases the replies that are recorded.
void KeepUndetermined(const Script& recorded, Script& answered) {
  bool is_undetermined = false;
  for (size_t i = 0; i < recorded.steps.size(); ++i) {
    const Step& step = recorded.steps[i];
    if (step.kind == Step::Kind::kCase) is_undetermined = IsUndetermined(step.argument);
    if (is_undetermined) answered.steps[i].expected = step.expected;
  }
}

// Steps of the same words are all written if one of them differs, so that a reader knows which they
// are.
std::string DifferingSteps(const Script& expected, const Script& answered) {
  std::set<std::string> differing;
  for (size_t i = 0; i < expected.steps.size(); ++i) {
    if (answered.steps[i].expected != expected.steps[i].expected) {
      differing.insert(expected.steps[i].source);
    }
  }
  std::string text;
  for (const Step& step : answered.steps) {
    if (differing.contains(step.source)) {
      absl::StrAppend(&text, step.source, "\n", step.expected, "\n");
    }
  }
  return text;
}

constexpr std::string_view kServerEnded = "(the server ended)";

// Appends a case of a file of differences.
void AppendCase(const std::string& title, const std::string& steps, std::string& text) {
  if (steps.empty()) return;
  absl::StrAppend(&text, text.empty() ? "" : "\n", "@case ", title, "\n", steps);
}

// A recorded file by titles and sources: the replies of the steps of that source, in order.
using RecordedReplies = std::map<std::string, std::map<std::string, std::deque<std::string>>>;

RecordedReplies ReadDifferences(std::string_view text) {
  RecordedReplies recorded;
  if (text.empty()) return recorded;
  std::string title;
  // A case in which the server ended has no steps, which is no script.
  const std::string ended = absl::StrCat(base::ToAbsl(kServerEnded), "\n");
  const std::string readable =
      absl::StrReplaceAll(base::ToAbsl(text), {{ended, absl::StrCat("@receive\n", ended)}});
  const Script script = ParseScript(readable).value();
  for (const Step& step : script.steps) {
    if (step.kind == Step::Kind::kCase) title = step.argument;
    if (step.kind == Step::Kind::kCommand || step.kind == Step::Kind::kReceive) {
      recorded[title][step.source].push_back(step.expected);
    }
  }
  return recorded;
}

bool Ended(const std::map<std::string, std::deque<std::string>>& replies) {
  const auto found = replies.find("@receive");
  return found != replies.end() && found->second.front() == kServerEnded;
}

using Names = std::set<std::string>;

// The names of the rows of COMMAND, subcommands included.
Names CommandsOf(const std::vector<store::Reply>& rows) {
  constexpr size_t kName = 0;
  constexpr size_t kSubcommands = 9;
  Names names;
  for (const store::Reply& row : rows) {
    names.insert(absl::StrCat("command ", row.elements()[kName].text()));
    names.merge(CommandsOf(row.elements()[kSubcommands].elements()));
  }
  return names;
}

Names Inventory(Target& server) {
  const std::vector<Words> questions = {{"COMMAND"}, {"CONFIG", "GET", "*"}};
  const std::vector<store::Reply> replies = server.RunAll(0, questions);
  Names names = CommandsOf(replies[0].elements());
  const std::vector<store::Reply>& parameters = replies[1].elements();
  for (size_t i = 0; i < parameters.size(); i += 2) {
    names.insert(absl::StrCat("parameter ", parameters[i].text()));
  }
  return names;
}

}  // namespace

std::vector<std::string> JudgeNames() { return {"valkey-8.0", "redis-8.0", "valkey-8.1"}; }

std::optional<std::string> JudgeProgram(std::string_view name) {
  const char* folder = std::getenv("REDOUBLE_JUDGES");
  if (folder == nullptr) return std::nullopt;
  std::string path = std::string(folder).append("/").append(name).append("/redis-server");
  if (access(path.c_str(), X_OK) != 0) return std::nullopt;
  return path;
}

std::vector<std::string> ServerNames() {
  std::vector<std::string> names = {std::string(kFirst)};
  for (std::string& name : JudgeNames()) names.push_back(std::move(name));
  return names;
}

std::optional<std::string> ServerProgram(std::string_view name) {
  std::optional<std::string> program = JudgeProgram(name);
  return name == kFirst ? program.value_or("redis-server") : program;
}

std::string TestName(std::string_view text) {
  return absl::StrReplaceAll(base::ToAbsl(text), {{"-", "_"}, {".", "_"}});
}

// Since 7.4, FLUSHALL blocks its client while another thread frees the keys, for a time that
// depends on the machine, unless flushing is lazy.
std::vector<std::string> JudgeConfig() {
  return {"enable-debug-command yes", "lazyfree-lazy-user-flush yes"};
}

bool IsForCluster(std::string_view group) { return group.starts_with("cluster_"); }

bool IsJudged(std::string_view group) { return group != "busy"; }

std::string DifferencesOf(const Script& script, const std::string& program) {
  std::unique_ptr<ServerTarget> server;
  std::string text;
  for (const Script& one : CasesOf(script)) {
    if (IsUndetermined(TitleOf(one))) continue;
    if (server == nullptr) {
      server = std::make_unique<ServerTarget>(JudgeConfig(), /*resp3=*/false, program);
    }
    std::string differences;
    try {
      differences = DifferingSteps(one, RunScript(one, *server));
    } catch (const std::runtime_error&) {  // The connection was closed.
      differences = absl::StrCat(base::ToAbsl(kServerEnded), "\n");
      server = nullptr;
    }
    AppendCase(TitleOf(one), differences, text);
  }
  return text;
}

std::string RemainingOf(const Script& script, std::string_view differences,
                        store::Version version) {
  memory::EngineOptions options;
  options.compatibility = version;
  MemoryTarget engine(options);
  RecordedReplies recorded = ReadDifferences(differences);
  std::string text;
  for (Script& one : CasesOf(script)) {
    if (IsUndetermined(TitleOf(one))) continue;
    auto& replies = recorded[TitleOf(one)];
    if (Ended(replies)) continue;
    for (Step& step : one.steps) {
      const auto found = replies.find(step.source);
      if (found == replies.end() || found->second.empty()) continue;
      step.expected = std::move(found->second.front());
      found->second.pop_front();
    }
    // The steps of `one` have the judge's replies now.
    AppendCase(TitleOf(one), DifferingSteps(RunScript(one, engine), one), text);
  }
  return text;
}

std::string AnswerOfJudge(const Script& script, const std::string& program, bool in_cluster) {
  Script answered;
  if (in_cluster) {
    ClusterServer server(program);
    answered = RunScript(script, server.target());
  } else {
    ServerTarget server(JudgeConfig(), /*resp3=*/false, program);
    answered = RunScript(script, server);
  }
  KeepUndetermined(script, answered);
  return ScriptText(answered);
}

std::string AnswerOfEngine(const Script& script, store::Version version, bool in_cluster) {
  memory::EngineOptions options;
  if (in_cluster) options = ClusterEngineOptions();
  options.compatibility = version;
  MemoryTarget engine(options);
  return ScriptText(RunScript(script, engine));
}

std::string InventoryOf(const std::string& program) {
  ServerTarget judge(JudgeConfig(), /*resp3=*/false, program);
  ServerTarget server(JudgeConfig());
  const Names other = Inventory(judge);
  const Names ours = Inventory(server);
  std::string text;
  for (const std::string& name : other) {
    if (!ours.contains(name)) absl::StrAppend(&text, "+ ", name, "\n");
  }
  for (const std::string& name : ours) {
    if (!other.contains(name)) absl::StrAppend(&text, "- ", name, "\n");
  }
  return text;
}

}  // namespace redouble::inline v0_1::tests
