#include "redouble/sim/cli/migrate/migrate.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "redouble/backends/redis/net/client/sync_store.h"
#include "redouble/backends/redis/options.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/time/system_clock.h"
#include "redouble/core/store/keyspace/key_layout.h"
#include "redouble/sim/cli/migrate/resume_file.h"
#include "redouble/sim/cli/support/key_bindings.h"
#include "redouble/sim/migrate/key_move.h"
#include "redouble/sim/migrate/migration.h"

namespace redouble::inline v0_1::sim {
namespace {

constexpr char kFooter[] =
    "Examples:\n"
    "  redouble migrate --system gateway --from redis://a --to 'redis://b?cluster=yes' --dry-run\n"
    "  redouble migrate --system gateway --from redis://a --to 'redis://b?cluster=yes'\n"
    "  redouble migrate --system relayna --bind status_prefix=relayna ...   with its prefixes\n"
    "  redouble migrate --system gateway --from 'redis://b?cluster=yes' --to redis://a \\\n"
    "    --layout-from cluster --layout-to documented                       the way back\n"
    "  redouble migrate ... --follow 100; pause the writers; redouble migrate ... --follow 0\n"
    "                                                                     with a short pause\n"
    "\n"
    "Without --follow, pause the writers of the system first. --from is only read. After the "
    "copy,\n"
    "all keys are read again and compared. Keys of other systems stay where they are.\n"
    "Exit codes: 0 both servers have the same keys (with --follow N: but for N at most), 1 they\n"
    "differ, or a key or a server that fails, 2 bad usage.";

struct MigrateArguments {
  std::string system;
  std::string from;
  std::string to;
  std::string layout_from = "documented";
  std::string layout_to = "cluster";
  KeyBindings bindings;
  std::string resume;
  bool is_dry_run = false;
  double keys_per_second = 0;  // 0: no bound.
  size_t batch_keys = Pace().batch_keys;
  std::optional<int64_t> follow;  // FollowOptions::most_changes.
};

absl::StatusOr<store::KeyLayout> ParseLayout(absl::string_view option, std::string_view name) {
  absl::StatusOr<store::KeyLayout> layout = store::ParseKeyLayout(name);
  if (layout.ok()) return layout;
  return absl::InvalidArgumentError(absl::StrCat(option, ": ", layout.status().message()));
}

absl::StatusOr<redis::Options> ParseServer(absl::string_view option, const std::string& uri) {
  absl::StatusOr<redis::Options> options = redis::Options::Parse(uri);
  if (options.ok()) return options;
  return absl::InvalidArgumentError(absl::StrCat(option, ": ", options.status().message()));
}

// What the command line says.
struct Plan {
  redis::Options from;
  redis::Options to;
  LayoutPair layouts;
  Migration migration;
};

absl::StatusOr<Plan> MakePlan(const MigrateArguments& arguments) {
  LayoutPair layouts;
  REDOUBLE_ASSIGN_OR_RETURN(layouts.from, ParseLayout("--layout-from", arguments.layout_from));
  REDOUBLE_ASSIGN_OR_RETURN(layouts.to, ParseLayout("--layout-to", arguments.layout_to));
  REDOUBLE_ASSIGN_OR_RETURN(const std::vector<store::KeyBinding> bindings,
                            arguments.bindings.Parse());
  REDOUBLE_ASSIGN_OR_RETURN(Migration migration,
                            Migration::Create(arguments.system, layouts, bindings));
  REDOUBLE_ASSIGN_OR_RETURN(redis::Options from, ParseServer("--from", arguments.from));
  REDOUBLE_ASSIGN_OR_RETURN(redis::Options to, ParseServer("--to", arguments.to));
  return Plan{std::move(from), std::move(to), layouts, std::move(migration)};
}

class MigrateCommand {
 public:
  MigrateCommand(const MigrateArguments& arguments, const ProgramContext& context)
      : arguments_(arguments), context_(context) {}

  int Run() {
    const absl::StatusOr<Plan> plan = MakePlan(arguments_);
    if (!plan.ok()) return Fail(plan.status(), kExitBadUsage);
    std::optional<ResumeFile> resume;
    CopyOptions options;
    options.is_dry_run = arguments_.is_dry_run;
    options.pace = MakePace();
    if (!arguments_.resume.empty()) {
      resume.emplace(context_.folder / arguments_.resume, arguments_.system, plan->layouts);
      absl::StatusOr<std::string> cursor = resume->Read();
      if (!cursor.ok()) return Fail(cursor.status(), kExitBadUsage);
      options.cursor = *std::move(cursor);
    }
    options.on_page = [&](std::string_view cursor, const CopyReport& so_far) {
      Tell(so_far);
      return resume ? resume->Write(cursor) : absl::OkStatus();
    };
    const absl::Status status = Migrate(*plan, std::move(options));
    return status.ok() ? code_ : Fail(status, kExitFailed);
  }

 private:
  int Fail(const absl::Status& status, int code) {
    context_.err << "redouble migrate: " << status.message() << "\n";
    return code;
  }

