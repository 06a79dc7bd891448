// Tracking: which clients may hold which keys in a cache of their own, and what they must be told.
//
// A client that tracks is remembered with each key it reads; the first change of the key is told to
// it, once. One that broadcasts is told of every change of keys with its prefixes.
//
//   tracking.Enable(7, {});
//   tracking.Remember(7, "user:1");
//   tracking.Changed("user:1", /*by=*/9);
//   tracking.TakeInvalidations();           // {{7, {"user:1"}}}
//
// Clients are ids; who they are, whether they are still there and how they are told is the engine's
// to know. Invalidations are collected until a command is over: Redis tells other clients at once
// and broadcasts before it waits for more; a client cannot see the difference.
//
// Thread-safety: one thread.
// Source: Redis 7.0 CLIENT TRACKING.
#ifndef REDOUBLE_BACKENDS_MEMORY_TRACKING_H_
#define REDOUBLE_BACKENDS_MEMORY_TRACKING_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace redouble::memory {

struct TrackingMode {
  // Which reads are remembered: all, those after CLIENT CACHING YES, or all but those after NO.
  enum class Reads : uint8_t { kAll, kOptIn, kOptOut };

  bool broadcasts = false;
  bool no_loop = false;  // Its own changes are not told to it.
  Reads reads = Reads::kAll;
  // The client that is told in its place.
  std::optional<int64_t> redirect = std::nullopt;
  // Of a client that broadcasts; "" is every key.
  std::set<std::string, std::less<>> prefixes = {};
  // What CLIENT CACHING said of the next command.
  bool caching = false;
  // The client that it redirected to has gone.
  bool redirect_is_broken = false;
};

class Tracking {
 public:
  // What one client is told: keys that have changed; every key when there is no list.
  struct Invalidation {
    int64_t client;
    std::optional<std::vector<std::string>> keys;
  };

  bool anybody_tracks() const { return !modes_.empty(); }
  // Null when the client does not track.
  TrackingMode* ModeOf(int64_t client);

  // Begins to track, or changes how. The prefixes are added to those it has.
  void Enable(int64_t client, const TrackingMode& mode);
  // Forgets the client.
  void Disable(int64_t client);

  // The client has read the key. When that makes more keys than `max_keys` (0: any number is kept),
  // the first of the others by name is told as changed and forgotten.
  void Remember(int64_t client, std::string_view key, size_t max_keys);
  // A key was changed by a client, by time or by the server itself (0).
  void Changed(std::string_view key, int64_t by);
  // All keys may have changed.
  void AllChanged();
  // What is to be told now, in order.
  std::vector<Invalidation> TakeInvalidations();

  // The figures of INFO.
  size_t client_count() const { return modes_.size(); }
  size_t key_count() const { return readers_.size(); }
  size_t reader_count() const { return reader_count_; }
  size_t prefix_count() const;

 private:
  std::map<int64_t, TrackingMode> modes_;
  // Who has read a key since it last changed.
  std::map<std::string, std::set<int64_t>, std::less<>> readers_;
  size_t reader_count_ = 0;
  // The keys that have changed and match somebody's prefix, with who changed them first.
  std::map<std::string, int64_t> broadcast_;
  std::vector<Invalidation> due_;
  bool all_changed_ = false;
};

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_TRACKING_H_
