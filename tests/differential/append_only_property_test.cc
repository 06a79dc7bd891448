// Goal: append-only logs pass between the memory engine and a real server in both directions, for
// keyspaces made by random programs: the digests of DEBUG DIGEST are equal, with an RDB file and
// with commands as the base, and after rewrites.
#include <array>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "redouble/backends/memory/append_only/append_only_log.h"
#include "redouble/backends/memory/append_only/load_append_only.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/tests/differential/make_program.h"
#include "redouble/tests/differential/run_program.h"
#include "redouble/tests/support/target/memory_target.h"
#include "redouble/tests/support/target/server_target.h"

namespace redouble::inline v0_1::tests {
namespace {

using base::IsOk;
using store::Reply;

constexpr int kCarrier = 98;
constexpr int kDatabases = 16;
constexpr int kProgramsPerGroup = REDOUBLE_APPEND_ONLY_PROGRAMS;

Reply Ask(Target& target, const Words& command) {
  return target.RunAll(kCarrier, std::span(&command, 1))[0];
}

std::string DigestOf(Target& target) { return Ask(target, {"DEBUG", "DIGEST"}).text(); }

// Redis keeps an expired key until it is accessed, and digests it until then. SCAN removes such
// keys.
void RemoveExpired(Target& server) {
  for (int db = 0; db < kDatabases; ++db) {
    Ask(server, {"SELECT", std::to_string(db)});
    Ask(server, {"SCAN", "0", "COUNT", "1000000"});
  }
}

memory::AppendOnlyPlace PlaceOf(Target& server) {
  return {.folder = Ask(server, {"CONFIG", "GET", "dir"}).elements()[1].text() + "/appendonlydir"};
}

// The output of redis-check-aof for a log.
std::string Checked(const memory::AppendOnlyPlace& place) {
  std::string output;
  FILE* pipe = popen(("redis-check-aof '" + place.manifest_path() + "' 2>&1").c_str(), "r");
  std::array<char, 4096> block;
  while (const size_t count = std::fread(block.data(), 1, block.size(), pipe)) {
    output.append(block.data(), count);
  }
  pclose(pipe);
  return output;
}

// The engine, which writes a log from each Reset on.
class LoggedTarget final : public Target {
 public:
  explicit LoggedTarget(memory::AppendOnlyPlace place) : place_(std::move(place)) {}

  std::string name() const override { return "memory"; }
  void Reset(absl::Time now) override {
    log_.reset();
    target_.Reset(now);
    log_.emplace(target_.engine(), place_);
    log_->set_options({.has_rdb_base = has_rdb_base});
    EXPECT_THAT(log_->Start(), IsOk());
  }
  absl::Time now() const override { return target_.now(); }
  void SetTime(absl::Time now) override { target_.SetTime(now); }
  void Settle() override { target_.Settle(); }
  std::optional<absl::Time> NextDeadline() override { return target_.NextDeadline(); }
  std::vector<Reply> RunAll(int connection, std::span<const Words> commands) override {
    return target_.RunAll(connection, commands);
  }
  std::optional<Reply> Run(int connection, const Words& command) override {
    return target_.Run(connection, command);
  }
  std::optional<Reply> Poll(int connection) override { return target_.Poll(connection); }

  memory::AppendOnlyLog& log() { return *log_; }

  bool has_rdb_base = true;

 private:
  const memory::AppendOnlyPlace place_;
  MemoryTarget target_;
  std::optional<memory::AppendOnlyLog> log_;
};

class AppendOnlyProperty : public testing::TestWithParam<std::string> {
 protected:
  static Program ProgramOf(int number) {
    return MakeProgram({.group = GetParam(), .seed = static_cast<uint64_t>(number)});
  }
};

TEST_P(AppendOnlyProperty, OfTheEngineIsLoadedByAServer) {
  ServerTarget server({"enable-debug-command yes"});
  const memory::AppendOnlyPlace place = PlaceOf(server);
  LoggedTarget engine(place);
  for (int number = 0; number < kProgramsPerGroup && !HasFailure(); ++number) {
    SCOPED_TRACE("program " + std::to_string(number));
    engine.has_rdb_base = number % 2 == 0;
    Program program = ProgramOf(number);
    RunProgram(engine, program);
    if (number % 4 >= 2) {
      ASSERT_THAT(engine.log().BeginRewrite(), IsOk());
      Ask(engine, {"SET", "after the rewrite", "1"});
      ASSERT_THAT(engine.log().FinishRewrite(), IsOk());
    }
    ASSERT_THAT(engine.log().Flush(), IsOk());
    server.Reset(engine.now());
    ASSERT_EQ(Ask(server, {"DEBUG", "LOADAOF"}), Reply::Ok());
    RemoveExpired(server);
    EXPECT_EQ(DigestOf(server), DigestOf(engine));
    MemoryTarget copy;
    copy.Reset(engine.now());
    ASSERT_THAT(memory::LoadAppendOnly(copy.engine(), place).status(), IsOk());
    EXPECT_EQ(DigestOf(copy), DigestOf(engine));
  }
  const std::string output = Checked(place);
  EXPECT_NE(output.find("All AOF files and manifest are valid"), std::string::npos) << output;
}

TEST_P(AppendOnlyProperty, OfAServerIsLoadedByTheEngine) {
  ServerTarget server({"appendonly yes", "appendfsync no", "auto-aof-rewrite-percentage 0",
                       "enable-debug-command yes"});
  const memory::AppendOnlyPlace place = PlaceOf(server);
  for (int number = 0; number < kProgramsPerGroup && !HasFailure(); ++number) {
    SCOPED_TRACE("program " + std::to_string(number));
    Program program = ProgramOf(number);
    RunProgram(server, program);
    RemoveExpired(server);
    if (number % 5 == 4) {
      const std::string has_rdb_base = number % 2 == 0 ? "yes" : "no";
      Ask(server, {"CONFIG", "SET", "aof-use-rdb-preamble", has_rdb_base});
      Ask(server, {"BGREWRITEAOF"});
      while (Ask(server, {"INFO", "persistence"}).text().find("aof_rewrite_in_progress:1") !=
             std::string::npos) {
      }
    }
    MemoryTarget copy;
    copy.Reset(server.now());
    ASSERT_THAT(memory::LoadAppendOnly(copy.engine(), place).status(), IsOk());
    EXPECT_EQ(DigestOf(copy), DigestOf(server));
  }
}

INSTANTIATE_TEST_SUITE_P(Groups, AppendOnlyProperty,
                         testing::Values("strings", "lists", "hashes", "sets", "sorted_sets",
                                         "streams", "hyperloglog", "geo", "all"),
                         [](const testing::TestParamInfo<std::string>& info) {
                           return info.param;
                         });

}  // namespace
}  // namespace redouble::inline v0_1::tests
