#include "redouble/sim/server/sim_commands.h"

#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/error_text.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/base/time/utc.h"
#include "redouble/sim/fault/fault.h"
#include "redouble/sim/scenario/keyspace.h"

namespace redouble::inline v0_1::sim {
namespace {

using store::Reply;

bool IsWord(std::string_view word, std::string_view other) {
  return absl::EqualsIgnoreCase(base::ToAbsl(word), base::ToAbsl(other));
}

Reply Millis(absl::Time time) { return Reply::Integer(absl::ToUnixMillis(time)); }

std::optional<absl::Time> ReadTime(std::string_view text) {
  if (const std::optional<int64_t> ms = base::ParseInt64(text)) return absl::FromUnixMillis(*ms);
  const absl::StatusOr<absl::Time> time = base::ParseRfc3339(text);
  if (!time.ok()) return std::nullopt;
  return *time;
}

std::optional<absl::Duration> ReadDuration(std::string_view text) {
  if (const std::optional<int64_t> ms = base::ParseInt64(text)) return absl::Milliseconds(*ms);
  absl::Duration duration;
  if (!absl::ParseDuration(base::ToAbsl(text), &duration)) return std::nullopt;
  return duration;
}

// The lines about SIM FAULT, from the fault table.
void AddFaultHelp(std::vector<Reply>& lines) {
  for (const FaultSpec* spec : FaultsOf(FaultSite::kServer)) {
    const std::string_view error = spec->parameter == FaultParameter::kError ? " <error text>" : "";
    lines.push_back(Reply::Status(absl::StrCat("FAULT ", base::ToAbsl(spec->name), " <command>",
                                               base::ToAbsl(error), " [COUNT <n>]")));
    lines.push_back(Reply::Status(absl::StrCat("    ", base::ToAbsl(spec->effect))));
  }
  lines.push_back(Reply::Status("FAULT (LIST|CLEAR)"));
  lines.push_back(Reply::Status("    List the faults still to be injected, or forget them."));
}

Reply Help() {
  static constexpr std::string_view kLines[] = {
      "SIM <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
      "CLOCK GET",
      "    Return the server's time in milliseconds since the Unix epoch.",
      "CLOCK SET <milliseconds|rfc3339>",
      "    Advance the clock to a time and return the new time.",
      "CLOCK ADVANCE <milliseconds|duration>",
      "    Advance the clock by a duration and return the new time.",
      "CLOCK NEXT",
      "    Advance the clock to the next event (an expiry or a timeout); nil if there is none.",
      "SEED <number>",
      "    Seed all random choices: SPOP, RANDOMKEY, eviction.",
      "HASH",
      "    Return a digest of the time and of all keys.",
      "SNAPSHOT <name>",
      "    Save the time, the random state and all keys under a name.",
      "RESTORE <name>",
      "    Restore a snapshot, including its time.",
      "DUMP [<db>]",
      "    Return the keys of a database as JSON.",
  };
  std::vector<Reply> lines;
  for (const std::string_view line : kLines) lines.push_back(Reply::Status(line));
  AddFaultHelp(lines);
  return Reply::Array(std::move(lines));
}

}  // namespace

Reply SimCommands::Run(Arguments arguments) {
  if (arguments.empty()) return WrongSimUse();
  const std::string_view subcommand = arguments[0];
  const Arguments rest = arguments.subspan(1);
  if (IsWord(subcommand, "CLOCK")) return RunClock(rest);
  if (IsWord(subcommand, "SEED")) return RunSeed(rest);
  if (IsWord(subcommand, "HASH") && rest.empty()) return Reply::Bulk(HashOfState(engine_));
  if (IsWord(subcommand, "SNAPSHOT")) return RunSnapshot(rest);
  if (IsWord(subcommand, "RESTORE")) return RunRestore(rest);
  if (IsWord(subcommand, "DUMP")) return RunDump(rest);
  if (IsWord(subcommand, "FAULT")) return faults_.Run(rest);
  if (IsWord(subcommand, "HELP") && rest.empty()) return Help();
  return WrongSimUse();
}

Reply SimCommands::MoveTo(absl::Time time) {
  if (time < clock_.Now()) return Reply::Error("ERR the clock only goes forward");
  if (time > absl::FromUnixMicros(std::numeric_limits<int64_t>::max())) {
    return Reply::Error("ERR time is out of range");
  }
  clock_.AdvanceTo(time);
  return Millis(clock_.Now());
}

Reply SimCommands::RunClock(Arguments arguments) {
  if (arguments.size() == 1 && IsWord(arguments[0], "GET")) return Millis(clock_.Now());
  if (arguments.size() == 1 && IsWord(arguments[0], "NEXT")) {
    return clock_.AdvanceToNext() ? Millis(clock_.Now()) : Reply::Nil();
  }
  if (arguments.size() == 2 && IsWord(arguments[0], "SET")) {
    const std::optional<absl::Time> time = ReadTime(arguments[1]);
    if (!time) return Reply::Error("ERR time is neither milliseconds nor RFC 3339");
    return MoveTo(*time);
  }
  if (arguments.size() == 2 && IsWord(arguments[0], "ADVANCE")) {
    const std::optional<absl::Duration> duration = ReadDuration(arguments[1]);
    if (!duration) return Reply::Error("ERR duration is neither milliseconds nor like 1500ms");
    return MoveTo(clock_.Now() + *duration);
  }
  return WrongSimUse();
}

Reply SimCommands::RunSeed(Arguments arguments) {
  if (arguments.size() != 1) return WrongSimUse();
  const std::optional<int64_t> seed = base::ParseInt64(arguments[0]);
  if (!seed) return Reply::Error(memory::error_text::kNotAnInteger);
  engine_.Reseed(static_cast<uint64_t>(*seed));
  return Reply::Ok();
}

Reply SimCommands::RunSnapshot(Arguments arguments) {
  if (arguments.size() != 1) return WrongSimUse();
  snapshots_.insert_or_assign(std::string(arguments[0]), Snapshot::Take(engine_));
  return Reply::Ok();
}

Reply SimCommands::RunRestore(Arguments arguments) {
  if (arguments.size() != 1) return WrongSimUse();
  const auto found = snapshots_.find(arguments[0]);
  if (found == snapshots_.end()) return Reply::Error("ERR no such snapshot");
  // The pause may end far in the future of the restored time.
  engine_.core().administration().EndPause(memory::Administration::PauseOwner::kClient);
  found->second.Restore(engine_);
  return Reply::Ok();
}

Reply SimCommands::RunDump(Arguments arguments) {
  int64_t index = 0;
  if (arguments.size() > 1) return WrongSimUse();
  if (arguments.size() == 1) {
    const std::optional<int64_t> asked = base::ParseInt64(arguments[0]);
    if (!asked || *asked < 0 || *asked >= engine_.core().database_count()) {
      return Reply::Error(memory::error_text::kDbIndexOutOfRange);
    }
    index = *asked;
  }
  const std::unique_ptr<memory::Session> session = engine_.ConnectTrusted();
  session->Select(static_cast<int>(index));
  const absl::StatusOr<Keyspace> keyspace = base::Run(DumpKeyspace(*session));
  if (!keyspace.ok()) {
    return Reply::Error("ERR " + std::string(keyspace.status().message()));
  }
  return Reply::Bulk(KeyspaceToJson(*keyspace).dump());
}

Reply ReplyWithoutManualClock(std::span<const std::string_view> arguments) {
  if (arguments.size() != 1 || !IsWord(arguments[0], "HELP")) {
    return Reply::Error("ERR SIM needs a manual clock: start with redouble serve --clock manual");
  }
  static constexpr std::string_view kLines[] = {
      "This server follows the machine's clock, and SIM needs a manual one. Start the server with",
      "    redouble serve --clock manual --start 2026-05-09T14:03:02Z",
      "SIM HELP then lists the subcommands: CLOCK, SEED, SNAPSHOT, RESTORE, FAULT and others.",
  };
  std::vector<Reply> lines;
  for (const std::string_view line : kLines) lines.push_back(Reply::Status(line));
  return Reply::Array(std::move(lines));
}

}  // namespace redouble::inline v0_1::sim
