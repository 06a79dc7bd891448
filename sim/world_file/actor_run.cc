#include "redouble/sim/world_file/actor_run.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/message_source.h"
#include "redouble/sim/check/history.h"
#include "redouble/sim/cluster/actor_client.h"
#include "redouble/sim/cluster/cluster_store.h"
#include "redouble/sim/cluster/slot_mover.h"
#include "redouble/sim/json/bytes.h"
#include "redouble/sim/json/reply_json.h"
#include "redouble/sim/operations/arguments.h"

namespace redouble::inline v0_1::sim {
namespace {

using Words = std::vector<std::string>;

struct OwnedStore {
  std::unique_ptr<store::Store> owned;
};

// A connection that records the history.
class RecordedConnection final : private OwnedStore, public HistoryStore {
 public:
  RecordedConnection(std::unique_ptr<store::Store> connection, RunState& state, std::string client)
      : OwnedStore{std::move(connection)},
        HistoryStore(*owned, state.observed.history, std::move(client)) {}
};

// Returns the connection; one that records the history, if an invariant needs it.
std::unique_ptr<store::Store> Recorded(std::unique_ptr<store::Store> connection, RunState& state,
                                       const std::string& client) {
  if (!state.has_history) return connection;
  return std::make_unique<RecordedConnection>(std::move(connection), state, client);
}

// The store of an actor or of the setup: one that records the history, if an invariant needs it.
class RecordedStore {
 public:
  // `inner` and `state` must outlive this.
  RecordedStore(store::Store& inner, RunState& state, std::string client) : inner_(inner) {
    if (state.has_history) recording_.emplace(inner, state.observed.history, std::move(client));
  }
  store::Store& get() { return recording_ ? static_cast<store::Store&>(*recording_) : inner_; }

 private:
  store::Store& inner_;
  std::optional<HistoryStore> recording_;
};

// The words of a command with the bound values in them; null if nothing is bound.
const Words& WordsOf(const Words& words, const BoundValues& bound, Words& substituted) {
  if (bound.empty()) return words;
  for (const std::string& word : words) substituted.push_back(SubstituteText(word, bound));
  return substituted;
}

store::Command CommandOf(const Words& words) {
  store::Command command = store::Command::Named(words.front());
  command.AddAll(std::span(words).subspan(1));
  return command;
}

// Returns the reply, or OK without one if the outcome is not known because of a fault.
base::Task<absl::Status> SendCommand(const CommandStep& step, store::Store& store,
                                     const BoundValues& bound, std::optional<store::Reply>& reply) {
  Words substituted;
  const store::Command command = CommandOf(WordsOf(step.words, bound, substituted));
  REDOUBLE_CO_ASSIGN_OR_RETURN(reply, co_await store.Execute(command));
  co_return absl::OkStatus();
}

base::Task<absl::Status> SendBatch(const BatchStep& step, store::Store& store,
                                   const BoundValues& bound, std::optional<store::Reply>& reply) {
  std::vector<Words> substituted(step.commands.size());
  store::Batch batch(step.is_transaction ? store::Batch::Atomicity::kTransaction
                                         : store::Batch::Atomicity::kPipeline);
  for (size_t i = 0; i < step.commands.size(); ++i) {
    batch.Add(CommandOf(WordsOf(step.commands[i], bound, substituted[i])));
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(reply, co_await store.ExecuteRaw(batch));
  co_return absl::OkStatus();
}

// Returns the mistake that an error reply shows; OK for any other reply.
absl::Status MistakeIn(std::string_view command, bool may_fail, const store::Reply& reply) {
  if (!reply.is_error() || may_fail) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the command ", base::ToAbsl(command), " fails: ",
                                                 reply.text(), R"(; a step with "may_fail" may)"));
}

// Arguments that the operation rejects are a mistake in the file.
base::Task<Json> MakeCall(const CallStep& step, OperationContext context, const BoundValues& bound,
                          absl::Status& mistake) {
  const Json arguments =
      bound.empty() ? step.call.arguments : Substitute(step.call.arguments, bound);
  const OperationResult result = co_await (*step.call.operation)(context, arguments);
  if (result.ok()) co_return *result;
  if (IsArgumentError(result.status())) {
    mistake =
        absl::InvalidArgumentError(absl::StrCat(step.call.name, ": ", result.status().message()));
  }
  co_return Json{{"error", std::string(result.status().message())}};
}

// Runs the steps of one incarnation of an actor.
class ActorRun final : private store::PushListener {
 public:
  ActorRun(Actor& actor, RunState& state)
      : actor_(actor),
        state_(state),
        client_(actor),
        store_(client_.store(), state, actor.name()) {}
  ~ActorRun() override {
    if (!pushes_as_.empty()) actor_.store().Listen(nullptr);
  }
  ActorRun(const ActorRun&) = delete;
  ActorRun& operator=(const ActorRun&) = delete;

