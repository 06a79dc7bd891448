#include "sim/server/sim_commands.h"

#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/time/time.h"
#include "core/base/redis_number.h"
#include "core/base/run.h"
#include "core/base/string_bridge.h"
#include "core/base/utc.h"
#include "sim/scenario/keyspace.h"

namespace redouble::sim {
namespace {

using store::Reply;

bool IsWord(std::string_view word, std::string_view other) {
  return absl::EqualsIgnoreCase(base::ToAbsl(word), base::ToAbsl(other));
}

Reply WrongUse() {
  return Reply::Error("ERR unknown subcommand or wrong number of arguments. Try SIM HELP.");
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

Reply Help() {
  static constexpr std::string_view kLines[] = {
      "SIM <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
      "CLOCK GET",
      "    The time of the server in milliseconds since the epoch.",
      "CLOCK SET <milliseconds|rfc3339>",
      "    Move the time forward to a moment.",
      "CLOCK ADVANCE <milliseconds|duration>",
      "    Move the time forward by a duration.",
      "CLOCK NEXT",
      "    Move the time to the next moment at which something happens; nil: there is none.",
      "SEED <number>",
      "    Draw what is left to chance from this seed.",
      "HASH",
      "    A digest of the time and of all keys.",
      "SNAPSHOT <name>",
      "    Keep time, chance and keys under a name.",
      "RESTORE <name>",
      "    Bring back what was kept.",
      "DUMP [<db>]",
      "    The keys of a database as JSON.",
      "FAULT (ERROR <command> <text>|DROP <command>|LOSE <command>) [COUNT <n>]",
      "    Let the next calls of a command fail, hang up before it, or hang up after it.",
      "FAULT (LIST|CLEAR)",
      "    What will go wrong; let nothing go wrong any more.",
  };
  std::vector<Reply> lines;
  for (const std::string_view line : kLines) lines.push_back(Reply::Status(line));
  return Reply::Array(std::move(lines));
}

}  // namespace

Reply SimCommands::Run(Arguments arguments) {
  if (arguments.empty()) return WrongUse();
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
  return WrongUse();
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
  return WrongUse();
}

Reply SimCommands::RunSeed(Arguments arguments) {
  if (arguments.size() != 1) return WrongUse();
  const std::optional<int64_t> seed = base::ParseInt64(arguments[0]);
  if (!seed) return Reply::Error("ERR value is not an integer or out of range");
  engine_.Reseed(static_cast<uint64_t>(*seed));
  return Reply::Ok();
}

Reply SimCommands::RunSnapshot(Arguments arguments) {
  if (arguments.size() != 1) return WrongUse();
  snapshots_.insert_or_assign(std::string(arguments[0]), Snapshot::Take(engine_));
  return Reply::Ok();
}

Reply SimCommands::RunRestore(Arguments arguments) {
  if (arguments.size() != 1) return WrongUse();
  const auto found = snapshots_.find(arguments[0]);
  if (found == snapshots_.end()) return Reply::Error("ERR no such snapshot");
  found->second.Restore(engine_);
  return Reply::Ok();
}

Reply SimCommands::RunDump(Arguments arguments) {
  int64_t index = 0;
  if (arguments.size() > 1) return WrongUse();
  if (arguments.size() == 1) {
    const std::optional<int64_t> asked = base::ParseInt64(arguments[0]);
    if (!asked || *asked < 0 || *asked >= engine_.database_count()) {
      return Reply::Error("ERR DB index is out of range");
    }
    index = *asked;
  }
  const std::unique_ptr<memory::Session> session = engine_.Connect();
  session->LogIn(engine_.acl().program());
  session->Select(static_cast<int>(index));
  const absl::StatusOr<Keyspace> keyspace = base::Run(DumpKeyspace(*session));
  if (!keyspace.ok()) {
    return Reply::Error("ERR " + std::string(keyspace.status().message()));
  }
  return Reply::Bulk(KeyspaceToJson(*keyspace).dump());
}

}  // namespace redouble::sim
