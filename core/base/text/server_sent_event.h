// Server-sent events: the text frames of an HTTP event stream.
//
// Use it to write the streams of relayna and studio: the ready frame first, then one frame per
// event, and a keep-alive comment after each interval without an event.
//
//   FormatServerSentEvent({"e1", "status", "{}"})   // "id: e1\nevent: status\ndata: {}\n\n"
//
// Thread-safety: constants and a pure function.
// Source: docs/systems/relayna.md 2.11.
#ifndef REDOUBLE_CORE_BASE_TEXT_SERVER_SENT_EVENT_H_
#define REDOUBLE_CORE_BASE_TEXT_SERVER_SENT_EVENT_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"

namespace redouble::inline v0_1::base {

// The first frame of every stream; and the comment sent after each interval without a frame, so
// that proxies do not close the connection as idle.
inline constexpr std::string_view kReadyText = "event: ready\ndata: {}\n\n";
inline constexpr std::string_view kKeepAliveText = ": keepalive\n\n";
inline constexpr absl::Duration kKeepAliveInterval = absl::Seconds(15);

// One event of a stream.
struct ServerSentEvent {
  std::optional<std::string> id;  // nullopt: the frame has no id line.
  std::string_view event;
  std::string data;
};

// Returns the frame: a line per member, then an empty line. No member may contain a line end.
std::string FormatServerSentEvent(const ServerSentEvent& event);

}  // namespace redouble::inline v0_1::base

#endif  // REDOUBLE_CORE_BASE_TEXT_SERVER_SENT_EVENT_H_
