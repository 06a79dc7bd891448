// MIGRATE on an engine whose host has targets of its own: what is sent, and what each reply and
// each break leaves. tests/serve/migrate_test.py compares the whole with redis-server.
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/session_for_test.h"
#include "redouble/backends/memory/migration/connector.h"
#include "redouble/backends/memory/propagation/effect.h"
#include "redouble/backends/memory/server/testing/host_for_test.h"
#include "redouble/core/base/time/virtual_clock.h"

namespace redouble::inline v0_1::memory {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kBreak[] = "<break>";
constexpr char kSilence[] = "<silence>";
constexpr char kReadingFailed[] = "(error) IOERR error or timeout reading to target instance";
constexpr char kWritingFailed[] = "(error) IOERR error or timeout writing to target instance";

// What one connection does.
struct Script {
  absl::Status connect = absl::OkStatus();
  absl::Status write = absl::OkStatus();
  // The replies; kBreak and kSilence instead of one are failures, and so is the end.
  std::deque<std::string> lines = {};
};

class FakeTarget final : public MigrationConnection {
 public:
  explicit FakeTarget(Script script) : script_(std::move(script)) {}

  absl::Status Write(std::string_view bytes, int64_t timeout_ms) override {
    written_.append(bytes);
    timeout_ms_ = timeout_ms;
    return script_.write;
  }
  absl::StatusOr<std::string> ReadLine(int64_t timeout_ms) override {
    EXPECT_EQ(timeout_ms, timeout_ms_);
    if (script_.lines.empty()) return absl::UnavailableError("no more lines");
    std::string line = script_.lines.front();
    script_.lines.pop_front();
    if (line == kBreak) return absl::UnavailableError("closed");
    if (line == kSilence) return absl::DeadlineExceededError("timeout");
    return line;
  }

  void Reply(std::deque<std::string> lines) { script_.lines = std::move(lines); }
  int64_t timeout_ms() const { return timeout_ms_; }
  // The words of the commands since the last call; a payload is "<payload>".
  std::vector<std::string> TakeCommands();

 private:
  Script script_;
  std::string written_;
  int64_t timeout_ms_ = 0;
};

std::vector<std::string> FakeTarget::TakeCommands() {
  std::vector<std::string> commands;
  std::string_view rest = written_;
  const auto number = [&rest] {
    const size_t end = rest.find("\r\n");
    const size_t value = std::stoul(std::string(rest.substr(1, end - 1)));
    rest.remove_prefix(end + 2);
    return value;
  };
  while (!rest.empty()) {
    std::vector<std::string> words(number());
    for (std::string& word : words) {
      const size_t size = number();
      word = rest.substr(0, size);
      rest.remove_prefix(size + 2);
    }
    if (words[0].starts_with("RESTORE")) words[3] = "<payload>";
    commands.push_back(absl::StrJoin(words, " "));
  }
  written_.clear();
  return commands;
}

std::string NameOf(std::string_view host, std::string_view port) {
  return std::string(host) + ":" + std::string(port);
}

class FakeHost final : public HostForTest, public MigrationConnector {
 public:
  // The connections to come.
  void Expect(Script script) { scripts_.push_back(std::move(script)); }
  bool has_more() const { return !scripts_.empty(); }
  FakeTarget& target(const std::string& name) { return *open_.at(name); }
  bool is_open(const std::string& name) const { return open_.contains(name); }
  std::vector<std::string> closed_commands;  // What was sent over connections that were closed.
  int64_t connecting_us = 0;                 // How long connecting takes.
  bool is_real_time = false;

  int64_t MonotonicMicros() override { return now_us_; }
  bool runs_in_real_time() const override { return is_real_time; }
  MigrationConnector* migration_connector() override { return this; }

  absl::StatusOr<MigrationConnection*> Connect(std::string_view host, std::string_view port,
                                               int64_t) override {
    std::unique_ptr<FakeTarget>& target = open_[NameOf(host, port)];
    if (target != nullptr) return target.get();
    EXPECT_TRUE(has_more()) << "connects once more";
    const Script script = has_more() ? scripts_.front() : Script{absl::UnavailableError("none")};
    if (has_more()) scripts_.pop_front();
    now_us_ += connecting_us;
    if (!script.connect.ok()) {
      open_.erase(NameOf(host, port));
      return script.connect;
    }
    target = std::make_unique<FakeTarget>(script);
    return target.get();
  }
  void Forget(std::string_view host, std::string_view port) override {
    const auto found = open_.find(NameOf(host, port));
    if (found == open_.end()) return;
    for (std::string& command : found->second->TakeCommands()) {
      closed_commands.push_back(std::move(command));
    }
    open_.erase(found);
  }

