#include "redouble/core/store/keyspace/key_translator.h"

#include <gtest/gtest.h>

#include <optional>
#include <string_view>

#include "redouble/core/base/status/status_matchers.h"

namespace redouble::inline v0_1::store {
namespace {

using base::StatusIs;

KeyFamily Family(std::string_view id, std::string_view pattern) {
  KeyFamily family{};
  family.id = id;
  family.system = "shop";
  family.pattern = pattern;
  return family;
}

class KeyTranslatorTest : public ::testing::Test {
 protected:
  const KeyFamily documented_[4] = {Family("shop.cart", "{prefix}:cart:{user}"),
                                    Family("shop.token", "token:{token}:{user}"),
                                    Family("shop.batch", "batch"), Family("shop.all", "all")};
  const KeyFamily cluster_[4] = {Family("shop.cart", "{prefix}:cart:{{{user}}}"),
                                 Family("shop.token", "token:{{{user}}}:{token}"),
                                 Family("shop.batch", "batch:{shard:int}"),
                                 Family("shop.all", "all")};
  const KeyBinding bindings_[1] = {{"prefix", "s"}};
  const KeyTranslator to_cluster_ = *KeyTranslator::Create(documented_, cluster_, bindings_);
  const KeyTranslator to_documented_ = *KeyTranslator::Create(cluster_, documented_, bindings_);
};

TEST_F(KeyTranslatorTest, SpellsKeysAsTheOtherLayout) {
  EXPECT_EQ(to_cluster_.Translate("s:cart:u1"), "s:cart:{u1}");
  EXPECT_EQ(to_documented_.Translate("s:cart:{u1}"), "s:cart:u1");
  EXPECT_EQ(to_cluster_.Translate("token:t:u1"), "token:{u1}:t") << "by name and not by position";
  EXPECT_EQ(to_documented_.Translate("token:{u1}:t"), "token:t:u1");
  EXPECT_EQ(to_cluster_.Translate("all"), "all");
}

TEST_F(KeyTranslatorTest, KnowsWhatItCannotSpell) {
  EXPECT_EQ(to_cluster_.Translate("other:cart:u1"), std::nullopt);
  EXPECT_EQ(to_cluster_.Translate("s:cart:u}1"), std::nullopt);
  EXPECT_EQ(to_cluster_.Translate("batch"), std::nullopt) << "the shard is not in the key";
  EXPECT_EQ(to_documented_.Translate("batch:3"), "batch");
}

TEST_F(KeyTranslatorTest, ReturnsATranslationForEachFamily) {
  const KeyFamily from[] = {Family("shop.mark", "{prefix:any}:mark:{user:any}:{token:any}"),
                            Family("shop.seen", "{feed:any}:mark:{cursor:any}")};
  const KeyFamily to[] = {Family("shop.mark", "{prefix:any}:mark:{{{user:any}}}:{token:any}"),
                          Family("shop.seen", "{{{feed:any}}}:mark:{cursor:any}")};
  const KeyTranslator translator = *KeyTranslator::Create(from, to);

  const auto two = translator.Translations("s:mark:u:t");
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[0].family->id, "shop.mark");
  EXPECT_EQ(two[0].key, "s:mark:{u}:t");
  EXPECT_FALSE(two[0].is_ambiguous);
  EXPECT_EQ(two[1].family->id, "shop.seen");
  EXPECT_EQ(two[1].key, "{s}:mark:u:t");
  EXPECT_FALSE(two[1].is_ambiguous) << "the cursor takes the rest";

  const auto colon = translator.Translations("s:mark:u:1:t");
  ASSERT_EQ(colon.size(), 2u);
  EXPECT_TRUE(colon[0].is_ambiguous) << "user u and token 1:t, or user u:1 and token t";
  EXPECT_FALSE(colon[1].is_ambiguous);

  const auto brace = to_cluster_.Translations("s:cart:u}1");
  ASSERT_EQ(brace.size(), 1u);
  EXPECT_EQ(brace[0].key, std::nullopt) << "a tag with a brace";
  EXPECT_TRUE(translator.Translations("other").empty());
}

TEST_F(KeyTranslatorTest, FindsEveryOtherReadingAndNoMore) {
  const KeyFamily from[] = {Family("shop.log", "log:{user:any}:{item:any}:end"),
                            Family("shop.url", "url:{host:any}:{path:any}")};
  const KeyFamily to[] = {Family("shop.log", "log:{{{user:any}}}:{item:any}:end"),
                          Family("shop.url", "url:{host:any}:{path:any}")};
  const KeyTranslator translator = *KeyTranslator::Create(from, to);
  const auto one = translator.Translations("log:u:i:end");
  ASSERT_EQ(one.size(), 1u);
  EXPECT_FALSE(one[0].is_ambiguous) << "the second colon ends the item";
  EXPECT_TRUE(translator.Translations("log:u:i:j:end")[0].is_ambiguous);
  EXPECT_TRUE(translator.Translations("log::::end")[0].is_ambiguous);
  const auto url = translator.Translations("url:a:b:c");
  EXPECT_FALSE(url[0].is_ambiguous) << "every reading has the same key";
  EXPECT_EQ(url[0].key, "url:a:b:c");
}

TEST_F(KeyTranslatorTest, SpellsWithValuesThatTheKeyDoesNotContain) {
  const KeyBinding shard[] = {{"shard", "7"}};
  EXPECT_EQ(to_cluster_.Spell("batch", "shop.batch", "shop.batch", shard), "batch:7");
  EXPECT_EQ(to_cluster_.Spell("token:t:u", "shop.token", "shop.cart", {}), "s:cart:{u}");
  const KeyBinding word[] = {{"shard", "x"}};
  EXPECT_EQ(to_cluster_.Spell("batch", "shop.batch", "shop.batch", word), std::nullopt);
  EXPECT_EQ(to_cluster_.Spell("batch", "shop.batch", "shop.batch", {}), std::nullopt);
  EXPECT_EQ(to_cluster_.Spell("other", "shop.batch", "shop.batch", shard), std::nullopt);
  EXPECT_EQ(to_cluster_.Spell("batch", "shop.none", "shop.batch", shard), std::nullopt);
  EXPECT_EQ(to_cluster_.Spell("batch", "shop.batch", "shop.none", shard), std::nullopt);
}

TEST_F(KeyTranslatorTest, RefusesATableThatIsWrong) {
  const KeyBinding unknown[] = {{"none", "s"}};
  EXPECT_THAT(KeyTranslator::Create(documented_, cluster_, unknown).status(),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace redouble::inline v0_1::store
