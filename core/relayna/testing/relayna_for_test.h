// RelaynaTest: a fixture for Relayna's stores, typed over backends and layouts of the keys.
//
// A test names keys as documented (backends/testing/spelled_test.h), and passes the options of a
// store through the fixture, which sets the layout:
//
//   template <typename Backend>
//   class StatusStoreTest : public RelaynaTest<Backend> {};
//   TYPED_TEST_SUITE(StatusStoreTest, tests::LayoutBackends, tests::BackendNames);
//
//   TYPED_TEST(StatusStoreTest, Expires) {
//     StatusStore statuses(this->store(), this->Options(StatusOptions{.ttl_seconds = 60}));
//   }
//
// Thread-safety: one thread.
#ifndef REDOUBLE_CORE_RELAYNA_TESTING_RELAYNA_FOR_TEST_H_
#define REDOUBLE_CORE_RELAYNA_TESTING_RELAYNA_FOR_TEST_H_

#include "redouble/backends/testing/spelled_test.h"
#include "redouble/core/relayna/keys.h"

namespace redouble::inline v0_1::relayna {

struct RelaynaFamilies {
  static tests::SystemFamilies Families() {
    return {KeyFamilies(), KeyFamilies(store::KeyLayout::kCluster)};
  }
};

template <typename Backend>
class RelaynaTest : public tests::SpelledTest<Backend, RelaynaFamilies> {
 public:
  // Returns the options of a store, with the layout of the test.
  template <typename StoreOptions>
  static StoreOptions Options(StoreOptions options) {
    options.key_layout = tests::LayoutTest<Backend>::layout();
    return options;
  }
};

}  // namespace redouble::inline v0_1::relayna

#endif  // REDOUBLE_CORE_RELAYNA_TESTING_RELAYNA_FOR_TEST_H_