  base::Task<void> RunAll(const std::vector<WorldStep>& steps) {
    for (size_t i = 0; i < steps.size(); ++i) {
      const WorldStep& step = steps[i];
      if (step.condition && !step.condition->Holds(bound_)) continue;
      if (const auto* repeat = std::get_if<RepeatStep>(&step.action)) {
        co_await Repeat(*repeat);
      } else if (const auto* advance = std::get_if<AdvanceStep>(&step.action)) {
        const absl::Time target = advance->to ? *advance->to : actor_.clock().Now() + *advance->by;
        co_await actor_.clock().SleepUntil(target);
      } else if (std::holds_alternative<ListenStep>(step.action)) {
        pushes_as_ = step.as;
        actor_.store().Listen(this);
      } else if (const auto* move = std::get_if<MoveSlotStep>(&step.action)) {
        (void)co_await MoveSlotOf(actor_, move->key, move->from, move->to);
      } else {
        Json value = co_await RunRequest(step, static_cast<int>(i));
        if (!step.as.empty()) Bind(step.as, std::move(value));
      }
    }
  }

 private:
  base::Task<void> Repeat(const RepeatStep& step) {
    for (int64_t i = 0; i < step.times; ++i) {
      co_await RunAll(step.steps);
      if (step.until && step.until->Holds(bound_)) co_return;
    }
  }

  // Returns the result of a call, or the reply of a command or batch; null if there is none.
  base::Task<Json> RunRequest(const WorldStep& step, int index) {
    if (const auto* call = std::get_if<CallStep>(&step.action)) {
      const OperationContext context(StoreFor(step), actor_.clock(), actor_.rng(),
                                     [this, &step] { return Connect(step.server); });
      absl::Status mistake;
      Json result = co_await MakeCall(*call, context, bound_, mistake);
      if (!mistake.ok()) state_.world.ReportMistake(mistake);
      state_.observed.results.push_back(CallResult{actor_.name(), index, call->call.name, result});
      co_return result;
    }
    std::optional<store::Reply> reply;
    if (const auto* batch = std::get_if<BatchStep>(&step.action)) {
      (void)co_await SendBatch(*batch, StoreFor(step), bound_, reply);
      if (reply && !reply->is_array()) Judge(batch->commands[0][0], batch->may_fail, *reply);
      for (size_t i = 0; reply && reply->is_array() && i < reply->elements().size(); ++i) {
        Judge(batch->commands[i][0], batch->may_fail, reply->elements()[i]);
      }
    } else {
      const auto& command = std::get<CommandStep>(step.action);
      (void)co_await SendCommand(command, StoreFor(step), bound_, reply);
      if (reply) Judge(command.words[0], command.may_fail, *reply);
    }
    co_return reply && !reply->is_error() ? ResultToJson(*std::move(reply)) : Json();
  }

