#include "redouble/core/orchestrator/run/monitor.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/orchestrator/graph/ir.h"
#include "redouble/core/orchestrator/scripts/run_scripts.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/typed/lists.h"
#include "redouble/core/store/typed/streams.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble::inline v0_1::orchestrator {

namespace {

// The keys that exist, in the order of the names. One pipeline for each kNamesAtOnce.
base::Task<absl::StatusOr<std::vector<RunKey>>> Existing(store::Store& store,
                                                         std::vector<std::string> names) {
  constexpr size_t kNamesAtOnce = 200;
  std::vector<RunKey> found;
  for (size_t first = 0; first < names.size(); first += kNamesAtOnce) {
    const size_t count = std::min(kNamesAtOnce, names.size() - first);
    store::Batch batch(store::Batch::Atomicity::kPipeline);
    for (size_t i = first; i < first + count; ++i) {
      batch.Add(store::CommandId::kType, {names[i]});
      batch.Add(store::CommandId::kPTtl, {names[i]});
    }
    REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<store::Reply> replies,
                                 co_await store::Execute(store, batch));
    for (size_t i = 0; i < count; ++i) {
      REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string name, store::DecodeString(replies[2 * i]));
      REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t ttl_ms, store::DecodeInteger(replies[2 * i + 1]));
      const std::optional<store::KeyType> type = store::ParseKeyType(name);
      if (!type) co_return store::ProtocolError("TYPE answered an unknown type: " + name);
      if (*type != store::KeyType::kNone) {
        found.push_back({std::move(names[first + i]), *type, store::Ttl(ttl_ms)});
      }
    }
  }
  co_return found;
}

}  // namespace

base::Task<absl::StatusOr<QueueDepths>> Monitor::Depths() {
  QueueDepths depths;
  store::ScanOptions streams;
  const std::string stream_pattern = keys_.TaskStreamPattern();
  streams.match = stream_pattern;
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                               co_await store::ScanAll(store_, streams));
  for (const std::string& key : names) {
    const std::optional<store::KeyMatch> match = keys_.Parse(key);
    if (!match || match->values.empty()) continue;
    REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t length, co_await store::XLen(store_, key));
    REDOUBLE_CO_ASSIGN_OR_RETURN(auto groups, co_await store::XInfoGroups(store_, key));
    StreamDepth depth;
    depth.type = std::string(match->values.back());
    depth.shard = keys_.ShardOfQueue(*match);
    depth.length = length;
    for (store::StreamGroupInfo& info : groups) {
      auto consumers = co_await store::XInfoConsumers(store_, key, info.name);
      // The group was destroyed meanwhile.
      if (store::ServerErrorCode(consumers.status()) == "NOGROUP") continue;
      REDOUBLE_CO_RETURN_IF_ERROR(consumers.status());
      std::sort(consumers->begin(), consumers->end(),
                [](const auto& a, const auto& b) { return a.name < b.name; });
      depth.groups.push_back({std::move(info), *std::move(consumers)});
    }
    depths.streams.push_back(std::move(depth));
  }
  std::sort(depths.streams.begin(), depths.streams.end(), [](const auto& a, const auto& b) {
    return std::tie(a.type, a.shard) < std::tie(b.type, b.shard);
  });
  for (int64_t shard = 0; shard < keys_.queue_shards(); ++shard) {
    const std::string queue = keys_.CompletionSignals(shard);
    REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t length, co_await store::LLen(store_, queue));
    depths.signals += length;
  }
  store::ScanOptions scan;
  const std::string pattern = keys_.ProcessingPattern();
  scan.match = pattern;
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto lists, co_await store::ScanAll(store_, scan));
  for (const std::string& list : lists) {
    const std::optional<store::KeyMatch> match = keys_.Parse(list);
    if (!match || !IsProcessingList(*match)) continue;
    REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t length, co_await store::LLen(store_, list));
    depths.processing.push_back(
        {std::string(match->values.back()), keys_.ShardOfQueue(*match), length});
  }
  std::sort(depths.processing.begin(), depths.processing.end(), [](const auto& a, const auto& b) {
    return std::tie(a.consumer, a.shard) < std::tie(b.consumer, b.shard);
  });
  co_return depths;
}

base::Task<absl::StatusOr<std::vector<RunKey>>> Monitor::KeysOf(std::string_view run_id) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string ir_key, keys_.Ir(run_id));
  std::vector<std::string> names = {ir_key, *keys_.Context(run_id), *keys_.Counter(run_id),
                                    *keys_.Applied(run_id), *keys_.PendingApprovals(run_id)};
  const std::string pending_key = names.back();
  std::vector<std::string_view> all = {""};
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto pending,
                               co_await SortedMembers(store_, pending_key, std::move(all)));
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<std::string> approvals,
                               co_await DecidedApprovals(store_, keys_, std::string(run_id)));
  for (const std::string& member : pending) {
    if (const auto id = ParseApprovalMember(member)) approvals.emplace_back(*id);
  }
  std::sort(approvals.begin(), approvals.end());
  approvals.erase(std::unique(approvals.begin(), approvals.end()), approvals.end());
  for (const std::string& id : approvals) {
    const RunApproval approval = {run_id, id};
    absl::StatusOr<std::string> key = keys_.Approval(approval);
    if (key.ok()) names.push_back(*std::move(key));
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto text, co_await store::Get(store_, ir_key));
  const absl::StatusOr<Ir> ir = ParseIr(text.value_or(""));
  if (ir.ok()) {
    for (const Node& node : ir->nodes) {
      const RunNode of_run = {run_id, node.id};
      names.push_back(*keys_.PendingTokens(of_run));
      names.push_back(*keys_.Loop(of_run));
    }
  }
  co_return co_await Existing(store_, std::move(names));
}

}  // namespace redouble::inline v0_1::orchestrator
