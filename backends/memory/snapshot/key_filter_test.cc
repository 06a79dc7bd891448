// Goal: a filter decides which keys are loaded and which are saved, and nothing else changes.
#include "redouble/backends/memory/snapshot/key_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "redouble/backends/memory/engine/session_for_test.h"
#include "redouble/backends/memory/snapshot/load_rdb.h"
#include "redouble/backends/memory/snapshot/save_rdb.h"
#include "redouble/core/base/status/status_matchers.h"

namespace redouble::inline v0_1::memory {
namespace {

using base::IsOk;
using testing::HasSubstr;

constexpr store::KeyFamily FamilyOf(std::string_view id, std::string_view system,
                                    std::string_view pattern) {
  store::KeyFamily family = {};
  family.id = id;
  family.system = system;
  family.pattern = pattern;
  return family;
}

constexpr store::KeyFamily kFamilies[] = {FamilyOf("shop.cart", "shop", "cart:{user}"),
                                          FamilyOf("shop.stock", "shop", "stock:{day}"),
                                          FamilyOf("mail.box", "mail", "box:{user}")};

class KeyFilterTest : public testing::Test {
 protected:
  KeyFilterTest() {
    EXPECT_THAT(families_.Add(kFamilies), IsOk());
    for (const char* key : {"cart:ann", "cart:bob", "stock:1", "box:ann", "other"}) {
      session_.Send({"SET", key, "v", "PX", "5000"});
    }
    session_.Send({"SELECT", "2"});
    session_.Send({"SET", "cart:two", "v"});
    session_.Send({"SELECT", "0"});
  }

  std::string Saved(KeyFilter keeps) {
    StringSink sink;
    EXPECT_THAT(SaveRdb(engine_, sink, {.keeps = std::move(keeps)}), IsOk());
    return sink.bytes();
  }

  // What another engine has after loading, of databases 0 and 2.
  std::string Loaded(const std::string& bytes, KeyFilter keeps) {
    Engine engine(clock_);
    StringSource source(bytes);
    const auto report = LoadRdb(engine, source, {.keeps = std::move(keeps)});
    EXPECT_THAT(report.status(), IsOk());
    filtered_ = report->filtered_keys;
    RecordingSession session(engine);
    const std::string first = session.Send({"SORT", "none"}) + session.Send({"KEYS", "*"});
    session.Send({"SELECT", "2"});
    return first + session.Send({"KEYS", "*"});
  }

  base::VirtualClock clock_{absl::FromUnixSeconds(1'700'000'000)};
  Engine engine_{clock_};
  RecordingSession session_{engine_};
  store::FamilyTable families_;
  uint64_t filtered_ = 0;
};

TEST_F(KeyFilterTest, KeepsWhatOneOfThePatternsMatches) {
  const KeyFilter filter = KeysLike({"cart:a*", "other"});
  EXPECT_TRUE(filter("cart:ann"));
  EXPECT_TRUE(filter("other"));
  EXPECT_FALSE(filter("cart:bob"));
}

TEST_F(KeyFilterTest, KeepsFamiliesAndSystems) {
  const KeyFilter cart = KeysOfFamilies(families_, {"shop.cart"});
  EXPECT_TRUE(cart("cart:ann"));
  EXPECT_FALSE(cart("stock:1"));
  EXPECT_FALSE(cart("other"));
  const KeyFilter shop = KeysOfFamilies(families_, {"shop"});
  EXPECT_TRUE(shop("stock:1"));
  EXPECT_FALSE(shop("box:ann"));
}

TEST_F(KeyFilterTest, AKeyBelongsToEachFamilyThatItMatches) {
  static constexpr store::KeyFamily kLater[] = {FamilyOf("mail.cart", "mail", "cart:{user}")};
  ASSERT_THAT(families_.Add(kLater), IsOk());
  EXPECT_TRUE(KeysOfFamilies(families_, {"shop.cart"})("cart:ann"));
  EXPECT_TRUE(KeysOfFamilies(families_, {"mail.cart"})("cart:ann"));
  EXPECT_TRUE(KeysOfFamilies(families_, {"mail"})("cart:ann"));
}

TEST_F(KeyFilterTest, DecidesWhatIsLoaded) {
  const std::string all = Saved({});
  EXPECT_EQ(Loaded(all, KeysOfFamilies(families_, {"shop.stock"})), "[][\"stock:1\"][]");
  EXPECT_EQ(filtered_, 5u);
  EXPECT_EQ(Loaded(all, KeysLike({"*two"})), "[][][\"cart:two\"]");
}

// The sizes that the file announces are those of the saved keys.
TEST_F(KeyFilterTest, DecidesWhatIsSaved) {
  EXPECT_EQ(Loaded(Saved(KeysOfFamilies(families_, {"mail"})), {}), "[][\"box:ann\"][]");
  EXPECT_THAT(Saved(KeysLike({"stock:*", "box:*"})),
              HasSubstr("\xfe" + std::string(1, '\0') + "\xfb\x02\x02\xfc"));
  EXPECT_EQ(Loaded(Saved(KeysLike({"nothing"})), {}), "[][][]");
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
