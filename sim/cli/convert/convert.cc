#include "redouble/sim/cli/convert/convert.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "redouble/backends/memory/append_only/append_only_log.h"
#include "redouble/backends/memory/append_only/command_file.h"
#include "redouble/backends/memory/append_only/save_commands.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/engine_options.h"
#include "redouble/backends/memory/snapshot/file_stream.h"
#include "redouble/backends/memory/snapshot/snapshot.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/base/time/utc.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/store/table/version.h"
#include "redouble/sim/cli/convert/keys_json.h"
#include "redouble/sim/cli/support/compatibility_option.h"
#include "redouble/sim/cli/support/data_files.h"
#include "redouble/sim/cli/support/engine_backend.h"
#include "redouble/sim/cli/support/key_selection.h"
#include "redouble/sim/cli/support/scenario_files.h"
#include "redouble/sim/cli/support/systems.h"
#include "redouble/sim/json/bytes.h"
#include "redouble/sim/json/json.h"
#include "redouble/sim/json/strict_json.h"
#include "redouble/sim/scenario/runner.h"
#include "redouble/sim/scenario/scenario.h"

namespace redouble::inline v0_1::sim {
namespace {

namespace fs = std::filesystem;

constexpr char kFooter[] =
    "Examples:\n"
    "  redouble convert dump.rdb keys.json            every key with its value, to read and to "
    "edit\n"
    "  redouble convert keys.json dump.rdb            a file that redis-server loads\n"
    "  redouble convert dump.rdb data/appendonlydir/  a log that redis-server loads\n"
    "  redouble convert appendonlydir dump.rdb        the keys that a log leaves\n"
    "  redouble convert dump.rdb commands.aof         the commands that make the keys\n"
    "  redouble convert dump.rdb x.scenario.json      the same as a scenario\n"
    "  redouble convert x.scenario.json dump.rdb      the keys that a scenario leaves\n"
    "  redouble convert dump.rdb part.rdb --pattern 'user:*'  a part of the keys\n"
    "\n"
    "Keys keep their deadlines. Values of modules are left out.\n"
    "Exit codes: 0 converted, 1 a file that cannot be read or written, 2 bad usage.";

constexpr absl::string_view kScenario = ".scenario.json";

struct ConvertArguments {
  std::string from;
  std::string to;
  CompatibilityOption compatibility;
  KeySelection selection;
};

// The time of an entry's delivery that the command sets; UnixEpoch for other commands. SaveCommands
// writes XCLAIM key group consumer 0 id TIME ms.
absl::Time DeliveryOf(std::span<const std::string_view> words) {
  constexpr size_t kTime = 7;
  int64_t time_ms = 0;
  if (words.size() <= kTime || words[0] != "XCLAIM" ||
      !absl::SimpleAtoi(base::ToAbsl(words[kTime]), &time_ms)) {
    return absl::UnixEpoch();
  }
  return absl::FromUnixMillis(time_ms);
}

// The commands that make the engine's keys, as a scenario. It starts at `start`, or at the last
// delivery of an entry: XCLAIM takes no time that is later than the clock's.
absl::StatusOr<std::string> ScenarioText(memory::Engine& engine, const std::string& name,
                                         absl::Time start) {
  memory::StringSink sink;
  REDOUBLE_RETURN_IF_ERROR(memory::SaveCommands(engine, sink));
  memory::StringSource source(sink.bytes());
  memory::CommandFile file(source);
  Json steps = Json::array();
  for (;;) {
    REDOUBLE_ASSIGN_OR_RETURN(const memory::CommandFile::Next next, file.Read());
    if (next != memory::CommandFile::Next::kCommand) break;
    Json words = Json::array();
    for (const std::string_view word : file.words()) words.push_back(EncodeBytes(word));
    start = std::max(start, DeliveryOf(file.words()));
    steps.push_back({{"kind", "command"}, {"client", "main"}, {"command", std::move(words)}});
  }
  Json scenario = {{"name", absl::StrCat("The keys of ", name)},
                   {"description", "Written by redouble convert."},
                   {"system", "redis"},
                   {"start", base::FormatRfc3339(start)}};
  const store::Version version = engine.options().compatibility;
  if (version != memory::EngineOptions().compatibility) {
    scenario["compatibility"] = store::SpecOf(version).name;
  }
  scenario["steps"] = std::move(steps);
  constexpr int kIndent = 1;
  return scenario.dump(kIndent) + "\n";
}

class ConvertCommand {
 public:
  ConvertCommand(const ConvertArguments& arguments, const ProgramContext& context)
      : arguments_(arguments),
        context_(context),
        from_(context.folder / arguments.from),
        to_(context.folder / arguments.to) {}

  int Run() {
    const absl::Status status = Convert();
    if (status.ok()) return kExitPassed;
    context_.err << "redouble convert: " << status.message() << "\n";
    return absl::IsInvalidArgument(status) ? kExitBadUsage : kExitFailed;
  }

