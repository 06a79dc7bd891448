// Producer: writes records to the partitions of a topic.
//
// Each record becomes an entry of its partition's stream. The entry id determines the record's
// offset (offset.h). A batch for one partition is written by one script, which
//
// * refuses to write if the topic was deleted or created again. A plain XADD would create the
//   stream of the deleted topic again, and a later topic with the same name would inherit it (H2);
// * allocates the ids from the clock of Redis, but never below the last id. It continues with the
//   next millisecond if the sequence would not fit the offset. The ids of XADD * overflow if more
//   than 2^N entries arrive in one millisecond, or if the server's clock was set back (H8);
// * writes the batch without interruption, so that its records are contiguous;
// * trims the log by the topic's retention (retention.h);
// * sets the value type of the topic, JSON or bytes, at the first value.
//
//   Producer producer(store, clock, keys, topic);
//   NewRecord record;
//   record.key = "order-123";
//   record.value = "{}";
//   auto sent = co_await producer.Send(std::span(&record, 1));
//   (*sent)[0]->offset;
//
// Offsets are sparse: the offset of the second record of a batch is not one above the first, so the
// result has the offset of each record. Korvet has no idempotent producer: a retry after a timeout
// may write twice (H10), unless the batch has an id and Hardening::write_batches_once is on.
// Records with given ids are written by one pipeline of XADD commands instead: other producers may
// write between them, an error leaves the earlier records written, and the topic is not checked
// (H7). With Hardening::atomic_batches a script writes them.
//
// Thread-safety: as Store.
// Source: docs/systems/korvet.md 2.4 to 2.6, 4.6, 4.7, 4.10, H2, H7, H8, H10.
#ifndef REDOUBLE_CORE_KORVET_LOG_PRODUCER_H_
#define REDOUBLE_CORE_KORVET_LOG_PRODUCER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/base/time/clock.h"
#include "redouble/core/korvet/hardening.h"
#include "redouble/core/korvet/keys.h"
#include "redouble/core/korvet/log/partitioner.h"
#include "redouble/core/korvet/log/record.h"
#include "redouble/core/korvet/log/retention.h"
#include "redouble/core/korvet/topics/topics.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/store.h"
#include "redouble/core/store/typed/stream_id.h"

namespace redouble::inline v0_1::korvet {

// A record to write.
struct NewRecord {
  std::optional<std::string> key = std::nullopt;
  std::optional<std::string> value = std::nullopt;  // Nullopt: a tombstone.
  // The creation time in milliseconds since 1970. Nullopt or -1: the time of the Producer's clock.
  std::optional<int64_t> timestamp_ms = std::nullopt;
  std::vector<RecordHeader> headers = {};
  // For Send: the partition. Nullopt: the partition of the key, or the next one in turn.
  std::optional<int32_t> partition = std::nullopt;
  // The id of the entry, which must be greater than the last id of the stream. Either all records
  // of a batch have an id or no record has one.
  std::optional<store::StreamId> id = std::nullopt;
};

struct ProducerOptions {
  // Kafka's acks: -1 and 1 wait for the reply of Redis. 0 does not wait: the result has no offsets,
  // and all errors of the script are lost.
  int acks = -1;
  // How an append trims the log.
  Trimming trimming = Trimming::kExact;
  // The greatest number of records that one run of the script writes; nullopt: all records of a
  // batch. A limit shortens the time for which Redis is busy, unless Hardening::atomic_batches is
  // on. Without that, other producers may write between two runs, and an error leaves the earlier
  // runs written (H7).
  std::optional<size_t> max_records_per_write = std::nullopt;
  // The greatest size of a record in bytes (SizeOf in record.h); Kafka's message.max.bytes.
  int64_t max_record_bytes = 1'048'588;
  // The codec of the batch. It does not change the stored bytes; a codec that Kafka does not have
  // is refused.
  std::string_view codec = "none";
  // For records with given ids: the time by which the log is trimmed, in milliseconds since 1970.
  // Nullopt: the Producer's clock says it (H13), or, with Hardening::trim_by_server_time, Redis's
  // clock.
  std::optional<int64_t> now_ms = std::nullopt;
  // Options that remove hazards: write_batches_once, stream_exists, atomic_batches and
  // trim_by_server_time concern producers.
  Hardening hardening = {};
};

// The result of an append to one partition.
struct Appended {
  std::vector<int64_t> offsets;  // In the order of the records; empty with acks 0.
  int64_t base_offset = -1;      // The first of them.
  int64_t append_time_ms = -1;   // The time in the first record's id.
};

// The place of a record.
struct RecordMetadata {
  int32_t partition = 0;
  int64_t offset = -1;  // -1 with acks 0.
};

struct AppendOutcome;      // append_script.h
struct ValueTypeProposal;  // append_script.h

class Producer {
 public:
  // `store` and `clock` must outlive the object. `topic` comes from Topics::Create or
  // Topics::Describe. The script reads the retention from Redis, and its reply has the number of
  // partitions, which Send uses from then on. Records with given ids, and a partition above the
  // known number, make the producer read the topic again.
  Producer(store::Store& store, const base::Clock& clock, Keys keys, Topic topic,
           ProducerOptions options = {})
      : store_(store),
        clock_(clock),
        keys_(std::move(keys)),
        topic_(std::move(topic)),
        options_(options) {}

