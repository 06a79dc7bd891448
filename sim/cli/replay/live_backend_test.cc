#include "redouble/sim/cli/replay/live_backend.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/sim/cli/program.h"

namespace redouble::inline v0_1::sim {
namespace {

using testing::HasSubstr;
using testing::Not;

int64_t KeyCount(ScenarioBackend& backend) {
  const auto connection = backend.Connect();
  EXPECT_TRUE(connection.ok()) << connection.status();
  return base::Run(store::DbSize(**connection)).value();
}

void Write(ScenarioBackend& backend, std::string_view key, absl::Duration ttl) {
  const auto connection = backend.Connect();
  ASSERT_TRUE(connection.ok()) << connection.status();
  store::SetOptions options;
  options.expiry = store::Expiry::In(ttl);
  ASSERT_TRUE(base::Run(store::Set(**connection, key, "v", options)).ok());
}

class SpawnedBackendTest : public testing::Test {
 protected:
  void SetUp() override {
    auto backend = SpawnedBackend::Start();
    ASSERT_TRUE(backend.ok()) << backend.status();
    backend_ = *std::move(backend);
    ASSERT_TRUE(backend_->Begin({.start = kStart}).ok());
  }

  const absl::Time kStart = absl::FromUnixSeconds(1'000'000);
  std::unique_ptr<SpawnedBackend> backend_;
};

TEST_F(SpawnedBackendTest, HoldsTheServersClockAtTheScenarios) {
  const auto connection = backend_->Connect();
  EXPECT_EQ(base::Run(store::Time(*connection.value())).value(), kStart);
  ASSERT_TRUE(backend_->AdvanceTo(kStart + absl::Microseconds(7)).ok());
  EXPECT_EQ(base::Run(store::Time(**connection)).value(), kStart + absl::Microseconds(7));
  EXPECT_EQ(backend_->clock().Now(), kStart + absl::Microseconds(7));
}

TEST_F(SpawnedBackendTest, ExpiresToTheMillisecond) {
  Write(*backend_, "k", absl::Seconds(1));
  const auto connection = backend_->Connect();
  ASSERT_TRUE(backend_->AdvanceTo(kStart + absl::Milliseconds(1000)).ok());
  EXPECT_TRUE(base::Run(store::Exists(**connection, "k")).value());
  ASSERT_TRUE(backend_->AdvanceTo(kStart + absl::Milliseconds(1001)).ok());
  EXPECT_FALSE(base::Run(store::Exists(**connection, "k")).value());
}

base::Task<absl::Time> ServerTimeAt(base::Clock& clock, store::Store& store, absl::Time when) {
  co_await clock.SleepUntil(when);
  co_return (co_await store::Time(store)).value();
}

TEST_F(SpawnedBackendTest, WakesSleepersAtTheirMoment) {
  const auto connection = backend_->Connect();
  base::Task<absl::Time> task =
      ServerTimeAt(backend_->clock(), **connection, kStart + absl::Seconds(3));
  task.Start();
  ASSERT_TRUE(backend_->AdvanceTo(kStart + absl::Seconds(10)).ok());
  ASSERT_TRUE(task.done());
  EXPECT_EQ(task.TakeResult(), kStart + absl::Seconds(3));
}

TEST_F(SpawnedBackendTest, FlushesRestartsAndStartsEmpty) {
  Write(*backend_, "k", absl::Hours(1));
  ASSERT_TRUE(backend_->Flush().ok());
  EXPECT_EQ(KeyCount(*backend_), 0);
  Write(*backend_, "k", absl::Hours(1));
  ASSERT_TRUE(backend_->Restart().ok());
  EXPECT_EQ(KeyCount(*backend_), 0);
  EXPECT_EQ(backend_->clock().Now(), kStart);
  Write(*backend_, "k", absl::Hours(1));
  ASSERT_TRUE(backend_->Begin({.start = absl::FromUnixSeconds(5)}).ok());
  EXPECT_EQ(KeyCount(*backend_), 0);
  EXPECT_EQ(backend_->clock().Now(), absl::FromUnixSeconds(5));
}

class UriBackendTest : public testing::Test {
 protected:
  void SetUp() override { StartServer({}); }

