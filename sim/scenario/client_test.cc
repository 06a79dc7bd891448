#include "redouble/sim/scenario/client.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/errors.h"
#include "redouble/sim/scenario/memory_backend.h"

namespace redouble::inline v0_1::sim {
namespace {

using base::IsOk;
using store::Command;
using store::ErrorKind;
using store::Reply;
using Result = absl::StatusOr<Reply>;

base::Task<Result> Send(store::Store& store, std::string_view name, std::string_view argument) {
  Command command = Command::Named(name);
  command.Add(argument);
  co_return co_await store.Execute(command);
}

// Sends a second command after the first one has completed or failed.
base::Task<Result> SendTwo(store::Store& store) {
  static_cast<void>(co_await Send(store, "INCR", "first"));
  co_return co_await Send(store, "INCR", "second");
}

// Returns the first reply of two commands; the other command is abandoned.
base::Task<Result> SendRace(store::Store& store) {
  std::vector<base::Task<Result>> tasks;
  tasks.push_back(Send(store, "INCR", "first"));
  tasks.push_back(Send(store, "INCR", "second"));
  base::FirstResult<Result> first = co_await base::WhenAny(std::move(tasks));
  co_return std::move(first.value);
}

// A backend that can refuse to connect.
class FlakyBackend final : public ScenarioBackend {
 public:
  FlakyBackend() { EXPECT_THAT(memory_.Begin({.start = absl::UnixEpoch()}), IsOk()); }

  absl::Status Begin(const ServerNeeds& needs) override { return memory_.Begin(needs); }
  absl::StatusOr<std::unique_ptr<store::Store>> Connect() override {
    ++connections;
    REDOUBLE_RETURN_IF_ERROR(refusal);
    return memory_.Connect();
  }
  base::Clock& clock() override { return memory_.clock(); }
  absl::Status AdvanceTo(absl::Time time) override { return memory_.AdvanceTo(time); }
  absl::Status Flush() override { return memory_.Flush(); }
  absl::Status Restart() override { return memory_.Restart(); }

  absl::Status refusal;
  int connections = 0;

 private:
  MemoryBackend memory_;
};

class ScenarioClientTest : public testing::Test {
 protected:
  FlakyBackend backend_;
  std::vector<std::string> lines_;
  Trace trace_{backend_.clock(), [this](std::string_view line) { lines_.emplace_back(line); }};
  ScenarioClient client_{"a", backend_, trace_};
};

TEST_F(ScenarioClientTest, ConnectsOnceAndRecordsWhatItSends) {
  EXPECT_EQ(base::Run(Send(client_, "INCR", "n")).value(), Reply::Integer(1));
  EXPECT_EQ(base::Run(Send(client_, "INCR", "n")).value(), Reply::Integer(2));
  EXPECT_EQ(backend_.connections, 1);
  EXPECT_EQ(lines_, (std::vector<std::string>{
                        R"({"index":0,"us":0,"client":"a","command":["INCR","n"],"reply":1})",
                        R"({"index":1,"us":0,"client":"a","command":["INCR","n"],"reply":2})"}));
}

TEST_F(ScenarioClientTest, FailsWhatItCannotSend) {
  backend_.refusal = store::NotSentError("connection refused");
  EXPECT_EQ(store::ErrorKindOf(base::Run(Send(client_, "INCR", "n")).status()),
            ErrorKind::kNotSent);
  EXPECT_EQ(lines_.at(0), R"({"index":0,"us":0,"client":"a","command":["INCR","n"],)"
                          R"("reply":{"failure":"not sent"}})");
  backend_.refusal = absl::OkStatus();
  EXPECT_EQ(base::Run(Send(client_, "INCR", "n")).value(), Reply::Integer(1));
}

TEST_F(ScenarioClientTest, ConnectsAnewAfterABreak) {
  EXPECT_THAT(base::Run(Send(client_, "SELECT", "1")), IsOk());
  client_.Break();
  EXPECT_THAT(base::Run(Send(client_, "INCR", "n")), IsOk());
  EXPECT_EQ(backend_.connections, 2);
}

class HeldStoreTest : public ScenarioClientTest {
 protected:
  std::string FrontKey() const {
    return held_.Front() == nullptr
               ? "none"
               : std::string(held_.Front()->commands().front().arguments().front());
  }

