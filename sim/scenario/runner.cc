#include "redouble/sim/scenario/runner.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/base/time/utc.h"
#include "redouble/core/store/command_line.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/reply.h"
#include "redouble/sim/fault/fault.h"
#include "redouble/sim/json/bytes.h"
#include "redouble/sim/json/json_diff.h"
#include "redouble/sim/json/reply_json.h"
#include "redouble/sim/operations/arguments.h"
#include "redouble/sim/scenario/client.h"
#include "redouble/sim/scenario/keyspace.h"
#include "redouble/sim/trace/trace.h"

namespace redouble::inline v0_1::sim {
namespace {

using store::Command;
using store::Request;

constexpr int kBeforeFirstStep = -1;
// A failure lists no more differences than a person reads.
constexpr size_t kMostDifferences = 10;
constexpr std::string_view kWaits =
    "it waits for time to pass or for another client, and neither can happen before the step ends";

// A difference from the expectation, with its path below the step's own path.
struct Mismatch {
  std::string path;
  std::string message;
  std::string expected = {};
  std::string got = {};
  std::vector<JsonDifference> more = {};
};
using Outcome = std::optional<Mismatch>;

Outcome Compare(const Json& expected, const Json& got, std::string_view path) {
  std::vector<JsonDifference> found = FindDifferences(expected, got, path, kMostDifferences);
  if (found.empty()) return std::nullopt;
  JsonDifference first = std::move(found.front());
  found.erase(found.begin());
  return Mismatch{std::move(first.path), "not as expected", std::move(first.expected),
                  std::move(first.got), std::move(found)};
}

Outcome FromStatus(const absl::Status& status) {
  if (status.ok()) return std::nullopt;
  return Mismatch{"", std::string(status.message())};
}

std::string ErrorText(const absl::Status& status) {
  return absl::StrCat("error ", absl::StatusCodeToString(status.code()), ": ", status.message());
}

// Returns the parts of `status` that `expected` names.
Json ErrorToJson(const absl::Status& status, const Json& expected) {
  Json got = Json::object();
  for (const auto& [name, value] : expected.items()) {
    if (name == "code") {
      got[name] = absl::StatusCodeToString(status.code());
    } else if (name == "kind") {
      const std::optional<store::ErrorKind> kind = store::ErrorKindOf(status);
      got[name] = kind ? Json(store::ErrorKindName(*kind)) : Json();
    } else if (name == "contains" && value.is_string() &&
               absl::StrContains(status.message(), value.get_ref<const std::string&>())) {
      got[name] = value;
    } else {
      got[name] = EncodeBytes(base::ToStd(status.message()));
    }
  }
  return got;
}

Outcome CompareResult(const CallExpectation& expectation, const OperationResult& result) {
  if (IsArgumentError(result.status())) {
    // The message starts with the path below the arguments.
    const std::string path = ArgumentErrorPath(result.status());
    const std::string message = absl::StrReplaceAll(
        result.status().message().substr(path.size() + 2), {{"\n", "\n  and /arguments"}});
    return Mismatch{absl::StrCat("/arguments", path), message};
  }
  if (expectation.error) {
    if (result.ok()) {
      return Mismatch{"/expect_error", "not as expected", expectation.error->dump(),
                      result->dump()};
    }
    return Compare(*expectation.error, ErrorToJson(result.status(), *expectation.error),
                   "/expect_error");
  }
  if (!result.ok()) {
    return Mismatch{"/expect", "not as expected",
                    expectation.result ? expectation.result->dump() : "success",
                    ErrorText(result.status())};
  }
  if (!expectation.result) return std::nullopt;
  return Compare(*expectation.result, *result, "/expect");
}

// The commands of a request as they are sent: with MULTI and EXEC.
Json WireCommands(const Request& request) {
  Json commands = Json::array();
  const bool transaction = request.kind() == Request::Kind::kTransaction;
  if (transaction) commands.push_back(Json::array({"MULTI"}));
  for (const Command& command : request.commands()) commands.push_back(CommandToJson(command));
  if (transaction) commands.push_back(Json::array({"EXEC"}));
  return commands;
}

// Returns the expected TTL if the actual one is within the drift of a server whose time is not
// controlled, otherwise the actual one. In milliseconds.
int64_t WithoutDrift(int64_t got_ms, int64_t expected_ms, absl::Duration drift) {
  const bool within = got_ms <= expected_ms && absl::Milliseconds(expected_ms - got_ms) <= drift;
  return within ? expected_ms : got_ms;
}

Json KeyToJson(const KeyExpectation& key) {
  Json json{{"type", key.type}, {"value", key.value}};
  if (key.ttl_ms) json["ttl_ms"] = *key.ttl_ms;
  if (key.ttl) json["ttl"] = *key.ttl;
  return json;
}

// Renders an entry with the members that the expectation has.
Json EntryToJson(const KeyspaceEntry& entry, const std::optional<KeyExpectation>& expected,
                 absl::Duration drift) {
  Json json{{"type", entry.type}, {"value", entry.value}};
  if (!entry.ttl_ms) return json;
  constexpr int64_t kSecond = 1000;
  int64_t ttl_ms = *entry.ttl_ms;
  if (expected && expected->ttl) {
    // TTL rounds to the nearest second.
    const int64_t drifted = WithoutDrift(ttl_ms, *expected->ttl * kSecond, drift);
    json["ttl"] = (drifted + kSecond / 2) / kSecond;
    return json;
  }
  if (expected && expected->ttl_ms) ttl_ms = WithoutDrift(ttl_ms, *expected->ttl_ms, drift);
  json["ttl_ms"] = ttl_ms;
  return json;
}

Outcome CompareKeyspace(const KeyspaceStep& step, const Keyspace& keyspace, absl::Duration drift) {
  Json expected = Json::object();
  Json got = Json::object();
  for (const auto& [key, expectation] : step.keys) {
    if (expectation) expected[EncodeBytes(key)] = KeyToJson(*expectation);
    const auto found = keyspace.find(key);
    if (found == keyspace.end()) continue;
    got[EncodeBytes(key)] = EntryToJson(found->second, expectation, drift);
  }
  for (const auto& [key, entry] : keyspace) {
    if (step.subset || step.keys.contains(key)) continue;
    got[EncodeBytes(key)] = EntryToJson(entry, std::nullopt, drift);
  }
  return Compare(expected, got, "/keys");
}

class ScenarioRun {
 public:
  ScenarioRun(const Scenario& scenario, ScenarioBackend& backend, const RunOptions& options)
      : scenario_(scenario),
        backend_(backend),
        trace_(backend.clock(), options.trace_listener, options.stop_after),
        after_step_(options.after_step),
        until_(options.until),
        rng_(scenario.seed) {}

