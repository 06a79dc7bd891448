#include "redouble/backends/memory/keyspace/notifications.h"

#include <algorithm>

namespace redouble::inline v0_1::memory {

namespace {

constexpr std::string_view kAll = "g$lshzxetd";
constexpr std::string_view kNotInAll = "mn";

}  // namespace

std::optional<Notifications> Notifications::Parse(std::string_view letters) {
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

std::string Notifications::Letters() const {
  const auto has = [&](char letter) { return classes_.find(letter) != std::string::npos; };
  std::string letters;
  if (std::all_of(kAll.begin(), kAll.end(), has)) {
    letters += 'A';
  } else {
    for (const char letter : kAll) {
      if (has(letter)) letters += letter;
    }
    if (has('n')) letters += 'n';
  }
  if (by_key_) letters += 'K';
  if (by_event_) letters += 'E';
  if (has('m')) letters += 'm';
  return letters;
}

}  // namespace redouble::inline v0_1::memory
