#include "redouble/core/store/wrappers/forwarding_store.h"

#include "gtest/gtest.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/testing/fake_store.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble::inline v0_1::store {
namespace {

using base::IsOkAndHolds;

TEST(ForwardingStore, PassesRequestsAndResults) {
  FakeStore inner;
  ForwardingStore store(inner);
  inner.Expect({"GET", "key"}, Reply::Bulk("value"));
  EXPECT_THAT(base::Run(Get(store, "key")), IsOkAndHolds("value"));
}

TEST(ForwardingStore, PassesAbandonment) {
  FakeStore inner;
  ForwardingStore store(inner);
  inner.ExpectHeld({"GET", "key"});
  {
    auto get = Get(store, "key");
    get.Start();
  }
  EXPECT_EQ(inner.abandoned(), 1);
}

}  // namespace
}  // namespace redouble::inline v0_1::store