  ScenarioResult Run() {
    ScenarioResult result;
    result.start = scenario_.start;
    result.failure = RunSteps();
    result.end = backend_.clock().Now();
    result.commands = trace_.commands();
    result.trace_hash = trace_.Hash();
    result.stopped = trace_.stopped();
    return result;
  }

 private:
  // An operation that sends one command at a time.
  struct StartedCall {
    StartedCall(ScenarioClient& client, const OperationCall& call, base::Clock& clock,
                base::Rng& rng)
        : held(client),
          task((*call.operation)(OperationContext(held, clock, rng), call.arguments)) {}

    HeldStore held;
    base::Task<OperationResult> task;
  };

  std::optional<StepFailure> RunSteps() {
    for (size_t i = 0; i < scenario_.steps.size() && !trace_.stopped(); ++i) {
      Outcome outcome =
          std::visit([this](const auto& action) { return Do(action); }, scenario_.steps[i].action);
      if (after_step_) after_step_(static_cast<int>(i));
      if (!outcome) continue;
      for (JsonDifference& one : outcome->more) {
        one.path = absl::StrCat("/steps/", i, one.path);
      }
      return StepFailure{static_cast<int>(i),         absl::StrCat("/steps/", i, outcome->path),
                         std::move(outcome->message), std::move(outcome->expected),
                         std::move(outcome->got),     std::move(outcome->more)};
    }
    return std::nullopt;
  }

