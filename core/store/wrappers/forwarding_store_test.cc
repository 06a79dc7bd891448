#include "core/store/wrappers/forwarding_store.h"

#include "core/base/run.h"
#include "core/store/strings.h"
#include "core/store/testing/fake_store.h"
#include "gtest/gtest.h"

namespace redouble::store {
namespace {

TEST(ForwardingStore, PassesRequestsAndResults) {
  FakeStore inner;
  ForwardingStore store(inner);
  inner.Expect({"GET", "key"}, Reply::Bulk("value"));
  EXPECT_EQ(*base::Run(Get(store, "key")), "value");
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
}  // namespace redouble::store
