// Studio's key families, and the builders of its keys and channels.
//
// Four stores have a prefix each: the registry of services, the events, the health documents and
// the search index. Ids, filter values and tokens are placed in the keys unchanged, so an id with a
// colon can produce the key of another id: `task:a:b:c:history` belongs to the task `b:c` of the
// service `a` and to the task `c` of the service `a:b` (docs/systems/studio.md 1.2).
//
//   const studio::EventKeys keys;                 // "studio:events"
//   keys.Event({"svc-a", "svc-a:status:e1"});     // "studio:events:event:svc-a:status:e1"
//   keys.TaskHistory({"svc-a", "t1"});            // "studio:events:task:svc-a:t1:history"
//
// In the cluster layout the keys of a service's events have the id of the service as their hash
// tag. The other stores have the same keys in both layouts (docs/systems/studio.md 1.4).
//
// Thread-safety: constant after construction.
// Source: docs/systems/studio.md 1.
#ifndef REDOUBLE_CORE_STUDIO_KEYS_H_
#define REDOUBLE_CORE_STUDIO_KEYS_H_

#include <span>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "redouble/core/store/keyspace/key_family.h"
#include "redouble/core/store/keyspace/key_layout.h"
#include "redouble/core/store/keyspace/key_pattern.h"

namespace redouble::inline v0_1::studio {

// Returns all families, in the order of docs/systems/studio.md 1. The prefixes are placeholders:
// registry_prefix, event_prefix, health_prefix, search_prefix. The ids are the same in both
// layouts.
std::span<const store::KeyFamily> KeyFamilies(
    store::KeyLayout layout = store::KeyLayout::kDocumented);

// The default prefixes as bindings for store::FamilyTable.
std::span<const store::KeyBinding> DefaultBindings();

inline constexpr std::string_view kDefaultRegistryPrefix = "studio:services";
inline constexpr std::string_view kDefaultEventPrefix = "studio:events";
inline constexpr std::string_view kDefaultHealthPrefix = "studio:health";
inline constexpr std::string_view kDefaultSearchPrefix = "studio:search";

// The default TTL of event documents, of their lists and of the latest timestamps.
inline constexpr absl::Duration kDefaultEventTtl = absl::Hours(24);

// The constructors below remove white space around the prefix; a blank prefix means the default.

class RegistryKeys {
 public:
  explicit RegistryKeys(std::string_view prefix = kDefaultRegistryPrefix);

  // The record of a service.
  std::string Record(std::string_view service_id) const;
  // The set of all ids.
  const std::string& All() const { return all_; }
  // The id of the service that owns the pair.
  std::string EnvironmentUrl(std::string_view environment, std::string_view base_url) const;

 private:
  store::KeyPattern record_;
  store::KeyPattern environment_url_;
  std::string all_;
};

// Names one task of one service. The views must outlive the name.
struct TaskName {
  std::string_view service_id;
  std::string_view task_id;
};

// Names one event of one service.
struct EventName {
  std::string_view service_id;  // Part of the key in the cluster layout only.
  std::string_view dedupe_key;
};

class EventKeys {
 public:
  explicit EventKeys(std::string_view prefix = kDefaultEventPrefix,
                     store::KeyLayout layout = store::KeyLayout::kDocumented);

  std::string Event(EventName event) const;
  std::string ServiceHistory(std::string_view service_id) const;
  std::string TaskHistory(TaskName task) const;
  std::string TaskLatestTimestamp(TaskName task) const;
  std::string LatestStatusTimestamp(std::string_view service_id) const;
  std::string LatestObservationTimestamp(std::string_view service_id) const;
  std::string LatestIngestedTimestamp(std::string_view service_id) const;
  std::string PullCursor(std::string_view service_id) const;
  // Whether this is one of the keys above that get a TTL: all but the pull cursor.
  bool Expires(std::string_view key) const;
  // Channels, not keys.
  std::string ServiceChannel(std::string_view service_id) const;
  std::string TaskChannel(TaskName task) const;
  // As the channels above, for SPUBLISH. In the cluster layout they are in the slot of the service.
  std::string ServiceShardChannel(std::string_view service_id) const;
  std::string TaskShardChannel(TaskName task) const;

 private:
  store::KeyLayout layout_;
  store::KeyPattern event_;
  store::KeyPattern service_history_;
  store::KeyPattern task_history_;
  store::KeyPattern task_latest_;
  store::KeyPattern latest_status_;
  store::KeyPattern latest_observation_;
  store::KeyPattern latest_ingested_;
  store::KeyPattern pull_cursor_;
  store::KeyPattern service_channel_;
  store::KeyPattern task_channel_;
  store::KeyPattern service_shard_channel_;
  store::KeyPattern task_shard_channel_;
};

class HealthKeys {
 public:
  explicit HealthKeys(std::string_view prefix = kDefaultHealthPrefix);

  std::string Health(std::string_view service_id) const;

 private:
  store::KeyPattern health_;
};

class SearchKeys {
 public:
  explicit SearchKeys(std::string_view prefix = kDefaultSearchPrefix);

  std::string TaskDocument(std::string_view document_id) const;
  const std::string& TaskAll() const { return task_all_; }
  // `field` is one of service_id, task_id, correlation_id, status and stage.
  std::string TaskFilter(std::string_view field, std::string_view value) const;
  std::string TaskService(std::string_view service_id) const;
  // Whether the key is one of TaskFilter or TaskService.
  bool IsTaskSet(std::string_view key) const;
  std::string ServiceDocument(std::string_view service_id) const;
  const std::string& ServiceAll() const { return service_all_; }
  // `field` is one of environment, status, health and tag.
  std::string ServiceFilter(std::string_view field, std::string_view value) const;
  std::string ServiceToken(std::string_view token) const;

 private:
  store::KeyPattern task_document_;
  store::KeyPattern task_filter_;
  store::KeyPattern task_service_;
  store::KeyPattern service_document_;
  store::KeyPattern service_filter_;
  store::KeyPattern service_token_;
  std::string task_all_;
  std::string service_all_;
};

}  // namespace redouble::inline v0_1::studio

#endif  // REDOUBLE_CORE_STUDIO_KEYS_H_