  Outcome Do(const CallStep& step) {
    const OperationContext context(ClientOf(step.call.client), backend_.clock(), rng_);
    base::Task<OperationResult> task = (*step.call.operation)(context, step.call.arguments);
    task.Start();
    if (!task.done()) return DoesNotEnd("", "call");
    return CompareResult(step.expectation, task.TakeResult());
  }

  Outcome Do(const CommandStep& step) {
    Command command = Command::Named(step.words.front());
    command.AddAll(std::span(step.words).subspan(1));
    base::Task<absl::StatusOr<store::Reply>> task = Execute(ClientOf(step.client), command);
    task.Start();
    if (!task.done()) return DoesNotEnd("", "command");
    const absl::StatusOr<store::Reply> result = task.TakeResult();
    const Json got = ResultToJson(result);
    if (step.reply) return Compare(*step.reply, got, "/expect");
    if (result.ok() && (step.may_fail || !result->is_error())) return std::nullopt;
    return Mismatch{"/expect", "not as expected", "any reply but an error",
                    result.ok() ? got.dump() : ErrorText(result.status())};
  }

  Outcome Do(const AdvanceStep& step) {
    const absl::Time now = backend_.clock().Now();
    const absl::Time target = step.to ? *step.to : now + *step.by;
    if (target < now) {
      return Mismatch{"/to", "time does not go back", base::FormatRfc3339(target),
                      base::FormatRfc3339(now)};
    }
    const absl::Time stop = std::clamp(until_, now, target);
    if (absl::Status status = backend_.AdvanceTo(stop); !status.ok()) return FromStatus(status);
    trace_.AddAdvance(stop - now);
    if (stop < target) trace_.Stop();
    return std::nullopt;
  }

  Outcome Do(const FaultStep& step) {
    if (step.fault->breaks_connections) return BreakAndApply(step);
    const absl::Status status = Apply(step.fault->fault);
    if (status.ok()) trace_.AddFault(step.fault->name);
    return FromStatus(status);
  }

  absl::Status Apply(Fault fault) {
    switch (fault) {
      case Fault::kFlush:
        return backend_.Flush();
      case Fault::kRestart:
        return backend_.Restart();
      default:
        return absl::InternalError("a fault of the table that no backend can inject");
    }
  }

  // The server restarts first; then the clients learn, in the order of their names, that their
  // connections are gone.
  Outcome BreakAndApply(const FaultStep& step) {
    const bool holding = std::any_of(calls_.begin(), calls_.end(), [](const auto& entry) {
      return entry.second->held.Front() != nullptr;
    });
    if (holding && !step.in_flight) {
      return Mismatch{"/in_flight",
                      "is missing: a started call holds a command, say what becomes "
                      "of it (\"not sent\" or \"outcome unknown\")"};
    }
    trace_.AddFault(step.fault->name);
    for (auto& [name, client] : clients_) client->Break();
    if (absl::Status status = Apply(step.fault->fault); !status.ok()) {
      return FromStatus(status);
    }
    const std::string message = absl::StrCat("the connection broke: ", step.fault->name.data());
    for (auto& [name, call] : calls_) {
      call->held.FailAll(step.in_flight == store::ErrorKind::kNotSent
                             ? store::NotSentError(message)
                             : store::OutcomeUnknownError(message));
    }
    return std::nullopt;
  }

  Outcome Do(const StartStep& step) {
    auto call = std::make_unique<StartedCall>(ClientOf(step.operation.client), step.operation,
                                              backend_.clock(), rng_);
    call->task.Start();
    calls_[step.call] = std::move(call);
    return std::nullopt;
  }

  Outcome Do(const ReleaseStep& step) {
    StartedCall& call = *calls_.at(step.call);
    const Request* front = call.held.Front();
    if (front == nullptr) {
      return Mismatch{"/call", call.task.done() ? "the call sends nothing more: it has ended"
                                                : "the call sends nothing now: it waits for time"};
    }
    if (step.sends) {
      if (Outcome outcome = Compare(*step.sends, WireCommands(*front), "/sends")) return outcome;
    }
    call.held.Release();
    return std::nullopt;
  }

  Outcome Do(const FinishStep& step) {
    StartedCall& call = *calls_.at(step.call);
    while (call.held.Front() != nullptr) call.held.Release();
    if (!call.task.done()) return DoesNotEnd("/call", "call");
    const OperationResult result = call.task.TakeResult();
    calls_.erase(step.call);
    return CompareResult(step.expectation, result);
  }