 private:
  bool IsFolder() const { return arguments_.to.ends_with('/') || fs::is_directory(to_); }

  // Checks the result's kind before it reads.
  absl::Status Convert() {
    const fs::path extension = to_.extension();
    if (!IsFolder() && extension != ".rdb" && extension != ".aof" && extension != ".json") {
      return absl::InvalidArgumentError(
          absl::StrCat(arguments_.to, ": expected a name that ends with .rdb, .aof, .json, ",
                       kScenario, ", or a folder for a log, which ends with /"));
    }
    REDOUBLE_ASSIGN_OR_RETURN(const memory::KeyFilter keeps, arguments_.selection.Filter(context_));
    if (IsDataFile(from_)) {
      Make(absl::UnixEpoch());
      start_ = LastWriteOf(from_);
      REDOUBLE_ASSIGN_OR_RETURN(const std::vector<std::string> lines,
                                LoadDataFile(from_, {.keeps = keeps}, *engine_, context_));
      for (const std::string& line : lines) context_.err << "redouble convert: " << line << "\n";
    } else {
      REDOUBLE_RETURN_IF_ERROR(LoadText());
      RemoveOtherKeys(*engine_, keeps);
    }
    return Save();
  }

  // At the epoch no key has expired.
  void Make(absl::Time now, uint64_t seed = 0, std::optional<store::Version> version = {}) {
    start_ = now;
    memory::EngineOptions options;
    options.seed = seed;
    options.compatibility =
        arguments_.compatibility.version().value_or(version.value_or(options.compatibility));
    clock_.emplace(now);
    engine_.emplace(*clock_, options);
  }

  absl::Status LoadText() {
    const absl::StatusOr<std::string> text = ReadFile(from_);
    if (!text.ok()) {
      return absl::UnavailableError(absl::StrCat(arguments_.from, ": ", text.status().message()));
    }
    const absl::StatusOr<Json> json = ParseStrictJson(*text);
    if (json.ok() && json->is_object() && json->contains("steps")) return LoadScenario(*text);
    Make(absl::UnixEpoch());
    const absl::Status status = LoadKeysJson(*text, *engine_);
    if (status.ok()) return status;
    return absl::UnavailableError(absl::StrCat(
        arguments_.from, ": neither an RDB file nor a log nor keys as JSON: ", status.message()));
  }

  absl::Status LoadScenario(const std::string& text) {
    REDOUBLE_ASSIGN_OR_RETURN(const Scenario scenario,
                              ParseScenario(text, arguments_.from, context_.systems.operations()));
    Make(scenario.start, scenario.seed, scenario.compatibility);
    EngineBackend backend(*engine_);
    const ScenarioResult result = RunScenario(scenario, backend);
    if (!result.failure) return absl::OkStatus();
    return absl::UnavailableError(result.failure->ToString(scenario));
  }

  absl::Status Save() {
    if (IsFolder()) {
      memory::AppendOnlyLog log(*engine_, {.folder = (to_ / "").parent_path().string()});
      REDOUBLE_RETURN_IF_ERROR(log.Start());
      return log.Stop();
    }
    if (to_.extension() == ".rdb") return memory::SaveRdbFile(*engine_, to_.string());
    if (to_.extension() == ".aof") {
      const auto write = [this](memory::ByteSink& sink) {
        return memory::SaveCommands(*engine_, sink);
      };
      return memory::ReplaceFile(to_.string(), write);
    }
    std::string text;
    if (absl::EndsWith(arguments_.to, kScenario)) {
      REDOUBLE_ASSIGN_OR_RETURN(text, ScenarioText(*engine_, arguments_.from, start_));
    } else {
      text = KeysJson(*engine_);
    }
    const auto write = [&](memory::ByteSink& sink) { return sink.Write(text); };
    return memory::ReplaceFile(to_.string(), write);
  }

  const ConvertArguments& arguments_;
  const ProgramContext& context_;
  const fs::path from_;
  const fs::path to_;
  absl::Time start_ = absl::UnixEpoch();  // Of a scenario that is written.
  std::optional<base::VirtualClock> clock_;
  std::optional<memory::Engine> engine_;
};

}  // namespace

std::function<int()> AddConvert(CLI::App& app, const ProgramContext& context) {
  const auto arguments = std::make_shared<ConvertArguments>();
  app.footer(kFooter);
  app.add_option(
         "FROM", arguments->from,
         "An RDB file, the folder of an append-only log, a file of commands (.aof), keys as "
         "JSON, or a scenario")
      ->required();
  app.add_option("TO", arguments->to, "The file to write, whose name says what it is")->required();
  arguments->compatibility.AddTo(
      app, "The version of Redis or Valkey that reads the result, redis-7.0 by default");
  arguments->selection.AddOptions(app);
  arguments->selection.AddRulesOption(app);
  return [arguments, &context] { return ConvertCommand(*arguments, context).Run(); };
}

}  // namespace redouble::inline v0_1::sim