  // Appends records to one partition, in order. One round trip per run of the script, plus one if
  // Redis does not know the script; two round trips for records with given ids, one without
  // trimming; one more for a partition above the known number. In the cluster layout two more for
  // the batch that sets the topic's value type, and three more if the partition's copy of the topic
  // was missing or older than the known topic. An empty batch sends nothing.
  //
  // Errors: INVALID_REQUIRED_ACKS; UNSUPPORTED_COMPRESSION_TYPE; UNKNOWN_TOPIC_OR_PARTITION, also
  // if the topic was deleted; INCONSISTENT_TOPIC_ID if it was deleted and created again;
  // MESSAGE_TOO_LARGE, also for a record without id that has more than 3990 fields; INVALID_RECORD,
  // with the number of the record, for a value that is not JSON in a JSON topic, and for a given id
  // without an offset; INVALID_REQUEST if only some records have ids; UNKNOWN_SERVER_ERROR if the
  // next id has no offset. In these cases nothing of the batch is written, or of the current part
  // with max_records_per_write. REQUEST_TIMED_OUT: the batch may have been written. Source:
  // docs/systems/korvet.md 4.7.
  //
  // `batch_id` names the batch for Hardening::write_batches_once: unique among the batches of the
  // partition in a day, and the same, with the same records and options, for each retry. A batch
  // that was written before, also by another Producer, returns the offsets of the first time.
  // Empty: no id. Records with given ids need none: Redis refuses an id that it has.
  base::Task<absl::StatusOr<Appended>> Append(int32_t partition, std::span<const NewRecord> records,
                                              std::string_view batch_id = {});

  // Writes each record to its partition (Partitioner), with one Append per partition in ascending
  // order of the partitions. Returns the result of each record, in the order of the records.
  // Errors: an error of the partitioner fails the call; an error of Append is the result of each
  // record of that partition.
  // Source: docs/systems/korvet.md 4.7.
  base::Task<absl::StatusOr<std::vector<absl::StatusOr<RecordMetadata>>>> Send(
      std::span<const NewRecord> records, std::string_view batch_id = {});

  // The topic as the last append found it.
  const Topic& topic() const { return topic_; }

 private:
  absl::Status Check(std::span<const NewRecord> records) const;
  // The fields of the record. A missing timestamp is the current time.
  RecordFields FieldsOf(const NewRecord& record) const;

  // Reads the topic again if its known number of partitions does not include `partition`.
  base::Task<absl::Status> EnsurePartition(int32_t partition);
  // Where a batch goes: the partition's stream, and the hash of Keys::Metadata.
  struct Place {
    int32_t partition;
    std::string_view stream;
    std::string_view metadata;
    std::string_view batch = {};  // Keys::WrittenBatch, if the batch is written once.
  };
  struct ScriptCalls;
  // Writes the records by runs of the script for `at_once` records each; several are one
  // transaction. `first` is the number of the first record in its batch.
  base::Task<absl::Status> WriteByScript(Place place, std::span<const NewRecord> records,
                                         size_t first, size_t at_once, Appended& appended);
  base::Task<absl::Status> RunScript(ScriptCalls& calls, Appended& appended);
  static store::Batch BatchOf(const ScriptCalls& calls);
  base::Task<absl::StatusOr<std::vector<AppendOutcome>>> SendScript(const ScriptCalls& calls);
  // Sets the value type in the topic's hash, in the cluster layout, unless it is known.
  base::Task<absl::Status> SettleValueType(const ValueTypeProposal& proposal);
  // By which time records with given ids trim the log.
  base::Task<absl::StatusOr<int64_t>> TimeOfTrimming();
  base::Task<absl::Status> WriteByIds(Place place, std::span<const NewRecord> records,
                                      Appended& appended);

  store::Store& store_;
  const base::Clock& clock_;
  const Keys keys_;
  Topic topic_;
  const ProducerOptions options_;
  Partitioner partitioner_;
};

}  // namespace redouble::inline v0_1::korvet

#endif  // REDOUBLE_CORE_KORVET_LOG_PRODUCER_H_
