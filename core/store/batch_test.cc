#include "redouble/core/store/batch.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/testing/fake_store.h"

namespace redouble::inline v0_1::store {
namespace {

using base::IsOkAndHolds;
using ::testing::SizeIs;

constexpr auto kPipeline = Request::Kind::kPipeline;
constexpr auto kTransaction = Request::Kind::kTransaction;
const std::vector<FakeStore::Words> kHitWords = {{"INCR", "n"}, {"EXPIRE", "n", "70"}};

Batch Hit(Batch::Atomicity atomicity) {
  Batch batch(atomicity);
  batch.Add(CommandId::kIncr, {"n"});
  batch.Add(CommandId::kExpire, {"n"}).AddInteger(70);
  return batch;
}

TEST(Batch, GivesOneReplyPerCommand) {
  FakeStore store;
  store.ExpectBatch(kPipeline, kHitWords, Reply::Array({Reply::Integer(5), Reply::Integer(1)}));
  const Batch batch = Hit(Batch::Atomicity::kPipeline);
  EXPECT_THAT(base::Run(Execute(store, batch)),
              IsOkAndHolds((std::vector<Reply>{Reply::Integer(5), Reply::Integer(1)})));
}

TEST(Batch, GoesAsATransactionWhenAsked) {
  FakeStore store;
  store.ExpectBatch(kTransaction, kHitWords, Reply::Array({Reply::Integer(5), Reply::Integer(1)}));
  const Batch batch = Hit(Batch::Atomicity::kTransaction);
  EXPECT_TRUE(base::Run(Execute(store, batch)).ok());
}

TEST(Batch, WaitsForAStoreThatAnswersLater) {
  FakeStore store;
  store.ExpectHeldBatch(kPipeline, kHitWords);
  const Batch batch = Hit(Batch::Atomicity::kPipeline);
  auto task = Execute(store, batch);
  task.Start();
  EXPECT_FALSE(task.done());
  store.Answer(Reply::Array({Reply::Integer(5), Reply::Integer(1)}));
  EXPECT_THAT(task.TakeResult(), IsOkAndHolds(SizeIs(2)));
}

TEST(Batch, WithoutCommandsNeverReachesTheStore) {
  FakeStore store;
  const Batch batch(Batch::Atomicity::kTransaction);
  EXPECT_TRUE(batch.empty());
  EXPECT_TRUE(base::Run(Execute(store, batch)).value().empty());
}

TEST(Batch, KeepsErrorRepliesAmongTheReplies) {
  FakeStore store;
  store.ExpectBatch(kPipeline, kHitWords,
                    Reply::Array({Reply::Error("WRONGTYPE no"), Reply::Integer(0)}));
  const Batch batch = Hit(Batch::Atomicity::kPipeline);
  const absl::StatusOr<std::vector<Reply>> replies = base::Run(Execute(store, batch));
  ASSERT_TRUE(replies.ok());
  EXPECT_EQ(FirstError(*replies).code(), absl::StatusCode::kFailedPrecondition);
}

TEST(Batch, IsAbortedWhenAWatchedKeyChanged) {
  FakeStore store;
  store.ExpectBatch(kTransaction, kHitWords, Reply::NilArray());
  const Batch batch = Hit(Batch::Atomicity::kTransaction);
  const absl::Status status = base::Run(Execute(store, batch)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_EQ(ErrorKindOf(status), std::nullopt);
}

TEST(Batch, IsAServerErrorWhenTheTransactionIsRefused) {
  FakeStore store;
  store.ExpectBatch(kTransaction, kHitWords,
                    Reply::Error("EXECABORT Transaction discarded because of previous errors."));
  const Batch batch = Hit(Batch::Atomicity::kTransaction);
  const absl::Status status = base::Run(Execute(store, batch)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_EQ(ServerErrorCode(status), "EXECABORT");
}

TEST(Batch, PassesAFailureOn) {
  FakeStore store;
  store.ExpectBatch(kPipeline, kHitWords, NotSentError("not connected"));
  const Batch batch = Hit(Batch::Atomicity::kPipeline);
  EXPECT_EQ(ErrorKindOf(base::Run(Execute(store, batch)).status()), ErrorKind::kNotSent);
}

TEST(Batch, RefusesAnAnswerOfAnotherShape) {
  for (const Reply& answer : {Reply::Ok(), Reply::Array({Reply::Integer(1)}),
                              Reply::Array({Reply(), Reply(), Reply()})}) {
    FakeStore store;
    store.ExpectBatch(kPipeline, kHitWords, answer);
    const Batch batch = Hit(Batch::Atomicity::kPipeline);
    EXPECT_EQ(ErrorKindOf(base::Run(Execute(store, batch)).status()), ErrorKind::kProtocol);
  }
}

TEST(Batch, IsMovedWithTheNumbersOfItsCommands) {
  FakeStore store;
  std::vector<FakeStore::Words> words;
  Batch batch(Batch::Atomicity::kPipeline);
  std::vector<Reply> replies;
  for (int i = 0; i < 20; ++i) {
    batch.Add(CommandId::kExpire, {"n"}).AddInteger(i);
    words.push_back({"EXPIRE", "n", std::to_string(i)});
    replies.push_back(Reply::Integer(1));
  }
  const Batch moved = std::move(batch);
  store.ExpectBatch(kPipeline, words, Reply::Array(replies));
  EXPECT_TRUE(base::Run(Execute(store, moved)).ok());
}

}  // namespace
}  // namespace redouble::inline v0_1::store
