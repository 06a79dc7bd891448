#include "redouble/tests/golden/domain_replay.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/store.h"
#include "redouble/sim/operations/arguments.h"
#include "redouble/sim/scenario/client.h"
#include "redouble/sim/trace/trace.h"
#include "redouble/tests/golden/replay/keyspace_check.h"
#include "redouble/tests/golden/replay/reply_check.h"

namespace redouble::inline v0_1::golden {
namespace {

using store::Command;
using store::Request;

using MaybeDifference = std::optional<Difference>;

constexpr std::string_view kRaw = "raw";
constexpr std::string_view kNewerThanSeed = "ext_";

// Returns recorded commands in the format in which CommandToJson writes sent ones.
Json CommandsToJson(std::span<const RecordedCommand> commands) {
  Json json = Json::array();
  for (const RecordedCommand& command : commands) {
    std::vector<std::string> words = command.words;
    absl::AsciiStrToUpper(&words.front());
    json.push_back(EncodeRecorded(words));
  }
  return json;
}

// Returns the commands of a request as they are sent.
Json WireCommands(const Request& request) {
  Json commands = Json::array();
  const bool transaction = request.kind() == Request::Kind::kTransaction;
  if (transaction) commands.push_back(Json::array({"MULTI"}));
  for (const Command& command : request.commands()) commands.push_back(sim::CommandToJson(command));
  if (transaction) commands.push_back(Json::array({"EXEC"}));
  return commands;
}

// Sorts the keys of DEL, whose order has no effect, and those of an MGET of what a SCAN has found.
Json WithSortedKeys(Json commands) {
  bool after_scan = false;
  for (Json& command : commands) {
    if (command[0] == "DEL" || (after_scan && command[0] == "MGET")) {
      std::sort(command.begin() + 1, command.end());
    }
    after_scan = command[0] == "SCAN";
  }
  return commands;
}

// Returns "SET key NX", with DELETE instead of DEL: the names of the recorder's client.
std::string DescribeCommand(const Command& command) {
  const std::string name = absl::AsciiStrToUpper(std::string(command.name()));
  std::string text = name == "DEL" ? "DELETE" : name;
  if (command.arguments().empty()) return text;
  absl::StrAppend(&text, " ", base::ToAbsl(command.arguments()[0]));
  const auto arguments = command.arguments();
  if (name == "SET" && std::find(arguments.begin(), arguments.end(), "NX") != arguments.end()) {
    text += " NX";
  }
  return text;
}

std::string DescribeTrip(const Request& request) {
  std::vector<std::string> parts;
  for (const Command& command : request.commands()) parts.push_back(DescribeCommand(command));
  if (request.kind() != Request::Kind::kTransaction) return absl::StrJoin(parts, ",");
  return absl::StrCat("EXEC[", absl::StrJoin(parts, ","), "]");
}

bool BeginsWith(const Json& array, const Json& beginning) {
  return beginning.size() <= array.size() &&
         std::equal(beginning.begin(), beginning.end(), array.begin());
}

// Returns a further connection, or null.
std::unique_ptr<store::Store> Connect(sim::ScenarioBackend& backend) {
  absl::StatusOr<std::unique_ptr<store::Store>> connection = backend.Connect();
  return connection.ok() ? *std::move(connection) : nullptr;
}

class DomainReplay {
 public:
  DomainReplay(const Golden& golden, const Domain& domain, const Pass& pass,
               sim::ScenarioBackend& backend)
      : golden_(golden),
        domain_(domain),
        pass_(pass),
        backend_(backend),
        trace_(backend.clock()),
        raw_client_(std::string(kRaw), backend, trace_) {}

  MaybeDifference Run() {
    for (size_t i = 0; i < golden_.steps.size(); ++i) {
      const RecordedStep& step = golden_.steps[i];
      MaybeDifference difference = domain_.plan      ? ReplayPlan(i)
                                   : step.op == kRaw ? ReplayRawStep(i)
                                                     : FinishCall(i);
      if (difference) return difference;
      if (!step.keyspace) continue;
      difference = CheckKeyspace(*step.keyspace, step.path + "/keyspace");
      if (difference) return difference;
    }
    if (pass_.keyspace) return CheckKeyspace(*pass_.keyspace, "/keyspace");
    if (!golden_.keyspace) return std::nullopt;
    return CheckKeyspace(*golden_.keyspace, "/keyspace");
  }

