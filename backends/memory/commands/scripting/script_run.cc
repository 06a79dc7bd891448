#include "redouble/backends/memory/commands/scripting/script_run.h"

#include <utility>

#include "redouble/backends/memory/compatibility/server_text.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/permission.h"
#include "redouble/backends/memory/engine/session_core.h"
#include "redouble/backends/memory/scripting/script_cache.h"
#include "redouble/backends/memory/scripting/script_commands.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

using store::CommandId;
using store::CommandSpec;

// Runs a script's commands in the session of its caller.
class SessionHost final : public ScriptHost {
 public:
  SessionHost(CommandContext& context, const ScriptRun& run)
      : context_(context),
        run_(run),
        read_only_(run.read_only_command || run.flags.no_writes),
        one_slot_(run.flags.declared && !run.flags.allow_cross_slot_keys),
        may_run_out_of_memory_(run.flags.allow_oom),
        db_index_(context.session().db_index()),
        ran_atomically_(context.session().runs_atomically()),
        ran_script_(context.session().runs_script()),
        started_us_(MonotonicMicros()) {
    context.session().set_runs_atomically(true);
    context.session().set_runs_script(true);
    context.engine().propagation().set_script_targets(EffectTargets::kAll);
  }
  // SELECT in a script does not outlast it.
  ~SessionHost() {
    if (busy_ != nullptr) context_.engine().ClearBusy();
    context_.session().Select(db_index_);
    context_.session().set_runs_atomically(ran_atomically_);
    context_.session().set_runs_script(ran_script_);
  }

  // The script as other clients see it when it is busy.
  BusyScript Description() const {
    std::vector<std::string> command = {std::string(run_.command)};
    command.insert(command.end(), run_.command_arguments.begin(), run_.command_arguments.end());
    return {.is_function = run_.is_function,
            .called_write_command = called_write_command_,
            .name = std::string(run_.name),
            .command = std::move(command),
            .started_ms = context_.now_ms()};
  }

  // True if the limit is one of real time.
  bool runs_in_real_time() const { return started_us_.has_value(); }

  void SetReplication(int flags) override {
    context_.engine().propagation().set_script_targets(static_cast<EffectTargets>(flags));
  }

  std::optional<int64_t> RunMillis() const override {
    if (!runs_in_real_time()) return std::nullopt;
    return (*MonotonicMicros() - *started_us_) / 1000;
  }

  bool MayContinue() override {
    if (!runs_in_real_time()) return false;
    EngineCore& engine = context_.engine();
    if (busy_ == nullptr) busy_ = &engine.SetBusy(Description());
    busy_->running = this;
    busy_->called_write_command = called_write_command_;
    return engine.administration().host()->ServeOthers() && !busy_->is_killed;
  }

  bool refused_last() const override { return refused_last_; }
  ScriptDebugger* debugger() override { return run_.debugger; }

  Recognized Recognize(std::span<const std::string_view> words) const override {
    CommandId id = context_.engine().CommandNamed(words[0]);
    using Resolution = EngineCore::Resolution;
    const Resolution resolution = context_.engine().Resolve(id, words.subspan(1));
    if (resolution == Resolution::kFound) return Recognized::kYes;
    return resolution == Resolution::kWrongArity ? Recognized::kWrongArity : Recognized::kNo;
  }

  bool MayRun(std::span<const std::string_view> words) const override {
    CommandId id = context_.engine().CommandNamed(words[0]);
    const Arguments arguments = words.subspan(1);
    context_.engine().Resolve(id, arguments);
    return context_.session().user().Check(id, arguments).denied == Denied::kNothing;
  }

  Reply CallCommand(std::span<const std::string_view> words) override {
    CommandId id = context_.engine().CommandNamed(words[0]);
    const Arguments arguments = words.subspan(1);
    std::optional<Reply> refusal = Refuse(id, arguments);
    refused_last_ = refusal.has_value();
    if (refusal) return *std::move(refusal);
    const CommandSpec& spec = store::SpecOf(id);
    called_write_command_ = called_write_command_ || spec.Has(store::command_flag::kWrite);
    Reply reply = context_.engine().Call(context_.session(), id, words[0], arguments);
    if (spec.Has(store::command_flag::kReadOnly) && context_.engine().tracking().has_clients()) {
      // The client may cache any key that the script declares, whether the script reads it or not.
      RememberReads(context_.engine(), context_.session(), store::FindCommand(run_.command),
                    run_.command_arguments);
    }
    return reply;
  }

 private:
  // Looks the command up, and replaces the id of a container by the id of its subcommand. Returns
  // and counts the error if the script may not call the command; nullopt if it may.
  std::optional<Reply> Refuse(CommandId& id, Arguments arguments) {
    std::optional<Reply> refusal;
    switch (context_.engine().Resolve(id, arguments)) {
      case EngineCore::Resolution::kUnknownCommand:
      case EngineCore::Resolution::kUnknownSubcommand:
        id = CommandId::kUnknown;
        refusal = Reply::Error(ServerText(context_.engine().compatibility(),
                                          "ERR Unknown Redis command called from script"));
        break;
      case EngineCore::Resolution::kWrongArity:
        refusal =
            Reply::Error(ServerText(context_.engine().compatibility(),
                                    "ERR Wrong number of args calling Redis command from script"));
        break;
      case EngineCore::Resolution::kFound:
        refusal = RefuseByRules(id, arguments);
    }
    if (refusal) context_.engine().administration().statistics().CountRejection(id, *refusal);
    return refusal;
  }

