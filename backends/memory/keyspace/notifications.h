// Notifications: the value of notify-keyspace-events, which selects the events to publish and their
// channels.
//
//   Notifications::Parse("KEA")->Wants(EventClass::kString);  // true
//
// Thread-safety: a plain value.
// Source: Redis 7.0 redis.conf, "notify-keyspace-events".
#ifndef REDOUBLE_BACKENDS_MEMORY_KEYSPACE_NOTIFICATIONS_H_
#define REDOUBLE_BACKENDS_MEMORY_KEYSPACE_NOTIFICATIONS_H_

#include <optional>
#include <string>
#include <string_view>

#include "redouble/backends/memory/keyspace/keyspace_event.h"

namespace redouble::inline v0_1::memory {

class Notifications {
 public:
  // Publishes no event.
  Notifications() = default;
  // Parses the letters: K and E choose the channels, the others the classes; A means all classes
  // except m and n. Returns nullopt if a letter is unknown.
  static std::optional<Notifications> Parse(std::string_view letters);

  // The letters in Redis's order; all classes of A are written as A.
  std::string Letters() const;

  // Publishes to __keyspace@db__:key, with the event as the payload.
  bool by_key() const { return by_key_; }
  // Publishes to __keyevent@db__:event, with the key as the payload.
  bool by_event() const { return by_event_; }
  // True if such an event is published.
  bool Wants(EventClass event_class) const {
    return (by_key_ || by_event_) &&
           classes_.find(static_cast<char>(event_class)) != std::string::npos;
  }
  bool wants_any() const { return (by_key_ || by_event_) && !classes_.empty(); }

 private:
  bool by_key_ = false;
  bool by_event_ = false;
  std::string classes_;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_KEYSPACE_NOTIFICATIONS_H_
