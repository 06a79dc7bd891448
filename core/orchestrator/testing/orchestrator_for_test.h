// OrchestratorTest: a fixture for the orchestrator's classes, typed over backends and layouts of
// the keys.
//
// A test names keys as documented (backends/testing/spelled_test.h), except those of approvals,
// which contain the run id in the cluster layout only, and passes keys() to the class under test:
//
//   template <typename Backend>
//   class MonitorTest : public OrchestratorTest<Backend> {};
//   TYPED_TEST_SUITE(MonitorTest, tests::LayoutBackends, tests::BackendNames);
//
//   TYPED_TEST(MonitorTest, CountsSignals) {
//     this->Ask({"RPUSH", "completion_signals", "a"});
//     Monitor monitor(this->store(), this->keys());
//   }
//
// Thread-safety: one thread.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_TESTING_ORCHESTRATOR_FOR_TEST_H_
#define REDOUBLE_CORE_ORCHESTRATOR_TESTING_ORCHESTRATOR_FOR_TEST_H_

#include <string>
#include <string_view>

#include "redouble/backends/testing/spelled_test.h"
#include "redouble/core/orchestrator/keys.h"

namespace redouble::inline v0_1::orchestrator {

struct OrchestratorFamilies {
  static tests::SystemFamilies Families() {
    return {KeyFamilies(), KeyFamilies(store::KeyLayout::kCluster)};
  }
};

template <typename Backend>
class OrchestratorTest : public tests::SpelledTest<Backend, OrchestratorFamilies> {
 public:
  // Returns the builder of keys in the layout of the test.
  static Keys keys() { return Keys(tests::LayoutTest<Backend>::layout()); }
  // Returns the key of an approval of a run in the layout of the test.
  static std::string ApprovalKey(std::string_view approval_id, std::string_view run_id = "run_1") {
    return keys().Approval({run_id, approval_id}).value();
  }
  // Returns a key of the test's layout as documented.
  static std::string AsDocumented(std::string_view key) {
    return tests::LayoutTest<Backend>::in_cluster_layout()
               ? tests::SpellAsDocumented(key, OrchestratorFamilies::Families())
               : std::string(key);
  }
};

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_TESTING_ORCHESTRATOR_FOR_TEST_H_
