#include "redouble/core/studio/keys.h"

#include <array>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::studio {
namespace {

using base::ToAbsl;
using base::ToStd;
using store::KeyBinding;
using store::KeyFamily;
using store::KeyLayout;
using store::KeyPattern;
using store::KeyType;

constexpr std::string_view kSystem = "studio";
constexpr std::string_view kRegistrySource = "docs/systems/studio.md 2.1 and 4.1";
constexpr std::string_view kEventSource = "docs/systems/studio.md 2.5 and 4.6";
constexpr std::string_view kHealthSource = "docs/systems/studio.md 2.8 and 4.12";
constexpr std::string_view kSearchSource = "docs/systems/studio.md 2.9 and 4.13";
constexpr std::string_view kNoTtl = "none";
constexpr std::string_view kShardChannelTtl = "none: a shard channel of Pub/Sub";
constexpr std::string_view kShardChannelLife = "an option; exists while a client is subscribed";
constexpr std::string_view kShardChannelSource = "docs/systems/studio.md 1.4";
constexpr std::string_view kListTtl = "set by every insert";
constexpr std::string_view kLatestTtl = "set only when the value is rewritten";
constexpr std::string_view kIndexTtl = "none; searches and the retention loop enforce expires_at";
constexpr std::string_view kTaskSet =
    "changes with the task documents; deleted with its last member";
constexpr std::string_view kServiceSet =
    "changes with the service documents; deleted with its last member";

// Indexes into kRows.
enum Family : size_t {
  kRecord,
  kAll,
  kEnvironmentUrl,
  kEvent,
  kServiceHistory,
  kTaskHistory,
  kTaskLatest,
  kLatestStatus,
  kLatestObservation,
  kLatestIngested,
  kPullCursor,
  kServiceChannel,
  kTaskChannel,
  kServiceShardChannel,
  kTaskShardChannel,
  kHealth,
  kTaskDocument,
  kTaskAll,
  kTaskFilter,
  kTaskService,
  kServiceDocument,
  kServiceAll,
  kServiceFilter,
  kServiceToken,
  kFamilyCount,
};

constexpr std::array<store::LayoutRow, kFamilyCount> kRows = {{
    {{.id = "studio.service_record",
      .system = kSystem,
      .pattern = "{registry_prefix}:by-id:{service_id:any}",
      .type = KeyType::kString,
      .ttl_rule = kNoTtl,
      .lifecycle = "created and rewritten by the registry; deleted with the service",
      .purpose = "the registry record of one service as JSON",
      .source = kRegistrySource}},
    {{.id = "studio.service_ids",
      .system = kSystem,
      .pattern = "{registry_prefix}:all",
      .type = KeyType::kSet,
      .ttl_rule = kNoTtl,
      .lifecycle = "has a member per service; deleted with its last member",
      .purpose = "the ids of all registered services",
      .source = kRegistrySource}},
    {{.id = "studio.service_by_url",
      .system = kSystem,
      .pattern = "{registry_prefix}:by-env-url:{environment:any}:{base_url:any}",
      .type = KeyType::kString,
      .ttl_rule = kNoTtl,
      .lifecycle = "created with the service; moved by updates; deleted with it",
      .purpose = "the id of the service that owns an environment and a base URL",
      .source = kRegistrySource}},
    {{.id = "studio.event",
      .system = kSystem,
      .pattern = "{event_prefix}:event:{dedupe_key:any}",
      .type = KeyType::kString,
      .ttl_rule = "set by the insert, never refreshed",
      .ttl = kDefaultEventTtl,
      .lifecycle = "created by the first insert of the event; expires",
      .purpose = "one event as JSON, and the marker against duplicates",
      .source = kEventSource},
     "{event_prefix}:event:{{service:{service_id:any}}}:{dedupe_key:any}"},
    {{.id = "studio.service_history",
      .system = kSystem,
      .pattern = "{event_prefix}:service:{service_id:any}:history",
      .type = KeyType::kList,
      .ttl_rule = kListTtl,
      .ttl = kDefaultEventTtl,
      .lifecycle = "created by the first event of the service; trimmed; expires",
      .purpose = "the dedupe keys of a service's events, last inserted first",
      .source = kEventSource},
     "{event_prefix}:service:{{service:{service_id:any}}}:history"},
    {{.id = "studio.task_history",
      .system = kSystem,
      .pattern = "{event_prefix}:task:{service_id:any}:{task_id:any}:history",
      .type = KeyType::kList,
      .ttl_rule = kListTtl,
      .ttl = kDefaultEventTtl,
      .lifecycle = "created by the first event of the task; trimmed; expires",
      .purpose = "the dedupe keys of a task's events, last inserted first",
      .source = kEventSource},
     "{event_prefix}:task:{{service:{service_id:any}}}:{task_id:any}:history"},
    {{.id = "studio.task_latest_timestamp",
      .system = kSystem,
      .pattern = "{event_prefix}:task:{service_id:any}:{task_id:any}:latest-timestamp",
      .type = KeyType::kString,
      .ttl_rule = kLatestTtl,
      .ttl = kDefaultEventTtl,
      .lifecycle = "created by the first event with a timestamp; expires",
      .purpose = "the latest timestamp among a task's events, as it was written",
      .source = kEventSource},
     "{event_prefix}:task:{{service:{service_id:any}}}:{task_id:any}:latest-timestamp"},
    {{.id = "studio.latest_status_timestamp",
      .system = kSystem,
      .pattern = "{event_prefix}:service:{service_id:any}:latest-status-timestamp",
      .type = KeyType::kString,
      .ttl_rule = kLatestTtl,
      .ttl = kDefaultEventTtl,
      .lifecycle = "created by the first status event with a timestamp; expires",
      .purpose = "the latest timestamp among a service's status events",
      .source = kEventSource},
     "{event_prefix}:service:{{service:{service_id:any}}}:latest-status-timestamp"},
    {{.id = "studio.latest_observation_timestamp",
      .system = kSystem,
      .pattern = "{event_prefix}:service:{service_id:any}:latest-observation-timestamp",
      .type = KeyType::kString,
      .ttl_rule = kLatestTtl,
      .ttl = kDefaultEventTtl,
      .lifecycle = "created by the first observation with a timestamp; expires",
      .purpose = "the latest timestamp among a service's observations",
      .source = kEventSource},
     "{event_prefix}:service:{{service:{service_id:any}}}:latest-observation-timestamp"},
    {{.id = "studio.latest_ingested_timestamp",
      .system = kSystem,
      .pattern = "{event_prefix}:service:{service_id:any}:latest-ingested-timestamp",
      .type = KeyType::kString,
      .ttl_rule = kListTtl,
      .ttl = kDefaultEventTtl,
      .lifecycle = "rewritten by every insert; expires",
      .purpose = "the time at which Studio last ingested an event of the service",
      .source = kEventSource},
     "{event_prefix}:service:{{service:{service_id:any}}}:latest-ingested-timestamp"},
    {{.id = "studio.pull_cursor",
      .system = kSystem,
      .pattern = "{event_prefix}:pull-cursor:{service_id:any}",
      .type = KeyType::kString,
      .ttl_rule = kNoTtl,
      .lifecycle = "rewritten by every pull that returns an event; never deleted",
      .purpose = "the newest feed cursor of the last pull",
      .source = kEventSource},
     "{event_prefix}:pull-cursor:{{service:{service_id:any}}}"},
    {{.id = "studio.service_channel",
      .system = kSystem,
      .pattern = "{event_prefix}:channel:service:{service_id:any}",
      .type = KeyType::kNone,
      .ttl_rule = "none: a Pub/Sub channel",
      .lifecycle = "exists while a client is subscribed",
      .purpose = "the documents of a service's events as they are inserted",
      .source = kEventSource}},
    {{.id = "studio.task_channel",
      .system = kSystem,
      .pattern = "{event_prefix}:channel:task:{service_id:any}:{task_id:any}",
      .type = KeyType::kNone,
      .ttl_rule = "none: a Pub/Sub channel",
      .lifecycle = "exists while a client is subscribed",
      .purpose = "the documents of a task's events as they are inserted",
      .source = kEventSource}},
    {{.id = "studio.service_shard_channel",
      .system = kSystem,
      .pattern = "{event_prefix}:shard-channel:service:{{service:{service_id:any}}}",
      .type = KeyType::kNone,
      .ttl_rule = kShardChannelTtl,
      .lifecycle = kShardChannelLife,
      .purpose = "as the channel of the service, for SPUBLISH",
      .source = kShardChannelSource}},
    {{.id = "studio.task_shard_channel",
      .system = kSystem,
      .pattern = "{event_prefix}:shard-channel:task:{{service:{service_id:any}}}:{task_id:any}",
      .type = KeyType::kNone,
      .ttl_rule = kShardChannelTtl,
      .lifecycle = kShardChannelLife,
      .purpose = "as the channel of the task, for SPUBLISH",
      .source = kShardChannelSource}},
    {{.id = "studio.health",
      .system = kSystem,
      .pattern = "{health_prefix}:{service_id:any}",
      .type = KeyType::kString,
      .ttl_rule = kNoTtl,
      .lifecycle = "rewritten by every refresh; never deleted",
      .purpose = "the health of one service at its last refresh, as JSON",
      .source = kHealthSource}},
    {{.id = "studio.task_document",
      .system = kSystem,
      .pattern = "{search_prefix}:task:doc:{document_id:any}",
      .type = KeyType::kString,
      .ttl_rule = kIndexTtl,
      .lifecycle = "rewritten by every event of the task; deleted after it has expired",
      .purpose = "the search document of one task as JSON",
      .source = kSearchSource}},
    {{.id = "studio.task_documents",
      .system = kSystem,
      .pattern = "{search_prefix}:task:all",
      .type = KeyType::kSet,
      .ttl_rule = kNoTtl,
      .lifecycle = kTaskSet,
      .purpose = "the ids of all task documents",
      .source = kSearchSource}},
    {{.id = "studio.task_filter",
      .system = kSystem,
      .pattern = "{search_prefix}:task:filter:"
                 "{field:service_id|task_id|correlation_id|status|stage}:{value:any}",
      .type = KeyType::kSet,
      .ttl_rule = kNoTtl,
      .lifecycle = kTaskSet,
      .purpose = "the ids of the task documents with that value",
      .source = kSearchSource}},
    {{.id = "studio.task_service",
      .system = kSystem,
      .pattern = "{search_prefix}:task:service:{service_id:any}",
      .type = KeyType::kSet,
      .ttl_rule = kNoTtl,
      .lifecycle = kTaskSet,
      .purpose = "the ids of a service's task documents",
      .source = kSearchSource}},
    {{.id = "studio.service_document",
      .system = kSystem,
      .pattern = "{search_prefix}:service:doc:{service_id:any}",
      .type = KeyType::kString,
      .ttl_rule = kNoTtl,
      .lifecycle = "rewritten by the registry and by health refreshes; deleted with the service",
      .purpose = "the search document of one service as JSON",
      .source = kSearchSource}},
    {{.id = "studio.service_documents",
      .system = kSystem,
      .pattern = "{search_prefix}:service:all",
      .type = KeyType::kSet,
      .ttl_rule = kNoTtl,
      .lifecycle = kServiceSet,
      .purpose = "the ids of all service documents",
      .source = kSearchSource}},
    {{.id = "studio.service_filter",
      .system = kSystem,
      .pattern = "{search_prefix}:service:filter:{field:environment|status|health|tag}:{value:any}",
      .type = KeyType::kSet,
      .ttl_rule = kNoTtl,
      .lifecycle = kServiceSet,
      .purpose = "the ids of the services with that value",
      .source = kSearchSource}},
    {{.id = "studio.service_token",
      .system = kSystem,
      .pattern = "{search_prefix}:service:token:{token:any}",
      .type = KeyType::kSet,
      .ttl_rule = kNoTtl,
      .lifecycle = kServiceSet,
      .purpose = "the ids of the services that have a word with this prefix",
      .source = kSearchSource}},
}};

const store::LayoutTable& Table() {
  static const store::LayoutTable& table = *new store::LayoutTable(kRows);
  return table;
}

constexpr std::array<KeyBinding, 4> kDefaultBindings = {{
    {"registry_prefix", kDefaultRegistryPrefix},
    {"event_prefix", kDefaultEventPrefix},
    {"health_prefix", kDefaultHealthPrefix},
    {"search_prefix", kDefaultSearchPrefix},
}};

// The pattern of a row with its prefix, which is the first placeholder and accepts any text that is
// not empty.
KeyPattern PatternOf(Family family, std::string_view prefix,
                     KeyLayout layout = KeyLayout::kDocumented) {
  const KeyFamily& row = Table().families(layout)[family];
  const KeyPattern pattern = KeyPattern::MustCompile(row.pattern, row.id);
  return pattern.Bind(pattern.placeholders().front().name, prefix).value();
}

std::string_view PrefixOr(std::string_view prefix, std::string_view otherwise) {
  const std::string_view stripped = ToStd(absl::StripAsciiWhitespace(ToAbsl(prefix)));
  return stripped.empty() ? otherwise : stripped;
}

// Building cannot fail: the other placeholders accept any text, or one of the words that the
// callers in this file pass.
template <typename... Values>
std::string Build(const KeyPattern& pattern, Values... values) {
  return pattern.Build(values...).value();
}

}  // namespace

