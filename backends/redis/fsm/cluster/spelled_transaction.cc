#include "redouble/backends/redis/fsm/cluster/spelled_transaction.h"

#include <algorithm>
#include <utility>

#include "redouble/core/store/table/command_table.h"

namespace redouble::inline v0_1::redis {

store::Command SameAs(const store::Command& command) {
  return store::Command::Named(command.name(), command.arguments());
}

std::vector<store::Command> SpellOut(std::span<const store::Command> commands) {
  std::vector<store::Command> spelled;
  spelled.reserve(commands.size() + 2);
  spelled.emplace_back(store::CommandId::kMulti);
  for (const store::Command& command : commands) spelled.push_back(SameAs(command));
  spelled.emplace_back(store::CommandId::kExec);
  return spelled;
}

store::Reply ResultOfSpelled(std::vector<store::Reply> replies,
                             absl::FunctionRef<bool(const store::Reply&)> is_cause) {
  const auto exec = replies.end() - 1;
  if (!exec->is_error()) return std::move(*exec);
  const auto cause = std::find_if(replies.begin(), exec, is_cause);
  return std::move(cause == exec ? *exec : *cause);
}

}  // namespace redouble::inline v0_1::redis