  std::optional<Reply> RefuseByRules(CommandId id, Arguments arguments) {
    EngineCore& engine = context_.engine();
    const CommandSpec& spec = engine.compatibility().SpecOf(id);
    if (spec.Has(store::command_flag::kNoScript) &&
        (!engine.scripts().allows_denied_commands() || RunsScript(id))) {
      return Reply::Error("ERR This Redis command is not allowed from script");
    }
    std::optional<Reply> refusal =
        RefuseByAcl(engine, context_.session(), id, arguments, CheckPlace::kScript);
    if (refusal) return refusal;
    if (read_only_ && MayWrite(id)) {
      return Reply::Error("ERR Write commands are not allowed from read-only scripts.");
    }
    // A script that has already written is not stopped.
    if (!called_write_command_) {
      if (spec.Has(store::command_flag::kWrite) && !context_.obeys()) {
        if (std::optional<Reply> error = RefuseWriting(engine)) return error;
      }
      if (spec.Has(store::command_flag::kDenyOom) && engine.out_of_memory() &&
          !may_run_out_of_memory_) {
        return Reply::Error(error_text::kOutOfMemory);
      }
    }
    if (!context_.obeys() && !spec.Has(store::command_flag::kStale) && RefuseStale(engine)) {
      return Reply::Error("ERR Can not execute the command on a stale replica");
    }
    return engine.RefuseScriptCall(context_.session(), id, arguments, one_slot_);
  }

  std::optional<int64_t> MonotonicMicros() const {
    Host* host = context_.engine().administration().host();
    if (host == nullptr || !host->runs_in_real_time()) return std::nullopt;
    return host->MonotonicMicros();
  }

  CommandContext& context_;
  const ScriptRun& run_;
  const bool read_only_;
  const bool one_slot_;
  const bool may_run_out_of_memory_;
  const int db_index_;
  const bool ran_atomically_;
  const bool ran_script_;
  // Nullopt if the script is limited by its instructions.
  const std::optional<int64_t> started_us_;
  bool called_write_command_ = false;
  bool refused_last_ = false;
  // The engine's busy script, if it is this one.
  BusyScript* busy_ = nullptr;
};

// Leaves the engine busy with the stopped script, and its client blocked.
Reply LeaveBusy(CommandContext& context, BusyScript stopped, Reply killed) {
  stopped.caller = &context.session();
  stopped.killed = std::move(killed);
  context.engine().SetBusy(std::move(stopped));
  return context.Block({.keys = {},
                        .type = store::KeyType::kNone,
                        .deadline_ms = std::nullopt,
                        .retry = [](CommandContext&, std::string_view) { return std::nullopt; },
                        .timed_out = Reply::Nil()});
}

}  // namespace

Reply RunScript(CommandContext& context, const ScriptRun& run,
                const std::function<ScriptResult(ScriptHost& host, int64_t limit_ms)>& call) {
  if (run.read_only_command && run.flags.declared && !run.flags.no_writes) {
    return Reply::Error("ERR Can not execute a script with write flag using *_ro command.");
  }
  if (run.flags.no_cluster && context.engine().cluster() != nullptr) {
    return Reply::Error("ERR Can not run script on cluster, 'no-cluster' flag is set.");
  }
  const bool may_run_out_of_memory = run.flags.allow_oom || run.flags.no_writes;
  if (run.flags.declared && !may_run_out_of_memory && context.engine().out_of_memory()) {
    return Reply::Error(error_text::kOutOfMemory);
  }
  ScriptResult result;
  std::optional<BusyScript> stopped;
  const bool may_block = context.may_block();
  {
    SessionHost host(context, run);
    result = call(host, context.engine().options().busy_reply_threshold_ms);
    const bool may_stay_busy = may_block && !host.runs_in_real_time();
    if (result.overran && may_stay_busy) stopped = host.Description();
  }
  if (!stopped) {
    Statistics& statistics = context.engine().administration().statistics();
    if (result.error_is_counted && result.reply.is_error()) statistics.MarkErrorAsCounted();
    statistics.CountNestedErrors(store::FindCommand(context.called_name()),
                                 result.nested_errors.texts, result.nested_errors.counted);
    return std::move(result.reply);
  }
  return LeaveBusy(context, *std::move(stopped), std::move(result.reply));
}

void ShowToMonitors(const CommandContext& context, Arguments arguments) {
  const Administration::Sent sent{store::FindCommand(context.called_name()), context.called_name(),
                                  arguments};
  context.engine().administration().ShowToMonitors(context.session(), sent);
}

std::optional<Reply> ReadScriptArguments(Arguments arguments, std::string_view not_a_number,
                                         ScriptArguments& read) {
  const std::optional<int64_t> count = base::ParseInt64(arguments[0]);
  if (!count) return Reply::Error(not_a_number);
  if (*count > static_cast<int64_t>(arguments.size()) - 1) {
    // lint: one-home: Redis writes this text in both commands
    return Reply::Error("ERR Number of keys can't be greater than number of args");
  }
  if (*count < 0) return Reply::Error("ERR Number of keys can't be negative");
  read.keys = arguments.subspan(1, static_cast<size_t>(*count));
  read.arguments = arguments.subspan(1 + static_cast<size_t>(*count));
  return std::nullopt;
}

Reply KillScript(CommandContext& context, bool is_function) {
  const BusyScript* busy = context.engine().busy_script();
  if (busy == nullptr) return Reply::Error("NOTBUSY No scripts in execution right now.");
  if (busy->called_write_command) {
    return Reply::Error(
        "UNKILLABLE Sorry the script already executed write commands against the dataset. You can "
        "either wait the script termination or kill the server in a hard way using the SHUTDOWN "
        "NOSAVE command.");
  }
  if (busy->is_function != is_function)
    return Reply::Error(busy->RefusalOf(context.engine().compatibility()));
  context.engine().KillBusy();
  return Reply::Ok();
}

}  // namespace redouble::inline v0_1::memory
