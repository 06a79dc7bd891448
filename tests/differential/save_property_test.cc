// Goal: a file that is written in parts has the keys from before the commands that run between its
// parts, byte by byte as a file that is written at once: random programs run meanwhile, with
// databases that are flushed and swapped, keys that expire, and eviction. Both formats, RDB and
// commands, load to equal data.
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "redouble/backends/memory/append_only/command_file.h"
#include "redouble/backends/memory/append_only/effect_runner.h"
#include "redouble/backends/memory/append_only/save_commands.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine_options.h"
#include "redouble/backends/memory/eviction/memory_limit.h"
#include "redouble/backends/memory/persistence/byte_stream.h"
#include "redouble/backends/memory/snapshot/load_rdb.h"
#include "redouble/backends/memory/snapshot/save_rdb.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/tests/differential/make_program.h"
#include "redouble/tests/differential/run_program.h"
#include "redouble/tests/differential/vocabulary.h"
#include "redouble/tests/support/target/memory_target.h"

namespace redouble::inline v0_1::tests {
namespace {

using base::IsOk;
using memory::MaxmemoryPolicy;
using store::Reply;

constexpr int kOtherClient = 97;
constexpr int kCarrier = 98;

std::string SavedAtOnce(memory::Engine& engine, bool is_rdb) {
  memory::StringSink sink;
  EXPECT_THAT(is_rdb ? memory::SaveRdb(engine, sink) : memory::SaveCommands(engine, sink), IsOk());
  return sink.bytes();
}

std::unique_ptr<memory::KeysSave> BeginSaving(memory::Engine& engine, bool is_rdb) {
  return is_rdb ? memory::BeginSavingRdb(engine) : memory::BeginSavingCommands(engine);
}

void Load(memory::Engine& engine, memory::ByteSource& source, bool is_rdb) {
  if (is_rdb) {
    ASSERT_THAT(memory::LoadRdb(engine, source).status(), IsOk());
    return;
  }
  memory::EffectRunner runner(engine, memory::EngineCore::Authority::kLog);
  memory::CommandFile file(source);
  for (;;) {
    ASSERT_OK_AND_ASSIGN(const memory::CommandFile::Next next, file.Read());
    if (next == memory::CommandFile::Next::kEnd) return;
    ASSERT_EQ(next, memory::CommandFile::Next::kCommand);
    const Reply reply = runner.Run(file.words());
    ASSERT_FALSE(reply.is_error()) << file.words()[0] << ": " << reply.text();
  }
}

std::string DigestOf(Target& target) {
  const Words command = {"DEBUG", "DIGEST"};
  return target.RunAll(kCarrier, std::span(&command, 1))[0].text();
}

// Commands that programs seldom have.
Words RareCommand(Vocabulary& words) {
  switch (words.rng().Below(12)) {
    case 0:
      return {"SWAPDB", words.Db(), words.Db()};
    case 1:
      return {"FLUSHDB"};
    case 2:
      return {"FLUSHALL"};
    case 3:
      return {"RENAME", words.Key(), words.Key()};
    case 4:
      return {"COPY", words.Key(), words.Key(), "REPLACE"};
    case 5:
      return {"COPY", words.Key(), words.Key(), "DB", words.Db(), "REPLACE"};
    case 6:
      return {"MOVE", words.Key(), words.Db()};
    case 7:
      return {"SELECT", words.Db()};
    case 8:
      return {"PEXPIRE", words.Key(), words.TtlMillis()};
    case 9:
      return {"HPEXPIRE", words.Key(), words.TtlMillis(), "FIELDS", "1", words.Member()};
    case 10:
      return {"DEBUG", "RELOAD"};
    default:
      return {"DEBUG", "SET-ACTIVE-EXPIRE", words.Choice({"0", "1"})};
  }
}

// An engine that is saved in parts while it runs a program.
class SavedTarget final : public Target {
 public:
  SavedTarget(memory::EngineOptions options, uint64_t seed)
      : memory_(std::move(options)), rng_(seed) {}

  std::string name() const override { return memory_.name(); }
  void Reset(absl::Time now) override {
    saves_.clear();
    memory_.Reset(now);
  }
  absl::Time now() const override { return memory_.now(); }
  void SetTime(absl::Time now) override {
    BeforeStep();
    memory_.SetTime(now);
  }
  void Settle() override { memory_.Settle(); }
  std::optional<absl::Time> NextDeadline() override { return memory_.NextDeadline(); }
  std::vector<Reply> RunAll(int connection, std::span<const Words> commands) override {
    std::vector<Reply> replies;
    for (const Words& command : commands) {
      BeforeStep();
      replies.push_back(memory_.RunAll(connection, std::span(&command, 1))[0]);
    }
    return replies;
  }
  std::optional<Reply> Run(int connection, const Words& command) override {
    BeforeStep();
    return memory_.Run(connection, command);
  }
  std::optional<Reply> Poll(int connection) override { return memory_.Poll(connection); }

