// DlqReplayService: sends a dead-lettered message to its retry queue once more.
//
//   DlqReplayService replays(dlq, broker);
//   auto replayed = co_await replays.ReplayMessage({.dlq_id = "d1", .now = clock.Now()});
//   if (!replayed.ok()) ...              // 409 for a DLQReplayConflict
//   if (!replayed->has_value()) ...      // 404
//
// It locks the record, publishes the message, notes the replay and lets the lock go, whatever came
// of the two in between. Hazards: a broker that takes longer than the lock's 30 s lets a second
// replay in, and the first one's release takes the second one's lock (R12, mended by
// DlqOptions::owner_token); who dies between broker and note leaves a message that can be replayed
// again (R14: at least once).
//
// Thread-safety: as the store. Store and publisher outlive this; arguments outlive the task.
// Source: reference/relayna.md section 4; golden dlq_service_replay.
#ifndef REDOUBLE_CORE_RELAYNA_DLQ_REPLAY_SERVICE_H_
#define REDOUBLE_CORE_RELAYNA_DLQ_REPLAY_SERVICE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/task.h"
#include "core/python/value.h"
#include "core/relayna/dlq_store.h"

namespace redouble::relayna {

// A message on its way to a queue of the broker.
struct QueueMessage {
  std::string queue_name;
  std::string body;
  std::optional<std::string> correlation_id;
  python::Object headers;
  std::optional<std::string> content_type;
};

// The broker. Implementations do the AMQP; tests answer from memory.
class QueuePublisher {
 public:
  virtual ~QueuePublisher() = default;
  // Puts the message into its queue. Any error counts as not published.
  virtual base::Task<absl::Status> Publish(QueueMessage message) = 0;
};

struct DlqReplayRequest {
  std::string dlq_id;
  absl::Time now;
  // Replays a message that was replayed before, too.
  bool force = false;
};

struct DlqReplayResult {
  std::string dlq_id;
  std::string target_queue_name;
  std::string state;
  absl::Time replayed_at;
  int64_t replay_count = 0;
  bool forced = false;
};

// The members in the model's order.
python::Value ToValue(const DlqReplayResult& result);

// The headers with which a record's message is sent again: those that it had, with the retry count,
// the reason of failure and the exception's type kept as x-relayna-original-*, the latter two then
// taken away; x-relayna-replayed-from-dlq, -dlq-id, -replayed-at; the retry count 0.
python::Object ReplayHeaders(const DlqRecord& record, absl::Time replayed_at);

class DlqReplayService {
 public:
  DlqReplayService(DlqStore& dlq, QueuePublisher& publisher) : dlq_(dlq), publisher_(publisher) {}

  // Replays one message. None when there is no such record, also when it expires while the broker
  // is at work: the message is published then. SET of the lock, GET, the broker, GET, SET, DEL of
  // the lock: five round trips; three when there is no record. Errors: those of
  // DlqStore::ClaimReplay, before anything is published; ValueError for a body in the record that
  // is no base64; the publisher's, and those of DlqStore::MarkReplayed: behind these the lock has
  // been released, and when that fails its error is the one that is given.
  base::Task<absl::StatusOr<std::optional<DlqReplayResult>>> ReplayMessage(
      const DlqReplayRequest& request);

 private:
  base::Task<absl::StatusOr<std::optional<DlqReplayResult>>> PublishAndMark(
      const DlqRecord& record, const DlqReplayRequest& request);

  DlqStore& dlq_;
  QueuePublisher& publisher_;
};

}  // namespace redouble::relayna

#endif  // REDOUBLE_CORE_RELAYNA_DLQ_REPLAY_SERVICE_H_
