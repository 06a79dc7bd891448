#include "redouble/sim/storm/korvet/topic_history.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/korvet/groups/consumer_group.h"
#include "redouble/core/korvet/log/log.h"
#include "redouble/core/store/typed/streams.h"

namespace redouble::inline v0_1::sim {
namespace {

std::string NameOf(const TopicHistory::Place& place) {
  return absl::StrCat(place.first, ":", place.second);
}

int64_t ResetsIn(const TopicHistory::Resets& resets, int32_t partition) {
  const auto found = resets.find(partition);
  return found == resets.end() ? 0 : found->second;
}

}  // namespace

int64_t TopicHistory::LastAcknowledged(int32_t partition) const {
  const auto last = last_acknowledged_.find(partition);
  return last == last_acknowledged_.end() ? -1 : last->second;
}

void TopicHistory::Acknowledge(int32_t partition, int64_t floor, std::span<const int64_t> offsets) {
  int64_t before = floor;
  for (const int64_t offset : offsets) {
    if (offset <= before) {
      Violate(TopicGuarantee::kOffsetsRise,
              absl::StrCat("the offset ", offset, " came after ", before));
    }
    before = offset;
    if (!acknowledged_.insert({partition, offset}).second) {
      Violate(TopicGuarantee::kOffsetsRise,
              absl::StrCat("the offset ", offset, " was given twice"));
    }
  }
  last_acknowledged_[partition] = std::max(LastAcknowledged(partition), before);
}

void TopicHistory::Deliver(std::string_view member, std::span<const korvet::ConsumedRecord> records,
                           const Resets& at_begin, const Resets& now) {
  std::map<int32_t, int64_t> last;
  for (const korvet::ConsumedRecord& consumed : records) {
    const Place place = {consumed.record.partition, consumed.record.offset};
    const auto [before, starts] = last.try_emplace(place.first, place.second);
    if (!starts && place.second <= before->second) {
      Violate(TopicGuarantee::kOffsetsRise, "offsets of a poll do not rise");
    }
    before->second = place.second;
    // A group that was moved back reads again also what was claimed since.
    const int64_t resets = consumed.claimed ? 0 : ResetsIn(at_begin, place.first);
    auto [to, first] = delivered_.try_emplace(place, std::string(member), resets);
    if (!first && to->second.second < ResetsIn(now, place.first)) {
      to->second = {std::string(member), resets};
      first = true;
    }
    claims_ += consumed.claimed ? 1 : 0;
    ++deliveries_;
    if (!first && !consumed.claimed) {
      Violate(TopicGuarantee::kNoneTwice,
              absl::StrCat(NameOf(place), " was given to ", to->second.first, " and to ",
                           base::ToAbsl(member), " without a claim"));
    }
  }
}

void TopicHistory::Violate(TopicGuarantee guarantee, std::string what) {
  violations_.try_emplace(guarantee, std::move(what));
}

void TopicHistory::CheckCommitted(store::Store& store, const korvet::Keys& keys,
                                  const korvet::Topic& topic, std::string_view group) {
  korvet::ConsumerGroup asked(store, keys, topic, std::string(group));
  for (int32_t partition = 0; partition < topic.partitions; ++partition) {
    const auto committed = base::Run(asked.Committed(partition));
    if (!committed.ok()) {
      Violate(TopicGuarantee::kCommittedIsBelow, std::string(committed.status().message()));
      continue;
    }
    const std::string key = keys.Stream({topic.name, partition}).value();
    const auto pending = base::Run(store::XPending(store, key, group));
    if (!pending.ok() || !pending->first) continue;
    const int64_t first = topic.config.offsets.Encode(*pending->first).value();
    if (*committed > first) {
      Violate(TopicGuarantee::kCommittedIsBelow, "the committed position is past a pending record");
    }
  }
}

void TopicHistory::CheckLogs(store::Store& store, base::Clock& clock, const korvet::Keys& keys,
                             const korvet::Topic& topic) {
  korvet::Log log(store, clock, keys, topic);
  std::map<int32_t, int64_t> starts;
  for (int32_t partition = 0; partition < topic.partitions; ++partition) {
    starts[partition] = base::Run(log.Bounds(partition)).value().start;
    korvet::FetchPosition position = {partition, starts[partition]};
    position.max_bytes = std::numeric_limits<int64_t>::max();
    korvet::FetchRequest request;
    request.positions = std::span(&position, 1);
    request.max_records = request.max_bytes = std::numeric_limits<int32_t>::max();
    const auto fetched = base::Run(log.Fetch(request));
    const absl::Status status = fetched.ok() ? fetched->front().status : fetched.status();
    // A fetch fails if an entry id has no offset.
    if (!status.ok()) {
      Violate(TopicGuarantee::kSucceeds, std::string(status.message()));
      continue;
    }
    int64_t before = -1;
    for (const korvet::LogRecord& record : fetched->front().records) {
      if (record.offset <= before) {
        Violate(TopicGuarantee::kOffsetsRise, "the offsets of a log do not rise");
      }
      before = record.offset;
    }
  }
  for (const Place& place : acknowledged_) {
    // Retention may remove records that were never delivered.
    if (delivered_.contains(place) || place.second < starts[place.first]) continue;
    Violate(TopicGuarantee::kNoneLost,
            absl::StrCat(NameOf(place), " was acknowledged and never delivered"));
  }
}

}  // namespace redouble::inline v0_1::sim