 private:
  // An operation in progress, on its own connection.
  struct Call {
    // `arguments` outlives the call.
    Call(const RecordedStep& step, const sim::Operation& operation, const Json& arguments,
         sim::ScenarioBackend& backend, sim::Trace& trace, base::Rng& rng)
        : recorded(CommandsToJson(step.commands)),
          client(step.path, backend, trace),
          held(client),
          task(operation(sim::OperationContext(held, backend.clock(), rng,
                                               [&backend] { return Connect(backend); }),
                         arguments)) {
      task.Start();
    }

    // Returns the request that the operation holds; an empty array if there is none.
    Json Front() const {
      return held.Front() == nullptr ? Json::array() : WireCommands(*held.Front());
    }

    const Json recorded;
    sim::ScenarioClient client;
    sim::HeldStore held;
    base::Task<sim::OperationResult> task;
  };

  MaybeDifference ReplayRawStep(size_t index) {
    for (const RecordedCommand& command : golden_.steps[index].commands) {
      if (Call* racer = domain_.plan ? nullptr : FindRacer(index, command)) {
        racer->held.Release();
        continue;
      }
      base::Task<absl::StatusOr<store::Reply>> task = Execute(raw_client_, command.words);
      task.Start();
      if (!task.done()) return Difference{command.path, "the command still waits"};
      const absl::StatusOr<store::Reply> reply = task.TakeResult();
      if (!reply.ok()) return DifferenceOf(command.path, reply.status());
      if (!command.reply) continue;
      if (auto difference = CompareReply(command, *reply, golden_.system)) return difference;
    }
    return std::nullopt;
  }

  // Returns an operation after step `index` that is about to send exactly this command, and whose
  // own recorded commands do not begin with it; nullptr if there is none. Operations are started to
  // find out; those that do not match are dropped, and have sent nothing.
  Call* FindRacer(size_t index, const RecordedCommand& command) {
    if (domain_.translate) return nullptr;
    const Json wanted = CommandsToJson(std::span(&command, 1));
    for (size_t i = index + 1; i < golden_.steps.size(); ++i) {
      if (golden_.steps[i].op == kRaw) continue;
      const bool was_started = calls_.contains(i);
      Call& call = CallOf(i);
      const Json front = call.Front();
      if (front == wanted && !BeginsWith(call.recorded, front)) return &call;
      if (!was_started) calls_.erase(i);
    }
    return nullptr;
  }

  MaybeDifference FinishCall(size_t index) {
    const RecordedStep& step = golden_.steps[index];
    Call& call = CallOf(index);
    Json sent = Json::array();
    while (call.held.Front() != nullptr) {
      const Json front = call.Front();
      sent.insert(sent.end(), front.begin(), front.end());
      call.held.Release();
    }
    if (!call.task.done()) {
      return Difference{step.path, "the operation does not end: it waits for time to pass"};
    }
    const sim::OperationResult result = call.task.TakeResult();
    const Json recorded = call.recorded;
    calls_.erase(index);
    if (sim::IsArgumentError(result.status())) return DifferenceOf(step.path, result.status());
    const std::string path = step.path + "/commands";
    MaybeDifference difference =
        domain_.compare_commands
            ? domain_.compare_commands(recorded, sent, path)
            : CompareJson(WithSortedKeys(recorded), WithSortedKeys(sent), path);
    return difference ? difference : CompareResult(step, result);
  }

  // Runs the calls of a step, started together, with their requests in the planned order.
  MaybeDifference ReplayPlan(size_t index) {
    const RecordedStep& step = golden_.steps[index];
    const absl::StatusOr<Plan> plan = domain_.plan(golden_, index);
    if (!plan.ok()) return DifferenceOf(step.path, plan.status());
    if (auto difference = RunOffRecord(step, plan->before)) return difference;
    MaybeDifference difference =
        plan->calls.empty() ? ReplayRawStep(index) : ReplayCalls(step, *plan);
    return difference ? difference : RunOffRecord(step, plan->afterwards);
  }

