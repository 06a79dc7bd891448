#include "redouble/core/relayna/workflow_contract_store.h"

#include <utility>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/python/json.h"
#include "redouble/core/relayna/scripts/script_texts.h"
#include "redouble/core/relayna/tokens.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/script.h"
#include "redouble/core/store/typed/hashes.h"
#include "redouble/core/store/typed/keys.h"

namespace redouble::inline v0_1::relayna {
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

// KEYS: marker, inflight hash. ARGV: the owner's token, the signature, 1 to delete the marker as
// well.
const store::Script& RemoveScript() {
  static const store::Script& script = *new store::Script(std::string(kRemoveContractText));
  return script;
}

}  // namespace

WorkflowContractStore::WorkflowContractStore(store::Store& store, WorkflowContractOptions options)
    : store_(store), options_(std::move(options)), keys_(options_.prefix, options_.key_layout) {}

absl::StatusOr<std::string> WorkflowContractStore::SignatureOf(const WorkflowContract& contract) {
  return WorkflowSignature(ActionOf(contract));
}

base::Task<absl::StatusOr<bool>> WorkflowContractStore::AcquireDedup(
    const WorkflowContract& contract) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string signature, SignatureOf(contract));
  const std::string marker = keys_.Dedup(StageOf(contract), signature);
  const std::string_view value = options_.hardening.owner_token.empty()
                                     ? std::string_view("1")
                                     : options_.hardening.owner_token;
  Command set(CommandId::kSet, {marker, value, "NX"});
  if (options_.ttl_seconds) set.Add("EX").AddInteger(*options_.ttl_seconds);
  co_return store::DecodeStatusOrNil(co_await store_.Execute(set));
}

base::Task<absl::Status> WorkflowContractStore::ReleaseDedup(const WorkflowContract& contract) {
  if (!options_.hardening.owner_token.empty()) {
    co_return co_await Remove(contract, /*with_marker=*/true);
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string signature, SignatureOf(contract));
  const std::string marker = keys_.Dedup(StageOf(contract), signature);
  co_return (co_await store::Del(store_, marker)).status();
}

base::Task<absl::Status> WorkflowContractStore::MarkInflight(const WorkflowContract& contract) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string signature, SignatureOf(contract));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string value, InflightValue(contract));
  const std::string hash = keys_.Inflight(StageOf(contract));
  Batch batch(Batch::Atomicity::kTransaction);
  batch.Add(CommandId::kHSet, {hash, signature, value});
  if (options_.ttl_seconds) batch.Add(CommandId::kExpire, {hash}).AddInteger(*options_.ttl_seconds);
  if (!options_.hardening.owner_token.empty()) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<store::Reply> replies,
                                 co_await store::Execute(store_, batch));
    co_return store::FirstError(replies);
  }
  for (const Command& command : batch.commands()) {
    REDOUBLE_CO_RETURN_IF_ERROR(store::DecodeAny(co_await store_.Execute(command)).status());
  }
  co_return absl::OkStatus();
}

base::Task<absl::Status> WorkflowContractStore::ClearInflight(const WorkflowContract& contract) {
  if (!options_.hardening.owner_token.empty()) {
    co_return co_await Remove(contract, /*with_marker=*/false);
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string signature, SignatureOf(contract));
  const std::string hash = keys_.Inflight(StageOf(contract));
  const Command clear(CommandId::kHDel, {hash, signature});
  co_return store::DecodeInteger(co_await store_.Execute(clear)).status();
}

base::Task<absl::Status> WorkflowContractStore::Remove(const WorkflowContract& contract,
                                                       bool with_marker) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string signature, SignatureOf(contract));
  const std::string marker = keys_.Dedup(StageOf(contract), signature);
  const std::string hash = keys_.Inflight(StageOf(contract));
  const std::string_view keys[] = {marker, hash};
  const std::string_view arguments[] = {options_.hardening.owner_token, signature,
                                        with_marker ? "1" : "0"};
  co_return (co_await RemoveScript().Run(store_, keys, arguments)).status();
}

}  // namespace redouble::inline v0_1::relayna