  // Ends the saves that have begun.
  void Finish() {
    while (!saves_.empty()) Continue();
  }
  int finished() const { return finished_; }

 private:
  struct Save {
    Save(MemoryTarget& target, bool rdb)
        : is_rdb(rdb),
          has_expired(target.engine().core().database(0).expires_lazily()),
          digest(DigestOf(target)),
          at_once(SavedAtOnce(target.engine(), rdb)),
          time(target.now()),
          in_parts(BeginSaving(target.engine(), rdb)) {}

    const bool is_rdb;
    const bool has_expired;  // Keys may have expired that are still stored, and are not loaded.
    const std::string digest;
    const std::string at_once;
    const absl::Time time;
    memory::StringSink sink;
    const std::unique_ptr<memory::KeysSave> in_parts;
  };

  void BeforeStep() {
    if (saves_.size() < 3 && rng_.Chance(0.1)) {
      saves_.push_back(std::make_unique<Save>(memory_, rng_.Chance(0.6)));
    }
    if (!saves_.empty() && rng_.Chance(0.5)) Continue();
    if (!rng_.Chance(0.15)) return;
    Vocabulary words(rng_, memory_.now());
    const Words command = RareCommand(words);
    memory_.Run(kOtherClient, command);
  }

  // Writes a part of one of the saves: a key or two.
  void Continue() {
    const auto save = saves_.begin() + static_cast<int64_t>(rng_.Below(saves_.size()));
    const absl::StatusOr<bool> continues =
        (*save)->in_parts->Continue((*save)->sink, /*part_bytes=*/1 + rng_.Below(64));
    ASSERT_THAT(continues.status(), IsOk());
    if (*continues) return;
    Check(**save);
    saves_.erase(save);
    ++finished_;
  }

  void Check(const Save& save) {
    const memory::SaveProgress progress = save.in_parts->progress();
    EXPECT_EQ(progress.keys, progress.written_keys);
    EXPECT_EQ(progress.kept_bytes, 0u);
    EXPECT_GE(progress.peak_kept_bytes, progress.kept_bytes);
    ASSERT_EQ(save.sink.bytes(), save.at_once);
    MemoryTarget copy(memory_.engine().options());
    copy.Reset(save.time);
    memory::StringSource source(save.sink.bytes());
    Load(copy.engine(), source, save.is_rdb);
    // With a limit the command may evict keys.
    if (!save.has_expired && copy.engine().options().maxmemory_bytes == 0) {
      EXPECT_EQ(DigestOf(copy), save.digest);
    }
  }

  MemoryTarget memory_;
  base::Rng rng_;
  std::deque<std::unique_ptr<Save>> saves_;
  int finished_ = 0;
};

struct SaveCase {
  std::string_view name;
  store::Version version = store::Version::kRedis70;
  std::optional<MaxmemoryPolicy> policy = std::nullopt;
};

class SaveProperty : public testing::TestWithParam<SaveCase> {
 protected:
  static memory::EngineOptions Options() {
    memory::EngineOptions options;
    options.compatibility = GetParam().version;
    if (const std::optional<MaxmemoryPolicy> policy = GetParam().policy) {
      options.maxmemory_policy = *policy;
      options.maxmemory_bytes = memory::MemoryLimit::kEmptyServerBytes + 4000;
    }
    return options;
  }
};

TEST_P(SaveProperty, HasTheKeysFromItsBeginning) {
  constexpr uint64_t kPrograms = 150;
  int finished = 0;
  for (uint64_t seed = 0; seed < kPrograms && !HasFailure(); ++seed) {
    SCOPED_TRACE("program " + std::to_string(seed));
    SavedTarget target(Options(), seed);
    Program program = MakeProgram(
        {.group = "all", .seed = seed, .max_commands = 300, .version = GetParam().version});
    RunProgram(target, program);
    target.Finish();
    finished += target.finished();
  }
  EXPECT_GT(finished, static_cast<int>(kPrograms));
}

INSTANTIATE_TEST_SUITE_P(
    Engines, SaveProperty,
    testing::Values(SaveCase{"Redis70"}, SaveCase{"Redis80", store::Version::kRedis80},
                    SaveCase{"EvictsLru", store::Version::kRedis70, MaxmemoryPolicy::kAllKeysLru},
                    SaveCase{"EvictsLfu", store::Version::kRedis80, MaxmemoryPolicy::kAllKeysLfu},
                    SaveCase{"EvictsVolatile", store::Version::kRedis70,
                             MaxmemoryPolicy::kVolatileTtl}),
    [](const testing::TestParamInfo<SaveCase>& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace redouble::inline v0_1::tests