std::span<const KeyFamily> KeyFamilies(KeyLayout layout) { return Table().families(layout); }
std::span<const KeyBinding> DefaultBindings() { return kDefaultBindings; }

RegistryKeys::RegistryKeys(std::string_view prefix)
    : record_(PatternOf(kRecord, PrefixOr(prefix, kDefaultRegistryPrefix))),
      environment_url_(PatternOf(kEnvironmentUrl, PrefixOr(prefix, kDefaultRegistryPrefix))),
      all_(Build(PatternOf(kAll, PrefixOr(prefix, kDefaultRegistryPrefix)))) {}

std::string RegistryKeys::Record(std::string_view service_id) const {
  return Build(record_, service_id);
}

std::string RegistryKeys::EnvironmentUrl(std::string_view environment,
                                         std::string_view base_url) const {
  return Build(environment_url_, environment, base_url);
}

EventKeys::EventKeys(std::string_view prefix, KeyLayout layout)
    : layout_(layout),
      event_(PatternOf(kEvent, PrefixOr(prefix, kDefaultEventPrefix), layout)),
      service_history_(PatternOf(kServiceHistory, PrefixOr(prefix, kDefaultEventPrefix), layout)),
      task_history_(PatternOf(kTaskHistory, PrefixOr(prefix, kDefaultEventPrefix), layout)),
      task_latest_(PatternOf(kTaskLatest, PrefixOr(prefix, kDefaultEventPrefix), layout)),
      latest_status_(PatternOf(kLatestStatus, PrefixOr(prefix, kDefaultEventPrefix), layout)),
      latest_observation_(
          PatternOf(kLatestObservation, PrefixOr(prefix, kDefaultEventPrefix), layout)),
      latest_ingested_(PatternOf(kLatestIngested, PrefixOr(prefix, kDefaultEventPrefix), layout)),
      pull_cursor_(PatternOf(kPullCursor, PrefixOr(prefix, kDefaultEventPrefix), layout)),
      service_channel_(PatternOf(kServiceChannel, PrefixOr(prefix, kDefaultEventPrefix), layout)),
      task_channel_(PatternOf(kTaskChannel, PrefixOr(prefix, kDefaultEventPrefix), layout)),
      service_shard_channel_(
          PatternOf(kServiceShardChannel, PrefixOr(prefix, kDefaultEventPrefix), layout)),
      task_shard_channel_(
          PatternOf(kTaskShardChannel, PrefixOr(prefix, kDefaultEventPrefix), layout)) {}

