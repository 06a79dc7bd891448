// SpelledTest: a LayoutTest whose tests name the keys of a system as documented.
//
// Ask, Value and Ttl spell the keys among their words in the layout of the test, so that a test
// reads the same in both layouts:
//
//   struct Relayna {
//     static SystemFamilies Families() {
//       return {relayna::KeyFamilies(), relayna::KeyFamilies(store::KeyLayout::kCluster)};
//     }
//   };
//   template <typename Backend>
//   class StatusStoreTest : public tests::SpelledTest<Backend, Relayna> {};
//
//   TYPED_TEST(StatusStoreTest, Expires) { EXPECT_EQ(this->Ttl("relayna:history:t1"), 86400); }
//
// Thread-safety: one thread.
#ifndef REDOUBLE_BACKENDS_TESTING_SPELLED_TEST_H_
#define REDOUBLE_BACKENDS_TESTING_SPELLED_TEST_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/backends/testing/layout_backends.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::tests {

template <typename Backend, typename System>
class SpelledTest : public LayoutTest<Backend> {
 public:
  // Returns `text` with the documented keys among its words in the layout of the test.
  static std::string Spell(std::string_view text) {
    return LayoutTest<Backend>::Spell(text, System::Families());
  }
  // Returns the lines of an InterceptedStore's log with all keys as documented.
  static std::vector<std::string> Documented(std::vector<std::string> lines) {
    if (!LayoutTest<Backend>::in_cluster_layout()) return lines;
    for (std::string& line : lines) line = SpellAsDocumented(line, System::Families());
    return lines;
  }

  store::Reply Ask(const std::vector<std::string_view>& words) {
    std::vector<std::string> spelled;
    for (const std::string_view word : words) spelled.push_back(Spell(word));
    return LayoutTest<Backend>::Ask({spelled.begin(), spelled.end()});
  }
  std::string Value(std::string_view key) { return LayoutTest<Backend>::Value(Spell(key)); }
  int64_t Ttl(std::string_view key) { return LayoutTest<Backend>::Ttl(Spell(key)); }
};

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_BACKENDS_TESTING_SPELLED_TEST_H_
