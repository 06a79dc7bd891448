#include "redouble/core/store/message_source.h"

#include <algorithm>
#include <vector>

namespace redouble::inline v0_1::store {

std::optional<Message> ReadMessage(const Reply& push) {
  if (!push.is_array()) return std::nullopt;
  const std::vector<Reply>& parts = push.elements();
  if (!std::all_of(parts.begin(), parts.end(), [](const Reply& part) { return part.is_bulk(); })) {
    return std::nullopt;
  }
  if (parts.size() == 3 && (parts[0].text() == "message" || parts[0].text() == "smessage")) {
    return Message{.channel = parts[1].text(),
                   .pattern = std::nullopt,
                   .payload = parts[2].text(),
                   .sharded = parts[0].text() == "smessage"};
  }
  if (parts.size() == 4 && parts[0].text() == "pmessage") {
    return Message{
        .channel = parts[2].text(), .pattern = parts[1].text(), .payload = parts[3].text()};
  }
  return std::nullopt;
}

}  // namespace redouble::inline v0_1::store