std::string EventKeys::Event(EventName event) const {
  if (layout_ == KeyLayout::kDocumented) return Build(event_, event.dedupe_key);
  return Build(event_, event.service_id, event.dedupe_key);
}
std::string EventKeys::ServiceHistory(std::string_view service_id) const {
  return Build(service_history_, service_id);
}
std::string EventKeys::TaskHistory(TaskName task) const {
  return Build(task_history_, task.service_id, task.task_id);
}
std::string EventKeys::TaskLatestTimestamp(TaskName task) const {
  return Build(task_latest_, task.service_id, task.task_id);
}
std::string EventKeys::LatestStatusTimestamp(std::string_view service_id) const {
  return Build(latest_status_, service_id);
}
std::string EventKeys::LatestObservationTimestamp(std::string_view service_id) const {
  return Build(latest_observation_, service_id);
}
std::string EventKeys::LatestIngestedTimestamp(std::string_view service_id) const {
  return Build(latest_ingested_, service_id);
}
std::string EventKeys::PullCursor(std::string_view service_id) const {
  return Build(pull_cursor_, service_id);
}
bool EventKeys::Expires(std::string_view key) const {
  for (const store::KeyPattern* const pattern :
       {&event_, &service_history_, &task_history_, &task_latest_, &latest_status_,
        &latest_observation_, &latest_ingested_}) {
    if (pattern->Parse(key)) return true;
  }
  return false;
}
std::string EventKeys::ServiceChannel(std::string_view service_id) const {
  return Build(service_channel_, service_id);
}
std::string EventKeys::TaskChannel(TaskName task) const {
  return Build(task_channel_, task.service_id, task.task_id);
}
std::string EventKeys::ServiceShardChannel(std::string_view service_id) const {
  return Build(service_shard_channel_, service_id);
}
std::string EventKeys::TaskShardChannel(TaskName task) const {
  return Build(task_shard_channel_, task.service_id, task.task_id);
}

