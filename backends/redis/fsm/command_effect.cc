#include "backends/redis/fsm/command_effect.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/string_bridge.h"
#include "core/store/errors.h"

namespace redouble::redis {
namespace {

struct EffectRow {
  std::string_view name;
  CommandEffect effect;
  std::string_view argument = {};  // Only with this word as the first argument or, if it is an
  bool anywhere = false;           // option, anywhere among them.
};

constexpr std::array kTable = {
    EffectRow{"multi", CommandEffect::kState},
    EffectRow{"exec", CommandEffect::kState},
    EffectRow{"discard", CommandEffect::kState},
    EffectRow{"watch", CommandEffect::kState},
    EffectRow{"unwatch", CommandEffect::kState},
    EffectRow{"select", CommandEffect::kState},
    EffectRow{"auth", CommandEffect::kState},
    EffectRow{"reset", CommandEffect::kState},
    EffectRow{"quit", CommandEffect::kState},
    EffectRow{"asking", CommandEffect::kState},
    EffectRow{"readonly", CommandEffect::kState},
    EffectRow{"readwrite", CommandEffect::kState},
    EffectRow{"blpop", CommandEffect::kBlocks},
    EffectRow{"brpop", CommandEffect::kBlocks},
    EffectRow{"brpoplpush", CommandEffect::kBlocks},
    EffectRow{"blmove", CommandEffect::kBlocks},
    EffectRow{"blmpop", CommandEffect::kBlocks},
    EffectRow{"bzpopmin", CommandEffect::kBlocks},
    EffectRow{"bzpopmax", CommandEffect::kBlocks},
    EffectRow{"bzmpop", CommandEffect::kBlocks},
    EffectRow{"wait", CommandEffect::kBlocks},
    EffectRow{"xread", CommandEffect::kBlocks, "block", true},
    EffectRow{"xreadgroup", CommandEffect::kBlocks, "block", true},
    EffectRow{"subscribe", CommandEffect::kReplies},
    EffectRow{"psubscribe", CommandEffect::kReplies},
    EffectRow{"ssubscribe", CommandEffect::kReplies},
    EffectRow{"unsubscribe", CommandEffect::kReplies},
    EffectRow{"punsubscribe", CommandEffect::kReplies},
    EffectRow{"sunsubscribe", CommandEffect::kReplies},
    EffectRow{"monitor", CommandEffect::kReplies},
    EffectRow{"sync", CommandEffect::kReplies},
    EffectRow{"psync", CommandEffect::kReplies},
    EffectRow{"hello", CommandEffect::kReplies},
    EffectRow{"client", CommandEffect::kReplies, "reply"},
};

bool SameWord(std::string_view a, std::string_view b) {
  return absl::EqualsIgnoreCase(base::ToAbsl(a), base::ToAbsl(b));
}

bool Matches(const EffectRow& row, const store::Command& command) {
  if (!SameWord(row.name, command.name())) return false;
  if (row.argument.empty()) return true;
  const std::span<const std::string_view> all = command.arguments();
  const auto searched = row.anywhere ? all : all.first(std::min<size_t>(all.size(), 1));
  return std::any_of(searched.begin(), searched.end(),
                     [&](std::string_view word) { return SameWord(word, row.argument); });
}

CommandEffect SearchEffect(const store::Command& command) {
  const auto row = std::find_if(kTable.begin(), kTable.end(), [&](const EffectRow& candidate) {
    return Matches(candidate, command);
  });
  return row == kTable.end() ? CommandEffect::kNone : row->effect;
}

// Which rows of the command table have a name in kTable, so that all others skip the search.
using Suspects = std::array<bool, store::kCommandCount + 1>;
Suspects FindSuspects() {
  Suspects suspects = {};
  for (const store::CommandSpec& spec : store::AllCommands()) {
    const std::string_view name = spec.container().empty() ? spec.name : spec.container();
    suspects[static_cast<size_t>(spec.id)] =
        std::any_of(kTable.begin(), kTable.end(),
                    [&](const EffectRow& row) { return SameWord(row.name, name); });
  }
  suspects[static_cast<size_t>(store::CommandId::kUnknown)] = true;
  return suspects;
}

std::string_view Reason(CommandEffect effect, Sharing sharing) {
  if (effect == CommandEffect::kReplies) {
    return " is not answered by one reply, so no client of this kind can send it";
  }
  if (sharing != Sharing::kShared) return {};
  if (effect == CommandEffect::kState) {
    return " changes the connection, which this client shares among coroutines: use a "
           "store::Batch, or a dedicated or blocking client";
  }
  if (effect == CommandEffect::kBlocks) {
    return " may block the connection, which this client shares among coroutines: use a dedicated "
           "or blocking client";
  }
  return {};
}

}  // namespace

CommandEffect EffectOf(const store::Command& command) {
  static const Suspects suspects = FindSuspects();
  if (!suspects[static_cast<size_t>(command.id())]) return CommandEffect::kNone;
  return SearchEffect(command);
}

std::optional<absl::Status> Refusal(const store::Request& request, Sharing sharing) {
  const bool transaction = request.kind() == store::Request::Kind::kTransaction;
  for (const store::Command& command : request.commands()) {
    const CommandEffect effect = EffectOf(command);
    if (effect == CommandEffect::kNone) continue;
    if (effect == CommandEffect::kBlocks && transaction) continue;
    const std::string_view reason = Reason(effect, sharing);
    if (reason.empty()) continue;
    const std::string name = absl::AsciiStrToUpper(base::ToAbsl(command.name()));
    return store::NotSentError(std::string_view(absl::StrCat(name, base::ToAbsl(reason))),
                               absl::StatusCode::kFailedPrecondition);
  }
  return std::nullopt;
}

}  // namespace redouble::redis
