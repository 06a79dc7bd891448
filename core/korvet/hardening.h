// Hardening: options that remove documented hazards of Korvet's topics, producers and groups.
//
// By default every operation sends the documented commands, including their hazards, so that it
// behaves as other programs on the same Redis. Each option removes the hazard that it names and
// changes nothing else: keys and values stay the same, and only write_batches_once adds a key. All
// options are off by default and can be combined; topics, producers and groups ignore the options
// that do not concern them.
//
//   korvet::GroupOptions options;
//   options.hardening.guard_topic = true;
//   ConsumerGroup group(store, keys, topic, "my-group", options);
//
// Thread-safety: a plain value.
// Source: docs/systems/korvet.md 5.
#ifndef REDOUBLE_CORE_KORVET_HARDENING_H_
#define REDOUBLE_CORE_KORVET_HARDENING_H_

namespace redouble::inline v0_1::korvet {

struct Hardening {
  // For Topics. Removes H1: a creator that crashes leaves a half-made topic, whose name is in use.
  // One script checks the name and writes all keys. Has no effect in the cluster layout, where the
  // keys are in several slots.
  bool atomic_creation = false;

  // For a producer of batches with an id (Producer::Append). Removes H10: a retry writes a batch
  // twice. The script keeps its reply under the id for a day, and a repetition returns it and
  // writes nothing.
  bool write_batches_once = false;

  // For a producer of records with given ids. Removes H2: a plain XADD restores the stream of a
  // deleted topic. XADD then has NOMKSTREAM, and an append to a missing stream fails with
  // UNKNOWN_TOPIC_OR_PARTITION.
  bool stream_exists = false;

  // For a producer. Removes H7: other producers write between the records of a batch that is more
  // than one command or script. With this option the runs of the script that
  // ProducerOptions::max_records_per_write makes are one transaction, which has the text of the
  // script for each, and records with given ids are written by one script, which also checks the
  // topic.
  bool atomic_batches = false;

  // For a producer of records with given ids. Removes H13: the log is trimmed by the producer's
  // clock, so that a clock that is ahead removes records before their time. With this option the
  // producer asks Redis for the time, as RetentionLoop does: one more round trip.
  bool trim_by_server_time = false;

  // For a group. Removes H3: XGROUP CREATE ... MKSTREAM restores the stream of a deleted topic, and
  // a later topic of the same name inherits it. One script per partition checks the topic and
  // creates the group.
  bool guard_topic = false;

  // For a group. Removes H6: a commit acknowledges an entry that another member has claimed,
  // because XACK does not check the owner. One script acknowledges only the entries of
  // CommitRequest::member.
  bool commit_own_entries = false;

  // For GroupAdmin. Removes H14: a member joins, or a record is delivered, between the check of
  // Delete and the removal. One script checks the group and removes it. Has no effect in the
  // cluster layout, where the keys are in several slots.
  bool delete_idle_groups = false;
};

}  // namespace redouble::inline v0_1::korvet

#endif  // REDOUBLE_CORE_KORVET_HARDENING_H_