  Outcome Do(const KeyspaceStep& step) {
    const absl::StatusOr<Keyspace> keyspace = Dump();
    if (!keyspace.ok()) return FromStatus(keyspace.status());
    return CompareKeyspace(step, *keyspace, backend_.Drift());
  }

  // Uses a separate connection, which the trace does not record.
  absl::StatusOr<Keyspace> Dump() {
    REDOUBLE_ASSIGN_OR_RETURN(std::unique_ptr<store::Store> connection, backend_.Connect());
    base::Task<absl::StatusOr<Keyspace>> task = DumpKeyspace(*connection);
    task.Start();
    if (!task.done()) return absl::InternalError("reading the keyspace does not end");
    return task.TakeResult();
  }

  static base::Task<absl::StatusOr<store::Reply>> Execute(store::Store& store,
                                                          const Command& command) {
    co_return co_await store.Execute(command);
  }

  // After the end of the run no request completes, which is not a failure.
  Outcome DoesNotEnd(const char* path, const char* what) const {
    if (trace_.stopped()) return std::nullopt;
    return Mismatch{path, absl::StrCat("the ", what, " does not end: ", base::ToAbsl(kWaits))};
  }

  ScenarioClient& ClientOf(const std::string& name) {
    std::unique_ptr<ScenarioClient>& client = clients_[name];
    if (client == nullptr) client = std::make_unique<ScenarioClient>(name, backend_, trace_);
    return *client;
  }

  const Scenario& scenario_;
  ScenarioBackend& backend_;
  Trace trace_;
  const std::function<void(int)> after_step_;
  const absl::Time until_;
  base::Rng rng_;
  std::map<std::string, std::unique_ptr<ScenarioClient>> clients_;
  // Declared after the clients, which the calls use until they are destroyed.
  std::map<std::string, std::unique_ptr<StartedCall>> calls_;
};

std::string StepName(const Step& step) {
  const auto* call = std::get_if<CallStep>(&step.action);
  return call == nullptr ? step.kind : absl::StrCat(step.kind, " ", call->call.name);
}

// What the step sent, as a line: empty if it sent nothing.
std::string Sent(const Step& step) {
  if (const auto* command = std::get_if<CommandStep>(&step.action)) {
    return absl::StrCat("  command:  ", store::CommandLine(command->words), "\n");
  }
  if (const auto* call = std::get_if<CallStep>(&step.action)) {
    return absl::StrCat("  call:     ", call->call.name, " ", call->call.arguments.dump(), "\n");
  }
  return "";
}

void AppendDifference(const std::string& expected, const std::string& got, std::string& text) {
  absl::StrAppend(&text, "- expected: ", expected, "\n+ got:      ", got, "\n");
}

}  // namespace

std::string StepFailure::ToString(const Scenario& scenario) const {
  std::string text = absl::StrCat(scenario.file, ": ");
  if (step == kBeforeFirstStep) return absl::StrCat(text, message, "\n");
  const Step& failed = scenario.steps[step];
  absl::StrAppend(&text, "step ", step, " (", StepName(failed), "): ", path, ": ", message, "\n",
                  Sent(failed));
  if (!expected.empty() || !got.empty()) AppendDifference(expected, got, text);
  for (const JsonDifference& one : more) {
    absl::StrAppend(&text, "at ", one.path, ":\n");
    AppendDifference(one.expected, one.got, text);
  }
  return text;
}

ScenarioResult RunScenario(const Scenario& scenario, ScenarioBackend& backend,
                           const RunOptions& options) {
  const absl::Status begun = backend.Begin(
      {.start = scenario.start, .seed = scenario.seed, .version = scenario.compatibility});
  if (begun.ok()) return ScenarioRun(scenario, backend, options).Run();
  ScenarioResult result;
  result.start = scenario.start;
  result.end = scenario.start;
  result.failure = StepFailure{kBeforeFirstStep, "", std::string(begun.message()), "", ""};
  return result;
}

}  // namespace redouble::inline v0_1::sim
