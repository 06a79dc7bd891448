#include "redouble/core/studio/events/event_order.h"

#include <gtest/gtest.h>

namespace redouble::inline v0_1::studio {
namespace {

TEST(EventOrder, ComparesInstantsWhateverTheirForm) {
  EXPECT_TRUE(IsEarlier("2026-01-01T10:00:00Z", "2026-01-01T10:00:00.000001Z"));
  EXPECT_TRUE(IsEarlier("2026-01-01T16:59:59+07:00", "2026-01-01T10:00:00Z"));
  EXPECT_FALSE(IsEarlier("2026-01-01T17:00:00+07:00", "2026-01-01T10:00:00Z"));
  EXPECT_FALSE(IsEarlier("2026-01-01T10:00:00", "2026-01-01T10:00:00Z")) << "naive is UTC";
}

TEST(EventOrder, PutsWhatIsNoTimestampBeforeEveryTimestamp) {
  EXPECT_TRUE(IsEarlier("bad", "0001-01-01T00:00:00Z"));
  EXPECT_FALSE(IsEarlier("0001-01-01T00:00:00Z", "bad"));
  EXPECT_FALSE(IsEarlier("bad", "worse"));
  EXPECT_FALSE(EventTime(std::optional<std::string>()).has_value());
}

TEST(EventOrder, ReplacesALatestTimestampOnlyByALaterOne) {
  using Text = std::optional<std::string>;
  EXPECT_TRUE(Supersedes("2026-01-01T10:00:00Z", Text()));
  EXPECT_TRUE(Supersedes("bad", Text()));
  EXPECT_TRUE(Supersedes("2026-01-01T10:00:00Z", "bad"));
  EXPECT_FALSE(Supersedes("bad", "worse"));
  EXPECT_FALSE(Supersedes("2026-01-01T10:00:00Z", "2026-01-01T10:00:00Z"));
  EXPECT_TRUE(Supersedes("2026-01-01T10:00:01Z", "2026-01-01T10:00:00Z"));
  EXPECT_FALSE(Supersedes(Text(), Text()));
}

}  // namespace
}  // namespace redouble::inline v0_1::studio
