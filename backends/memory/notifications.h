// The option notify-keyspace-events: which keyspace events are published, and where.
//
// Source: Redis 7.0 redis.conf, "notify-keyspace-events".
#ifndef REDOUBLE_BACKENDS_MEMORY_NOTIFICATIONS_H_
#define REDOUBLE_BACKENDS_MEMORY_NOTIFICATIONS_H_

#include <optional>
#include <string>
#include <string_view>

#include "backends/memory/keyspace_event.h"

namespace redouble::memory {

class Notifications {
 public:
  // Publishes nothing.
  Notifications() = default;
  // Reads the option's letters: K and E choose the channels, the others the classes, A all of them
  // but m and n. None when a letter is none of them.
  static std::optional<Notifications> Parse(std::string_view letters);

  // The option's letters in Redis's order, all the classes of A as that letter.
  std::string Letters() const;

  // To __keyspace@db__:key, with the event as the payload.
  bool by_key() const { return by_key_; }
  // To __keyevent@db__:event, with the key as the payload.
  bool by_event() const { return by_event_; }
  // False when the event goes nowhere.
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

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_NOTIFICATIONS_H_
