#include "redouble/core/korvet/topics/topic_id.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "nlohmann/json.hpp"

namespace redouble::inline v0_1::korvet {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kText = "AY-NMYanfEiPNk0fpNmRAQ";
constexpr std::string_view kUuid = "018f8d31-86a7-7c48-8f36-4d1fa4d99101";

std::string HexOf(const TopicId& id) {
  std::string hex = id.ToUuid();
  hex.erase(std::remove(hex.begin(), hex.end(), '-'), hex.end());
  return hex;
}

TEST(TopicId, HasTheTextsOfEveryRowOfTheTable) {
  const Json golden = Json::parse(std::ifstream("tests/data/golden/korvet/topic_id_uuid.json"));
  ASSERT_EQ(golden["rows"].size(), 6u);
  for (const Json& row : golden["rows"]) {
    const auto uuid = row["canonical"].get<std::string>();
    const auto text = row["kafka_base64url"].get<std::string>();
    const std::optional<TopicId> id = TopicId::Parse(uuid);
    ASSERT_TRUE(id.has_value()) << uuid;
    EXPECT_EQ(id->ToString(), text);
    EXPECT_EQ(id->ToUuid(), uuid);
    EXPECT_EQ(TopicId::Parse(text), id);
    EXPECT_EQ(HexOf(*id), row["wire_hex"].get<std::string>());
    EXPECT_EQ(id->is_reserved(), row["reserved"].get<bool>()) << uuid;
    EXPECT_EQ(id->ToString().front() == '-', row["starts_with_dash"].get<bool>());
  }
}

TEST(TopicId, IsSixteenBytesMostSignificantFirst) {
  const TopicId id = TopicId::Parse(kText).value();
  EXPECT_EQ(id.bytes().front(), 0x01);
  EXPECT_EQ(id.bytes()[1], 0x8f);
  EXPECT_EQ(id.bytes().back(), 0x01);
  EXPECT_EQ(TopicId(id.bytes()), id);
}

TEST(TopicId, WithoutBytesIsTheReservedZero) {
  EXPECT_EQ(TopicId().ToString(), "AAAAAAAAAAAAAAAAAAAAAA");
  EXPECT_TRUE(TopicId().is_reserved());
  EXPECT_FALSE(TopicId({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}).is_reserved());
  EXPECT_FALSE(TopicId({1}).is_reserved());
}

TEST(TopicId, IsReadFromAUuidInEitherCase) {
  EXPECT_EQ(TopicId::Parse("018F8D31-86A7-7C48-8F36-4D1FA4D99101"), TopicId::Parse(kUuid));
}

TEST(TopicId, IsNotReadFromAnythingElse) {
  for (const std::string_view text :
       {"", "AY-NMYanfEiPNk0fpNmRA", "AY-NMYanfEiPNk0fpNmRAQ==", "AY+NMYanfEiPNk0fpNmRAQ",
        "AY-NMYanfEiPNk0fpNmRA=", " AY-NMYanfEiPNk0fpNmRA", "AY-NMYanfEiPNk0fpNmRA\n",
        "018f8d3186a77c488f364d1fa4d99101", "018f8d31-86a7-7c48-8f36-4d1fa4d9910g",
        "018f8d31-86a7-7c48-8f364-d1fa4d99101", "018f8d31-86a7-7c48-8f36-4d1fa4d9910-",
        "018f8d31086a7-7c48-8f36-4d1fa4d99101"}) {
    EXPECT_EQ(TopicId::Parse(text), std::nullopt) << text;
  }
}

// The last of the 22 characters has four unused bits: "R" and "Q" would encode the same bytes.
TEST(TopicId, HasOneTextOfEachForm) {
  EXPECT_TRUE(TopicId::Parse("AY-NMYanfEiPNk0fpNmRAQ").has_value());
  EXPECT_EQ(TopicId::Parse("AY-NMYanfEiPNk0fpNmRAR"), std::nullopt);
}

TEST(TopicId, PrintsItsText) {
  std::ostringstream out;
  out << TopicId::Parse(kUuid).value();
  EXPECT_EQ(out.str(), kText);
}

TEST(TopicId, DrawsUuidsOfVersion4ThatNoToolTakesForAnOption) {
  base::Rng rng(7);
  std::set<TopicId> drawn;
  for (int i = 0; i < 1000; ++i) {
    const TopicId id = TopicId::Random(rng);
    const std::string uuid = id.ToUuid();
    EXPECT_EQ(uuid[14], '4') << uuid;
    EXPECT_NE(std::string("89ab").find(uuid[19]), std::string::npos) << uuid;
    EXPECT_NE(id.ToString().front(), '-') << uuid;
    EXPECT_FALSE(id.is_reserved());
    EXPECT_TRUE(drawn.insert(id).second) << uuid;
  }
}

TEST(TopicId, DrawsTheSameFromTheSameSeed) {
  base::Rng one(42);
  base::Rng two(42);
  EXPECT_EQ(TopicId::Random(one), TopicId::Random(two));
}

RC_GTEST_PROP(TopicId, IsReadBackFromBothTexts, (const TopicId::Bytes& bytes)) {
  const TopicId id(bytes);
  RC_ASSERT(TopicId::Parse(id.ToString()) == id);
  RC_ASSERT(TopicId::Parse(id.ToUuid()) == id);
  RC_ASSERT(id.ToString().size() == 22u);
}

}  // namespace
}  // namespace redouble::inline v0_1::korvet
