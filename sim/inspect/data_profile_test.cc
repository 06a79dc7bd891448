// Goal: a profile counts every key once, by the shape of its name, and names the largest ones.
#include "redouble/sim/inspect/data_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "nlohmann/json.hpp"
#include "redouble/backends/memory/engine/session_for_test.h"
#include "redouble/core/base/time/virtual_clock.h"

namespace redouble::inline v0_1::sim {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class DataProfileTest : public testing::Test {
 protected:
  DataProfileTest() {
    for (int i = 0; i < 20; ++i) {
      Ask({"SET", "session:" + std::to_string(i), "some text", "EX", "100"});
      Ask({"HSET", "user:" + std::to_string(i) + ":cart", "item", "1"});
    }
    for (int i = 0; i < 1000; ++i) Ask({"RPUSH", "queue", "an element of the list"});
    Ask({"SELECT", "2"});
    Ask({"SET", "<b>", std::string(5000, 'x')});
  }

  void Ask(const std::vector<std::string>& words) {
    session_.Send(std::vector<std::string_view>(words.begin(), words.end()));
  }

  base::VirtualClock clock_{absl::FromUnixSeconds(1'700'000'000)};
  memory::Engine engine_{clock_};
  memory::RecordingSession session_{engine_};
};

TEST_F(DataProfileTest, CountsFamiliesAndKeys) {
  const DataProfile profile = ProfileOf(engine_, {.listed = 2});
  EXPECT_EQ(profile.keys, 42);
  EXPECT_EQ(profile.without_ttl, 22);
  ASSERT_THAT(profile.families, SizeIs(4));
  EXPECT_EQ(profile.families[0].pattern, "queue");
  EXPECT_EQ(profile.families[0].elements, 1000);
  int64_t bytes = 0;
  for (const DataProfile::Family& family : profile.families) {
    bytes += family.bytes;
    if (family.pattern == "session:*") {
      EXPECT_EQ(family.keys, 20);
      EXPECT_EQ(family.without_ttl, 0);
      EXPECT_EQ(family.elements, 180) << "the bytes of the strings";
    }
  }
  EXPECT_EQ(bytes, profile.bytes);
  ASSERT_THAT(profile.largest_keys, SizeIs(2));
  EXPECT_EQ(profile.largest_keys[0].name, "queue");
  EXPECT_EQ(profile.largest_keys[0].encoding, "quicklist");
  EXPECT_EQ(profile.largest_keys[1].name, "<b>");
  EXPECT_EQ(profile.largest_keys[1].db, 2);
  EXPECT_EQ(profile.largest_keys[1].ttl_ms, -1);
}

TEST_F(DataProfileTest, IsATableAnObjectAndAPage) {
  const DataProfile profile = ProfileOf(engine_);
  EXPECT_THAT(ProfileTable(profile), HasSubstr("user:*:cart  hash"));
  EXPECT_THAT(ProfileTable(profile), HasSubstr("42 keys, "));
  const auto json = nlohmann::json::parse(ProfileJson(profile));
  EXPECT_EQ(json["keys"], 42);
  EXPECT_EQ(json["largest_keys"].size(), 20u);
  EXPECT_EQ(json["largest_keys"][1]["key"], "<b>");
  EXPECT_TRUE(json["largest_keys"][1]["ttl_ms"].is_null());
  EXPECT_THAT(ProfilePage(profile, "dump.rdb"), HasSubstr("<td>&lt;b&gt;</td>"));
}

TEST(FamilyPattern, ReplacesPartsWithDigits) {
  EXPECT_EQ(FamilyPattern("user:17:cart"), "user:*:cart");
  EXPECT_EQ(FamilyPattern("a/b2/c.9f"), "a/*/c.*");
  EXPECT_EQ(FamilyPattern("plain"), "plain");
  EXPECT_EQ(FamilyPattern("::"), "::");
  EXPECT_EQ(FamilyPattern(""), "");
}

TEST(DataProfile, OfNothingIsEmpty) {
  base::VirtualClock clock;
  memory::Engine engine(clock);
  EXPECT_THAT(ProfileTable(ProfileOf(engine)), HasSubstr("0 keys, 0 B, 0 without a TTL"));
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
