// AppendOnce: what the three bounded logs of Relayna have in common. A marker says that an event
// was seen, then the event goes to the front of a list that is kept short.
//
// For the stores of this folder. By default it takes the two steps that the documents describe, of
// which the second may never come (R1 to R3); atomically it is one script, in which several appends
// go together.
//
// Thread-safety: free functions.
#ifndef REDOUBLE_CORE_RELAYNA_APPEND_ONCE_H_
#define REDOUBLE_CORE_RELAYNA_APPEND_ONCE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "core/base/task.h"
#include "core/store/store.h"

namespace redouble::relayna {

struct Append {
  std::string marker;
  std::string list;
  std::string payload;
  int64_t maxlen = 0;
  // None and 0: no time to live. Redis refuses a negative one.
  std::optional<int64_t> ttl_seconds;

  // A member for a set beside the list; none: no set.
  struct Membership {
    std::string set;
    std::string member;
  };
  std::optional<Membership> membership = std::nullopt;
  // Where the payload is published; none: nowhere.
  std::optional<std::string> channel = std::nullopt;

  // Where in the list the payload goes, for a list that was read before; atomically only.
  struct Place {
    // The SHA-1 of the list's elements, a newline behind each.
    std::string seen_sha1;
    // 0: the front; as many as there are elements: the back.
    int64_t index = 0;
  };
  // None: the front, whatever the list holds.
  std::optional<Place> place = std::nullopt;
};

// True when `ttl_seconds` is one: Python's truth of it.
bool HasTtl(std::optional<int64_t> ttl_seconds);

// SET NX of the marker, then one transaction: LPUSH, LTRIM, EXPIRE, SADD, EXPIRE, PUBLISH, as far
// as they are asked for. True when the marker was not there. One round trip for a duplicate, two
// otherwise. Errors: those of the store; the first error in the transaction, whose other commands
// took effect all the same.
base::Task<absl::StatusOr<bool>> AppendOnce(store::Store& store, const Append& append);

// The same in one step, and either wholly or not at all: true when the first marker was not there.
// The further appends, each unless its own marker is there, go with the first. A key of the wrong
// type fails before anything is written. One round trip (script.h). Errors: those of the store;
// Aborted, and nothing written, when a list is no longer the one that its append's place was
// chosen in.
base::Task<absl::StatusOr<bool>> AppendOnceAtomically(store::Store& store,
                                                      std::span<const Append> appends);

}  // namespace redouble::relayna

#endif  // REDOUBLE_CORE_RELAYNA_APPEND_ONCE_H_
