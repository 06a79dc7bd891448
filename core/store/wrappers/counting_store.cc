#include "core/store/wrappers/counting_store.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "core/base/string_bridge.h"
#include "core/store/command_table.h"
#include "core/store/errors.h"

namespace redouble::store {
namespace {

std::string NameOf(const Command& command) {
  CommandId id = command.id();
  if (id == CommandId::kUnknown) return absl::AsciiStrToLower(base::ToAbsl(command.name()));
  if (IsContainer(id) && !command.arguments().empty()) {
    const CommandId subcommand = FindSubcommand(id, command.arguments()[0]);
    if (subcommand != CommandId::kUnknown) id = subcommand;
  }
  return std::string(SpecOf(id).name);
}

}  // namespace

base::Task<absl::StatusOr<Reply>> CountingStore::Intercept(const Request& request) {
  CountRequest(request);
  // Runs when the request is abandoned, which destroys this coroutine at its await.
  absl::Cleanup abandon = [this] { ++counts_.abandoned; };
  absl::StatusOr<Reply> result = co_await Forward(request);
  std::move(abandon).Cancel();
  CountResult(request, result);
  co_return result;
}

void CountingStore::CountRequest(const Request& request) {
  ++counts_.requests;
  counts_.commands += static_cast<int64_t>(request.commands().size());
  for (const Command& command : request.commands()) ++counts_.by_command[NameOf(command)].commands;
}

void CountingStore::CountResult(const Request& request, const absl::StatusOr<Reply>& result) {
  if (!result.ok()) return CountFailure(result.status());
  if (request.kind() == Request::Kind::kCommand) {
    if (result->is_error()) CountErrorReply(request.commands()[0]);
    return;
  }
  if (result->is_error()) ++counts_.error_replies;
  if (!result->is_array()) return;
  const std::vector<Reply>& replies = result->elements();
  for (size_t i = 0; i < std::min(replies.size(), request.commands().size()); ++i) {
    if (replies[i].is_error()) CountErrorReply(request.commands()[i]);
  }
}

void CountingStore::CountFailure(const absl::Status& status) {
  const std::optional<ErrorKind> kind = ErrorKindOf(status);
  if (kind == ErrorKind::kNotSent) {
    ++counts_.not_sent;
  } else if (kind == ErrorKind::kOutcomeUnknown) {
    ++counts_.outcome_unknown;
  } else if (kind == ErrorKind::kProtocol) {
    ++counts_.protocol_errors;
  } else {
    ++counts_.other_errors;
  }
}

void CountingStore::CountErrorReply(const Command& command) {
  ++counts_.error_replies;
  ++counts_.by_command[NameOf(command)].error_replies;
}

}  // namespace redouble::store
