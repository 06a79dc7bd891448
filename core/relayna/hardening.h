// Hardening: options that remove documented hazards of Relayna's stores, one by one.
//
// By default every operation behaves like the documented SDK, including its hazards, so that C++
// and Python processes can share one Redis database. Each option removes the hazards that it names.
// All options are off by default and can be combined; a store ignores the options that do not
// concern it.
//
//   const relayna::Hardening hardening = {.atomic_events = true, .owner_token = "worker-1"};
//   relayna::StatusStore statuses(store, {.prefix = "relayna", .hardening = hardening});
//   relayna::DlqStore dlq(store, {.hardening = hardening});
//
// Thread-safety: a plain value.
// Source: docs/systems/relayna.md 5.
#ifndef REDOUBLE_CORE_RELAYNA_HARDENING_H_
#define REDOUBLE_CORE_RELAYNA_HARDENING_H_

#include <string>

namespace redouble::inline v0_1::relayna {

struct Hardening {
  // For the status store, the observation store and the feed. Removes R1, R2, R20 and R3 of a store
  // that has a feed: the marker of an event, its list entry, the child, the message and the feed
  // item are written by one script or not at all. The feed's own option covers direct adds. The
  // keys and values stay the same.
  bool atomic_events = false;

  // For the status store. Removes R4: an event is inserted by its `timestamp`, so that the head of
  // a history has the latest one. An event without a timestamp counts as older than every other. It
  // implies atomic_events and costs one more round trip, and two more for each concurrent write.
  bool newest_first = false;

  // For the DLQ store and the workflow contract store. Removes the wrong release of R12 and of W2,
  // and W3: locks and markers hold this token instead of "1", a release deletes only what has the
  // caller's token, and an inflight entry and its TTL are set in one transaction. The token must
  // differ in every process. Empty: off. A release by the documented SDK still deletes the lock of
  // every owner.
  std::string owner_token = {};

  // For the DLQ store. Removes R13 and R18: MarkReplayed reads and writes a record, so that one of
  // two replays is not counted, and a record that expires in between comes back. With this option a
  // script writes only what is unchanged, and the mark begins again otherwise.
  bool atomic_marks = false;

  // For the DLQ store of a replay service. Removes the second publication of R12: the record is
  // marked before the message is published, by the script of atomic_marks, and unless it is forced
  // a replay fails if another one has marked it. If the broker fails, the mark is taken back. A
  // process that dies in between leaves a record that is marked and was not published: replay is at
  // most once, and only a forced replay publishes such a message.
  bool mark_before_publish = false;

  // For the DLQ store with a TTL. Removes R15: an add looks at the oldest 100 ids of the list and
  // removes those without a record. Costs a round trip, and another one if there are any.
  bool forget_expired_ids = false;

  // For the DLQ store. Removes R16: an add does nothing if the record exists, so that a message
  // that is added again is listed once and, after its replay, is not replayable again. One script.
  bool add_once = false;
};

}  // namespace redouble::inline v0_1::relayna

#endif  // REDOUBLE_CORE_RELAYNA_HARDENING_H_
