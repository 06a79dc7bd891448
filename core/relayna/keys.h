// Relayna's key families, and the builders of its keys and channels.
//
// Each store has its own prefix. The status store (as the lifespan configures it), the DLQ and the
// workflow helpers share "relayna". Ids are placed in the keys unchanged: colons, braces and empty
// texts are legal, so two pairs of ids with colons can produce one key (docs/systems/relayna.md
// 1.2).
//
//   const relayna::StatusKeys keys("relayna");
//   keys.History("t1");              // "relayna:history:t1"
//   keys.Event({"t1", "e1"});        // "relayna:event:t1:e1"
//
// In the cluster layout the task is the hash tag of the keys of a task,
// "relayna:history:{task:t1}", and a feed and a DLQ are one tag each. The prefixes of that layout
// must not contain braces, which would change the tags; a cluster then refuses the commands.
//
// Thread-safety: constant data; a keys object is a plain value.
// Source: docs/systems/relayna.md 1, 1.5.
#ifndef REDOUBLE_CORE_RELAYNA_KEYS_H_
#define REDOUBLE_CORE_RELAYNA_KEYS_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "redouble/core/store/keyspace/key_family.h"
#include "redouble/core/store/keyspace/key_layout.h"
#include "redouble/core/store/keyspace/key_pattern.h"

namespace redouble::inline v0_1::relayna {

// Returns the sixteen families, in the order of docs/systems/relayna.md 1. The prefix of each store
// is a placeholder: status_prefix, observation_prefix, feed_prefix, dlq_prefix, workflow_prefix.
std::span<const store::KeyFamily> KeyFamilies(
    store::KeyLayout layout = store::KeyLayout::kDocumented);

// Default prefixes. kDirectStatusPrefix is that of a status store which is constructed directly;
// the lifespan of the web application uses kRelaynaPrefix for it (docs/systems/relayna.md D9).
inline constexpr std::string_view kDirectStatusPrefix = "task";
inline constexpr std::string_view kRelaynaPrefix = "relayna";
inline constexpr std::string_view kObservationPrefix = "relayna-observations";
inline constexpr std::string_view kFeedPrefix = "relayna-service-events";

// The default TTL of every store that has one: 1 day.
inline constexpr int64_t kDefaultTtlSeconds = 86400;
// The TTL of a replay lock, which is not configurable.
inline constexpr int64_t kReplayLockTtlSeconds = 30;

// Names a dedupe marker: the task, and the token of its event (tokens.h).
struct EventToken {
  std::string_view task_id;
  std::string_view token;
};

class StatusKeys {
 public:
  // `prefix` can be any text, also an empty one. The same holds for the classes below.
  explicit StatusKeys(std::string_view prefix = kDirectStatusPrefix,
                      store::KeyLayout layout = store::KeyLayout::kDocumented);

  std::string History(std::string_view task_id) const;
  // A channel, not a key.
  std::string Channel(std::string_view task_id) const;
  // As Channel, for SPUBLISH. In the cluster layout it is in the slot of the task.
  std::string ShardChannel(std::string_view task_id) const;
  std::string Event(EventToken event) const;
  std::string Children(std::string_view parent_task_id) const;
  // Whether this is a key of a task: any of the above that is no channel.
  bool IsOfTask(std::string_view key) const;

 private:
  store::KeyPattern history_;
  store::KeyPattern channel_;
  store::KeyPattern shard_channel_;
  store::KeyPattern event_;
  store::KeyPattern children_;
};

class ObservationKeys {
 public:
  explicit ObservationKeys(std::string_view prefix = kObservationPrefix,
                           store::KeyLayout layout = store::KeyLayout::kDocumented);

  std::string History(std::string_view task_id) const;
  std::string Event(EventToken event) const;
  // Whether this is one of the keys above.
  bool IsOfTask(std::string_view key) const;

 private:
  store::KeyPattern history_;
  store::KeyPattern event_;
};

class FeedKeys {
 public:
  explicit FeedKeys(std::string_view prefix = kFeedPrefix,
                    store::KeyLayout layout = store::KeyLayout::kDocumented);

  std::string Feed() const;
  std::string Event(std::string_view cursor) const;
  bool IsEvent(std::string_view key) const;

 private:
  store::KeyPattern feed_;
  store::KeyPattern event_;
};

class DlqKeys {
 public:
  explicit DlqKeys(std::string_view prefix = kRelaynaPrefix,
                   store::KeyLayout layout = store::KeyLayout::kDocumented);

  std::string Record(std::string_view dlq_id) const;
  std::string Records() const;
  std::string ReplayLock(std::string_view dlq_id) const;

 private:
  store::KeyPattern record_;
  store::KeyPattern records_;
  store::KeyPattern replay_lock_;
};

struct TaskStage {
  std::string_view stage;
  std::string_view task_id;
};

class WorkflowKeys {
 public:
  explicit WorkflowKeys(std::string_view prefix = kRelaynaPrefix,
                        store::KeyLayout layout = store::KeyLayout::kDocumented);

  // Key names only: no documented operation reads or writes these two keys (docs/systems/relayna.md
  // D8).
  std::string Run(std::string_view task_id) const;
  std::string Fanin(TaskStage destination) const;

  std::string Dedup(TaskStage task, std::string_view signature) const;
  std::string Inflight(TaskStage task) const;
  // Whether this is one of the two keys above.
  bool IsContract(std::string_view key) const;

 private:
  store::KeyLayout layout_;
  store::KeyPattern run_;
  store::KeyPattern fanin_;
  store::KeyPattern dedup_;
  store::KeyPattern inflight_;
};

}  // namespace redouble::inline v0_1::relayna

#endif  // REDOUBLE_CORE_RELAYNA_KEYS_H_
