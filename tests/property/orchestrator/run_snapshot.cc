#include "redouble/tests/property/orchestrator/run_snapshot.h"

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/strings/numbers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/typed/hashes.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/sets.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

std::set<std::string> MembersOf(store::Store& store, const std::string& key) {
  const std::vector<std::string> members = base::Run(store::SMembers(store, key)).value();
  return {members.begin(), members.end()};
}

std::map<std::string, std::string> FieldsOf(store::Store& store, const std::string& key) {
  const auto fields = base::Run(store::HGetAll(store, key)).value();
  return {fields.begin(), fields.end()};
}

void ReadApproval(store::Store& store, const std::string& key, const std::string& id,
                  RunSnapshot& snapshot) {
  std::map<std::string, std::string> fields = FieldsOf(store, key);
  if (fields.empty()) {
    snapshot.approvals.erase(id);
  } else {
    snapshot.approvals[id] = {fields["node_id"], fields["status"]};
  }
}

}  // namespace

std::optional<int64_t> RunSnapshot::count() const {
  int64_t number = 0;
  if (!counter || !absl::SimpleAtoi(*counter, &number)) return std::nullopt;
  return number;
}

bool IsApprovalKey(const Keys& keys, std::string_view key) {
  const auto match = keys.Parse(key);
  return match && match->family->id == "orchestrator.approval";
}

std::string RunOfKey(const Keys& keys, std::string_view key) {
  const auto match = keys.Parse(key);
  if (!match) return "";
  // Shared keys have no run, and neither has the documented key of an approval.
  const std::optional<size_t> index = match->pattern->IndexOf("run_id");
  return index ? std::string(match->values[*index]) : "";
}

void ReadKey(store::Store& store, const Keys& keys, const std::string& key, RunSnapshot& snapshot) {
  const auto match = *keys.Parse(key);
  const std::string_view family = match.family->id;
  const std::string last(match.values.empty() ? "" : match.values[match.values.size() - 1]);
  const store::ExpiryTime expiry = base::Run(store::ExpiryTimeOf(store, key)).value();
  if (expiry.exists()) {
    snapshot.deadlines[key] = expiry.expires() ? absl::ToUnixMillis(expiry.deadline()) : -1;
  } else {
    snapshot.deadlines.erase(key);
  }
  if (family == "orchestrator.counter")
    snapshot.counter = base::Run(store::Get(store, key)).value();
  if (family == "orchestrator.ir")
    snapshot.ir = base::Run(store::Get(store, key)).value().value_or("");
  if (family == "orchestrator.applied") snapshot.applied = MembersOf(store, key);
  if (family == "orchestrator.context") snapshot.context = FieldsOf(store, key);
  if (family == "orchestrator.pending_approvals") snapshot.pending = MembersOf(store, key);
  if (family == "orchestrator.approval") ReadApproval(store, key, last, snapshot);
  if (family == "orchestrator.pending_tokens") {
    snapshot.parked[last] = MembersOf(store, key);
    if (snapshot.parked[last].empty()) snapshot.parked.erase(last);
  }
}

}  // namespace redouble::inline v0_1::orchestrator
