#include "redouble/backends/redis/fsm/cluster/cluster_redirect.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "redouble/core/base/hash/crc.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::redis {
namespace {

struct CodeRow {
  std::string_view code;
  Redirect::Kind kind;
};

constexpr std::array kCodes = {
    CodeRow{"MOVED", Redirect::Kind::kMoved},       CodeRow{"ASK", Redirect::Kind::kAsk},
    CodeRow{"TRYAGAIN", Redirect::Kind::kTryAgain}, CodeRow{"CLUSTERDOWN", Redirect::Kind::kDown},
    CodeRow{"LOADING", Redirect::Kind::kDown},      CodeRow{"MASTERDOWN", Redirect::Kind::kDown},
};

// "MOVED 3443 127.0.0.1:7001".
bool ReadTarget(const std::string& text, const TcpAddress& asked, Redirect& redirect) {
  const std::vector<std::string> words = absl::StrSplit(text, ' ');
  if (words.size() != 3) return false;
  if (!absl::SimpleAtoi(words[1], &redirect.slot)) return false;
  if (redirect.slot < 0 || redirect.slot >= base::kClusterSlots) return false;
  const size_t colon = words[2].rfind(':');
  if (colon == std::string::npos) return false;
  uint32_t port = 0;
  if (!absl::SimpleAtoi(words[2].substr(colon + 1), &port) || port < 1 || port > 65535) {
    return false;
  }
  redirect.node.host = colon == 0 ? asked.host : words[2].substr(0, colon);
  redirect.node.port = static_cast<uint16_t>(port);
  return true;
}

}  // namespace

std::optional<Redirect> ReadRedirect(const store::Reply& reply, const TcpAddress& asked) {
  if (!reply.is_error()) return std::nullopt;
  const std::string_view text = reply.text();
  const std::string_view code = text.substr(0, text.find(' '));
  for (const CodeRow& row : kCodes) {
    if (row.code != code) continue;
    Redirect redirect{row.kind};
    const bool has_target = row.kind == Redirect::Kind::kMoved || row.kind == Redirect::Kind::kAsk;
    if (has_target && !ReadTarget(reply.text(), asked, redirect)) return std::nullopt;
    return redirect;
  }
  return std::nullopt;
}

}  // namespace redouble::inline v0_1::redis
