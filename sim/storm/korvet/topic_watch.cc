#include "redouble/sim/storm/korvet/topic_watch.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/korvet/topics/topics.h"
#include "redouble/core/store/typed/hashes.h"
#include "redouble/core/store/typed/streams.h"

namespace redouble::inline v0_1::sim {

void TopicWatch::Allow(const korvet::TopicConfig& config) {
  if (config.retention_time_ms >= 0) {
    least_time_ms_ = std::min(least_time_ms_, config.retention_time_ms);
  }
  if (config.retention_bytes < 0) return;
  // At least one record stays.
  const int64_t length = std::max<int64_t>(config.retention_bytes / config.message_bytes, 1);
  least_length_ = std::min(least_length_, length);
}

std::optional<TopicWatch::Partition> TopicWatch::Read(int32_t partition) {
  const std::string stream = keys_.Stream({topic_, partition}).value();
  const auto groups = base::Run(store::XInfoGroups(store_, stream));
  if (!groups.ok()) return std::nullopt;
  Partition read;
  for (const store::StreamGroupInfo& group : *groups) {
    if (group.name != group_) continue;
    read.has_group = true;
    read.last_delivered = group.last_delivered_id;
    read.pending = group.pending;
  }
  const auto entries = base::Run(store::XRange(store_, stream));
  for (const store::StreamEntry& entry : *entries) read.ids.push_back(entry.id);
  return read;
}

void TopicWatch::Look(absl::Time now, int32_t partitions) {
  const auto topic = base::Run(korvet::DescribeTopic(store_, keys_, topic_));
  const std::string id = topic.ok() ? topic->id.ToString() : "";
  const bool is_same = !id.empty() && id == id_;
  std::map<int32_t, Partition> read;
  for (int32_t partition = 0; !id.empty() && partition < partitions; ++partition) {
    std::optional<Partition> one = Read(partition);
    if (!one.has_value()) continue;
    for (const store::StreamId entry : one->ids) {
      const auto offset = topic->config.offsets.Encode(entry);
      if (offset.ok()) seen_[{id, partition}].insert(*offset);
    }
    const auto before = partitions_.find(partition);
    if (is_same && before != partitions_.end()) {
      Compare(partition, before->second, *one, absl::ToUnixMillis(now));
    }
    read[partition] = *std::move(one);
  }
  id_ = id;
  partitions_ = std::move(read);
  last_deadline_ms_ = LastDeadline();
}

int64_t TopicWatch::LastDeadline() {
  const auto members = base::Run(store::HGetAll(store_, keys_.GroupMembers(group_).value()));
  int64_t last = 0;
  for (const auto& [member, text] : *members) {
    const std::string deadline = text.substr(0, text.find(' '));
    last = std::max(last, base::ParseInt64(deadline).value_or(0));
  }
  return last;
}

void TopicWatch::Compare(int32_t partition, const Partition& before, const Partition& now,
                         int64_t now_ms) {
  CheckRemoved(partition, before, now, now_ms);
  if (!before.has_group) return;
  if (now.has_group && now.last_delivered >= before.last_delivered) return;
  ++resets_[partition];
  if (now.has_group) return;
  ++deleted_groups_;
  const bool has_members = last_deadline_ms_ > now_ms;
  if (!busy_deleted_.empty() || (before.pending == 0 && !has_members)) return;
  busy_deleted_ =
      absl::StrCat("the group was deleted from partition ", partition, " with ", before.pending,
                   " pending records and ", has_members ? "with" : "without", " members");
}

void TopicWatch::CheckRemoved(int32_t partition, const Partition& before, const Partition& now,
                              int64_t now_ms) {
  const std::set<store::StreamId> left(now.ids.begin(), now.ids.end());
  std::set<store::StreamId> all(before.ids.begin(), before.ids.end());
  all.insert(left.begin(), left.end());
  int64_t newer = static_cast<int64_t>(all.size());
  for (const store::StreamId id : all) {
    --newer;
    if (left.contains(id)) continue;
    ++removed_;
    const auto ms = static_cast<int64_t>(id.ms);
    const bool is_old = least_time_ms_ < now_ms && ms < now_ms - least_time_ms_;
    if (is_old || newer >= least_length_ || !early_.empty()) continue;
    early_ = absl::StrCat("partition ", partition, " lost a record of ", now_ms - ms, " ms with ",
                          newer, " newer ones");
  }
}

}  // namespace redouble::inline v0_1::sim
