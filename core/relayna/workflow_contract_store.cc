#include "core/relayna/workflow_contract_store.h"

#include <utility>

#include "core/python/json.h"
#include "core/relayna/tokens.h"
#include "core/store/batch.h"
#include "core/store/command.h"
#include "core/store/decode.h"
#include "core/store/hashes.h"
#include "core/store/keys.h"
#include "core/store/script.h"

namespace redouble::relayna {
namespace {

using python::Object;
using python::Value;
using store::Batch;
using store::Command;
using store::CommandId;

TaskStage StageOf(const WorkflowContract& contract) {
  return {.stage = contract.stage, .task_id = contract.task_id};
}

WorkflowAction ActionOf(const WorkflowContract& contract) {
  return {.task_id = contract.task_id,
          .action = contract.action,
          .payload = &contract.payload,
          .dedup_key_fields = contract.dedup_key_fields};
}

absl::StatusOr<std::string> InflightValue(const WorkflowContract& contract) {
  python::Array fields(contract.dedup_key_fields.begin(), contract.dedup_key_fields.end());
  const Value value = Object({{"action", contract.action},
                              {"dedup_key_fields", std::move(fields)},
                              {"payload", DedupFields(ActionOf(contract))},
                              {"stage", contract.stage},
                              {"task_id", contract.task_id}});
  return python::PyJson(value, {.sorted = true, .ascii = true});
}

// KEYS: marker, inflight hash. ARGV: owner token, signature, whether the marker goes as well.
const store::Script& TakeAwayScript() {
  static const store::Script& script = *new store::Script(R"(
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('HDEL', KEYS[2], ARGV[2])
if ARGV[3] == '1' then redis.call('DEL', KEYS[1]) end
return 1
)");
  return script;
}

}  // namespace

WorkflowContractStore::WorkflowContractStore(store::Store& store, WorkflowContractOptions options)
    : store_(store), options_(std::move(options)), keys_(options_.prefix) {}

absl::StatusOr<std::string> WorkflowContractStore::SignatureOf(const WorkflowContract& contract) {
  return WorkflowSignature(ActionOf(contract));
}

base::Task<absl::StatusOr<bool>> WorkflowContractStore::AcquireDedup(
    const WorkflowContract& contract) {
  const absl::StatusOr<std::string> signature = SignatureOf(contract);
  if (!signature.ok()) co_return signature.status();
  const std::string marker = keys_.Dedup(StageOf(contract), *signature);
  const std::string_view value =
      options_.owner_token.empty() ? std::string_view("1") : options_.owner_token;
  Command set(CommandId::kSet, {marker, value, "NX"});
  if (options_.ttl_seconds) set.Add("EX").AddInteger(*options_.ttl_seconds);
  co_return store::DecodeStatusOrNil(co_await store_.Execute(set));
}

base::Task<absl::Status> WorkflowContractStore::ReleaseDedup(const WorkflowContract& contract) {
  if (!options_.owner_token.empty()) {
    co_return co_await TakeAway(contract, /*with_marker=*/true);
  }
  const absl::StatusOr<std::string> signature = SignatureOf(contract);
  if (!signature.ok()) co_return signature.status();
  const std::string marker = keys_.Dedup(StageOf(contract), *signature);
  co_return (co_await store::Del(store_, marker)).status();
}

base::Task<absl::Status> WorkflowContractStore::MarkInflight(const WorkflowContract& contract) {
  const absl::StatusOr<std::string> signature = SignatureOf(contract);
  if (!signature.ok()) co_return signature.status();
  const absl::StatusOr<std::string> value = InflightValue(contract);
  if (!value.ok()) co_return value.status();
  const std::string hash = keys_.Inflight(StageOf(contract));
  Batch batch(Batch::Atomicity::kTransaction);
  batch.Add(CommandId::kHSet, {hash, *signature, *value});
  if (options_.ttl_seconds) batch.Add(CommandId::kExpire, {hash}).AddInteger(*options_.ttl_seconds);
  if (!options_.owner_token.empty()) {
    const absl::StatusOr<std::vector<store::Reply>> replies =
        co_await store::Execute(store_, batch);
    if (!replies.ok()) co_return replies.status();
    co_return store::FirstError(*replies);
  }
  for (const Command& command : batch.commands()) {
    const absl::StatusOr<store::Reply> reply = store::DecodeAny(co_await store_.Execute(command));
    if (!reply.ok()) co_return reply.status();
  }
  co_return absl::OkStatus();
}

base::Task<absl::Status> WorkflowContractStore::ClearInflight(const WorkflowContract& contract) {
  if (!options_.owner_token.empty()) {
    co_return co_await TakeAway(contract, /*with_marker=*/false);
  }
  const absl::StatusOr<std::string> signature = SignatureOf(contract);
  if (!signature.ok()) co_return signature.status();
  const std::string hash = keys_.Inflight(StageOf(contract));
  const Command clear(CommandId::kHDel, {hash, *signature});
  co_return store::DecodeInteger(co_await store_.Execute(clear)).status();
}

base::Task<absl::Status> WorkflowContractStore::TakeAway(const WorkflowContract& contract,
                                                         bool with_marker) {
  const absl::StatusOr<std::string> signature = SignatureOf(contract);
  if (!signature.ok()) co_return signature.status();
  const std::string marker = keys_.Dedup(StageOf(contract), *signature);
  const std::string hash = keys_.Inflight(StageOf(contract));
  const std::string_view keys[] = {marker, hash};
  const std::string_view arguments[] = {options_.owner_token, *signature, with_marker ? "1" : "0"};
  co_return (co_await TakeAwayScript().Run(store_, keys, arguments)).status();
}

}  // namespace redouble::relayna