  HeldStore held_{client_};
};

TEST_F(HeldStoreTest, SendsNothingUntilReleased) {
  base::Task<Result> task = SendTwo(held_);
  task.Start();
  EXPECT_EQ(FrontKey(), "first");
  EXPECT_TRUE(lines_.empty());
  held_.Release();
  EXPECT_EQ(FrontKey(), "second");
  EXPECT_EQ(lines_.size(), 1u);
  held_.Release();
  EXPECT_EQ(FrontKey(), "none");
  EXPECT_EQ(task.TakeResult().value(), Reply::Integer(1));
}

TEST_F(HeldStoreTest, FailsWhatIsHeldButNotWhatFollows) {
  base::Task<Result> task = SendTwo(held_);
  task.Start();
  held_.FailAll(store::NotSentError("gone"));
  EXPECT_EQ(FrontKey(), "second");
  EXPECT_FALSE(task.done());
  held_.FailAll(store::OutcomeUnknownError("gone"));
  EXPECT_EQ(store::ErrorKindOf(task.TakeResult().status()), ErrorKind::kOutcomeUnknown);
  EXPECT_EQ(lines_.size(), 2u);
}

TEST_F(HeldStoreTest, ForgetsWhatIsAbandoned) {
  {
    base::Task<Result> task = SendTwo(held_);
    task.Start();
    EXPECT_EQ(FrontKey(), "first");
  }
  EXPECT_EQ(FrontKey(), "none");
}

TEST_F(HeldStoreTest, BearsThatOneFailureAbandonsAnother) {
  base::Task<Result> task = SendRace(held_);
  task.Start();
  held_.FailAll(store::NotSentError("gone"));
  ASSERT_TRUE(task.done());
  EXPECT_FALSE(task.TakeResult().ok());
  EXPECT_EQ(FrontKey(), "none");
  EXPECT_EQ(lines_.size(), 1u);
}

// A backend whose connections never reply, so that commands stay in flight.
class SilentStore final : public store::Store {
 public:
  void Submit(store::Request&) override {}
};
class SilentBackend final : public ScenarioBackend {
 public:
  absl::Status Begin(const ServerNeeds&) override { return absl::OkStatus(); }
  absl::StatusOr<std::unique_ptr<store::Store>> Connect() override {
    return std::make_unique<SilentStore>();
  }
  base::Clock& clock() override { return clock_; }
  absl::Status AdvanceTo(absl::Time) override { return absl::OkStatus(); }
  absl::Status Flush() override { return absl::OkStatus(); }
  absl::Status Restart() override { return absl::OkStatus(); }

 private:
  base::VirtualClock clock_;
};

class InFlight : public testing::Test {
 protected:
  SilentBackend backend_;
  Trace trace_{backend_.clock()};
  ScenarioClient client_{"a", backend_, trace_};
};

TEST_F(InFlight, CommandsFailWithAnUnknownOutcomeWhenTheConnectionBreaks) {
  base::Task<Result> task = Send(client_, "INCR", "n");
  task.Start();
  EXPECT_FALSE(task.done());
  client_.Break();
  ASSERT_TRUE(task.done());
  EXPECT_EQ(store::ErrorKindOf(task.TakeResult().status()), ErrorKind::kOutcomeUnknown);
}

TEST_F(InFlight, OneBrokenCommandMayAbandonAnother) {
  base::Task<Result> task = SendRace(client_);
  task.Start();
  client_.Break();
  ASSERT_TRUE(task.done());
  EXPECT_EQ(trace_.commands(), 1);
}

TEST_F(InFlight, CommandsMayBeAbandoned) {
  {
    base::Task<Result> task = Send(client_, "INCR", "n");
    task.Start();
  }
  client_.Break();
  EXPECT_EQ(trace_.commands(), 0);
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
