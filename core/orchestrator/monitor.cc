#include "core/orchestrator/monitor.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/orchestrator/ir.h"
#include "core/orchestrator/run_scripts.h"
#include "core/store/lists.h"
#include "core/store/streams.h"
#include "core/store/strings.h"

namespace redouble::orchestrator {

base::Task<absl::StatusOr<QueueDepths>> Monitor::Depths() {
  QueueDepths depths;
  for (const std::string_view type : TaskTypes()) {
    const std::string key = keys_.TaskStream(type);
    const absl::StatusOr<int64_t> length = co_await store::XLen(store_, key);
    if (!length.ok()) co_return length.status();
    if (*length == 0) {
      // No conditional expression: g++ 12 spoils a co_await in one.
      const absl::StatusOr<bool> exists = co_await store::Exists(store_, key);
      if (!exists.ok()) co_return exists.status();
      if (!*exists) continue;
    }
    auto groups = co_await store::XInfoGroups(store_, key);
    if (!groups.ok()) co_return groups.status();
    depths.streams.push_back({std::string(type), *length, *std::move(groups)});
  }
  const std::string queue = keys_.CompletionSignals();
  const absl::StatusOr<int64_t> signals = co_await store::LLen(store_, queue);
  if (!signals.ok()) co_return signals.status();
  depths.signals = *signals;
  store::ScanOptions scan;
  const std::string pattern = queue + ":processing:*";
  scan.match = pattern;
  const auto lists = co_await store::ScanAll(store_, scan);
  if (!lists.ok()) co_return lists.status();
  for (const std::string& list : *lists) {
    const std::optional<store::KeyMatch> match = keys_.Parse(list);
    if (!match || match->values.empty()) continue;
    const absl::StatusOr<int64_t> length = co_await store::LLen(store_, list);
    if (!length.ok()) co_return length.status();
    depths.processing.push_back({std::string(match->values.back()), *length});
  }
  std::sort(depths.processing.begin(), depths.processing.end(),
            [](const auto& a, const auto& b) { return a.consumer < b.consumer; });
  co_return depths;
}

base::Task<absl::StatusOr<std::vector<RunKey>>> Monitor::KeysOf(std::string_view run_id) {
  const absl::StatusOr<std::string> ir_key = keys_.Ir(run_id);
  if (!ir_key.ok()) co_return ir_key.status();
  std::vector<std::string> names = {*ir_key, *keys_.Context(run_id), *keys_.Counter(run_id),
                                    *keys_.Applied(run_id), *keys_.PendingApprovals(run_id)};
  const std::string pending_key = names.back();
  std::vector<std::string_view> all = {""};
  const auto pending = co_await SortedMembers(store_, pending_key, std::move(all));
  if (!pending.ok()) co_return pending.status();
  for (const std::string& member : *pending) {
    const std::optional<std::string_view> id = ParseApprovalMember(member);
    if (!id) continue;
    const RunApproval approval = {run_id, *id};
    absl::StatusOr<std::string> key = keys_.Approval(approval);
    if (key.ok()) names.push_back(*std::move(key));
  }
  const auto text = co_await store::Get(store_, *ir_key);
  if (!text.ok()) co_return text.status();
  const absl::StatusOr<Ir> ir = ParseIr(text->value_or(""));
  if (ir.ok()) {
    for (const Node& node : ir->nodes) {
      const RunNode of_run = {run_id, node.id};
      names.push_back(*keys_.PendingTokens(of_run));
      names.push_back(*keys_.Loop(of_run));
    }
  }
  std::vector<RunKey> found;
  for (const std::string& name : names) {
    const absl::StatusOr<store::KeyType> type = co_await store::TypeOf(store_, name);
    if (!type.ok()) co_return type.status();
    if (*type == store::KeyType::kNone) continue;
    const absl::StatusOr<store::Ttl> ttl = co_await store::TimeToLive(store_, name);
    if (!ttl.ok()) co_return ttl.status();
    found.push_back({name, *type, *ttl});
  }
  co_return found;
}

}  // namespace redouble::orchestrator
