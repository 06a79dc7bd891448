// TrackingCache: replies to commands that read, kept until Redis says that a key has changed.
//
// It is the memory of client-side caching: the server sends an invalidation for each changed key
// (CLIENT TRACKING), and a reply in the cache costs no round trip. It belongs to one connection and
// is empty after each loss of it, because invalidations may have been lost with the connection.
//
//   if (const store::Reply* hit = cache.Find(command)) return Use(*hit);
//   const uint64_t ticket = cache.Begin(command);
//   ...                                   // The command is sent.
//   cache.Invalidate(push);               // A message of the server: the keys have changed.
//   cache.End(ticket, &reply);            // Kept, unless a key has changed in the meantime.
//
// What is kept: replies to single commands that only read the keys they name and always answer the
// same for the same data: GET, MGET, HGETALL, ZRANGE, EXISTS... Not TTL, SRANDMEMBER, SCAN, XREAD,
// OBJECT, scripts, SORT_RO; not errors; no commands of batches.
//
// Freshness: a reply is used until the invalidation arrives, so it may be older than the server's
// data by the travel time of that message. A key that expires is invalidated when the server
// removes it. The commands of the same connection are an exception: Note() drops the keys of a
// command that writes before it is sent, so a client reads its own writes. A command on another
// connection, such as BLPOP in the pool for blocking commands, is noted when it is sent. Its effect
// arrives as an invalidation, like a change by another client.
//
// Memory: at most Limits::max_bytes, keys and bookkeeping included. The entries that were not used
// for the longest time are dropped first. Commands under way are not counted.
//
// Thread-safety: one thread or strand at a time.
//
// Source: Redis 7.0 CLIENT TRACKING; Redis documentation, "Client-side caching in Redis".
#ifndef REDOUBLE_BACKENDS_REDIS_FSM_CACHE_TRACKING_CACHE_H_
#define REDOUBLE_BACKENDS_REDIS_FSM_CACHE_TRACKING_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "redouble/backends/redis/options.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::redis {

class TrackingCache {
 public:
  struct Limits {
    // The values of `options`.
    static Limits From(const Options& options);

    size_t max_bytes = 0;
    // If not empty: only replies whose keys all begin with one of these are kept.
    std::vector<std::string> prefixes = {};
  };

  // Identifies a command under way; kNone for one whose reply is not kept.
  using Ticket = uint64_t;
  static constexpr Ticket kNone = 0;

  explicit TrackingCache(Limits limits) : limits_(std::move(limits)) {}
  TrackingCache(const TrackingCache&) = delete;
  TrackingCache& operator=(const TrackingCache&) = delete;

  // The server of a new connection sends invalidations.
  void Start();
  // The connection was lost, or its server sends no invalidations: nothing is kept.
  void Stop();

  // Whether the reply to the command is of a kind that is kept. O(1).
  static bool IsCacheable(const store::Command& command);

  // The kept reply to the command, which must be cacheable; null if no reply is kept. The pointer
  // is valid until the next call. O(bytes of the command).
  const store::Reply* Find(const store::Command& command);
  // A cacheable command is about to be sent. kNone before Start(), or if a key has no prefix.
  Ticket Begin(const store::Command& command);
  // The command has ended; `reply` is null if it ended without a reply.
  void End(Ticket ticket, const store::Reply* reply);

  // The request is about to be sent: drops what it may change.
  void Note(const store::Request& request);
  // Handles a push of the server. Returns how many keys it invalidates, 1 for all keys at once; 0
  // if it is not an invalidation.
  size_t Invalidate(const store::Reply& push);

  size_t size() const { return entries_.size(); }
  size_t bytes() const { return bytes_; }
  // How many entries were dropped because of max_bytes since the last call.
  uint64_t TakeEvictions() { return std::exchange(evictions_, 0); }

 private:
  struct Entry {
    std::string id;
    std::vector<std::string> keys;
    store::Reply reply;
    size_t bytes = 0;
  };
  using Entries = std::list<Entry>;
  struct Pending {
    std::string id;
    std::vector<std::string> keys;
    bool valid = true;  // No key has changed since the command was sent.
  };
  // What depends on one key.
  struct Users {
    absl::InlinedVector<Entries::iterator, 1> entries;
    absl::InlinedVector<Ticket, 1> pending;

    bool empty() const { return entries.empty() && pending.empty(); }
  };

  void NoteCommand(const store::Command& command);
  void InvalidateKey(std::string_view key);
  void InvalidateAll();
  bool Covers(std::string_view key) const;
  void Insert(Entry entry);
  void Remove(Entries::iterator entry);

  const Limits limits_;
  bool active_ = false;
  Entries entries_;  // The one that was used last comes first.
  absl::flat_hash_map<absl::string_view, Entries::iterator> by_id_;
  absl::flat_hash_map<std::string, Users> by_key_;
  std::map<Ticket, Pending> pending_;
  Ticket next_ticket_ = 1;
  size_t bytes_ = 0;
  uint64_t evictions_ = 0;
  std::string scratch_;  // The id of the command that is looked for.
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_CACHE_TRACKING_CACHE_H_
