#include "redouble/sim/world/servers/cluster_session.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/cluster/cluster_view.h"
#include "redouble/core/base/hash/crc.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/table/command_table.h"

namespace redouble::inline v0_1::sim {
namespace {

using memory::ClusterView;
using store::Command;
using store::CommandId;
using store::Reply;
using store::Request;

// The first key of the commands; nullopt if they have none.
std::optional<std::string_view> FirstKey(std::span<const Command> commands) {
  for (const Command& command : commands) {
    if (command.id() == CommandId::kUnknown) continue;
    const auto indexes = store::KeyIndexes(store::SpecOf(command.id()), command.arguments());
    if (indexes && !indexes->empty()) return command.arguments()[indexes->front()];
  }
  return std::nullopt;
}

}  // namespace

ClusterSession::ClusterSession(std::span<const std::unique_ptr<WorldServer>> servers) {
  for (const std::unique_ptr<WorldServer>& server : servers) {
    nodes_.push_back({server.get(), server->engine().Connect()});
  }
}

void ClusterSession::Submit(Request& request) {
  request.Complete(request.kind() == Request::Kind::kPipeline
                       ? RunEach(request.commands())
                       : Run(request.kind(), request.commands()));
}

ClusterSession::Result ClusterSession::Send(Node& node, Request::Kind kind,
                                            std::span<const Command> sent) {
  Execution execution(*node.session, kind, sent);
  if (execution.await_ready()) return execution.await_resume();
  return absl::FailedPreconditionError(absl::StrCat("the server ", node.server->name(),
                                                    " does not reply to ",
                                                    base::ToAbsl(sent.front().name()), " at once"));
}

ClusterSession::Result ClusterSession::RunEach(std::span<const Command> commands) {
  std::vector<Reply> replies;
  for (const Command& command : commands) {
    REDOUBLE_ASSIGN_OR_RETURN(Reply reply, Run(Request::Kind::kCommand, {&command, 1}));
    replies.push_back(std::move(reply));
  }
  return Reply::Array(std::move(replies));
}

ClusterSession::Result ClusterSession::Run(Request::Kind kind, std::span<const Command> commands) {
  if (const auto key = FirstKey(commands)) {
    REDOUBLE_ASSIGN_OR_RETURN(Node* const node, Find(*key));
    return Send(*node, kind, commands);
  }
  const Command& command = commands.front();
  switch (command.id()) {
    case CommandId::kKeys:
    case CommandId::kDbSize:
    case CommandId::kFlushAll:
    case CommandId::kFlushDb:
      return SendToAll(command);
    case CommandId::kScan:
      return Scan(command);
    default:
      return Send(*Masters().front(), kind, commands);
  }
}

absl::StatusOr<ClusterSession::Node*> ClusterSession::Find(std::string_view key) {
  const int slot = base::KeySlot(key);
  std::vector<Node*> masters = Masters();
  // If two masters say that the slot is theirs, the one with the newer epoch is right.
  const auto claim = [slot](const Node* node) -> uint64_t {
    const ClusterView& view = *node->server->cluster();
    return view.IsOwn(slot) ? 1 + view.EpochOf(view.self()) : 0;
  };
  Node* const owner = *std::max_element(
      masters.begin(), masters.end(),
      [&](const Node* left, const Node* right) { return claim(left) < claim(right); });
  const ClusterView& view = *owner->server->cluster();
  const auto target = view.migrating().find(slot);
  if (target == view.migrating().end()) return owner;
  REDOUBLE_ASSIGN_OR_RETURN(const Reply exists, Send(*owner, Command(CommandId::kExists, {key})));
  if (!exists.is_error()) return owner;
  // ASK: the key is not there, or not any more.
  const std::string& name = view.shards()[target->second].master.host;
  const auto found = std::find_if(nodes_.begin(), nodes_.end(),
                                  [&](const Node& node) { return node.server->name() == name; });
  assert(found != nodes_.end());
  // The replica that took over from a target does not know that its master was importing the slot.
  const ClusterView& importer = *found->server->cluster();
  if (!importer.is_master() || !importer.importing().contains(slot)) return owner;
  REDOUBLE_RETURN_IF_ERROR(Send(*found, Command(CommandId::kAsking)).status());
  return &*found;
}

std::vector<ClusterSession::Node*> ClusterSession::Masters() {
  std::vector<Node*> masters;
  for (Node& node : nodes_) {
    if (node.server->cluster()->is_master()) masters.push_back(&node);
  }
  return masters;
}

ClusterSession::Result ClusterSession::SendToAll(const Command& command) {
  std::vector<Reply> elements;
  int64_t sum = 0;
  for (Node* const node : Masters()) {
    REDOUBLE_ASSIGN_OR_RETURN(Reply reply, Send(*node, command));
    if (reply.is_error()) return reply;
    if (reply.is_integer()) {
      sum += reply.integer();
    } else if (reply.is_array()) {
      elements.insert(elements.end(), reply.elements().begin(), reply.elements().end());
    }
  }
  if (command.id() == CommandId::kDbSize) return Reply::Integer(sum);
  if (command.id() == CommandId::kKeys) return Reply::Array(std::move(elements));
  return Reply::Ok();
}

// A cursor is the one of a master, times the number of masters, plus the index of that master.
ClusterSession::Result ClusterSession::Scan(const Command& command) {
  const std::vector<Node*> masters = Masters();
  uint64_t cursor = 0;
  if (!absl::SimpleAtoi(base::ToAbsl(command.arguments().front()), &cursor)) {
    return Send(*masters.front(), command);
  }
  const size_t index = cursor % masters.size();
  const std::string own = absl::StrCat(cursor / masters.size());
  Command scan(CommandId::kScan, {own});
  scan.AddAll(command.arguments().subspan(1));
  REDOUBLE_ASSIGN_OR_RETURN(const Reply page, Send(*masters[index], scan));
  uint64_t next = 0;
  if (page.is_error() || !absl::SimpleAtoi(page.elements()[0].text(), &next)) return page;
  if (next != 0) {
    next = next * masters.size() + index;
  } else if (index + 1 < masters.size()) {
    next = index + 1;
  }
  return Reply::Array({Reply::Bulk(absl::StrCat(next)), page.elements()[1]});
}

}  // namespace redouble::inline v0_1::sim
