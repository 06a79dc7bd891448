#include "redouble/core/store/store.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/testing/fake_store.h"

namespace redouble::inline v0_1::store {
namespace {

using base::IsOkAndHolds;

base::Task<absl::StatusOr<Reply>> Ask(Store& store, std::string_view key) {
  const Command command(CommandId::kGet, {key});
  co_return co_await store.Execute(command);
}

TEST(Store, GivesAReplyThatComesAtOnce) {
  FakeStore store;
  store.Expect({"GET", "key"}, Reply::Bulk("value"));
  EXPECT_THAT(base::Run(Ask(store, "key")), IsOkAndHolds(Reply::Bulk("value")));
}

// The goal: a test can run a command without a coroutine of its own.
TEST(Store, ExecutesACommandInRun) {
  FakeStore store;
  store.Expect({"GET", "key"}, Reply::Bulk("value"));
  const absl::StatusOr<Reply> reply = base::Run(store.Execute(Command(CommandId::kGet, {"key"})));
  EXPECT_EQ(reply.value(), Reply::Bulk("value"));
}

TEST(Store, GivesAReplyThatComesLater) {
  FakeStore store;
  store.ExpectHeld({"GET", "key"});
  auto task = Ask(store, "key");
  task.Start();
  EXPECT_FALSE(task.done());
  store.Answer(Reply::Bulk("value"));
  ASSERT_TRUE(task.done());
  EXPECT_THAT(task.TakeResult(), IsOkAndHolds(Reply::Bulk("value")));
  EXPECT_EQ(store.abandoned(), 0);
}

TEST(Store, GivesAnErrorReplyAsAReply) {
  FakeStore store;
  store.Expect({"GET", "key"}, Reply::Error("ERR broken"));
  EXPECT_THAT(base::Run(Ask(store, "key")), IsOkAndHolds(Reply::Error("ERR broken")));
}

TEST(Store, PassesAFailureOn) {
  FakeStore store;
  store.Expect({"GET", "key"}, OutcomeUnknownError("connection lost"));
  EXPECT_EQ(ErrorKindOf(base::Run(Ask(store, "key")).status()), ErrorKind::kOutcomeUnknown);
}

TEST(Store, NotifiesItsOwnerOnceWhenAWaiterIsDestroyed) {
  FakeStore store;
  store.ExpectHeld({"GET", "a"});
  store.ExpectHeld({"GET", "b"});
  auto remaining = Ask(store, "b");
  {
    auto task = Ask(store, "a");
    task.Start();
    remaining.Start();
  }
  EXPECT_EQ(store.abandoned(), 1);
  EXPECT_EQ(store.held(), 1u);
  store.Answer(Reply::Nil());
  EXPECT_TRUE(remaining.done());
  EXPECT_EQ(store.abandoned(), 1);
}

TEST(Store, IsNotAskedByATaskThatNeverStarts) {
  FakeStore store;
  { const auto task = Ask(store, "key"); }
  EXPECT_EQ(store.abandoned(), 0);
}

TEST(Store, KeepsTheCommandInPlaceWhileTheRequestWaits) {
  FakeStore store;
  store.ExpectHeld({"SET", "key", "1234567890123"});
  const auto set = [](Store& store) -> base::Task<absl::StatusOr<Reply>> {
    Command command(CommandId::kSet, {"key"});
    command.AddInteger(1234567890123);
    co_return co_await store.Execute(command);
  };
  auto task = set(store);
  task.Start();
  store.Answer(Reply::Ok());
  EXPECT_THAT(task.TakeResult(), IsOkAndHolds(Reply::Ok()));
}

// A request that destroys itself when it completes, as those of the RESP server do.
class SelfDeletingRequest final : public Request {
 public:
  SelfDeletingRequest(std::span<const Command> commands, std::optional<Reply>& result)
      : Request(Kind::kCommand, commands), result_(result) {}

 private:
  void OnComplete(absl::StatusOr<Reply>&& result) override {
    result_ = *std::move(result);
    delete this;
  }

  std::optional<Reply>& result_;
};

TEST(Store, ServesARequestThatEndsWithItsCompletion) {
  FakeStore store;
  store.ExpectHeld({"GET", "key"});
  const Command command(CommandId::kGet, {"key"});
  std::optional<Reply> result;
  auto* const request = new SelfDeletingRequest(std::span(&command, 1), result);
  store.Submit(*request);
  EXPECT_FALSE(request->completed());
  store.Answer(Reply::Integer(3));
  EXPECT_EQ(result, Reply::Integer(3));
}

}  // namespace
}  // namespace redouble::inline v0_1::store