  void StartServer(const redis::SpawnedServerOptions& options) {
    auto server = redis::SpawnedServer::Start(options);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    uri_ = server_->uri() + "?db=9";
  }

  std::unique_ptr<UriBackend> Open(UriBackend::OnKeys on_keys = UriBackend::OnKeys::kRefuse) {
    auto backend = UriBackend::Open(uri_, on_keys);
    EXPECT_TRUE(backend.ok()) << backend.status();
    return backend.ok() ? *std::move(backend) : nullptr;
  }

  // Runs the program on the server with a scenario that has these steps.
  int Replay(const std::string& steps, std::vector<std::string> options = {}) {
    const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/x.json";
    std::ofstream(path) << R"({"name": "n", "description": "d", "system": "redis",
        "start": "2026-05-09T14:03:02Z", "steps": [)" +
                               steps + "]}";
    std::vector<std::string> arguments = {"replay", "--redis", uri_, path};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return RunProgram(arguments, ProgramContext{out_, err_, "/", {}});
  }

  std::unique_ptr<redis::SpawnedServer> server_;
  std::string uri_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(UriBackendTest, LeavesTheDatabaseEmpty) {
  const std::unique_ptr<UriBackend> backend = Open();
  ASSERT_TRUE(backend->Begin({.start = absl::UnixEpoch()}).ok());
  Write(*backend, "k", absl::Hours(1));
  ASSERT_TRUE(backend->Begin({.start = absl::UnixEpoch()}).ok());
  EXPECT_EQ(KeyCount(*backend), 0);
  Write(*backend, "k", absl::Hours(1));
  { const std::unique_ptr<UriBackend> other = Open(UriBackend::OnKeys::kFlush); }
  EXPECT_EQ(KeyCount(*backend), 0);
}

TEST_F(UriBackendTest, RefusesADatabaseThatHoldsKeys) {
  const std::unique_ptr<UriBackend> backend = Open();
  Write(*backend, "precious", absl::Hours(1));
  const auto second = UriBackend::Open(uri_, UriBackend::OnKeys::kRefuse);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("holds 1 keys"));
  EXPECT_EQ(KeyCount(*backend), 1);
}

TEST_F(UriBackendTest, RefusesAServerOfAnotherVersion) {
  const std::unique_ptr<UriBackend> backend = Open();
  EXPECT_TRUE(
      backend->Begin({.start = absl::UnixEpoch(), .version = store::Version::kRedis70}).ok());
  const absl::Status begun =
      backend->Begin({.start = absl::UnixEpoch(), .version = store::Version::kValkey80});
  EXPECT_EQ(begun.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(begun.message()),
              HasSubstr("the scenario needs valkey-8.0, and the server is Redis 7.0."));
}

TEST_F(UriBackendTest, RunsInRealTime) {
  const std::unique_ptr<UriBackend> backend = Open();
  ASSERT_TRUE(backend->Begin({.start = absl::UnixEpoch()}).ok());
  EXPECT_GT(backend->Drift(), absl::ZeroDuration());
  const absl::Status advance = backend->AdvanceTo(absl::UnixEpoch() + absl::Seconds(1));
  EXPECT_EQ(advance.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(advance.message()), HasSubstr("use --spawn-redis"));
  EXPECT_EQ(backend->Restart().code(), absl::StatusCode::kUnimplemented);
}

TEST_F(UriBackendTest, PassesTheErrorsOfTheClientOn) {
  EXPECT_EQ(UriBackend::Open("http://x", UriBackend::OnKeys::kRefuse).status().code(),
            absl::StatusCode::kInvalidArgument);
  server_->Kill();
  EXPECT_EQ(UriBackend::Open(uri_, UriBackend::OnKeys::kRefuse).status().code(),
            absl::StatusCode::kUnavailable);
}

TEST_F(UriBackendTest, ReplaysWithTtlsThatRealTimeShortens) {
  EXPECT_EQ(Replay(R"({"kind": "command", "command": ["SET", "k", "v", "EX", "70"]},
                      {"kind": "expect_keyspace", "keys":
                        {"k": {"type": "string", "value": "v", "ttl_ms": 70000}}},
                      {"kind": "fault", "fault": "flush"},
                      {"kind": "expect_keyspace", "keys": {}})"),
            kExitPassed)
      << out_.str() << err_.str();
}

TEST_F(UriBackendTest, FailsStepsThatMoveTime) {
  EXPECT_EQ(Replay(R"({"kind": "advance", "by": "1s"})"), kExitFailed);
  EXPECT_THAT(out_.str(), HasSubstr("x.json: step 0 (advance): /steps/0: moving the time of a "
                                    "server that is not ours"));
}

TEST_F(UriBackendTest, ProgramRefusesOrFlushesADatabaseThatHoldsKeys) {
  const std::unique_ptr<UriBackend> backend = Open();
  Write(*backend, "precious", absl::Hours(1));
  EXPECT_EQ(Replay(R"({"kind": "expect_keyspace", "keys": {}})"), kExitFailed);
  EXPECT_THAT(err_.str(), HasSubstr("holds 1 keys"));
  EXPECT_EQ(out_.str(), "");
  EXPECT_EQ(KeyCount(*backend), 1);
  EXPECT_EQ(Replay(R"({"kind": "expect_keyspace", "keys": {}})", {"--flush"}), kExitPassed);
  EXPECT_EQ(KeyCount(*backend), 0);
}

constexpr char kNoSteps[] = R"({"kind": "expect_keyspace", "keys": {}})";

class PasswordTest : public UriBackendTest {
 protected:
  void SetUp() override {
    redis::SpawnedServerOptions options;
    options.password = "s3cret";
    options.listen_on_loopback = true;
    StartServer(options);
  }
  std::string Address() const { return "127.0.0.1:" + std::to_string(server_->port()); }
};

TEST_F(PasswordTest, ProgramLogsIn) {
  uri_ = server_->loopback_uri();
  EXPECT_EQ(Replay(kNoSteps), kExitPassed) << err_.str();
}

TEST_F(PasswordTest, ProgramReportsAWrongPasswordWithoutPrintingIt) {
  uri_ = "redis://:gu3ss@" + Address();
  EXPECT_EQ(Replay(kNoSteps), kExitFailed);
  EXPECT_EQ(err_.str(),
            "redouble replay: WRONGPASS invalid username-password pair or user is disabled. "
            "(AUTH at redis://" +
                Address() + ")\n");
  EXPECT_EQ(out_.str(), "");
}

TEST_F(PasswordTest, ProgramReportsAMissingPassword) {
  uri_ = "redis://" + Address();
  EXPECT_EQ(Replay(kNoSteps), kExitFailed);
  EXPECT_THAT(err_.str(), HasSubstr("NOAUTH "));
  EXPECT_EQ(out_.str(), "");
}

TEST_F(PasswordTest, ProgramReportsAMissingDatabase) {
  uri_ = server_->loopback_uri() + "/16";
  EXPECT_EQ(Replay(kNoSteps), kExitFailed);
  EXPECT_THAT(err_.str(), HasSubstr("ERR DB index is out of range"));
}

TEST_F(PasswordTest, ProgramReportsAnUnreachableServer) {
  uri_ = server_->loopback_uri();
  server_->Kill();
  EXPECT_EQ(Replay(kNoSteps), kExitFailed);
  EXPECT_THAT(err_.str(), HasSubstr("redis://" + Address()));
  EXPECT_THAT(err_.str(), Not(HasSubstr("s3cret")));
  EXPECT_EQ(out_.str(), "");
}

// A server that ends during a scenario fails the scenario at the current step.
TEST_F(UriBackendTest, ProgramFailsTheScenarioWhoseServerDies) {
  EXPECT_EQ(Replay(R"({"kind": "command", "command": ["SHUTDOWN", "NOSAVE"]})"), kExitFailed);
  EXPECT_THAT(out_.str(), HasSubstr("x.json: step 0 (command): /steps/0"));
  EXPECT_THAT(out_.str(), HasSubstr("0 passed, 1 failed"));
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