  // The connection that the step's requests are sent on.
  store::Store& StoreFor(const WorldStep& step) {
    if (step.server.empty()) return store_.get();
    std::unique_ptr<store::Store>& connection = connections_[step.server];
    if (connection == nullptr) connection = Connect(step.server);
    return *connection;
  }

  std::unique_ptr<store::Store> Connect(const std::string& server) {
    if (server.empty() && state_.world.is_cluster()) {
      return Recorded(std::make_unique<ClusterStore>(actor_), state_, actor_.name());
    }
    return Recorded(actor_.Connect(server), state_, actor_.name());
  }

  // An error reply is a mistake of the file, unless a fault gave it.
  void Judge(std::string_view command, bool may_fail, const store::Reply& reply) {
    const std::vector<std::string>& faults = state_.fault_errors;
    if (reply.is_error() && std::find(faults.begin(), faults.end(), reply.text()) != faults.end()) {
      return;
    }
    const absl::Status mistake = MistakeIn(command, may_fail, reply);
    if (!mistake.ok()) state_.world.ReportMistake(mistake);
  }

  void OnPush(const store::Reply& push) override {
    const std::optional<store::Message> message = store::ReadMessage(push);
    Bind(pushes_as_, message ? Json(EncodeBytes(message->payload)) : ReplyToJson(push));
  }

  void Bind(const std::string& name, Json value) {
    state_.observed.bound.push_back(BoundValue{actor_.name(), name, value});
    bound_.insert_or_assign(name, std::move(value));
  }

  Actor& actor_;
  RunState& state_;
  ActorClient client_;
  RecordedStore store_;
  std::map<std::string, std::unique_ptr<store::Store>> connections_;  // By server.
  BoundValues bound_;
  std::string pushes_as_;  // The name that pushes are bound to; empty before "listen".
};

absl::Status SetUpCall(const CallStep& call, const std::string& server, store::Store& store,
                       RunState& state) {
  base::Rng rng(0);
  const OperationContext context(store, state.world.clock(), rng, [&state, &server] {
    return Recorded(ConnectAside(state.world, server), state, "setup");
  });
  absl::Status arguments;
  const Json result = base::Run(MakeCall(call, context, {}, arguments));
  REDOUBLE_RETURN_IF_ERROR(arguments);
  if (!result.is_object() || !result.contains("error")) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(call.call.name, ": ", result["error"].dump()));
}

}  // namespace

base::Task<void> RunActor(Actor& actor, const std::vector<WorldStep>& steps, RunState& state) {
  ActorRun run(actor, state);
  co_await run.RunAll(steps);
}

absl::Status SetUp(const std::vector<WorldStep>& steps, RunState& state) {
  World& world = state.world;
  std::map<std::string, std::unique_ptr<store::Store>> connections;  // By server.
  const auto store_for = [&](const WorldStep& step) -> store::Store& {
    std::unique_ptr<store::Store>& connection = connections[step.server];
    if (connection == nullptr) {
      connection = Recorded(ConnectAside(world, step.server), state, "setup");
    }
    return *connection;
  };
  for (const WorldStep& step : steps) {
    if (const auto* call = std::get_if<CallStep>(&step.action)) {
      REDOUBLE_RETURN_IF_ERROR(SetUpCall(*call, step.server, store_for(step), state));
    } else if (const auto* command = std::get_if<CommandStep>(&step.action)) {
      std::optional<store::Reply> reply;
      REDOUBLE_RETURN_IF_ERROR(base::Run(SendCommand(*command, store_for(step), {}, reply)));
      REDOUBLE_RETURN_IF_ERROR(MistakeIn(command->words[0], command->may_fail, *reply));
    } else {
      const auto& advance = std::get<AdvanceStep>(step.action);
      world.clock().AdvanceTo(advance.to ? *advance.to : world.clock().Now() + *advance.by);
    }
  }
  return absl::OkStatus();
}

}  // namespace redouble::inline v0_1::sim
