#include "redouble/core/base/text/server_sent_event.h"

namespace redouble::inline v0_1::base {

std::string FormatServerSentEvent(const ServerSentEvent& event) {
  std::string text;
  if (event.id) text.append("id: ").append(*event.id).append("\n");
  text.append("event: ").append(event.event);
  return text.append("\ndata: ").append(event.data).append("\n\n");
}

}  // namespace redouble::inline v0_1::base
