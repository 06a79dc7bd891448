#include "core/orchestrator/result_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/store/errors.h"
#include "tests/support/backends.h"
#include "tests/support/intercepted_store.h"

namespace redouble::orchestrator {
namespace {

using ::testing::ElementsAre;

constexpr CacheEntry kEntry = {.scope = "workflow", .key = "enrich_A:sha256:abc123"};
constexpr char kKey[] = "cache:workflow:enrich_A:sha256:abc123";

template <typename Backend>
class ResultCacheTest : public tests::BackendTest<Backend> {
 protected:
  std::optional<std::string> Get(CacheEntry entry = kEntry) {
    ResultCache cache(this->store());
    const auto ref = this->Run(cache.Get(entry));
    EXPECT_TRUE(ref.ok()) << ref.status();
    return ref.value_or(std::nullopt);
  }
  void Put(std::string_view ref) {
    ResultCache cache(this->store());
    EXPECT_TRUE(this->Run(cache.Put(kEntry, ref)).ok());
  }
  bool Invalidate() {
    ResultCache cache(this->store());
    return *this->Run(cache.Invalidate(kEntry));
  }
};
TYPED_TEST_SUITE(ResultCacheTest, tests::Backends, tests::BackendNames);

TYPED_TEST(ResultCacheTest, GivesWhatWasPut) {
  EXPECT_EQ(this->Get(), std::nullopt);
  this->Put("cas://sha256:xyz789");
  EXPECT_EQ(this->Get(), "cas://sha256:xyz789");
  EXPECT_EQ(this->Value(kKey), "cas://sha256:xyz789");
  EXPECT_EQ(this->Get({"workflow", "enrich_A:sha256:abc12"}), std::nullopt);
}

TYPED_TEST(ResultCacheTest, ForgetsAfterAnHourThatOnlyWritingBeginsAgain) {
  this->Put("one");
  EXPECT_EQ(this->Ttl(kKey), 3600);
  this->Advance(absl::Minutes(50));
  EXPECT_EQ(this->Get(), "one");
  EXPECT_EQ(this->Ttl(kKey), 600);
  this->Put("two");
  EXPECT_EQ(this->Ttl(kKey), 3600);
  this->Advance(absl::Hours(1));
  EXPECT_EQ(this->Get(), "two");
  this->Advance(absl::Milliseconds(1));
  EXPECT_EQ(this->Get(), std::nullopt);
}

TYPED_TEST(ResultCacheTest, ForgetsWhatIsInvalidated) {
  EXPECT_FALSE(this->Invalidate());
  this->Put("one");
  EXPECT_TRUE(this->Invalidate());
  EXPECT_EQ(this->Get(), std::nullopt);
  EXPECT_EQ(this->KeyCount(), 0);
}

TYPED_TEST(ResultCacheTest, SendsOneCommandEach) {
  tests::InterceptedStore store(this->store());
  ResultCache cache(store);
  ASSERT_TRUE(this->Run(cache.Put(kEntry, "ref")).ok());
  ASSERT_TRUE(this->Run(cache.Get(kEntry)).ok());
  ASSERT_TRUE(this->Run(cache.Invalidate(kEntry)).ok());
  const std::string key = kKey;
  EXPECT_THAT(store.log(), ElementsAre("SET " + key + " ref EX 3600", "GET " + key, "DEL " + key));
}

TYPED_TEST(ResultCacheTest, RefusesAnEntryThatIsNoneBeforeAnythingIsSent) {
  tests::InterceptedStore store(this->store());
  ResultCache cache(store);
  for (const CacheEntry entry :
       {CacheEntry{"a:b", "k"}, CacheEntry{"", "k"}, CacheEntry{"a", ""}}) {
    EXPECT_TRUE(absl::IsInvalidArgument(this->Run(cache.Get(entry)).status()));
    EXPECT_TRUE(absl::IsInvalidArgument(this->Run(cache.Put(entry, "r"))));
    EXPECT_TRUE(absl::IsInvalidArgument(this->Run(cache.Invalidate(entry)).status()));
  }
  EXPECT_EQ(store.requests(), 0u);
}

TYPED_TEST(ResultCacheTest, PassesTheStoresErrorsOn) {
  this->Ask({"SADD", kKey, "member"});
  ResultCache cache(this->store());
  EXPECT_TRUE(absl::IsFailedPrecondition(this->Run(cache.Get(kEntry)).status()));
  tests::InterceptedStore broken(this->store());
  broken.on_request = [](size_t) {
    return std::optional<absl::StatusOr<store::Reply>>(store::NotSentError("gone"));
  };
  ResultCache cut_off(broken);
  EXPECT_TRUE(absl::IsUnavailable(this->Run(cut_off.Get(kEntry)).status()));
  EXPECT_TRUE(absl::IsUnavailable(this->Run(cut_off.Put(kEntry, "r"))));
  EXPECT_TRUE(absl::IsUnavailable(this->Run(cut_off.Invalidate(kEntry)).status()));
}

}  // namespace
}  // namespace redouble::orchestrator
