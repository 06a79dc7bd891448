// Tracking: the keys that clients may cache (CLIENT TRACKING), and the invalidations they must
// receive.
//
// In the default mode each key that a tracking client reads is remembered, and the first change of
// the key invalidates it once. In broadcasting mode every change of a key with one of the client's
// prefixes invalidates it.
//
//   tracking.Enable(7, {});
//   tracking.Remember(7, "user:1", 0);
//   tracking.Changed("user:1", /*by=*/9);
//   tracking.TakeInvalidations();           // {{7, {"user:1"}}}
//
// Clients are ids. The engine knows whether they are still connected and how to send to them
// (engine/invalidation.h). Invalidations are collected until a command ends. Redis sends to other
// clients at once and broadcasts before it waits for more input; a client cannot see the
// difference.
//
// Thread-safety: one thread.
// Source: Redis 7.0 CLIENT TRACKING.
#ifndef REDOUBLE_BACKENDS_MEMORY_KEYSPACE_TRACKING_H_
#define REDOUBLE_BACKENDS_MEMORY_KEYSPACE_TRACKING_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace redouble::inline v0_1::memory {

struct TrackingMode {
  // Which reads are remembered: all, those after CLIENT CACHING YES, or all except those after NO.
  enum class Reads : uint8_t { kAll, kOptIn, kOptOut };

  bool broadcasts = false;
  bool no_loop = false;  // NOLOOP: its own changes do not invalidate.
  Reads reads = Reads::kAll;
  // REDIRECT: the client that receives the invalidations instead.
  std::optional<int64_t> redirect = std::nullopt;
  // The prefixes of broadcasting mode; "" matches every key.
  std::set<std::string, std::less<>> prefixes = {};
  // CLIENT CACHING was called for the next command.
  bool caching = false;
  // The client that it redirected to has disconnected.
  bool redirect_is_broken = false;
};

class Tracking {
 public:
  // The invalidation of one client: the changed keys; nullopt: all keys.
  struct Invalidation {
    int64_t client;
    std::optional<std::vector<std::string>> keys;
  };

  bool has_clients() const { return !modes_.empty(); }
  // Returns null if the client does not track.
  TrackingMode* ModeOf(int64_t client);

  // Starts tracking, or changes its mode. Prefixes are added to those it has.
  void Enable(int64_t client, const TrackingMode& mode);
  // Removes the client.
  void Disable(int64_t client);

  // Remembers that the client has read the key, and applies the limit to the other keys.
  void Remember(int64_t client, std::string_view key, size_t max_keys);
  // Invalidates and removes the first keys by name, except `kept`, until there are `max_keys` of
  // them (0: no limit).
  void Limit(size_t max_keys, std::optional<std::string_view> kept = std::nullopt);
  // Reports the change of a key. `by` is the client that changed it; 0: expiry or eviction.
  void Changed(std::string_view key, int64_t by);
  // Reports that all keys may have changed.
  void AllChanged();
  // Removes and returns the collected invalidations, in order.
  std::vector<Invalidation> TakeInvalidations();

  // The figures of INFO.
  size_t client_count() const { return modes_.size(); }
  size_t key_count() const { return readers_.size(); }
  size_t reader_count() const { return reader_count_; }
  size_t prefix_count() const;

 private:
  using Readers = std::map<std::string, std::set<int64_t>, std::less<>>;

  // Tells the clients that have read the key, which is removed.
  void Invalidate(Readers::iterator read, int64_t by);

  std::map<int64_t, TrackingMode> modes_;
  // The clients that have read a key since its last change.
  Readers readers_;
  size_t reader_count_ = 0;
  // The changed keys that match a prefix, with the client that changed them first.
  std::map<std::string, int64_t> broadcast_;
  std::vector<Invalidation> due_;
  bool all_changed_ = false;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_KEYSPACE_TRACKING_H_
