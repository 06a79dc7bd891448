// Relayna's key families, and the keys and channels built from them.
//
// Each store has a prefix of its own; the status store, the DLQ and the workflow helpers share
// "relayna" by default. Ids go into keys as they are: a colon, a brace or nothing at all is legal
// in a task id, and two ids with colons may name one key (golden status_redis_prefix_collision).
//
//   const relayna::StatusKeys keys("relayna");
//   keys.History("t1")               // "relayna:history:t1"
//   keys.Event({"t1", "e1"})         // "relayna:event:t1:e1"
//
// Thread-safety: constant data; a keys object is a plain value.
// Source: seed 000 "SDK Runtime Keys"; reference/relayna.md sections 1 to 5.
#ifndef REDOUBLE_CORE_RELAYNA_KEYS_H_
#define REDOUBLE_CORE_RELAYNA_KEYS_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/store/key_family.h"
#include "core/store/key_pattern.h"

namespace redouble::relayna {

// The fifteen families, in the order of the documentation. Each store's prefix is a placeholder:
// status_prefix, observation_prefix, feed_prefix, dlq_prefix, workflow_prefix.
std::span<const store::KeyFamily> KeyFamilies();

// Prefixes by default. A status store that is constructed directly has another one than that of
// the web application's lifespan.
inline constexpr std::string_view kDirectStatusPrefix = "task";
inline constexpr std::string_view kRelaynaPrefix = "relayna";
inline constexpr std::string_view kObservationPrefix = "relayna-observations";
inline constexpr std::string_view kFeedPrefix = "relayna-service-events";

// 1 day: of everything that has a time to live by default.
inline constexpr int64_t kDefaultTtlSeconds = 86400;
// 30 s: fixed.
inline constexpr int64_t kReplayLockTtlSeconds = 30;

// A dedupe marker: whose event, and what makes it unique (tokens.h).
struct EventToken {
  std::string_view task_id;
  std::string_view token;
};

class StatusKeys {
 public:
  // Any prefix, also an empty one.
  explicit StatusKeys(std::string_view prefix = kDirectStatusPrefix);

  std::string History(std::string_view task_id) const;
  // A channel rather than a key.
  std::string Channel(std::string_view task_id) const;
  std::string Event(EventToken event) const;
  std::string Children(std::string_view parent_task_id) const;

 private:
  store::KeyPattern history_;
  store::KeyPattern channel_;
  store::KeyPattern event_;
  store::KeyPattern children_;
};

class ObservationKeys {
 public:
  explicit ObservationKeys(std::string_view prefix = kObservationPrefix);

  std::string History(std::string_view task_id) const;
  std::string Event(EventToken event) const;

 private:
  store::KeyPattern history_;
  store::KeyPattern event_;
};

class FeedKeys {
 public:
  explicit FeedKeys(std::string_view prefix = kFeedPrefix);

  std::string Feed() const;
  std::string Event(std::string_view cursor) const;

 private:
  store::KeyPattern feed_;
  store::KeyPattern event_;
};

class DlqKeys {
 public:
  explicit DlqKeys(std::string_view prefix = kRelaynaPrefix);

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
  explicit WorkflowKeys(std::string_view prefix = kRelaynaPrefix);

  // Names only: nothing documented reads or writes these two.
  std::string Run(std::string_view task_id) const;
  std::string Fanin(TaskStage destination) const;

  std::string Dedup(TaskStage task, std::string_view signature) const;
  std::string Inflight(TaskStage task) const;

 private:
  store::KeyPattern run_;
  store::KeyPattern fanin_;
  store::KeyPattern dedup_;
  store::KeyPattern inflight_;
};

}  // namespace redouble::relayna

#endif  // REDOUBLE_CORE_RELAYNA_KEYS_H_
