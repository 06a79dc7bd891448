// LayoutBackends: runs the same test of a system in the documented layout of its keys and in the
// cluster layout.
//
// In the cluster layout the memory engine refuses what a cluster refuses: commands, scripts and
// transactions with keys of several slots. Derive the fixture from LayoutTest<Backend>, build keys
// and stores for layout(), and write the keys of a test with Tag:
//
//   template <typename Backend>
//   class BudgetTest : public LayoutTest<Backend> {
//     const std::string daily_ = "budget:daily:" + this->Tag(kKey) + ":20260509";
//   };
//   TYPED_TEST_SUITE(BudgetTest, LayoutBackends, BackendNames);
//
// The live backend has the documented layout; if the environment variable REDOUBLE_LIVE_LAYOUT is
// "cluster", it has the cluster layout. //tests/live:cluster_typed_test sets it.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_BACKENDS_TESTING_LAYOUT_BACKENDS_H_
#define REDOUBLE_BACKENDS_TESTING_LAYOUT_BACKENDS_H_

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "redouble/backends/testing/backends.h"
#include "redouble/core/store/keyspace/key_family.h"
#include "redouble/core/store/keyspace/key_layout.h"

namespace redouble::inline v0_1::tests {

// The memory engine as a cluster of one node, which migrates the slot of each script while it runs.
// Always available.
class MemoryClusterBackend {
 public:
  static constexpr std::string_view kName = "MemoryCluster";

  absl::Status Start(absl::Time start);
  std::unique_ptr<store::Store> Connect();
  absl::Time Now() const;
  void AdvanceTo(absl::Time time);

 private:
  std::unique_ptr<base::VirtualClock> clock_;
  std::unique_ptr<memory::Engine> engine_;
};

using LayoutBackends = ::testing::Types<MemoryBackend, MemoryClusterBackend, LiveBackend>;

// The families of a system in both layouts, and its prefixes.
struct SystemFamilies {
  std::span<const store::KeyFamily> documented;
  std::span<const store::KeyFamily> cluster;
  std::span<const store::KeyBinding> bindings = {};
};

// Returns `text`, whose words are separated by spaces, with each documented key of the system in
// the cluster layout. A key that is in the cluster layout already is unchanged.
std::string SpellInCluster(std::string_view text, const SystemFamilies& families);

// The reverse: returns `text` with each key of the cluster layout as documented.
std::string SpellAsDocumented(std::string_view text, const SystemFamilies& families);

// Returns the layout of live tests, by the environment variable. Aborts the program if it has an
// unknown value.
store::KeyLayout LiveKeyLayout();

// A fixture with a new, empty backend for each test.
template <typename Backend>
class LayoutTest : public BackendTest<Backend> {
 public:
  static store::KeyLayout layout() {
    if constexpr (std::is_same_v<Backend, MemoryClusterBackend>) return store::KeyLayout::kCluster;
    if constexpr (std::is_same_v<Backend, LiveBackend>) return LiveKeyLayout();
    return store::KeyLayout::kDocumented;
  }
  static bool in_cluster_layout() { return layout() == store::KeyLayout::kCluster; }

  // Returns `text` with each of its words that is a documented key as it is spelled in the layout
  // of the test. `families` are those of the system. Other words are unchanged.
  static std::string Spell(std::string_view text, const SystemFamilies& families) {
    return in_cluster_layout() ? SpellInCluster(text, families) : std::string(text);
  }

  // Returns `text` in the braces of a hash tag, if the layout has tags.
  static std::string Tag(std::string_view text) {
    const std::string tag(text);
    return in_cluster_layout() ? "{" + tag + "}" : tag;
  }
};

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_BACKENDS_TESTING_LAYOUT_BACKENDS_H_
