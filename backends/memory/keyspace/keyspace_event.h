// Keyspace events: the notifications of notify-keyspace-events, as C++ values.
//
// Engine::SetKeyspaceListener reports them to the program, whether clients have subscribed or not.
//
//   engine.SetKeyspaceListener([](const memory::KeyspaceEvent& event) {
//     std::cout << event.event << " " << event.key << "\n";
//   });
//
// Thread-safety: plain values.
// Source: Redis 7.0 redis.conf, "notify-keyspace-events".
#ifndef REDOUBLE_BACKENDS_MEMORY_KEYSPACE_KEYSPACE_EVENT_H_
#define REDOUBLE_BACKENDS_MEMORY_KEYSPACE_KEYSPACE_EVENT_H_

#include <cstdint>
#include <functional>
#include <string_view>

namespace redouble::inline v0_1::memory {

// The classes of events, by their letters in notify-keyspace-events.
enum class EventClass : char {
  kGeneric = 'g',
  kString = '$',
  kList = 'l',
  kSet = 's',
  kHash = 'h',
  kSortedSet = 'z',
  kExpired = 'x',
  kEvicted = 'e',
  kStream = 't',
  kKeyMiss = 'm',
  kModule = 'd',
  kNew = 'n',
};

// False for "keymiss" and "new": they report no change, or come with another event that does.
inline bool IsChange(EventClass event_class) {
  return event_class != EventClass::kKeyMiss && event_class != EventClass::kNew;
}

struct KeyspaceEvent {
  EventClass event_class;
  std::string_view event;  // "set", "expired", ...
  int db;
  std::string_view key;
};

// Called for each event, inside the command that causes it. Must not call the engine or its
// sessions.
using KeyspaceListener = std::function<void(const KeyspaceEvent&)>;

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_KEYSPACE_KEYSPACE_EVENT_H_
