// Server-sent events as text: what a stream of them sends over HTTP.
//
//   FormatServerSentEvent({"e1", "status", "{}"})   // "id: e1\nevent: status\ndata: {}\n\n"
//
// Thread-safety: constants and a pure function.
// Source: reference/relayna.md 1.3 and 7.
#ifndef REDOUBLE_CORE_BASE_SERVER_SENT_EVENT_H_
#define REDOUBLE_CORE_BASE_SERVER_SENT_EVENT_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"

namespace redouble::base {

// The first text of every stream; and the comment that is sent when nothing else was for this long,
// so that nobody on the way takes the connection for dead.
inline constexpr std::string_view kReadyText = "event: ready\ndata: {}\n\n";
inline constexpr std::string_view kKeepAliveText = ": keepalive\n\n";
inline constexpr absl::Duration kKeepAliveInterval = absl::Seconds(15);

struct ServerSentEvent {
  std::optional<std::string> id;  // None: no such line.
  std::string_view event;
  std::string data;
};

// A line per member, then an empty one. No member may have a line end.
std::string FormatServerSentEvent(const ServerSentEvent& event);

}  // namespace redouble::base

#endif  // REDOUBLE_CORE_BASE_SERVER_SENT_EVENT_H_
