#include "redouble/core/store/wrappers/intercepting_store.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/testing/fake_store.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble::inline v0_1::store {
namespace {

using ::testing::Eq;
using Interception = base::Task<absl::StatusOr<Reply>>;
using base::IsOkAndHolds;

// The smallest wrappers of each kind.
class TransparentStore final : public InterceptingStore {
 public:
  using InterceptingStore::InterceptingStore;

 private:
  Interception Intercept(const Request& request) override { co_return co_await Forward(request); }
};

class RefusingStore final : public InterceptingStore {
 public:
  using InterceptingStore::InterceptingStore;

 private:
  bool Intercepts(const Request& request) override {
    return request.commands()[0].id() == CommandId::kSet;
  }
  Interception Intercept(const Request&) override { co_return NotSentError("refused"); }
};

class ReplyLosingStore final : public InterceptingStore {
 public:
  using InterceptingStore::InterceptingStore;

 private:
  Interception Intercept(const Request& request) override {
    static_cast<void>(co_await Forward(request));
    co_return OutcomeUnknownError("the reply was lost");
  }
};

class DuplicatingStore final : public InterceptingStore {
 public:
  using InterceptingStore::InterceptingStore;

 private:
  Interception Intercept(const Request& request) override {
    static_cast<void>(co_await Forward(request));
    co_return co_await Forward(request);
  }
};

class DelayingStore final : public InterceptingStore {
 public:
  DelayingStore(Store& inner, base::Clock& clock) : InterceptingStore(inner), clock_(clock) {}

 private:
  Interception Intercept(const Request& request) override {
    co_await clock_.Sleep(absl::Seconds(1));
    co_return co_await Forward(request);
  }

  base::Clock& clock_;
};

// Asks two stores at once; returns an error if their results differ.
class ComparingStore final : public InterceptingStore {
 public:
  ComparingStore(Store& first, Store& second) : InterceptingStore(first), second_(second) {}

 private:
  static Interception Ask(Store& store, const Request& request) {
    co_return co_await ForwardTo(store, request);
  }
  Interception Intercept(const Request& request) override {
    auto [first, second] = co_await base::WhenAll(Ask(inner(), request), Ask(second_, request));
    if (*first == *second) co_return first;
    co_return ProtocolError("the stores differ");
  }

