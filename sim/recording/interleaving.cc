#include "redouble/sim/recording/interleaving.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace redouble::inline v0_1::sim {
namespace {

constexpr size_t kLongestBytes = 200;

// A text without line breaks and other control characters is printed as it is.
std::string TextOf(const Json& value) {
  if (!value.is_string()) return value.dump();
  const auto& text = value.get_ref<const std::string&>();
  const bool is_plain = std::none_of(text.begin(), text.end(), absl::ascii_iscntrl);
  return is_plain ? text : value.dump();
}

std::string Shorten(std::string text) {
  if (text.size() <= kLongestBytes) return text;
  size_t end = kLongestBytes;
  while ((static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // Within a character.
  return absl::StrCat(text.substr(0, end), "... (", text.size(), " bytes)");
}

}  // namespace

std::string InterleavingTable(const Recording& recording) {
  size_t width = 0;
  for (const std::string& actor : recording.actors) width = std::max(width, actor.size());
  std::string text;
  for (const std::string& line : recording.events) {
    const Json event = Json::parse(line);
    const auto field = [&](const char* name) {
      const auto found = event.find(name);
      return found == event.end() ? std::string() : Shorten(TextOf(*found));
    };
    const std::string actor = field("client");
    absl::StrAppend(&text, "  ", actor, std::string(width - std::min(width, actor.size()), ' '),
                    "  ");
    if (event.contains("fault")) {
      absl::StrAppend(&text, "fault: ", field("fault"), "\n");
    } else if (event.contains("event")) {
      absl::StrAppend(&text, field("event"), "\n");
    } else {
      const std::string server = field("server");
      absl::StrAppend(&text, server, server.empty() ? "" : ": ", field("command"),
                      field("transaction"), field("pipeline"), " -> ", field("reply"), "\n");
    }
  }
  return text;
}

}  // namespace redouble::inline v0_1::sim