 private:
  std::deque<Script> scripts_;
  std::map<std::string, std::unique_ptr<FakeTarget>> open_;
  int64_t now_us_ = 0;
};

class EffectLines final : public EffectSink {
 public:
  void OnEffects(std::span<const Effect> effects, bool) override {
    for (const Effect& effect : effects) lines.push_back(absl::StrJoin(effect.words, " "));
  }

  std::vector<std::string> lines;
};

class MigrateTest : public ::testing::Test {
 protected:
  explicit MigrateTest(const EngineOptions& options = {}) : engine_(clock_, options) {
    engine_.core().administration().set_host(&host_);
  }
  ~MigrateTest() override { engine_.core().administration().set_host(nullptr); }

  std::string Ask(std::string_view line) {
    const std::vector<std::string> words = absl::StrSplit(std::string(line), ' ');
    return client_.Send({words.begin(), words.end()});
  }
  // A target that says these lines.
  void Expect(std::deque<std::string> lines) { host_.Expect({.lines = std::move(lines)}); }

  base::VirtualClock clock_{absl::FromUnixSeconds(1'700'000'000)};
  FakeHost host_;
  Engine engine_;
  RecordingSession client_{engine_};
};

TEST_F(MigrateTest, SendsAKeyAndRemovesIt) {
  Ask("SET k v");
  Expect({"+OK", "+OK"});
  EXPECT_EQ(Ask("MIGRATE t 1 k 9 250"), "OK");
  EXPECT_THAT(host_.target("t:1").TakeCommands(), ElementsAre("SELECT 9", "RESTORE k 0 <payload>"));
  EXPECT_EQ(host_.target("t:1").timeout_ms(), 250);
  EXPECT_EQ(Ask("DBSIZE"), "0");
}

TEST_F(MigrateTest, WaitsASecondWithoutATimeout) {
  for (const char* timeout : {"0", "-5"}) {
    Ask("SET k v");
    Expect({"+OK", "+OK"});
    EXPECT_EQ(Ask(absl::StrCat("MIGRATE t ", timeout, " k 0 ", timeout)), "OK");
    EXPECT_EQ(host_.target(absl::StrCat("t:", timeout)).timeout_ms(), 1000);
  }
}

TEST_F(MigrateTest, SelectsOnlyAnotherDatabaseOfAnOpenConnection) {
  Ask("MSET a 1 b 2 c 3");
  Expect({"+OK", "+OK"});
  EXPECT_EQ(Ask("MIGRATE t 1 a 3 0"), "OK");
  host_.target("t:1").TakeCommands();
  host_.target("t:1").Reply({"+OK"});
  EXPECT_EQ(Ask("MIGRATE t 1 b 3 0"), "OK");
  EXPECT_THAT(host_.target("t:1").TakeCommands(), ElementsAre("RESTORE b 0 <payload>"));
  host_.target("t:1").Reply({"+OK", "+OK"});
  EXPECT_EQ(Ask("MIGRATE t 1 c 4 0"), "OK");
  EXPECT_THAT(host_.target("t:1").TakeCommands(), ElementsAre("SELECT 4", "RESTORE c 0 <payload>"));
}

TEST_F(MigrateTest, SelectsAgainAfterAnErrorOfTheTarget) {
  Ask("SET a 1");
  Expect({"+OK", "-BUSYKEY Target key name already exists."});
  EXPECT_EQ(Ask("MIGRATE t 1 a 3 0"),
            "(error) ERR Target instance replied with error: "
            "BUSYKEY Target key name already exists.");
  host_.target("t:1").TakeCommands();
  host_.target("t:1").Reply({"+OK", "+OK"});
  EXPECT_EQ(Ask("MIGRATE t 1 a 3 0"), "OK");
  EXPECT_THAT(host_.target("t:1").TakeCommands(), ElementsAre("SELECT 3", "RESTORE a 0 <payload>"));
}

TEST_F(MigrateTest, SelectsNoDatabaseMinusOneUnlessAnotherOneIsSelected) {
  Ask("MSET a 1 b 2 c 3");
  Expect({"+OK"});
  EXPECT_EQ(Ask("MIGRATE t 1 a -1 0"), "OK");
  EXPECT_THAT(host_.target("t:1").TakeCommands(), ElementsAre("RESTORE a 0 <payload>"));
  host_.target("t:1").Reply({"+OK", "+OK"});
  EXPECT_EQ(Ask("MIGRATE t 1 b 0 0"), "OK");
  host_.target("t:1").TakeCommands();
  host_.target("t:1").Reply({"-ERR DB index is out of range", "+OK"});
  EXPECT_EQ(Ask("MIGRATE t 1 c -1 0"),
            "(error) ERR Target instance replied with error: ERR DB index is out of range");
  EXPECT_THAT(host_.target("t:1").TakeCommands(),
              ElementsAre("SELECT -1", "RESTORE c 0 <payload>"));
}

TEST_F(MigrateTest, CopiesAndReplaces) {
  Ask("SET k v");
  Expect({"+OK", "+OK"});
  EXPECT_EQ(Ask("MIGRATE t 1 k 0 0 copy REPLACE"), "OK");
  EXPECT_THAT(host_.target("t:1").TakeCommands(),
              ElementsAre("SELECT 0", "RESTORE k 0 <payload> REPLACE"));
  EXPECT_EQ(Ask("GET k"), "\"v\"");
}

TEST_F(MigrateTest, SendsTheRemainingTime) {
  Ask("SET k v PX 1500");
  clock_.Advance(absl::Milliseconds(400));
  Expect({"+OK", "+OK"});
  host_.connecting_us = 100'000;  // Not in the engine's time.
  EXPECT_EQ(Ask("MIGRATE t 1 k 0 0"), "OK");
  EXPECT_THAT(host_.target("t:1").TakeCommands(),
              ElementsAre("SELECT 0", "RESTORE k 1100 <payload>"));
}

TEST_F(MigrateTest, LeavesOutWhatExpiresWhileItConnects) {
  host_.is_real_time = true;
  host_.connecting_us = 500'000;
  Ask("SET a 1 PX 499");
  Ask("SET b 2 PX 500");
  Ask("SET c 3 PX 501");
  Ask("SET d 4 PX 900");
  Expect({"+OK", "+OK", "+OK", "+OK"});
  EXPECT_EQ(Ask("MIGRATE t 1  0 0 KEYS a b c d"), "OK");
  EXPECT_THAT(host_.target("t:1").TakeCommands(),
              ElementsAre("SELECT 0", "RESTORE b 1 <payload>", "RESTORE c 1 <payload>",
                          "RESTORE d 400 <payload>"));
  EXPECT_EQ(Ask("EXISTS a b c d"), "1");
}

TEST_F(MigrateTest, SucceedsIfEverythingExpiresMeanwhile) {
  host_.is_real_time = true;
  host_.connecting_us = 500'000;
  Ask("SET a 1 PX 400");
  Expect({"+OK"});
  EXPECT_EQ(Ask("MIGRATE t 1 a 0 0"), "OK");
  EXPECT_THAT(host_.target("t:1").TakeCommands(), ElementsAre("SELECT 0"));
}

TEST_F(MigrateTest, AuthenticatesEachTime) {
  Ask("MSET a 1 b 2 c 3");
  Expect({"+OK", "+OK", "+OK"});
  EXPECT_EQ(Ask("MIGRATE t 1 a 0 0 AUTH secret"), "OK");
  EXPECT_THAT(host_.target("t:1").TakeCommands(),
              ElementsAre("AUTH secret", "SELECT 0", "RESTORE a 0 <payload>"));
  host_.target("t:1").Reply({"+OK", "+OK"});
  EXPECT_EQ(Ask("MIGRATE t 1 b 0 0 AUTH2 ann secret"), "OK");
  EXPECT_THAT(host_.target("t:1").TakeCommands(),
              ElementsAre("AUTH ann secret", "RESTORE b 0 <payload>"));
  host_.target("t:1").Reply({"+OK", "+OK"});
  EXPECT_EQ(Ask("MIGRATE t 1 c 0 0 AUTH2 ann one AUTH other"), "OK");
  EXPECT_THAT(host_.target("t:1").TakeCommands(),
              ElementsAre("AUTH ann other", "RESTORE c 0 <payload>"));
}

TEST_F(MigrateTest, TheErrorOfThePreludeIsThatOfEveryKey) {
  Ask("MSET a 1 b 2");
  Expect({"-WRONGPASS no", "-NOAUTH select", "-NOAUTH restore", "+OK"});
  EXPECT_EQ(Ask("MIGRATE t 1  0 0 AUTH x KEYS a b"),
            "(error) ERR Target instance replied with error: WRONGPASS no");
  EXPECT_TRUE(host_.is_open("t:1"));
  host_.target("t:1").Reply({"+OK", "-ERR DB index is out of range", "+OK", "+OK"});
  EXPECT_EQ(Ask("MIGRATE t 1  99 0 AUTH x KEYS a b"),
            "(error) ERR Target instance replied with error: ERR DB index is out of range");
  EXPECT_EQ(Ask("EXISTS a b"), "2");
}

TEST_F(MigrateTest, KeepsOnlyWhatTheTargetRefuses) {
  Ask("MSET a 1 b 2 c 3 d 4");
  Expect({"+OK", "+OK", "-BUSYKEY first", "+OK", "-OOM second"});
  EXPECT_EQ(Ask("MIGRATE t 1  0 0 KEYS a b none c d"),
            "(error) ERR Target instance replied with error: BUSYKEY first");
  EXPECT_EQ(Ask("MGET a b c d"), R"([nil, "2", nil, "4"])");
}

TEST_F(MigrateTest, HasNothingToDoWithoutKeys) {
  EXPECT_EQ(Ask("MIGRATE t 1 k 0 0"), "NOKEY");
  EXPECT_EQ(Ask("MIGRATE t 1  0 0 KEYS a b"), "NOKEY");
  EXPECT_FALSE(host_.is_open("t:1"));
}

TEST_F(MigrateTest, CannotConnect) {
  Ask("SET k v");
  host_.Expect({.connect = absl::DeadlineExceededError("timeout")});
  EXPECT_EQ(Ask("MIGRATE t 1 k 0 0"), "(error) IOERR error or timeout connecting to the client");
  host_.Expect({.connect = absl::UnavailableError("no such host")});
  EXPECT_EQ(Ask("MIGRATE t 1 k 0 0"), "(error) IOERR error or timeout connecting to the client");
  EXPECT_EQ(Ask("GET k"), "\"v\"");
}

TEST_F(MigrateTest, TriesABrokenConnectionOnceMore) {
  Ask("MSET a 1 b 2");
  const std::vector<Script> breaks = {
      {.write = absl::UnavailableError("closed")},
      {.lines = {kBreak}},                // Instead of the reply to AUTH,
      {.lines = {"+OK", kBreak}},         // to SELECT,
      {.lines = {"+OK", "+OK", kBreak}},  // and to the first RESTORE.
  };
  for (const Script& script : breaks) {
    Ask("MSET a 1 b 2");
    host_.Expect(script);
    Expect({"+OK", "+OK", "+OK", "+OK"});
    EXPECT_EQ(Ask("MIGRATE t 1  5 0 AUTH x KEYS a b"), "OK");
    const auto commands =
        ElementsAre("AUTH x", "SELECT 5", "RESTORE a 0 <payload>", "RESTORE b 0 <payload>");
    EXPECT_THAT(std::exchange(host_.closed_commands, {}), commands);
    EXPECT_THAT(host_.target("t:1").TakeCommands(), commands);
    EXPECT_EQ(Ask("EXISTS a b"), "0");
    host_.Forget("t", "1");
  }
}

TEST_F(MigrateTest, TriesNoThirdConnection) {
  Ask("SET k v");
  for (int attempt = 0; attempt < 2; ++attempt) Expect({"+OK", kBreak});
  EXPECT_EQ(Ask("MIGRATE t 1 k 0 0"), kReadingFailed);
  Expect({kBreak});
  host_.Expect({.write = absl::UnavailableError("closed")});
  EXPECT_EQ(Ask("MIGRATE t 1 k 0 0"), kWritingFailed);
  Expect({kBreak});
  host_.Expect({.connect = absl::UnavailableError("gone")});
  EXPECT_EQ(Ask("MIGRATE t 1 k 0 0"), "(error) IOERR error or timeout connecting to the client");
  EXPECT_FALSE(host_.is_open("t:1"));
  EXPECT_EQ(Ask("GET k"), "\"v\"");
}

TEST_F(MigrateTest, ATimeoutIsNotTriedAgain) {
  Ask("SET k v");
  host_.Expect({.write = absl::DeadlineExceededError("timeout")});
  EXPECT_EQ(Ask("MIGRATE t 1 k 0 0"), kWritingFailed);
  for (const std::deque<std::string>& lines : std::vector<std::deque<std::string>>{
           {kSilence}, {"+OK", kSilence}, {"+OK", "+OK", kSilence}}) {
    Expect(lines);
    EXPECT_EQ(Ask("MIGRATE t 1 k 0 0 AUTH x"), kReadingFailed);
    EXPECT_FALSE(host_.is_open("t:1"));
  }
  EXPECT_FALSE(host_.has_more());
  EXPECT_EQ(Ask("GET k"), "\"v\"");
}

TEST_F(MigrateTest, ABreakAfterTheFirstKeyLeavesTheRest) {
  for (const char* failure : {kBreak, kSilence}) {
    Ask("MSET a 1 b 2 c 3");
    Expect({"+OK", "+OK", failure});
    EXPECT_EQ(Ask("MIGRATE t 1  0 0 KEYS a b c"), kReadingFailed);
    EXPECT_FALSE(host_.is_open("t:1"));
    EXPECT_EQ(Ask("MGET a b c"), R"([nil, "2", "3"])");
  }
}

TEST_F(MigrateTest, ABreakAfterAnErrorRepliesTheError) {
  Ask("MSET a 1 b 2 c 3");
  Expect({"+OK", "-BUSYKEY first", "+OK", kBreak});
  EXPECT_EQ(Ask("MIGRATE t 1  0 0 KEYS a b c"),
            "(error) ERR Target instance replied with error: BUSYKEY first");
  EXPECT_FALSE(host_.is_open("t:1"));
  EXPECT_EQ(Ask("MGET a b c"), R"(["1", nil, "3"])");
}

TEST_F(MigrateTest, PropagatesTheKeysThatHaveArrived) {
  Ask("MSET a 1 b 2 c 3");
  EffectLines log;
  engine_.AddEffectSink(log, EffectTargets::kAll);
  Expect({"+OK", "+OK", "-BUSYKEY first", "+OK"});
  Ask("MIGRATE t 1  0 0 KEYS a b c");
  EXPECT_THAT(std::exchange(log.lines, {}), ElementsAre("DEL a c"));
  host_.target("t:1").Reply({"+OK", "+OK"});
  EXPECT_EQ(Ask("MIGRATE t 1 b 0 0 COPY"), "OK");
  host_.target("t:1").Reply({"-ERR no"});
  Ask("MIGRATE t 1 b 0 0");
  EXPECT_THAT(log.lines, IsEmpty());
  engine_.RemoveEffectSink(log);
}

TEST_F(MigrateTest, ReportsEachKeyThatHasArrived) {
  Ask("CONFIG SET notify-keyspace-events KEA");
  Ask("MSET a 1 b 2");
  RecordingSession watching(engine_);
  watching.Send({"PSUBSCRIBE", "__keyevent@0__:*"});
  watching.TakePushes();
  RecordingSession transaction(engine_);
  transaction.Send({"WATCH", "b"});
  Expect({"+OK", "-BUSYKEY first", "+OK"});
  Ask("MIGRATE t 1  0 0 KEYS a b");
  EXPECT_THAT(watching.TakePushes(),
              ElementsAre(R"(["pmessage", "__keyevent@0__:*", "__keyevent@0__:del", "b"])"));
  transaction.Send({"MULTI"});
  EXPECT_EQ(transaction.Send({"EXEC"}), "nil");
}

TEST_F(MigrateTest, RunsInTransactionsAndScripts) {
  Ask("MSET a 1 b 2");
  Expect({"+OK", "+OK"});
  Ask("MULTI");
  EXPECT_EQ(Ask("MIGRATE t 1 a 0 0"), "QUEUED");
  Ask("EXISTS a");
  EXPECT_EQ(Ask("EXEC"), "[OK, 0]");
  host_.target("t:1").Reply({"-ERR no"});
  EXPECT_EQ(client_.Send({"EVAL", "return redis.pcall('MIGRATE', 't', '1', KEYS[1], '0', '0').err",
                          "1", "b"}),
            "\"ERR Target instance replied with error: ERR no\"");
}

TEST_F(MigrateTest, QuotesTheErrorInOneLine) {
  Ask("SET k v");
  Expect({"+OK", "-ERR a\rb"});
  EXPECT_EQ(Ask("MIGRATE t 1 k 0 0"), "(error) ERR Target instance replied with error: ERR a b");
}

class MigrateInClusterTest : public MigrateTest {
 protected:
  MigrateInClusterTest() : MigrateTest({.cluster = ClusterOptions()}) {}
};

TEST_F(MigrateInClusterTest, AsksForTheSlot) {
  Ask("SET k v");
  Expect({"+OK", "+OK"});
  EXPECT_EQ(Ask("MIGRATE t 1 k 0 0"), "OK");
  EXPECT_THAT(host_.target("t:1").TakeCommands(),
              ElementsAre("SELECT 0", "RESTORE-ASKING k 0 <payload>"));
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