  Store& second_;
};

TEST(InterceptingStore, PassesWhatIsAnsweredAtOnce) {
  FakeStore inner;
  TransparentStore store(inner);
  inner.Expect({"GET", "key"}, Reply::Bulk("value"));
  EXPECT_THAT(base::Run(Get(store, "key")), IsOkAndHolds("value"));
}

TEST(InterceptingStore, PassesWhatIsAnsweredLater) {
  FakeStore inner;
  TransparentStore store(inner);
  inner.ExpectHeld({"GET", "key"});
  auto get = Get(store, "key");
  get.Start();
  EXPECT_FALSE(get.done());
  inner.Answer(Reply::Bulk("value"));
  ASSERT_TRUE(get.done());
  EXPECT_THAT(get.TakeResult(), IsOkAndHolds("value"));
}

TEST(InterceptingStore, PassesBatches) {
  FakeStore inner;
  TransparentStore store(inner);
  inner.ExpectBatch(Request::Kind::kTransaction, {{"INCR", "n"}, {"GET", "n"}},
                    Reply::Array({Reply::Integer(1), Reply::Bulk("1")}));
  Batch batch(Batch::Atomicity::kTransaction);
  batch.Add(CommandId::kIncr, {"n"});
  batch.Add(CommandId::kGet, {"n"});
  EXPECT_EQ(base::Run(Execute(store, batch)).value().size(), 2u);
}

TEST(InterceptingStore, PassesAbandonmentOnce) {
  FakeStore inner;
  TransparentStore below(inner);
  TransparentStore store(below);
  inner.ExpectHeld({"GET", "key"});
  {
    auto get = Get(store, "key");
    get.Start();
  }
  EXPECT_EQ(inner.abandoned(), 1);
  EXPECT_EQ(inner.held(), 0u);
}

TEST(InterceptingStore, PassesThroughManyLayers) {
  FakeStore inner;
  TransparentStore third(inner);
  TransparentStore second(third);
  TransparentStore store(second);
  inner.ExpectHeld({"GET", "a"});
  inner.ExpectHeld({"GET", "b"});
  auto a = Get(store, "a");
  auto b = Get(store, "b");
  a.Start();
  b.Start();
  inner.Answer(Reply::Bulk("1"));
  EXPECT_TRUE(a.done());
  EXPECT_FALSE(b.done());
  inner.Answer(Reply::Bulk("2"));
  EXPECT_THAT(a.TakeResult(), IsOkAndHolds("1"));
  EXPECT_THAT(b.TakeResult(), IsOkAndHolds("2"));
}

TEST(InterceptingStore, SeesOnlyWhatItAsksFor) {
  FakeStore inner;
  RefusingStore store(inner);
  inner.Expect({"GET", "key"}, Reply::Nil());
  EXPECT_THAT(base::Run(Get(store, "key")), IsOkAndHolds(Eq(std::nullopt)));
  EXPECT_EQ(ErrorKindOf(base::Run(Set(store, "key", "value")).status()), ErrorKind::kNotSent);
}

TEST(InterceptingStore, CanReplaceTheResult) {
  FakeStore inner;
  ReplyLosingStore store(inner);
  inner.Expect({"INCR", "n"}, Reply::Integer(1));
  EXPECT_EQ(ErrorKindOf(base::Run(Incr(store, "n")).status()), ErrorKind::kOutcomeUnknown);
}

TEST(InterceptingStore, CanSendTwice) {
  FakeStore inner;
  DuplicatingStore store(inner);
  inner.ExpectHeld({"INCR", "n"});
  inner.ExpectHeld({"INCR", "n"});
  auto incr = Incr(store, "n");
  incr.Start();
  inner.Answer(Reply::Integer(1));
  EXPECT_FALSE(incr.done());
  inner.Answer(Reply::Integer(2));
  EXPECT_THAT(incr.TakeResult(), IsOkAndHolds(2));
}

TEST(InterceptingStore, CanWaitBeforeItSends) {
  FakeStore inner;
  base::VirtualClock clock;
  DelayingStore store(inner, clock);
  auto get = Get(store, "key");
  get.Start();
  clock.Advance(absl::Milliseconds(999));
  inner.Expect({"GET", "key"}, Reply::Bulk("late"));
  clock.Advance(absl::Milliseconds(1));
  ASSERT_TRUE(get.done());
  EXPECT_THAT(get.TakeResult(), IsOkAndHolds("late"));
}

TEST(InterceptingStore, NeverSendsWhatIsAbandonedBefore) {
  FakeStore inner;
  base::VirtualClock clock;
  DelayingStore store(inner, clock);
  {
    auto get = Get(store, "key");
    get.Start();
  }
  EXPECT_FALSE(clock.AdvanceToNext());
}

TEST(InterceptingStore, CanAskTwoStores) {
  FakeStore first;
  FakeStore second;
  ComparingStore store(first, second);
  first.Expect({"GET", "key"}, Reply::Bulk("value"));
  second.ExpectHeld({"GET", "key"});
  auto get = Get(store, "key");
  get.Start();
  second.Answer(Reply::Bulk("value"));
  EXPECT_THAT(get.TakeResult(), IsOkAndHolds("value"));
  first.Expect({"GET", "key"}, Reply::Bulk("value"));
  second.Expect({"GET", "key"}, Reply::Nil());
  EXPECT_EQ(base::Run(Get(store, "key")).status().message(), "the stores differ");
}

// The caller is resumed after the interception is over, so that it may destroy the wrapper.
TEST(InterceptingStore, MayBeDestroyedByTheWaiterThatItResumes) {
  FakeStore inner;
  std::optional<TransparentStore> store(inner);
  inner.ExpectHeld({"GET", "key"});
  const auto ask = [](std::optional<TransparentStore>& store) -> base::Task<bool> {
    const bool found = (co_await Get(*store, "key")).ok();
    store.reset();
    co_return found;
  };
  base::Task<bool> task = ask(store);
  task.Start();
  inner.Answer(Reply::Nil());
  EXPECT_TRUE(task.TakeResult());
}

}  // namespace
}  // namespace redouble::inline v0_1::store
