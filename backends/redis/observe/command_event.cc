#include "redouble/backends/redis/observe/command_event.h"

#include <algorithm>
#include <span>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::redis {
namespace {

using store::Request;

std::string CommandName(const store::Command& command) {
  return absl::AsciiStrToUpper(base::ToAbsl(command.name()));
}

}  // namespace

CommandHook CombineHooks(std::vector<CommandHook> hooks) {
  return [hooks = std::move(hooks)](const CommandEvent& event) {
    for (const CommandHook& hook : hooks) hook(event);
  };
}

std::string RequestName(const Request& request) {
  const std::span<const store::Command> commands = request.commands();
  if (request.kind() == Request::Kind::kCommand) return CommandName(commands[0]);
  const std::string kind = request.kind() == Request::Kind::kPipeline ? "PIPELINE" : "MULTI";
  if (commands.empty()) return kind;
  const std::string first = CommandName(commands[0]);
  const bool equal =
      std::all_of(commands.begin(), commands.end(),
                  [&](const store::Command& command) { return CommandName(command) == first; });
  return equal ? absl::StrCat(kind, " ", first) : kind;
}

std::string ErrorOf(const CommandEvent& end) {
  if (end.result == nullptr) return "ABANDONED";
  if (!end.result->ok()) {
    const std::string_view code = store::ServerErrorCode(end.result->status());
    if (!code.empty()) return std::string(code);
    return absl::StatusCodeToString(end.result->status().code());
  }
  const store::Reply& reply = **end.result;
  if (!reply.is_error()) return "";
  const std::string_view text = reply.text();
  return std::string(text.substr(0, text.find(' ')));
}

std::string NodeName(const TcpAddress& address) {
  const bool is_ipv6 = address.host.find(':') != std::string::npos;
  return absl::StrCat(is_ipv6 ? "[" : "", address.host, is_ipv6 ? "]:" : ":", address.port);
}

std::string NodeName(const Options& options) {
  if (const auto* local = std::get_if<UnixAddress>(&options.address)) return local->path;
  return NodeName(std::get<TcpAddress>(options.address));
}

}  // namespace redouble::inline v0_1::redis
