#include "redouble/core/relayna/keys.h"

#include <array>
#include <cstddef>

namespace redouble::inline v0_1::relayna {
namespace {

using store::KeyFamily;
using store::KeyLayout;
using store::KeyPattern;
using store::KeyType;
using store::LayoutRow;
using store::LayoutTable;

constexpr std::string_view kSystem = "relayna";
constexpr std::string_view kStatusSource = "docs/systems/relayna.md 2.5 and 4.1";
constexpr std::string_view kObservationSource = "docs/systems/relayna.md 2.7 and 4.4";
constexpr std::string_view kFeedSource = "docs/systems/relayna.md 2.8 and 4.5";
constexpr std::string_view kDlqSource = "docs/systems/relayna.md 2.9 and 4.7";
constexpr std::string_view kWorkflowSource = "docs/systems/relayna.md 2.10 and 4.12";
constexpr absl::Duration kDay = absl::Seconds(kDefaultTtlSeconds);
constexpr std::string_view kRefreshed = "set by the store; restarts with each accepted event";
constexpr std::string_view kMarkerTtl = "set by the store when the key is created; never extended";

constexpr KeyFamily kHistory = {
    .id = "relayna.history",
    .system = kSystem,
    .pattern = "{status_prefix:any}:history:{task_id:any}",
    .type = KeyType::kList,
    .ttl_rule = kRefreshed,
    .ttl = kDay,
    .lifecycle = "created by the first status event of a task; trimmed; expires",
    .purpose = "status events of one task as JSON, last written first",
    .source = kStatusSource,
    .overlaps = "relayna.observation_history",
};

constexpr KeyFamily kChannel = {
    .id = "relayna.channel",
    .system = kSystem,
    .pattern = "{status_prefix:any}:channel:{task_id:any}",
    .type = KeyType::kNone,
    .ttl_rule = "none: a Pub/Sub channel",
    .lifecycle = "exists while a client is subscribed",
    .purpose = "accepted status events of one task, with the bytes of the history",
    .source = kStatusSource,
};

constexpr KeyFamily kShardChannel = {
    .id = "relayna.shard_channel",
    .system = kSystem,
    .pattern = "{status_prefix:any}:shard-channel:{{task:{task_id:any}}}",
    .type = KeyType::kNone,
    .ttl_rule = "none: a shard channel of Pub/Sub",
    .lifecycle = "an option; exists while a client is subscribed",
    .purpose = "as the channel of the task, for SPUBLISH",
    .source = "docs/systems/relayna.md 1.5",
};

constexpr KeyFamily kEvent = {
    .id = "relayna.event",
    .system = kSystem,
    .pattern = "{status_prefix:any}:event:{task_id:any}:{token:any}",
    .type = KeyType::kString,
    .ttl_rule = kMarkerTtl,
    .ttl = kDay,
    .lifecycle = "created before the event is written; expires",
    .purpose = "marks one status event as seen",
    .source = kStatusSource,
    .overlaps = "relayna.observation_event relayna.feed_event",
};

constexpr KeyFamily kChildren = {
    .id = "relayna.children",
    .system = kSystem,
    .pattern = "{status_prefix:any}:children:{parent_task_id:any}",
    .type = KeyType::kSet,
    .ttl_rule = kRefreshed,
    .ttl = kDay,
    .lifecycle = "created by the first event that names the parent; expires",
    .purpose = "ids of the tasks whose events name this task as their parent",
    .source = kStatusSource,
};

constexpr KeyFamily kObservationHistory = {
    .id = "relayna.observation_history",
    .system = kSystem,
    .pattern = "{observation_prefix:any}:history:{task_id:any}",
    .type = KeyType::kList,
    .ttl_rule = kRefreshed,
    .ttl = kDay,
    .lifecycle = "created by the first observation of a task; trimmed; expires",
    .purpose = "observations of one task as JSON, last written first",
    .source = kObservationSource,
};

constexpr KeyFamily kObservationEvent = {
    .id = "relayna.observation_event",
    .system = kSystem,
    .pattern = "{observation_prefix:any}:event:{task_id:any}:{token:any}",
    .type = KeyType::kString,
    .ttl_rule = kMarkerTtl,
    .ttl = kDay,
    .lifecycle = "created before the observation is written; expires",
    .purpose = "marks one observation as seen",
    .source = kObservationSource,
    .overlaps = "relayna.feed_event",
};

constexpr KeyFamily kFeed = {
    .id = "relayna.feed",
    .system = kSystem,
    .pattern = "{feed_prefix:any}:feed",
    .type = KeyType::kList,
    .ttl_rule = kRefreshed,
    .ttl = kDay,
    .lifecycle = "created by the first event of the service; trimmed; expires",
    .purpose = "status events and observations of one service as JSON, last written first",
    .source = kFeedSource,
};

constexpr KeyFamily kFeedEvent = {
    .id = "relayna.feed_event",
    .system = kSystem,
    .pattern = "{feed_prefix:any}:event:{cursor:any}",
    .type = KeyType::kString,
    .ttl_rule = kMarkerTtl,
    .ttl = kDay,
    .lifecycle = "created before the item is written; expires",
    .purpose = "marks one cursor as seen, for all tasks and sources",
    .source = kFeedSource,
};

constexpr KeyFamily kRecord = {
    .id = "relayna.dlq_record",
    .system = kSystem,
    .pattern = "{dlq_prefix:any}:dlq:record:{dlq_id:any}",
    .type = KeyType::kString,
    .ttl_rule = "set by the store if it has one; restarts with each add and each mark",
    .lifecycle = "created by an add; rewritten by an add or a mark as replayed; expires",
    .purpose = "one dead-lettered message as JSON",
    .source = kDlqSource,
};

constexpr KeyFamily kRecords = {
    .id = "relayna.dlq_records",
    .system = kSystem,
    .pattern = "{dlq_prefix:any}:dlq:records",
    .type = KeyType::kList,
    .ttl_rule = "set by the store if it has one; restarts with each add",
    .lifecycle = "created by the first add; never trimmed; expires",
    .purpose = "ids of the dead-lettered messages, last added first",
    .source = kDlqSource,
};

constexpr KeyFamily kReplayLock = {
    .id = "relayna.dlq_replay_lock",
    .system = kSystem,
    .pattern = "{dlq_prefix:any}:dlq:replay-lock:{dlq_id:any}",
    .type = KeyType::kString,
    .ttl_rule = "fixed; set by the claim; never extended",
    .ttl = absl::Seconds(kReplayLockTtlSeconds),
    .lifecycle = "created by a claim; deleted by a release; expires",
    .purpose = "prevents two replays of one message at the same time",
    .source = kDlqSource,
};

constexpr KeyFamily kRun = {
    .id = "relayna.workflow_run",
    .system = kSystem,
    .pattern = "{workflow_prefix:any}:workflow:run:{task_id:any}",
    .type = KeyType::kString,
    .ttl_rule = "defined by the program that writes the key",
    .lifecycle = "no documented operation writes it",
    .purpose = "reserved for the run state of one task; the writer chooses the type",
    .source = kWorkflowSource,
};

constexpr KeyFamily kFanin = {
    .id = "relayna.workflow_fanin",
    .system = kSystem,
    .pattern = "{workflow_prefix:any}:workflow:fanin:{task_id:any}:{stage:any}",
    .type = KeyType::kString,
    .ttl_rule = kRun.ttl_rule,
    .lifecycle = kRun.lifecycle,
    .purpose = "reserved for the progress of a fan-in; the writer chooses the type",
    .source = kWorkflowSource,
};

constexpr KeyFamily kDedup = {
    .id = "relayna.workflow_dedup",
    .system = kSystem,
    .pattern =
        "{workflow_prefix:any}:workflow:contract:{stage:any}:dedup:{task_id:any}:{signature:any}",
    .type = KeyType::kString,
    .ttl_rule = "set by the store at the acquisition; never extended",
    .ttl = kDay,
    .lifecycle = "created by an acquisition; deleted by a release; expires",
    .purpose = "prevents a stage from running one action twice at the same time",
    .source = kWorkflowSource,
};

constexpr KeyFamily kInflight = {
    .id = "relayna.workflow_inflight",
    .system = kSystem,
    .pattern = "{workflow_prefix:any}:workflow:contract:{stage:any}:inflight:{task_id:any}",
    .type = KeyType::kHash,
    .ttl_rule = "set by the store with a separate EXPIRE; restarts with each mark",
    .ttl = kDay,
    .lifecycle = "a mark adds a field, a clear deletes it; expires",
    .purpose = "the actions that a stage is running for a task, by signature",
    .source = kWorkflowSource,
};

// In the cluster layout a task, a feed or a DLQ is the tag. The word before the id keeps the tag
// from being empty, which would make Redis hash the whole key. Channels are not keys.
constexpr std::array kRows = {
    LayoutRow{kHistory, "{status_prefix:any}:history:{{task:{task_id:any}}}"},
    LayoutRow{kChannel, {}},
    LayoutRow{kShardChannel, {}},
    LayoutRow{kEvent, "{status_prefix:any}:event:{{task:{task_id:any}}}:{token:any}"},
    LayoutRow{kChildren, "{status_prefix:any}:children:{{task:{parent_task_id:any}}}"},
    LayoutRow{kObservationHistory, "{observation_prefix:any}:history:{{task:{task_id:any}}}"},
    LayoutRow{kObservationEvent,
              "{observation_prefix:any}:event:{{task:{task_id:any}}}:{token:any}"},
    LayoutRow{kFeed, "{{feed:{feed_prefix:any}}}:list"},
    LayoutRow{kFeedEvent, "{{feed:{feed_prefix:any}}}:event:{cursor:any}"},
    LayoutRow{kRecord, "{{dlq:{dlq_prefix:any}}}:record:{dlq_id:any}"},
    LayoutRow{kRecords, "{{dlq:{dlq_prefix:any}}}:records"},
    LayoutRow{kReplayLock, "{{dlq:{dlq_prefix:any}}}:replay-lock:{dlq_id:any}"},
    LayoutRow{kRun, "{workflow_prefix:any}:workflow:run:{{task:{task_id:any}}}"},
    LayoutRow{kFanin, "{workflow_prefix:any}:workflow:fanin:{{task:{task_id:any}}}:{stage:any}"},
    LayoutRow{kDedup,
              "{workflow_prefix:any}:workflow:contract:dedup:{{task:{task_id:any}}}:{stage:any}:{"
              "signature:any}"},
    LayoutRow{
        kInflight,
        "{workflow_prefix:any}:workflow:contract:inflight:{{task:{task_id:any}}}:{stage:any}"},
};

// The indexes of the rows.
enum Row : size_t {
  kHistoryRow,
  kChannelRow,
  kShardChannelRow,
  kEventRow,
  kChildrenRow,
  kObservationHistoryRow,
  kObservationEventRow,
  kFeedRow,
  kFeedEventRow,
  kRecordRow,
  kRecordsRow,
  kReplayLockRow,
  kRunRow,
  kFaninRow,
  kDedupRow,
  kInflightRow,
};

const LayoutTable& Table() {
  static const LayoutTable& table = *new LayoutTable(kRows);
  return table;
}

// The pattern of a family with its prefix, which is the first placeholder and accepts any text.
KeyPattern PatternOf(Row row, std::string_view prefix, KeyLayout layout) {
  const KeyPattern& pattern = Table().pattern(layout, row);
  return pattern.Bind(pattern.placeholders()[0].name, prefix).value();
}

// Building cannot fail, because every placeholder accepts any text.
template <typename... Values>
std::string Build(const KeyPattern& pattern, const Values&... values) {
  return pattern.Build(values...).value();
}

bool Matches(const KeyPattern& pattern, std::string_view key) {
  return pattern.Parse(key).has_value();
}

}  // namespace

std::span<const KeyFamily> KeyFamilies(KeyLayout layout) { return Table().families(layout); }

StatusKeys::StatusKeys(std::string_view prefix, KeyLayout layout)
    : history_(PatternOf(kHistoryRow, prefix, layout)),
      channel_(PatternOf(kChannelRow, prefix, layout)),
      shard_channel_(PatternOf(kShardChannelRow, prefix, layout)),
      event_(PatternOf(kEventRow, prefix, layout)),
      children_(PatternOf(kChildrenRow, prefix, layout)) {}

std::string StatusKeys::History(std::string_view task_id) const { return Build(history_, task_id); }

std::string StatusKeys::Channel(std::string_view task_id) const { return Build(channel_, task_id); }

std::string StatusKeys::ShardChannel(std::string_view task_id) const {
  return Build(shard_channel_, task_id);
}

std::string StatusKeys::Event(EventToken event) const {
  return Build(event_, event.task_id, event.token);
}

std::string StatusKeys::Children(std::string_view parent_task_id) const {
  return Build(children_, parent_task_id);
}

bool StatusKeys::IsOfTask(std::string_view key) const {
  return Matches(history_, key) || Matches(event_, key) || Matches(children_, key);
}

ObservationKeys::ObservationKeys(std::string_view prefix, KeyLayout layout)
    : history_(PatternOf(kObservationHistoryRow, prefix, layout)),
      event_(PatternOf(kObservationEventRow, prefix, layout)) {}

std::string ObservationKeys::History(std::string_view task_id) const {
  return Build(history_, task_id);
}

std::string ObservationKeys::Event(EventToken event) const {
  return Build(event_, event.task_id, event.token);
}

bool ObservationKeys::IsOfTask(std::string_view key) const {
  return Matches(history_, key) || Matches(event_, key);
}

FeedKeys::FeedKeys(std::string_view prefix, KeyLayout layout)
    : feed_(PatternOf(kFeedRow, prefix, layout)),
      event_(PatternOf(kFeedEventRow, prefix, layout)) {}

std::string FeedKeys::Feed() const { return Build(feed_); }

std::string FeedKeys::Event(std::string_view cursor) const { return Build(event_, cursor); }

bool FeedKeys::IsEvent(std::string_view key) const { return Matches(event_, key); }

DlqKeys::DlqKeys(std::string_view prefix, KeyLayout layout)
    : record_(PatternOf(kRecordRow, prefix, layout)),
      records_(PatternOf(kRecordsRow, prefix, layout)),
      replay_lock_(PatternOf(kReplayLockRow, prefix, layout)) {}

std::string DlqKeys::Record(std::string_view dlq_id) const { return Build(record_, dlq_id); }

std::string DlqKeys::Records() const { return Build(records_); }

std::string DlqKeys::ReplayLock(std::string_view dlq_id) const {
  return Build(replay_lock_, dlq_id);
}

WorkflowKeys::WorkflowKeys(std::string_view prefix, KeyLayout layout)
    : layout_(layout),
      run_(PatternOf(kRunRow, prefix, layout)),
      fanin_(PatternOf(kFaninRow, prefix, layout)),
      dedup_(PatternOf(kDedupRow, prefix, layout)),
      inflight_(PatternOf(kInflightRow, prefix, layout)) {}

std::string WorkflowKeys::Run(std::string_view task_id) const { return Build(run_, task_id); }

std::string WorkflowKeys::Fanin(TaskStage destination) const {
  return Build(fanin_, destination.task_id, destination.stage);
}

std::string WorkflowKeys::Dedup(TaskStage task, std::string_view signature) const {
  if (layout_ == KeyLayout::kCluster) return Build(dedup_, task.task_id, task.stage, signature);
  return Build(dedup_, task.stage, task.task_id, signature);
}

std::string WorkflowKeys::Inflight(TaskStage task) const {
  if (layout_ == KeyLayout::kCluster) return Build(inflight_, task.task_id, task.stage);
  return Build(inflight_, task.stage, task.task_id);
}

bool WorkflowKeys::IsContract(std::string_view key) const {
  return Matches(dedup_, key) || Matches(inflight_, key);
}

}  // namespace redouble::inline v0_1::relayna
