#include "redouble/core/threescale/notify/notifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/threescale/testing/process_for_test.h"
#include "redouble/tests/support/intercepted_store.h"

namespace redouble::inline v0_1::threescale {
namespace {

using base::IsOk;
using ::testing::ElementsAre;
using ::testing::Not;

template <typename Backend>
class NotifierTest : public ProcessTest<Backend> {
 protected:
  Notifier notifier(store::Store& store, NotifierOptions options) {
    return Notifier(this->process_on(store), queue_, std::move(options));
  }
  absl::Status Notify(std::string_view provider_key, Notification notification,
                      NotifierOptions options = {.master_service_id = "1", .batch_size = 3}) {
    return this->Run(
        notifier(this->store(), std::move(options)).Notify(provider_key, notification));
  }
  // A provider of the same batch as p1.
  std::string Another() const {
    for (int i = 2;; ++i) {
      std::string provider = "p" + std::to_string(i);
      if (this->keys().NotifyBatch(provider) == this->keys().NotifyBatch("p1")) return provider;
    }
  }
  NotifyJob PopJob() {
    std::optional<Job> job = queue_.Pop();
    EXPECT_TRUE(job.has_value());
    return job ? std::get<NotifyJob>(*job) : NotifyJob();
  }

  InProcessJobQueue queue_;
};
TYPED_TEST_SUITE(NotifierTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(NotifierTest, DoesNothingWithoutAMasterService) {
  ASSERT_THAT(this->Notify("pkey", {.transactions = 1}, {}), IsOk());
  EXPECT_EQ(this->KeyCount(), 0);
}

TYPED_TEST(NotifierTest, LeavesALineWithTheMinute) {
  ASSERT_THAT(this->Notify("pkey", {.transactions = 0, .authorizations = 1}), IsOk());
  EXPECT_EQ(this->Ask({"LRANGE", this->keys().NotifyBatch("pkey"), "0", "-1"}).DebugString(),
            R"(["{\"provider_key\":\"pkey\",\"usage\":{\"transactions/authorize\":1,)"
            R"(\"transactions\":0},\"time\":\"2026-05-09 14:03:00 UTC\"}"])");
  EXPECT_EQ(this->queue_.size(), 0u);
}

TYPED_TEST(NotifierTest, SumsAFullBatchByProviderAndMinute) {
  ASSERT_THAT(this->Notify("p1", {.authorizations = 1}), IsOk());
  const std::string other = this->Another();
  ASSERT_THAT(this->Notify(other, {.transactions = 5}), IsOk());
  ASSERT_THAT(this->Notify("p1", {.transactions = 2, .authorizations = 1}), IsOk());
  EXPECT_EQ(this->KeyCount(), 0);
  ASSERT_EQ(this->queue_.size(), 2u);
  const NotifyJob first = this->PopJob();
  EXPECT_EQ(first.provider_key, "p1");
  EXPECT_THAT(first.usage, ElementsAre(UsageEntry{"transactions/authorize", "2"},
                                       UsageEntry{"transactions", "2"}));
  EXPECT_EQ(first.time, base::ParseRfc3339("2026-05-09T14:03:00Z").value());
  EXPECT_EQ(this->PopJob().provider_key, other);
}

TYPED_TEST(NotifierTest, DividesProvidersIntoShardsInTheClusterLayout) {
  constexpr int kProviders = 640;
  const NotifierOptions options{.master_service_id = "1", .batch_size = 1000};
  for (int i = 0; i < kProviders; ++i) {
    ASSERT_THAT(this->Notify("provider-" + std::to_string(i), {.transactions = 1}, options),
                IsOk());
  }
  EXPECT_EQ(this->KeyCount(), this->in_cluster_layout() ? kNotifyShards : 1);
}

TYPED_TEST(NotifierTest, KeepsMinutesApart) {
  ASSERT_THAT(this->Notify("p1", {.transactions = 1}), IsOk());
  this->Advance(absl::Minutes(1));
  ASSERT_THAT(this->Notify("p1", {.transactions = 1}), IsOk());
  ASSERT_THAT(this->Notify("p1", {.transactions = 1}), IsOk());
  ASSERT_EQ(this->queue_.size(), 2u);
  EXPECT_THAT(this->PopJob().usage, ElementsAre(UsageEntry{"transactions", "1"}));
  EXPECT_THAT(this->PopJob().usage, ElementsAre(UsageEntry{"transactions", "2"}));
}

TYPED_TEST(NotifierTest, TakesABatchInAPipelineAndHardenedInATransaction) {
  NotifierOptions options{.master_service_id = "1", .batch_size = 1};
  tests::InterceptedStore store(this->store());
  ASSERT_THAT(this->Run(this->notifier(store, options).Notify("p1", {.transactions = 1})), IsOk());
  EXPECT_EQ(store.requests(), 2u);
  EXPECT_THAT(this->Documented(store.log()),
              ElementsAre(::testing::StartsWith("RPUSH"), "LRANGE notify/aggregator/batch 0 0",
                          "LTRIM notify/aggregator/batch 1 -1"));
  options.hardening.take_notifications_atomically = true;
  tests::InterceptedStore hardened(this->store());
  ASSERT_THAT(this->Run(this->notifier(hardened, options).Notify("p1", {.transactions = 1})),
              IsOk());
  EXPECT_THAT(
      this->Documented(hardened.log()),
      ElementsAre(::testing::StartsWith("RPUSH"), "MULTI", "LRANGE notify/aggregator/batch 0 0",
                  "LTRIM notify/aggregator/batch 1 -1", "EXEC"));
  EXPECT_EQ(this->queue_.size(), 2u);
}

TYPED_TEST(NotifierTest, FailsOnALineThatIsNone) {
  this->Ask({"RPUSH", this->keys().NotifyBatch("p1"), "junk", "{}"});
  EXPECT_EQ(this->Notify("p1", {.transactions = 1}).code(), absl::StatusCode::kInvalidArgument);
}

TYPED_TEST(NotifierTest, PassesStoreErrorsOn) {
  this->Ask({"SET", this->keys().NotifyBatch("p1"), "x"});
  EXPECT_EQ(this->Notify("p1", {.transactions = 1}).code(), absl::StatusCode::kFailedPrecondition);
}

TEST(SummedNotifications, RefuseLinesOfAnotherShape) {
  for (const char* line :
       {"", "[]", "{}", R"({"provider_key":1,"usage":{},"time":"2025-04-23 17:42:00 UTC"})",
        R"({"provider_key":"p","usage":{},"time":"never"})",
        R"({"provider_key":"p","usage":[],"time":"2025-04-23 17:42:00 UTC"})",
        R"({"provider_key":"p","usage":{"a":"1"},"time":"2025-04-23 17:42:00 UTC"})"}) {
    EXPECT_THAT(SumNotifications({line}), Not(IsOk())) << line;
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::threescale
