#include "core/store/wrappers/counting_store.h"

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "core/base/run.h"
#include "core/store/batch.h"
#include "core/store/errors.h"
#include "core/store/strings.h"
#include "core/store/testing/fake_store.h"
#include "gtest/gtest.h"

namespace redouble::store {
namespace {

class CountingStoreTest : public testing::Test {
 protected:
  const StoreCounts& counts() const { return store_.counts(); }
  CommandCounts of(const std::string& name) const {
    const auto found = counts().by_command.find(name);
    return found == counts().by_command.end() ? CommandCounts() : found->second;
  }
  void GetFails(const absl::Status& status) {
    inner_.Expect({"GET", "key"}, status);
    EXPECT_EQ(base::Run(Get(store_, "key")).status(), status);
  }

  FakeStore inner_;
  CountingStore store_{inner_};
};

TEST_F(CountingStoreTest, BeginsWithNothing) {
  EXPECT_EQ(counts().requests, 0);
  EXPECT_TRUE(counts().by_command.empty());
}

TEST_F(CountingStoreTest, CountsRequestsAndTheirCommands) {
  inner_.Expect({"GET", "key"}, Reply::Nil());
  inner_.ExpectBatch(Request::Kind::kPipeline, {{"GET", "a"}, {"INCR", "b"}},
                     Reply::Array({Reply::Nil(), Reply::Integer(1)}));
  EXPECT_TRUE(base::Run(Get(store_, "key")).ok());
  Batch batch(Batch::Atomicity::kPipeline);
  batch.Add(CommandId::kGet, {"a"});
  batch.Add(CommandId::kIncr, {"b"});
  EXPECT_TRUE(base::Run(Execute(store_, batch)).ok());
  EXPECT_EQ(counts().requests, 2);
  EXPECT_EQ(counts().commands, 3);
  EXPECT_EQ(of("get").commands, 2);
  EXPECT_EQ(of("incr").commands, 1);
  EXPECT_EQ(counts().error_replies, 0);
}

TEST_F(CountingStoreTest, CountsErrorRepliesByCommand) {
  inner_.Expect({"GET", "key"}, Reply::Error("WRONGTYPE no"));
  EXPECT_FALSE(base::Run(Get(store_, "key")).ok());
  inner_.ExpectBatch(Request::Kind::kTransaction, {{"GET", "a"}, {"INCR", "b"}},
                     Reply::Array({Reply::Nil(), Reply::Error("ERR no")}));
  Batch batch(Batch::Atomicity::kTransaction);
  batch.Add(CommandId::kGet, {"a"});
  batch.Add(CommandId::kIncr, {"b"});
  EXPECT_TRUE(base::Run(Execute(store_, batch)).ok());
  EXPECT_EQ(counts().error_replies, 2);
  EXPECT_EQ(of("get").error_replies, 1);
  EXPECT_EQ(of("incr").error_replies, 1);
}

TEST_F(CountingStoreTest, CountsARefusedTransactionOnceAndForNoCommand) {
  inner_.ExpectBatch(Request::Kind::kTransaction, {{"GET", "a"}}, Reply::Error("EXECABORT no"));
  Batch batch(Batch::Atomicity::kTransaction);
  batch.Add(CommandId::kGet, {"a"});
  EXPECT_FALSE(base::Run(Execute(store_, batch)).ok());
  EXPECT_EQ(counts().error_replies, 1);
  EXPECT_EQ(of("get").error_replies, 0);
}

TEST_F(CountingStoreTest, CountsATransactionThatDidNotRunAsNoError) {
  inner_.ExpectBatch(Request::Kind::kTransaction, {{"GET", "a"}}, Reply::NilArray());
  Batch batch(Batch::Atomicity::kTransaction);
  batch.Add(CommandId::kGet, {"a"});
  EXPECT_FALSE(base::Run(Execute(store_, batch)).ok());
  EXPECT_EQ(counts().error_replies, 0);
}

TEST_F(CountingStoreTest, TellsFailuresApart) {
  GetFails(NotSentError("a"));
  GetFails(OutcomeUnknownError("b"));
  GetFails(OutcomeUnknownError("b"));
  GetFails(ProtocolError("c"));
  GetFails(absl::InternalError("d"));
  EXPECT_EQ(counts().not_sent, 1);
  EXPECT_EQ(counts().outcome_unknown, 2);
  EXPECT_EQ(counts().protocol_errors, 1);
  EXPECT_EQ(counts().other_errors, 1);
  EXPECT_EQ(counts().error_replies, 0);
}

TEST_F(CountingStoreTest, NamesWhatHasNoRowInLowerCase) {
  inner_.Expect({"My.Command", "key"}, Reply::Ok());
  const std::string_view arguments[] = {"key"};
  const Command command = Command::Named("My.Command", arguments);
  const auto run = [&]() -> base::Task<bool> { co_return (co_await store_.Execute(command)).ok(); };
  EXPECT_TRUE(base::Run(run()));
  EXPECT_EQ(of("my.command").commands, 1);
}

TEST_F(CountingStoreTest, CountsWhatIsAbandoned) {
  inner_.ExpectHeld({"GET", "a"});
  {
    auto a = Get(store_, "a");
    a.Start();
  }
  EXPECT_EQ(counts().abandoned, 1);
  EXPECT_EQ(counts().requests, 1);
}

TEST_F(CountingStoreTest, BeginsAnewWhenItIsReset) {
  inner_.Expect({"GET", "key"}, Reply::Nil());
  EXPECT_TRUE(base::Run(Get(store_, "key")).ok());
  store_.Reset();
  EXPECT_EQ(counts().requests, 0);
  EXPECT_TRUE(counts().by_command.empty());
}

}  // namespace
}  // namespace redouble::store
