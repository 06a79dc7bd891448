// DlqReplayService: publishes a dead-lettered message to its retry queue again.
//
// Use it in the route or the tool that replays messages. It claims the replay lock of the record,
// publishes the message, marks the record as replayed, and releases the lock, also after an error.
//
//   DlqReplayService replays(dlq, broker);
//   auto replayed = co_await replays.ReplayMessage({.dlq_id = "d1", .now = clock.Now()});
//   if (!replayed.ok()) ...              // 409 for a DLQReplayConflict
//   if (!replayed->has_value()) ...      // 404
//
// Hazards: if the broker takes longer than the 30 s of the lock, a second replay can run, and the
// first one's release deletes the second one's lock (R12; Hardening::owner_token prevents the wrong
// release, and mark_before_publish the second replay). A crash between the publication and the mark
// leaves the message replayable: replay is at least once (R14). With mark_before_publish it is at
// most once.
//
// Thread-safety: as the store. Store and publisher must outlive the service; arguments must outlive
// the task.
// Source: docs/systems/relayna.md 4.11.
#ifndef REDOUBLE_CORE_RELAYNA_DLQ_DLQ_REPLAY_SERVICE_H_
#define REDOUBLE_CORE_RELAYNA_DLQ_DLQ_REPLAY_SERVICE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/python/value.h"
#include "redouble/core/relayna/dlq/dlq_store.h"

namespace redouble::inline v0_1::relayna {

// A message for a queue of the broker.
struct QueueMessage {
  std::string queue_name;
  std::string body;
  std::optional<std::string> correlation_id;
  python::Object headers;
  std::optional<std::string> content_type;
};

// Publishes messages to the broker. Applications implement it with AMQP, tests in memory.
class QueuePublisher {
 public:
  virtual ~QueuePublisher() = default;
  // Adds the message to its queue. Any error means that the message was not published.
  virtual base::Task<absl::Status> Publish(QueueMessage message) = 0;
};

struct DlqReplayRequest {
  std::string dlq_id;
  absl::Time now;
  // True: also replays a message that was replayed before.
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

// The result as an object, with the members in the order of the model.
python::Value ToValue(const DlqReplayResult& result);

// The headers of the message that is published again: those of the record, with copies of retry
// attempt, failure reason and exception type as x-relayna-original-*. x-relayna-replayed-from-dlq,
// x-relayna-dlq-id and x-relayna-replayed-at are added, the retry attempt is set to 0, and failure
// reason and exception type are removed.
// Source: docs/systems/relayna.md 4.11.
python::Object ReplayHeaders(const DlqRecord& record, absl::Time replayed_at);

class DlqReplayService {
 public:
  DlqReplayService(DlqStore& dlq, QueuePublisher& publisher) : dlq_(dlq), publisher_(publisher) {}

  // Replays one message. Returns nullopt if the record is missing. If the record expires while the
  // broker publishes, the message is sent and the result is nullopt as well. Five round trips: SET
  // of the lock, GET, (broker), GET, SET, DEL of the lock; three if the record is missing. With
  // mark_before_publish the broker comes after the mark, and an error of the broker costs one more.
  //
  // Errors: those of DlqStore::ClaimReplay, before anything is published; InvalidArgument
  // (ValueError) if the body of the record is not base64; those of the publisher and of
  // DlqStore::MarkReplayed. After an error of the last three the lock is released. If the release
  // fails, its error is returned instead.
  base::Task<absl::StatusOr<std::optional<DlqReplayResult>>> ReplayMessage(
      const DlqReplayRequest& request);

 private:
  base::Task<absl::StatusOr<std::optional<DlqReplayResult>>> PublishAndMark(
      const DlqRecord& record, const DlqReplayRequest& request);
  base::Task<absl::StatusOr<std::optional<DlqReplayResult>>> MarkAndPublish(
      const DlqRecord& record, const DlqReplayRequest& request);

  DlqStore& dlq_;
  QueuePublisher& publisher_;
};

}  // namespace redouble::inline v0_1::relayna

#endif  // REDOUBLE_CORE_RELAYNA_DLQ_DLQ_REPLAY_SERVICE_H_
