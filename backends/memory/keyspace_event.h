// Keyspace events: what Redis tells of a change when notify-keyspace-events asks for it.
#ifndef REDOUBLE_BACKENDS_MEMORY_KEYSPACE_EVENT_H_
#define REDOUBLE_BACKENDS_MEMORY_KEYSPACE_EVENT_H_

#include <cstdint>
#include <functional>
#include <string_view>

namespace redouble::memory {

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

// False for the classes that come beside the event of a change, or without one.
inline bool IsChange(EventClass event_class) {
  return event_class != EventClass::kKeyMiss && event_class != EventClass::kNew;
}

struct KeyspaceEvent {
  EventClass event_class;
  std::string_view event;  // "set", "expired", ...
  int db;
  std::string_view key;
};

// Hears of events as they happen, inside the command that causes them. Must not call back into the
// engine.
using KeyspaceListener = std::function<void(const KeyspaceEvent&)>;

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_KEYSPACE_EVENT_H_