  MaybeDifference RunOffRecord(const RecordedStep& step, const std::vector<Plan::Call>& calls) {
    for (const Plan::Call& planned : calls) {
      const sim::Operation* operation = domain_.operations.Find(planned.operation);
      if (operation == nullptr) return Difference{step.path, "no operation " + planned.operation};
      Call call(step, *operation, planned.arguments, backend_, trace_, rng_);
      while (call.held.Front() != nullptr) call.held.Release();
      if (!call.task.done()) return Difference{step.path, planned.operation + " does not end"};
      const sim::OperationResult result = call.task.TakeResult();
      if (!result.ok()) return DifferenceOf(step.path, result.status());
    }
    return std::nullopt;
  }

  MaybeDifference ReplayCalls(const RecordedStep& step, const Plan& plan) {
    std::map<std::string, std::unique_ptr<Call>> calls;
    for (const Plan::Call& call : plan.calls) {
      const sim::Operation* operation = domain_.operations.Find(call.operation);
      if (operation == nullptr) {
        return Difference{step.path + "/op",
                          absl::StrCat("there is no operation \"", call.operation, "\"")};
      }
      calls[call.actor] =
          std::make_unique<Call>(step, *operation, call.arguments, backend_, trace_, rng_);
    }
    std::vector<Plan::Turn> turns = plan.turns;
    if (turns.empty()) {
      for (const Plan::Call& call : plan.calls) turns.push_back({call.actor, true});
    }
    Json sent = Json::array();
    std::vector<Plan::Trip> trips;
    for (const Plan::Turn& turn : turns) {
      const auto actor = calls.find(turn.actor);
      if (actor == calls.end()) return Difference{step.path, "no actor " + turn.actor};
      sim::HeldStore& held = actor->second->held;
      if (held.Front() == nullptr && !turn.to_its_end) {
        return Difference{step.path, turn.actor + " has its turn and sends nothing"};
      }
      do {
        if (held.Front() == nullptr) break;
        const Json front = actor->second->Front();
        sent.insert(sent.end(), front.begin(), front.end());
        trips.push_back({turn.actor, DescribeTrip(*held.Front())});
        held.Release();
      } while (turn.to_its_end);
    }
    if (pass_.compares_commands) {
      Json recorded = WithSortedKeys(CommandsToJson(step.commands));
      sent = WithSortedKeys(std::move(sent));
      if (domain_.canonical_commands) {
        recorded = domain_.canonical_commands(std::move(recorded));
        sent = domain_.canonical_commands(std::move(sent));
      }
      auto difference = CompareJson(recorded, sent, step.path + "/commands");
      if (difference) return difference;
    }
    return ComparePlan(step, plan, trips, calls);
  }

  MaybeDifference ComparePlan(const RecordedStep& step, const Plan& plan,
                              const std::vector<Plan::Trip>& trips,
                              std::map<std::string, std::unique_ptr<Call>>& calls) {
    Json results = Json::object();
    for (const Plan::Call& planned : plan.calls) {
      Call& call = *calls.at(planned.actor);
      if (!call.task.done()) {
        if (plan.ends_in_crash) continue;
        return Difference{step.path, planned.actor + " does not end"};
      }
      const sim::OperationResult result = call.task.TakeResult();
      if (sim::IsArgumentError(result.status())) return DifferenceOf(step.path, result.status());
      if (!plan.record) return CompareResult(step, result);
      results[planned.actor] = result.ok() ? *result : domain_.race_error(result.status());
    }
    return CompareJson(step.result.value_or(Json()), plan.record(trips, results),
                       step.path + "/result");
  }

  MaybeDifference CompareResult(const RecordedStep& step, const sim::OperationResult& result) {
    if (step.error && !result.ok() && domain_.compare_error) {
      return domain_.compare_error(step, result.status());
    }
    if (step.error) {
      const Json got = result.ok() ? Json() : domain_.record_error(result.status());
      return CompareJson(*step.error, got, step.path + "/error");
    }
    if (result.ok() && !step.result) return std::nullopt;
    if (domain_.compare_result && step.result) {
      return domain_.compare_result(*step.result, result, step.path + "/result");
    }
    const Json got = result.ok() ? *result : domain_.record_error(result.status());
    return CompareJson(step.result.value_or(Json()), got, step.path + "/result");
  }

