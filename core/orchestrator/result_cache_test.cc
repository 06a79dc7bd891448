#include "redouble/core/orchestrator/result_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/orchestrator/testing/orchestrator_for_test.h"
#include "redouble/core/store/errors.h"
#include "redouble/tests/support/intercepted_store.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using base::IsOk;
using base::StatusIs;
using ::testing::ElementsAre;

constexpr CacheEntry kEntry = {.scope = "workflow", .key = "enrich_A:sha256:abc123"};
constexpr char kKey[] = "cache:workflow:enrich_A:sha256:abc123";

template <typename Backend>
class ResultCacheTest : public OrchestratorTest<Backend> {
 protected:
  std::optional<std::string> Get(CacheEntry entry = kEntry) {
    ResultCache cache(this->store());
    const auto ref = this->Run(cache.Get(entry));
    EXPECT_THAT(ref, IsOk());
    return ref.value_or(std::nullopt);
  }
  void Put(std::string_view ref) {
    ResultCache cache(this->store());
    EXPECT_THAT(this->Run(cache.Put(kEntry, ref)), IsOk());
  }
  bool Invalidate() {
    ResultCache cache(this->store());
    return this->Run(cache.Invalidate(kEntry)).value();
  }
};
TYPED_TEST_SUITE(ResultCacheTest, tests::LayoutBackends, tests::BackendNames);

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
  ASSERT_THAT(this->Run(cache.Put(kEntry, "ref")), IsOk());
  ASSERT_THAT(this->Run(cache.Get(kEntry)), IsOk());
  ASSERT_THAT(this->Run(cache.Invalidate(kEntry)), IsOk());
  const std::string key = kKey;
  EXPECT_THAT(store.log(), ElementsAre("SET " + key + " ref EX 3600", "GET " + key, "DEL " + key));
}

TYPED_TEST(ResultCacheTest, RefusesAnEntryThatIsNoneBeforeAnythingIsSent) {
  tests::InterceptedStore store(this->store());
  ResultCache cache(store);
  for (const CacheEntry entry :
       {CacheEntry{"a:b", "k"}, CacheEntry{"", "k"}, CacheEntry{"a", ""}}) {
    EXPECT_THAT(this->Run(cache.Get(entry)), StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT(this->Run(cache.Put(entry, "r")), StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT(this->Run(cache.Invalidate(entry)), StatusIs(absl::StatusCode::kInvalidArgument));
  }
  EXPECT_EQ(store.requests(), 0u);
}

TYPED_TEST(ResultCacheTest, PassesTheStoresErrorsOn) {
  this->Ask({"SADD", kKey, "member"});
  ResultCache cache(this->store());
  EXPECT_THAT(this->Run(cache.Get(kEntry)), StatusIs(absl::StatusCode::kFailedPrecondition));
  tests::InterceptedStore broken(this->store());
  broken.on_request = [](size_t) {
    return std::optional<absl::StatusOr<store::Reply>>(store::NotSentError("gone"));
  };
  ResultCache cut_off(broken);
  EXPECT_THAT(this->Run(cut_off.Get(kEntry)), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(this->Run(cut_off.Put(kEntry, "r")), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(this->Run(cut_off.Invalidate(kEntry)), StatusIs(absl::StatusCode::kUnavailable));
}

}  // namespace
}  // namespace redouble::inline v0_1::orchestrator