  Pace MakePace() {
    Pace pace;
    pace.batch_keys = arguments_.batch_keys;
    if (arguments_.keys_per_second == 0) return pace;
    pace.clock = &clock_;
    pace.per_key = absl::Seconds(1) / arguments_.keys_per_second;
    return pace;
  }

  // A line for each page.
  void Tell(const CopyReport& so_far) {
    int64_t keys = 0;
    for (const auto& [id, count] : so_far.keys) keys += count;
    context_.err << "redouble migrate: " << keys << " keys, " << so_far.other_keys
                 << " of other systems" << std::endl;
  }

  absl::Status Migrate(const Plan& plan, CopyOptions options) {
    REDOUBLE_ASSIGN_OR_RETURN(const std::unique_ptr<redis::SyncStore> from,
                              redis::SyncStore::Connect(plan.from));
    REDOUBLE_ASSIGN_OR_RETURN(const std::unique_ptr<redis::SyncStore> to,
                              redis::SyncStore::Connect(plan.to));
    if (arguments_.follow) return Follow(plan.migration, *from, *to);
    REDOUBLE_ASSIGN_OR_RETURN(const CopyReport copied,
                              base::Run(plan.migration.Copy(*from, *to, std::move(options))));
    if (arguments_.is_dry_run) {
      for (const auto& [id, keys] : copied.keys) {
        context_.out << absl::StrFormat("%-28s %10d keys\n", id, keys);
      }
      return absl::OkStatus();
    }
    REDOUBLE_ASSIGN_OR_RETURN(const VerifyReport report,
                              base::Run(plan.migration.Verify(*from, *to, MakePace())));
    Print(report);
    return absl::OkStatus();
  }

  absl::Status Follow(const Migration& migration, store::Store& from, store::Store& to) {
    FollowOptions options;
    options.most_changes = *arguments_.follow;
    options.pace = MakePace();
    options.on_pass = [this](const FollowReport& pass) {
      context_.err << "redouble migrate: pass " << pass.passes << " has copied " << pass.copied
                   << " keys and deleted " << pass.deleted << std::endl;
      return absl::OkStatus();
    };
    REDOUBLE_ASSIGN_OR_RETURN(const FollowReport report,
                              base::Run(migration.Follow(from, to, std::move(options))));
    Print(report.compared);
    // With changes, the writers have to be paused before the last passes.
    code_ = kExitPassed;
    return absl::OkStatus();
  }

  void Print(const VerifyReport& report) {
    context_.out << absl::StrFormat("%-28s %10s %8s %9s %6s  %-16s  %-16s\n", "FAMILY", "KEYS",
                                    "MISSING", "DIFFERENT", "EXTRA", "DIGEST FROM", "DIGEST TO");
    for (const auto& [id, family] : report.families) {
      context_.out << absl::StrFormat("%-28s %10d %8d %9d %6d  %016x  %016x\n", id, family.keys,
                                      family.missing, family.different, family.extra,
                                      family.from_digest, family.to_digest);
    }
    context_.out << (report.is_equal() ? "equal\n" : "not equal\n");
    code_ = report.is_equal() ? kExitPassed : kExitFailed;
  }

  const MigrateArguments& arguments_;
  const ProgramContext& context_;
  base::SystemClock clock_;
  int code_ = kExitPassed;
};

}  // namespace

std::function<int()> AddMigrate(CLI::App& app, const ProgramContext& context) {
  const auto arguments = std::make_shared<MigrateArguments>();
  app.footer(kFooter);
  app.add_option("--system", arguments->system, "The system, one of " + MovedSystemNames())
      ->required();
  app.add_option("--from", arguments->from,
                 "The server to read: redis://[user:password@]host[:port][/db][?cluster=yes] or "
                 "unix:///path")
      ->required();
  app.add_option("--to", arguments->to, "The server to write")->required();
  app.add_option("--layout-from", arguments->layout_from,
                 "The layout of the keys of --from: documented (default) or cluster");
  app.add_option("--layout-to", arguments->layout_to,
                 "The layout of the keys of --to: documented or cluster (default)");
  arguments->bindings.AddOption(app);
  app.add_option("--resume", arguments->resume,
                 "A file that keeps the cursor: continue there, and remove it at the end");
  app.add_option("--rate", arguments->keys_per_second,
                 "The maximum number of keys a second, in the copy and in the comparison")
      ->check(CLI::PositiveNumber);
  app.add_option(
         "--batch", arguments->batch_keys,
         "The maximum number of keys of one round trip, whose values are in memory together")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--follow", arguments->follow,
                 "While writers go on: compare all keys, copy what differs and delete what only "
                 "--to has, again and again until a pass changes at most this many keys")
      ->check(CLI::NonNegativeNumber)
      ->excludes("--resume");
  app.add_flag("--dry-run", arguments->is_dry_run, "Read and translate all keys; write nothing")
      ->excludes("--resume")
      ->excludes("--follow");
  return [arguments, &context] { return MigrateCommand(*arguments, context).Run(); };
}

}  // namespace redouble::inline v0_1::sim