HealthKeys::HealthKeys(std::string_view prefix)
    : health_(PatternOf(kHealth, PrefixOr(prefix, kDefaultHealthPrefix))) {}

std::string HealthKeys::Health(std::string_view service_id) const {
  return Build(health_, service_id);
}

SearchKeys::SearchKeys(std::string_view prefix)
    : task_document_(PatternOf(kTaskDocument, PrefixOr(prefix, kDefaultSearchPrefix))),
      task_filter_(PatternOf(kTaskFilter, PrefixOr(prefix, kDefaultSearchPrefix))),
      task_service_(PatternOf(kTaskService, PrefixOr(prefix, kDefaultSearchPrefix))),
      service_document_(PatternOf(kServiceDocument, PrefixOr(prefix, kDefaultSearchPrefix))),
      service_filter_(PatternOf(kServiceFilter, PrefixOr(prefix, kDefaultSearchPrefix))),
      service_token_(PatternOf(kServiceToken, PrefixOr(prefix, kDefaultSearchPrefix))),
      task_all_(Build(PatternOf(kTaskAll, PrefixOr(prefix, kDefaultSearchPrefix)))),
      service_all_(Build(PatternOf(kServiceAll, PrefixOr(prefix, kDefaultSearchPrefix)))) {}

std::string SearchKeys::TaskDocument(std::string_view document_id) const {
  return Build(task_document_, document_id);
}
std::string SearchKeys::TaskFilter(std::string_view field, std::string_view value) const {
  return Build(task_filter_, field, value);
}
std::string SearchKeys::TaskService(std::string_view service_id) const {
  return Build(task_service_, service_id);
}
bool SearchKeys::IsTaskSet(std::string_view key) const {
  return task_filter_.Parse(key).has_value() || task_service_.Parse(key).has_value();
}
std::string SearchKeys::ServiceDocument(std::string_view service_id) const {
  return Build(service_document_, service_id);
}
std::string SearchKeys::ServiceFilter(std::string_view field, std::string_view value) const {
  return Build(service_filter_, field, value);
}
std::string SearchKeys::ServiceToken(std::string_view token) const {
  return Build(service_token_, token);
}

}  // namespace redouble::inline v0_1::studio
