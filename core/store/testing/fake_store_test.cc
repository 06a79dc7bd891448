#include "redouble/core/store/testing/fake_store.h"

#include <optional>

#include "gtest/gtest-spi.h"
#include "gtest/gtest.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble::inline v0_1::store {
namespace {

using base::IsOkAndHolds;

TEST(FakeStore, AnswersWhatItExpects) {
  FakeStore store;
  store.Expect({"GET", "key"}, Reply::Bulk("value"));
  EXPECT_THAT(base::Run(Get(store, "key")), IsOkAndHolds("value"));
}

TEST(FakeStore, FailsTheTestOnAnotherArgument) {
  FakeStore store;
  store.Expect({"GET", "key"}, Reply::Nil());
  EXPECT_NONFATAL_FAILURE(static_cast<void>(base::Run(Get(store, "KEY"))), "KEY");
}

TEST(FakeStore, FailsTheTestWhenNothingWasExpected) {
  FakeStore store;
  EXPECT_NONFATAL_FAILURE(
      EXPECT_EQ(ErrorKindOf(base::Run(Get(store, "key")).status()), ErrorKind::kNotSent),
      "nothing was expected: GET \"key\"");
}

TEST(FakeStore, FailsTheTestWhenARequestNeverCame) {
  EXPECT_NONFATAL_FAILURE(
      {
        FakeStore store;
        store.Expect({"GET", "key"}, Reply::Nil());
      },
      "never came: GET \"key\"");
}

TEST(FakeStore, FailsTheTestWhenNothingIsHeld) {
  FakeStore store;
  EXPECT_NONFATAL_FAILURE(store.Answer(Reply::Nil()), "no request is held");
}

TEST(FakeStore, HoldsARequestUntilItIsAnswered) {
  FakeStore store;
  store.ExpectHeld({"GET", "key"});
  auto get = Get(store, "key");
  get.Start();
  EXPECT_FALSE(get.done());
  EXPECT_EQ(store.held(), 1u);
  store.Answer(Reply::Bulk("value"));
  EXPECT_THAT(get.TakeResult(), IsOkAndHolds("value"));
}

TEST(FakeStore, CountsWhatIsAbandoned) {
  FakeStore store;
  store.ExpectHeld({"GET", "key"});
  {
    auto get = Get(store, "key");
    get.Start();
  }
  EXPECT_EQ(store.abandoned(), 1);
  EXPECT_EQ(store.held(), 0u);
}

}  // namespace
}  // namespace redouble::inline v0_1::store
