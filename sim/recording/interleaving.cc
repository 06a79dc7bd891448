#include "redouble/sim/recording/interleaving.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"

namespace redouble::inline v0_1::sim {

std::string InterleavingTable(const Recording& recording) {
  size_t width = 0;
  for (const std::string& actor : recording.actors) width = std::max(width, actor.size());
  std::string text;
  for (const std::string& line : recording.events) {
    const Json event = Json::parse(line);
    const auto field = [&](const char* name) {
      const auto found = event.find(name);
      if (found == event.end()) return std::string();
      return found->is_string() ? found->get<std::string>() : found->dump();
    };
    const std::string actor = field("client");
    absl::StrAppend(&text, "  ", actor, std::string(width - std::min(width, actor.size()), ' '),
                    "  ");
    if (event.contains("fault")) {
      absl::StrAppend(&text, "fault: ", field("fault"), "\n");
    } else if (event.contains("event")) {
      absl::StrAppend(&text, field("event"), "\n");
    } else {
      absl::StrAppend(&text, field("command"), field("transaction"), field("pipeline"), " -> ",
                      field("reply"), "\n");
    }
  }
  return text;
}

}  // namespace redouble::inline v0_1::sim
