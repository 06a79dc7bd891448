// AppendOnce: the write that the status store, the observation store and the feed share. It sets a
// marker for an event and then pushes the event to the front of a bounded list.
//
// The stores of this folder use it; programs use the stores. AppendOnce sends the two steps of the
// documented system, and a crash between them loses the event (hazards R1 to R3).
// AppendOnceAtomically sends one script, which can write several appends together.
//
//   const Append append = {.marker = keys.Event({"t1", "e1"}), .list = keys.History("t1"),
//                          .payload = json, .maxlen = 50, .ttl_seconds = 86400};
//   absl::StatusOr<bool> is_new = co_await AppendOnce(store, append);
//
// Thread-safety: free functions without state. The store must outlive the task, and so must the
// arguments.
// Source: docs/systems/relayna.md 3.2.
#ifndef REDOUBLE_CORE_RELAYNA_APPEND_ONCE_H_
#define REDOUBLE_CORE_RELAYNA_APPEND_ONCE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/keyspace/key_layout.h"
#include "redouble/core/store/pubsub/channel.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::relayna {

struct Append {
  std::string marker;
  std::string list;
  std::string payload;
  int64_t maxlen = 0;
  // Seconds, for every key that the append writes. nullopt and 0: no TTL. Redis refuses a negative
  // TTL.
  std::optional<int64_t> ttl_seconds;

  // A member to add to a set; nullopt: no set is written.
  struct Membership {
    std::string set;
    std::string member;
  };
  std::optional<Membership> membership = std::nullopt;
  // The channels on which the payload is published; by default none. AppendOnce ignores the shard
  // channel, which must have the slot of the list.
  store::PublishedChannels channels = {};

  // A position in a list that was read before. AppendOnce ignores it.
  struct Place {
    // The SHA-1, in hexadecimal, of the list's elements with a newline after each.
    std::string seen_sha1;
    // The index that the payload gets: 0 is the front, the length of the list is the back.
    int64_t index = 0;
  };
  // nullopt: the front of the list, whatever it holds.
  std::optional<Place> place = std::nullopt;
};

// True if `ttl_seconds` is set and not 0.
bool HasTtl(std::optional<int64_t> ttl_seconds);

// Sets the marker by SET NX, then sends one transaction: LPUSH, LTRIM, EXPIRE, SADD, EXPIRE,
// PUBLISH, each only if the append asks for it. Returns true if the marker was absent,
// and false for a duplicate. One round trip for a duplicate, otherwise two.
//
// Errors: those of the store, and the first error of the transaction. The other commands of the
// transaction take effect all the same.
base::Task<absl::StatusOr<bool>> AppendOnce(store::Store& store, const Append& append);

// Writes all appends in one script, or nothing. Returns true if the marker of the first append was
// absent; each other append is written only if its own marker is absent as well. One round trip
// (see core/store/script.h).
//
// Errors: those of the store. A key of the wrong type fails before anything is written. Aborted,
// with nothing written, if a list has changed since `place` was computed.
base::Task<absl::StatusOr<bool>> AppendOnceAtomically(store::Store& store,
                                                      std::span<const Append> appends);

// As AppendOnce, or with `atomically` as AppendOnceAtomically, for the cluster layout, where the
// set of the first append and the lists of the others are in other slots than the first list. The
// order is: a read of the first marker, which ends the operation for a duplicate; the other
// appends, each in one script; the set; the first append. Each step may be repeated. After a crash,
// a repeated call writes what is missing; until then the other lists and the set have an entry
// whose event the first list does not have. Up to three round trips more than in the documented
// layout.
//
// Errors: those of the store. A key of the wrong type ends the operation; the steps before it have
// taken effect.
base::Task<absl::StatusOr<bool>> AppendOnceInSteps(store::Store& store,
                                                   std::span<const Append> appends,
                                                   bool atomically);

// In the cluster layout AppendOnceInSteps; in the documented layout AppendOnceAtomically, or
// AppendOnce for the first append. With a shard channel the appends are written atomically always.
base::Task<absl::StatusOr<bool>> AppendOnceInLayout(store::Store& store, store::KeyLayout layout,
                                                    std::span<const Append> appends,
                                                    bool atomically);

}  // namespace redouble::inline v0_1::relayna

#endif  // REDOUBLE_CORE_RELAYNA_APPEND_ONCE_H_
