#include "backends/memory/notifications.h"

namespace redouble::memory {

std::optional<Notifications> Notifications::Parse(std::string_view letters) {
  constexpr std::string_view kAll = "g$lshzxetd";
  constexpr std::string_view kNotInAll = "mn";
  Notifications parsed;
  for (const char letter : letters) {
    if (letter == 'K') {
      parsed.by_key_ = true;
    } else if (letter == 'E') {
      parsed.by_event_ = true;
    } else if (letter == 'A') {
      parsed.classes_ += kAll;
    } else if (kAll.find(letter) != kAll.npos || kNotInAll.find(letter) != kNotInAll.npos) {
      parsed.classes_ += letter;
    } else {
      return std::nullopt;
    }
  }
  return parsed;
}

}  // namespace redouble::memory