  MaybeDifference CheckKeyspace(const RecordedKeyspace& recorded, const std::string& path) {
    base::Task<absl::StatusOr<sim::Keyspace>> task = ReadServer(raw_client_, golden_.system);
    task.Start();
    if (!task.done()) return Difference{path, "reading the keyspace does not end"};
    const absl::StatusOr<sim::Keyspace> got = task.TakeResult();
    if (!got.ok()) return DifferenceOf(path, got.status());
    return CompareKeyspaces(recorded, *got, path);
  }

  Call& CallOf(size_t index) {
    std::unique_ptr<Call>& call = calls_[index];
    if (call == nullptr) {
      const RecordedStep& step = golden_.steps[index];
      call = std::make_unique<Call>(step, *domain_.operations.Find(step.op), step.arguments,
                                    backend_, trace_, rng_);
    }
    return *call;
  }

  static base::Task<absl::StatusOr<store::Reply>> Execute(store::Store& store,
                                                          const std::vector<std::string>& words) {
    Command command = Command::Named(words.front());
    command.AddAll(std::span(words).subspan(1));
    co_return co_await store.Execute(command);
  }

  const Golden& golden_;
  const Domain& domain_;
  const Pass& pass_;
  sim::ScenarioBackend& backend_;
  sim::Trace trace_;
  base::Rng rng_{0};
  sim::ScenarioClient raw_client_;
  std::map<size_t, std::unique_ptr<Call>> calls_;
};

// Returns the first step whose operation the domain does not have.
const RecordedStep* FindUnknownOperation(const Golden& golden, const Domain& domain) {
  const auto step = std::find_if(golden.steps.begin(), golden.steps.end(), [&](const auto& step) {
    return step.op != kRaw && domain.operations.Find(step.op) == nullptr;
  });
  return step == golden.steps.end() ? nullptr : &*step;
}

bool IsNewerThanSeed(const Golden& golden) {
  const size_t slash = golden.file.rfind('/');
  const size_t begin = slash == std::string::npos ? 0 : slash + 1;
  return std::string_view(golden.file).substr(begin).starts_with(kNewerThanSeed);
}

MaybeDifference ReplayPass(const Golden& golden, const Domain& domain, const Pass& pass,
                           sim::ScenarioBackend& backend) {
  const absl::Status begun = backend.Begin({.start = golden.start});
  if (!begun.ok()) return DifferenceOf("", begun);
  if (pass.begin) pass.begin();
  if (!golden.tables.empty()) {
    if (auto difference = domain.check_tables(golden, backend)) return difference;
  }
  return DomainReplay(golden, domain, pass, backend).Run();
}

}  // namespace

Outcome ReplayDomain(const Golden& recorded, const Domain& domain, sim::ScenarioBackend& backend) {
  if (domain.is_newer_than_seed && domain.is_newer_than_seed(recorded)) {
    return Outcome::Skipped("newer than the seed");
  }
  Golden golden = recorded;
  if (domain.translate) golden.steps = domain.translate(recorded);
  if (const RecordedStep* step = domain.plan ? nullptr : FindUnknownOperation(golden, domain)) {
    const std::string message = absl::StrCat("there is no operation \"", step->op, "\"");
    if (IsNewerThanSeed(golden)) return Outcome::Skipped(message + ", newer than the seed");
    return Outcome::Failed(Difference{
        step->path + "/op", absl::StrCat(message, "; there are raw, ",
                                         absl::StrJoin(domain.operations.Names(), ", "))});
  }
  if (!golden.tables.empty() && !domain.check_tables) {
    return Outcome::Skipped("no table of the system is known");
  }
  const std::vector<Pass> passes =
      domain.passes ? domain.passes(golden) : std::vector<Pass>{Pass{}};
  for (const Pass& pass : passes) {
    if (MaybeDifference difference = ReplayPass(golden, domain, pass, backend)) {
      if (!pass.name.empty()) absl::StrAppend(&difference->message, " (", pass.name, ")");
      return Outcome::Failed(*std::move(difference));
    }
  }
  return Outcome::Passed();
}

}  // namespace redouble::inline v0_1::golden
