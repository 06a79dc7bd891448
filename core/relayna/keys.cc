#include "core/relayna/keys.h"

#include <array>

namespace redouble::relayna {
namespace {

using store::KeyFamily;
using store::KeyPattern;
using store::KeyType;

constexpr std::string_view kSystem = "relayna";
constexpr std::string_view kStatusSource = "seed 000 Status Store; relayna.md 1";
constexpr std::string_view kObservationSource = "seed 000 Observation Store; relayna.md 2";
constexpr std::string_view kFeedSource = "seed 000 Service Event Feed; relayna.md 3";
constexpr std::string_view kDlqSource = "seed 000 DLQ Store; relayna.md 4";
constexpr std::string_view kWorkflowSource = "seed 000 Workflow Helper State; relayna.md 5";
constexpr absl::Duration kDay = absl::Seconds(kDefaultTtlSeconds);
constexpr std::string_view kRefreshed = "the store's: restarted by every accepted event";
constexpr std::string_view kMarkerTtl = "the store's: from the first write, never extended";

constexpr KeyFamily kHistory = {
    .id = "relayna.history",
    .system = kSystem,
    .pattern = "{status_prefix:any}:history:{task_id:any}",
    .type = KeyType::kList,
    .ttl_rule = kRefreshed,
    .ttl = kDay,
    .lifecycle = "created by a task's first status event; trimmed to the newest; expires",
    .purpose = "status events of one task as JSON, the last written first",
    .source = kStatusSource,
    .overlaps = "relayna.observation_history",
};

constexpr KeyFamily kChannel = {
    .id = "relayna.channel",
    .system = kSystem,
    .pattern = "{status_prefix:any}:channel:{task_id:any}",
    .type = KeyType::kNone,
    .ttl_rule = "none: a channel",
    .lifecycle = "exists while somebody is subscribed",
    .purpose = "every accepted status event of one task, the bytes of its history",
    .source = kStatusSource,
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
    .purpose = "the tasks whose events named this one as their parent",
    .source = kStatusSource,
};

constexpr KeyFamily kObservationHistory = {
    .id = "relayna.observation_history",
    .system = kSystem,
    .pattern = "{observation_prefix:any}:history:{task_id:any}",
    .type = KeyType::kList,
    .ttl_rule = kRefreshed,
    .ttl = kDay,
    .lifecycle = "created by a task's first observation; trimmed to the newest; expires",
    .purpose = "observations of one task as JSON, the last written first",
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
    .lifecycle = "created by the service's first event; trimmed to the newest; expires",
    .purpose = "status events and observations of one service, the last written first",
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
    .purpose = "marks one feed item as seen, whatever its task and source",
    .source = kFeedSource,
};

constexpr KeyFamily kRecord = {
    .id = "relayna.dlq_record",
    .system = kSystem,
    .pattern = "{dlq_prefix:any}:dlq:record:{dlq_id:any}",
    .type = KeyType::kString,
    .ttl_rule = "the store's, where it has one: set by every add and every replay",
    .lifecycle = "created when a message is dead-lettered; rewritten when it is replayed; expires",
    .purpose = "one dead-lettered message",
    .source = kDlqSource,
};

constexpr KeyFamily kRecords = {
    .id = "relayna.dlq_records",
    .system = kSystem,
    .pattern = "{dlq_prefix:any}:dlq:records",
    .type = KeyType::kList,
    .ttl_rule = "the store's, where it has one: restarted by every add",
    .lifecycle = "created by the first add; never trimmed, ids of expired records stay; expires",
    .purpose = "the ids of all dead-lettered messages, the newest add first",
    .source = kDlqSource,
};

constexpr KeyFamily kReplayLock = {
    .id = "relayna.dlq_replay_lock",
    .system = kSystem,
    .pattern = "{dlq_prefix:any}:dlq:replay-lock:{dlq_id:any}",
    .type = KeyType::kString,
    .ttl_rule = "fixed, set by the claim, never extended",
    .ttl = absl::Seconds(kReplayLockTtlSeconds),
    .lifecycle = "created by a claim; deleted by its release; expires",
    .purpose = "keeps others from replaying a message at the same time",
    .source = kDlqSource,
};

constexpr KeyFamily kRun = {
    .id = "relayna.workflow_run",
    .system = kSystem,
    .pattern = "{workflow_prefix:any}:workflow:run:{task_id:any}",
    .type = KeyType::kString,
    .ttl_rule = "that of whoever writes it",
    .lifecycle = "owned by the implementation: nothing documented writes it",
    .purpose = "a place for the run state of one task; the type is the writer's",
    .source = kWorkflowSource,
};

constexpr KeyFamily kFanin = {
    .id = "relayna.workflow_fanin",
    .system = kSystem,
    .pattern = "{workflow_prefix:any}:workflow:fanin:{task_id:any}:{stage:any}",
    .type = KeyType::kString,
    .ttl_rule = kRun.ttl_rule,
    .lifecycle = kRun.lifecycle,
    .purpose = "a place for the progress of a fan-in; the type is the writer's",
    .source = kWorkflowSource,
};

constexpr KeyFamily kDedup = {
    .id = "relayna.workflow_dedup",
    .system = kSystem,
    .pattern =
        "{workflow_prefix:any}:workflow:contract:{stage:any}:dedup:{task_id:any}:{signature:any}",
    .type = KeyType::kString,
    .ttl_rule = "the store's: set by the acquisition, never extended",
    .ttl = kDay,
    .lifecycle = "created by an acquisition; deleted by its release; expires",
    .purpose = "keeps a stage from doing one action twice at a time",
    .source = kWorkflowSource,
};

constexpr KeyFamily kInflight = {
    .id = "relayna.workflow_inflight",
    .system = kSystem,
    .pattern = "{workflow_prefix:any}:workflow:contract:{stage:any}:inflight:{task_id:any}",
    .type = KeyType::kHash,
    .ttl_rule = "the store's: restarted by every mark, by a command of its own",
    .ttl = kDay,
    .lifecycle = "a field comes with a mark and goes when it is cleared; expires",
    .purpose = "what a stage is doing for a task now, by signature",
    .source = kWorkflowSource,
};

constexpr std::array kFamilies = {
    kHistory,          kChannel, kEvent,     kChildren, kObservationHistory,
    kObservationEvent, kFeed,    kFeedEvent, kRecord,   kRecords,
    kReplayLock,       kRun,     kFanin,     kDedup,    kInflight};

// A family's pattern with its prefix, which is its first placeholder and takes any text.
KeyPattern PatternOf(const KeyFamily& family, std::string_view prefix) {
  const KeyPattern pattern = KeyPattern::MustCompile(family.pattern, family.id);
  return pattern.Bind(pattern.placeholders()[0].name, prefix).value();
}

// Every placeholder takes any text, so that building cannot fail.
template <typename... Values>
std::string Build(const KeyPattern& pattern, const Values&... values) {
  return pattern.Build(values...).value();
}

}  // namespace

std::span<const KeyFamily> KeyFamilies() { return kFamilies; }

StatusKeys::StatusKeys(std::string_view prefix)
    : history_(PatternOf(kHistory, prefix)),
      channel_(PatternOf(kChannel, prefix)),
      event_(PatternOf(kEvent, prefix)),
      children_(PatternOf(kChildren, prefix)) {}

std::string StatusKeys::History(std::string_view task_id) const { return Build(history_, task_id); }

std::string StatusKeys::Channel(std::string_view task_id) const { return Build(channel_, task_id); }

std::string StatusKeys::Event(EventToken event) const {
  return Build(event_, event.task_id, event.token);
}

std::string StatusKeys::Children(std::string_view parent_task_id) const {
  return Build(children_, parent_task_id);
}

ObservationKeys::ObservationKeys(std::string_view prefix)
    : history_(PatternOf(kObservationHistory, prefix)),
      event_(PatternOf(kObservationEvent, prefix)) {}

std::string ObservationKeys::History(std::string_view task_id) const {
  return Build(history_, task_id);
}

std::string ObservationKeys::Event(EventToken event) const {
  return Build(event_, event.task_id, event.token);
}

FeedKeys::FeedKeys(std::string_view prefix)
    : feed_(PatternOf(kFeed, prefix)), event_(PatternOf(kFeedEvent, prefix)) {}

std::string FeedKeys::Feed() const { return Build(feed_); }

std::string FeedKeys::Event(std::string_view cursor) const { return Build(event_, cursor); }

DlqKeys::DlqKeys(std::string_view prefix)
    : record_(PatternOf(kRecord, prefix)),
      records_(PatternOf(kRecords, prefix)),
      replay_lock_(PatternOf(kReplayLock, prefix)) {}

std::string DlqKeys::Record(std::string_view dlq_id) const { return Build(record_, dlq_id); }

std::string DlqKeys::Records() const { return Build(records_); }

std::string DlqKeys::ReplayLock(std::string_view dlq_id) const {
  return Build(replay_lock_, dlq_id);
}

WorkflowKeys::WorkflowKeys(std::string_view prefix)
    : run_(PatternOf(kRun, prefix)),
      fanin_(PatternOf(kFanin, prefix)),
      dedup_(PatternOf(kDedup, prefix)),
      inflight_(PatternOf(kInflight, prefix)) {}

std::string WorkflowKeys::Run(std::string_view task_id) const { return Build(run_, task_id); }

std::string WorkflowKeys::Fanin(TaskStage destination) const {
  return Build(fanin_, destination.task_id, destination.stage);
}

std::string WorkflowKeys::Dedup(TaskStage task, std::string_view signature) const {
  return Build(dedup_, task.stage, task.task_id, signature);
}

std::string WorkflowKeys::Inflight(TaskStage task) const {
  return Build(inflight_, task.stage, task.task_id);
}

}  // namespace redouble::relayna
