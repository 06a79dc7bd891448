#include "redouble/core/orchestrator/scripts/run_scripts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/orchestrator/testing/orchestrator_for_test.h"
#include "redouble/core/store/errors.h"
#include "redouble/tests/support/intercepted_store.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using base::IsOkAndHolds;
using base::StatusIs;
using store::Reply;
using Outcome = Emission::Outcome;

template <typename Backend>
class RunScriptsTest : public OrchestratorTest<Backend> {
 protected:
  bool Start(std::string_view op = "") {
    StartRequest request;
    request.run_id = "run_1";
    request.ir = "{}";
    request.tokens = 1;
    request.op = op;
    return this->Run(StartRun(this->store(), this->keys(), request)).value();
  }
  Emission Emit(std::string_view token, int64_t count, std::string_view route) {
    EmitRequest request;
    request.run_id = "run_1";
    request.token_id = token;
    request.count = count;
    request.route = route;
    const std::vector<LoopState> loops = {{"R", 2}, {"S", std::nullopt}};
    const std::vector<std::pair<std::string, std::string>> context = {{"n:output", "cas://x"}};
    request.loops = loops;
    request.context = context;
    return this->Run(EmitTokens(this->store(), this->keys(), request)).value();
  }
};
TYPED_TEST_SUITE(RunScriptsTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(RunScriptsTest, ARunStartsOnce) {
  EXPECT_TRUE(this->Start("emit:run_1"));
  EXPECT_FALSE(this->Start());
  EXPECT_EQ(this->Value("counter:run_1"), "1");
  for (const char* key : {"ir:run_1", "counter:run_1", "applied:run_1"}) {
    EXPECT_EQ(this->Ttl(key), 86400) << key;
  }
}

TYPED_TEST(RunScriptsTest, AnEmissionStoresAllInOneStep) {
  this->Start();
  this->Ask({"HSET", "loop:run_1:S", "current_iteration", "9"});
  EXPECT_EQ(this->Emit("t", 2, "B/A/,C/A/"), (Emission{Outcome::kEmitted, 3, "B/A/,C/A/"}));
  EXPECT_EQ(this->Ask({"HGET", "context:run_1", "n:output"}), Reply::Bulk("cas://x"));
  EXPECT_EQ(this->Ask({"HGET", "loop:run_1:R", "current_iteration"}), Reply::Bulk("2"));
  EXPECT_EQ(this->Ask({"EXISTS", "loop:run_1:S"}), Reply::Integer(0));
  for (const char* key : {"context:run_1", "loop:run_1:R", "applied:run_1"}) {
    EXPECT_EQ(this->Ttl(key), 86400) << key;
  }
}

TYPED_TEST(RunScriptsTest, ARepeatedEmissionGoesTheWayOfTheFirst) {
  this->Start();
  this->Emit("t", 2, "B/A/,C/A/");
  EXPECT_EQ(this->Emit("t", 1, "D/A/"), (Emission{Outcome::kEmittedBefore, 3, "B/A/,C/A/"}));
  this->Ask({"SADD", "applied:run_1", "consume:t"});
  EXPECT_EQ(this->Emit("t", 1, "D/A/"), (Emission{Outcome::kConsumedBefore, 3, ""}));
  EXPECT_EQ(this->Value("counter:run_1"), "3");
}

TYPED_TEST(RunScriptsTest, AnEmissionOfNothingCountsNothing) {
  this->Start();
  EXPECT_EQ(this->Emit("t", 0, ""), (Emission{Outcome::kEmitted, 1, ""}));
  EXPECT_EQ(this->Ask({"EXISTS", "applied:run_1"}), Reply::Integer(0));
  EXPECT_EQ(this->Ask({"EXISTS", "context:run_1"}), Reply::Integer(1));
}

TYPED_TEST(RunScriptsTest, NothingOfARunThatIsGoneComesBack) {
  EXPECT_EQ(this->Emit("t", 1, "B/A/"), (Emission{Outcome::kRunGone, 0, ""}));
  const std::vector<std::string_view> nodes = {"n"};
  FailRequest fail;
  fail.run_id = "run_1";
  fail.nodes = nodes;
  EXPECT_THAT(this->Run(FailRun(this->store(), this->keys(), fail)),
              IsOkAndHolds(FailOutcome::kRunGone));
  EXPECT_THAT(this->Run(ReplaceIr(this->store(), this->keys(), {"run_1", "{}", "{}"})),
              IsOkAndHolds(ReplaceIrOutcome::kRunGone));
  const ExtendRequest extend = {"run_1", nodes, absl::Hours(1)};
  EXPECT_THAT(this->Run(ExtendRun(this->store(), this->keys(), extend)), IsOkAndHolds(0));
  EXPECT_THAT(this->Run(CancelApproval(this->store(), this->keys(), {"run_1", "1"}, this->now())),
              IsOkAndHolds(false));
  EXPECT_EQ(this->KeyCount(), 0);
}

TYPED_TEST(RunScriptsTest, AnEmissionThatFailsLeavesNoEffect) {
  this->Start();
  this->Ask({"SET", "context:run_1", "text"});
  EmitRequest request;
  request.run_id = "run_1";
  request.token_id = "t";
  request.count = 1;
  EXPECT_THAT(this->Run(EmitTokens(this->store(), this->keys(), request)),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(this->Value("counter:run_1"), "1");
  EXPECT_EQ(this->Ask({"EXISTS", "applied:run_1"}), Reply::Integer(0));
  this->Ask({"SET", "counter:run_1", "many"});
  EXPECT_THAT(this->Run(EmitTokens(this->store(), this->keys(), request)),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TYPED_TEST(RunScriptsTest, MembersAreSortedAndThoseAskedFor) {
  this->Ask({"SADD", "set", "b:1", "a:2", "a:1", "c:1"});
  EXPECT_THAT(this->Run(SortedMembers(this->store(), "set", {"a:", "b:"})),
              IsOkAndHolds(::testing::ElementsAre("a:1", "a:2", "b:1")));
  EXPECT_EQ(this->Run(SortedMembers(this->store(), "set", {""})).value().size(), 4u);
  EXPECT_TRUE(this->Run(SortedMembers(this->store(), "none", {""})).value().empty());
}

TYPED_TEST(RunScriptsTest, AnIdThatIsNoneAndAnAnswerOfAnotherShapeAreErrors) {
  tests::InterceptedStore store(this->store());
  EmitRequest emit;
  StartRequest start;
  FailRequest fail;
  const ExtendRequest extend = {"", {}, absl::Hours(1)};
  const auto all = [&] {
    return std::vector<absl::Status>{
        this->Run(StartRun(store, this->keys(), start)).status(),
        this->Run(EmitTokens(store, this->keys(), emit)).status(),
        this->Run(ReplaceIr(store, this->keys(), {emit.run_id, "", ""})).status(),
        this->Run(FailRun(store, this->keys(), fail)).status()};
  };
  for (const absl::Status& status : all())
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(this->Run(ExtendRun(store, this->keys(), extend)),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(this->Run(CancelApproval(store, this->keys(), {"", "1"}, this->now())),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(store.requests(), 0u);
  emit.run_id = start.run_id = fail.run_id = "run_1";
  for (const Reply& answer :
       {Reply::Bulk("x"), Reply::Array({Reply::Integer(9), Reply::Integer(0), Reply::Bulk("")})}) {
    store.on_request = [&](size_t) { return std::optional<absl::StatusOr<Reply>>(answer); };
    for (const absl::Status& status : all()) {
      EXPECT_EQ(store::ErrorKindOf(status), store::ErrorKind::kProtocol) << answer << status;
    }
  }
  store.on_request = [](size_t) { return std::optional<absl::StatusOr<Reply>>(Reply::Integer(9)); };
  const std::vector<absl::Status> unknown = all();
  EXPECT_EQ(store::ErrorKindOf(unknown[2]), store::ErrorKind::kProtocol);
  EXPECT_EQ(store::ErrorKindOf(unknown[3]), store::ErrorKind::kProtocol);
}

}  // namespace
}  // namespace redouble::inline v0_1::orchestrator
