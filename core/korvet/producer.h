// Producer: writes records to the partitions of a topic.
//
// Each record becomes an entry of its partition's stream, and the entry's id becomes its offset
// (offset.h). A batch of a partition is written by one script, which
//
// * refuses to write when the topic was deleted, or deleted and made anew: a plain XADD would bring
//   the stream of a deleted topic back, and the next topic of its name would inherit it;
// * gives the ids itself, by Redis's clock but never below the last one, and goes on to the next
//   millisecond where the sequence would not fit the offset: XADD's own ids overflow when more than
//   2^N records come in a millisecond, or when the server's clock has stepped back;
// * writes the batch in one piece, so that its records stand side by side;
// * cuts the log as the topic's retention says (retention.h);
// * settles the type of the topic's values, JSON or bytes, at the first record that has one.
//
//   Producer producer(store, clock, keys, topic);
//   NewRecord record;
//   record.key = "order-123";
//   record.value = "{}";
//   auto sent = co_await producer.Send(std::span(&record, 1));
//   (*sent)[0]->offset;
//
// Offsets are sparse: that of a batch's second record is not one above the first's, so every one is
// given. A producer that tries again after a time-out may write twice; Korvet has no idempotent
// producer. Records that bring ids of their own are written the documented way instead, by an XADD
// each in one pipeline: other producers may interleave, a failure leaves what came before it
// written, and nobody looks whether the topic is still there.
//
// Thread-safety: as Store.
// Source: reference/korvet.md sections 2, 4, 7; seed 003 "Redis Key Layout".
#ifndef REDOUBLE_CORE_KORVET_PRODUCER_H_
#define REDOUBLE_CORE_KORVET_PRODUCER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/clock.h"
#include "core/base/task.h"
#include "core/korvet/keys.h"
#include "core/korvet/partitioner.h"
#include "core/korvet/record.h"
#include "core/korvet/retention.h"
#include "core/korvet/topics.h"
#include "core/store/store.h"
#include "core/store/stream_id.h"

namespace redouble::korvet {

// A record to be.
struct NewRecord {
  std::optional<std::string> key = std::nullopt;
  std::optional<std::string> value = std::nullopt;  // None: a tombstone.
  // When the producer made it, in milliseconds since 1970; none or -1: now, by the Producer's
  // clock.
  std::optional<int64_t> timestamp_ms = std::nullopt;
  std::vector<RecordHeader> headers = {};
  // For Send: the partition, which otherwise follows from the key, or goes round.
  std::optional<int32_t> partition = std::nullopt;
  // The entry's id, above all before it. All records of a batch have one, or none has.
  std::optional<store::StreamId> id = std::nullopt;
};

struct ProducerOptions {
  // Kafka's: -1 and 1 wait until Redis has answered. 0 does not wait: nothing is known of what came
  // of the records, and a deleted topic is not heard of.
  int acks = -1;
  // How a write cuts the log.
  Trimming trimming = Trimming::kExact;
  // How many records one run of the script writes at most; none: all of a batch, in one piece. A
  // number keeps Redis from being busy with one batch for long; between two runs others may write,
  // and a failure leaves what the earlier ones wrote.
  std::optional<size_t> max_records_per_write = std::nullopt;
  // The greatest size of a record (SizeOf in record.h); Kafka's message.max.bytes.
  int64_t max_record_bytes = 1'048'588;
  // How the records came in. A codec changes no stored byte, but one that Kafka does not have is
  // refused.
  std::string_view codec = "none";
  // For records with ids of their own: whether the stream must exist already (XADD NOMKSTREAM).
  bool stream_exists = false;
  // For records with ids of their own: the time by which the log is cut; none: the Producer's
  // clock.
  std::optional<int64_t> now_ms = std::nullopt;
};

// What became of a batch of one partition.
struct Appended {
  std::vector<int64_t> offsets;  // In the order of the records; empty with acks 0.
  int64_t base_offset = -1;      // The first of them.
  int64_t append_time_ms = -1;   // The time of the first record's id.
};

// Where a record went.
struct RecordMetadata {
  int32_t partition = 0;
  int64_t offset = -1;  // -1 with acks 0.
};

class Producer {
 public:
  // `store` and `clock` must outlive the object; `topic` is as Topics described it.
  Producer(store::Store& store, const base::Clock& clock, Keys keys, Topic topic,
           ProducerOptions options = {})
      : store_(store),
        clock_(clock),
        keys_(std::move(keys)),
        topic_(std::move(topic)),
        options_(options) {}

  // Appends records to one partition, in order. One round trip (two when Redis does not know the
  // script yet); with ids of their own also one. Nothing is sent for no records.
  //
  // Errors: INVALID_REQUIRED_ACKS, UNSUPPORTED_COMPRESSION_TYPE; UNKNOWN_TOPIC_OR_PARTITION, also
  // when the topic was deleted; INCONSISTENT_TOPIC_ID when it was deleted and made anew;
  // MESSAGE_TOO_LARGE; INVALID_RECORD for a value that is not JSON in a topic of JSON, naming the
  // record, and for an id that has no offset; INVALID_REQUEST when some records have ids and others
  // do not; UNKNOWN_SERVER_ERROR when the log's last id is beyond all offsets. In all these cases
  // nothing of the batch is written (with max_records_per_write: nothing of that part of it).
  // REQUEST_TIMED_OUT: the batch may have been written.
  base::Task<absl::StatusOr<Appended>> Append(int32_t partition,
                                              std::span<const NewRecord> records);

  // Sends each record to its partition (Partitioner), one Append per partition, partitions in
  // rising order. Gives what became of each record, in the order of the records. Errors: those of
  // the partitioner for all; of Append for the records of a partition.
  base::Task<absl::StatusOr<std::vector<absl::StatusOr<RecordMetadata>>>> Send(
      std::span<const NewRecord> records);

  // The topic, with the value type once a write has learnt it.
  const Topic& topic() const { return topic_; }

 private:
  absl::Status Check(std::span<const NewRecord> records) const;
  // With their fields, timestamps filled in.
  RecordFields FieldsOf(const NewRecord& record) const;

  base::Task<absl::Status> WriteByScript(std::string_view stream,
                                         std::span<const NewRecord> records, Appended& appended);
  base::Task<absl::Status> WriteByIds(std::string_view stream, std::span<const NewRecord> records,
                                      Appended& appended);

  store::Store& store_;
  const base::Clock& clock_;
  const Keys keys_;
  Topic topic_;
  const ProducerOptions options_;
  Partitioner partitioner_;
};

}  // namespace redouble::korvet

#endif  // REDOUBLE_CORE_KORVET_PRODUCER_H_
