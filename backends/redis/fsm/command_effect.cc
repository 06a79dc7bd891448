#include "redouble/backends/redis/fsm/command_effect.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/command_row.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/table/command_table.h"

namespace redouble::inline v0_1::redis {
namespace {

struct EffectRow {
  std::string_view name;
  CommandEffect effect;
  // If not empty, the row applies only with this word as the first argument, or, with `anywhere`,
  // as any argument.
  std::string_view argument = {};
  bool anywhere = false;
  // For a blocking command: the position of its timeout, from the end if negative, and after the
  // word `argument` if there is one.
  int timeout_at = 0;
  absl::Duration timeout_unit = absl::Seconds(1);
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
    EffectRow{"blpop", CommandEffect::kBlocks, {}, false, -1},
    EffectRow{"brpop", CommandEffect::kBlocks, {}, false, -1},
    EffectRow{"brpoplpush", CommandEffect::kBlocks, {}, false, -1},
    EffectRow{"blmove", CommandEffect::kBlocks, {}, false, -1},
    EffectRow{"blmpop", CommandEffect::kBlocks, {}, false, 0},
    EffectRow{"bzpopmin", CommandEffect::kBlocks, {}, false, -1},
    EffectRow{"bzpopmax", CommandEffect::kBlocks, {}, false, -1},
    EffectRow{"bzmpop", CommandEffect::kBlocks, {}, false, 0},
    EffectRow{"wait", CommandEffect::kBlocks, {}, false, 1, absl::Milliseconds(1)},
    EffectRow{"xread", CommandEffect::kBlocks, "block", true, 1, absl::Milliseconds(1)},
    EffectRow{"xreadgroup", CommandEffect::kBlocks, "block", true, 1, absl::Milliseconds(1)},
    EffectRow{"waitaof", CommandEffect::kBlocks, {}, false, 2, absl::Milliseconds(1)},
    EffectRow{"client", CommandEffect::kState, "tracking"},
    EffectRow{"client", CommandEffect::kState, "caching"},
    EffectRow{"client", CommandEffect::kState, "no-evict"},
    EffectRow{"client", CommandEffect::kState, "no-touch"},
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
    EffectRow{"script", CommandEffect::kReplies, "debug"},
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

const EffectRow* SearchRow(const store::Command& command) {
  const auto row = std::find_if(kTable.begin(), kTable.end(), [&](const EffectRow& candidate) {
    return Matches(candidate, command);
  });
  return row == kTable.end() ? nullptr : &*row;
}

// The timeout argument of a blocking command; empty if it is missing.
std::string_view TimeoutText(const EffectRow& row, std::span<const std::string_view> arguments) {
  size_t at = row.timeout_at < 0 ? arguments.size() + row.timeout_at : row.timeout_at;
  if (row.anywhere) {
    const auto word =
        std::find_if(arguments.begin(), arguments.end(),
                     [&](std::string_view argument) { return SameWord(argument, row.argument); });
    at += word - arguments.begin();
  }
  return at < arguments.size() ? arguments[at] : std::string_view();
}

absl::Duration OwnLimit(const EffectRow& row, const store::Command& command) {
  double number = 0;
  const std::string_view text = TimeoutText(row, command.arguments());
  if (!absl::SimpleAtod(base::ToAbsl(text), &number) || !(number >= 0)) {
    return absl::ZeroDuration();
  }
  return number == 0 ? absl::InfiniteDuration() : number * row.timeout_unit;
}

// The commands of the command table whose name occurs in kTable. All other commands skip the
// search.
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
  if (sharing == Sharing::kDedicated || sharing == Sharing::kRouted) return {};
  if (sharing == Sharing::kPooled && effect == CommandEffect::kBlocks) return {};
  if (effect == CommandEffect::kState) {
    return " changes the connection, which this client shares among coroutines: use a "
           "store::Batch, or a dedicated or blocking client";
  }
  if (effect == CommandEffect::kBlocks) {
    return " may block, and with it what shares its connection: send it by itself";
  }
  return {};
}

}  // namespace

CommandEffect EffectOf(const store::Command& command) {
  static const Suspects suspects = FindSuspects();
  if (!suspects[static_cast<size_t>(command.id())]) return CommandEffect::kNone;
  const EffectRow* row = SearchRow(command);
  return row == nullptr ? CommandEffect::kNone : row->effect;
}

bool MayBlock(const store::Request& request) {
  if (request.kind() == store::Request::Kind::kTransaction) return false;
  const auto commands = request.commands();
  return std::any_of(commands.begin(), commands.end(), [](const store::Command& command) {
    return EffectOf(command) == CommandEffect::kBlocks;
  });
}

absl::Duration BlockLimit(const store::Request& request) {
  absl::Duration limit = absl::ZeroDuration();
  if (request.kind() == store::Request::Kind::kTransaction) return limit;
  for (const store::Command& command : request.commands()) {
    if (EffectOf(command) != CommandEffect::kBlocks) continue;
    limit += OwnLimit(*SearchRow(command), command);
  }
  return limit;
}

absl::Duration TimeLimit(const store::Request& request, absl::Duration command_timeout,
                         absl::Duration blocking_timeout) {
  const absl::Duration own = BlockLimit(request);
  if (own == absl::ZeroDuration()) return command_timeout;
  return std::min(blocking_timeout, own + command_timeout);
}

bool OnlyReads(const store::Request& request) {
  return std::all_of(request.commands().begin(), request.commands().end(),
                     [](const store::Command& command) {
                       const store::CommandId row = store::RowOf(command);
                       return row != store::CommandId::kUnknown &&
                              store::SpecOf(row).Has(store::command_flag::kReadOnly);
                     });
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

}  // namespace redouble::inline v0_1::redis
