#include "redouble/sim/cli/support/progress_bar.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace redouble::inline v0_1::sim {
namespace {

TEST(ProgressBar, ShowsThePartAndTheKeys) {
  EXPECT_EQ(ProgressLine("a.rdb", 0, 100, 0), "a.rdb [                    ]   0 %  0 keys");
  EXPECT_EQ(ProgressLine("a.rdb", 42, 100, 999), "a.rdb [########            ]  42 %  999 keys");
  EXPECT_EQ(ProgressLine("a.rdb", 100, 100, 1'234'567),
            "a.rdb [####################] 100 %  1,234,567 keys");
  EXPECT_EQ(ProgressLine("a.rdb", 0, 0, 0), "a.rdb [####################] 100 %  0 keys");
}

TEST(ProgressBar, ClearsItsLine) {
  std::ostringstream out;
  {
    ProgressBar bar(out, "a", 4);
    bar.Show(1, 1000);
    bar.Show(2, 2000);
  }
  const std::string blank(out.str().find('\r', 1) - 1, ' ');
  EXPECT_EQ(out.str(),
            "\ra [#####               ]  25 %  1,000 keys\r"
            "a [##########          ]  50 %  2,000 keys\r" +
                blank + "\r");
}

TEST(ProgressBar, WritesNothingWithoutProgress) {
  std::ostringstream out;
  { const ProgressBar bar(out, "a", 4); }
  EXPECT_EQ(out.str(), "");
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
