#include "redouble/core/studio/ingest/loops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/python/iso_time.h"
#include "redouble/tests/support/studio_test.h"

namespace redouble::inline v0_1::studio {
namespace {

using base::IsOk;
using ::testing::SizeIs;

// An empty feed that counts its requests and can fail.
class EmptyFeed final : public FeedSource {
 public:
  base::Task<absl::StatusOr<FeedPage>> Fetch(std::string_view, FeedRequest) override {
    ++asked;
    if (fails) co_return absl::UnavailableError("no feed");
    co_return FeedPage();
  }

  int asked = 0;
  bool fails = false;
};

// The loops wait on a manual clock; the tests also advance the server's time where it matters.
template <typename Backend>
class LoopsTest : public StudioBackendTest<Backend> {
 protected:
  void SetUp() override {
    StudioBackendTest<Backend>::SetUp();
    if (this->IsSkipped()) return;
    clock_.emplace(this->now());
    parts_ = std::make_unique<Parts>(this->store(), capabilities_, workers_, feed_);
  }

  struct Parts {
    Parts(store::Store& store, FixedCapabilities& capabilities, FixedWorkers& workers,
          FeedSource& feed)
        : records(store, StudioBackendTest<Backend>::Options(RegistryStoreOptions())),
          documents(store, StudioBackendTest<Backend>::Options(SearchStoreOptions())),
          index(documents, {}),
          registry(records, {.policy = OutboundPolicy::Create().value(), .fetcher = &capabilities}),
          events(store, StudioBackendTest<Backend>::Options(EventStoreOptions())),
          health_documents(store),
          health({.registry = registry,
                  .events = events,
                  .documents = health_documents,
                  .workers = workers,
                  .indexer = nullptr,
                  .limits = {}}),
          ingest(registry, events, nullptr),
          sync(ingest, events, feed, {}) {}

    RegistryStore records;
    SearchStore documents;
    SearchIndex index;
    Registry registry;
    EventStore events;
    HealthStore health_documents;
    HealthService health;
    IngestService ingest;
    PullSync sync;
  };

  void Register(ServiceStatus status) {
    ServiceRecord record = Service("a", "http://a.test");
    record.status = status;
    record.capabilities = Json(CapabilitiesWith("\"events.feed\""));
    ASSERT_THAT(this->Run(parts_->records.Create(record)), IsOk());
  }
  // Writes a task document that expires after `life`.
  void SetTask(const std::string& task_id, absl::Duration life) {
    TaskDocument document;
    document.service_id = "a";
    document.task_id = task_id;
    document.expires_at = python::FormatIsoZ(this->now() + life);
    ASSERT_THAT(this->Run(parts_->documents.SetTaskDocument(document)), IsOk());
  }
  size_t TaskCount() { return this->Members("studio:search:task:all").size(); }

  FixedCapabilities capabilities_;
  FixedWorkers workers_;
  EmptyFeed feed_;
  std::optional<base::VirtualClock> clock_;
  std::unique_ptr<Parts> parts_;
};
TYPED_TEST_SUITE(LoopsTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(LoopsTest, PrunesAtOnceAndThenAtEveryInterval) {
  this->SetTask("t1", absl::ZeroDuration());
  this->SetTask("t2", absl::Seconds(60));
  this->SetTask("t3", absl::Seconds(61));
  RetentionLoop loop(this->parts_->index, *this->clock_, absl::Seconds(60));
  base::Task<absl::Status> run = loop.Run();
  run.Start();
  EXPECT_EQ(this->TaskCount(), 2u);
  this->clock_->Advance(absl::Seconds(60) - absl::Microseconds(1));
  EXPECT_EQ(this->TaskCount(), 2u);
  this->clock_->Advance(absl::Microseconds(1));
  EXPECT_EQ(this->TaskCount(), 1u) << "expired at its expires_at";
  EXPECT_EQ(loop.removed(), 2);
  this->clock_->Advance(absl::Seconds(60));
  EXPECT_EQ(this->TaskCount(), 0u);
  EXPECT_EQ(loop.removed(), 3);
  EXPECT_FALSE(run.done());
}

TYPED_TEST(LoopsTest, AreOffWithoutAnInterval) {
  this->SetTask("t1", absl::ZeroDuration());
  RetentionLoop retention(this->parts_->index, *this->clock_, std::nullopt);
  HealthLoop health(this->parts_->health, *this->clock_, std::nullopt);
  PullSyncLoop sync(this->parts_->sync, *this->clock_, std::nullopt);
  EXPECT_THAT(this->Run(retention.Run()), IsOk());
  EXPECT_THAT(this->Run(health.Run()), IsOk());
  EXPECT_THAT(this->Run(sync.Run()), IsOk());
  EXPECT_EQ(this->TaskCount(), 1u);
}

// L1: an invalid document ends the retention loop.
TYPED_TEST(LoopsTest, EndTheirPruneAtACorruptDocument) {
  RetentionLoop loop(this->parts_->index, *this->clock_, absl::Seconds(60));
  base::Task<absl::Status> run = loop.Run();
  run.Start();
  this->Ask({"SADD", "studio:search:task:all", "x"});
  this->Ask({"SET", "studio:search:task:doc:x", "{bad"});
  this->clock_->Advance(absl::Seconds(60));
  ASSERT_TRUE(run.done());
  EXPECT_EQ(ErrorOf(run.TakeResult()), "ValidationError");
}

TYPED_TEST(LoopsTest, RefreshHealthAtEveryInterval) {
  this->Register(ServiceStatus::kRegistered);
  HealthLoop loop(this->parts_->health, *this->clock_, absl::Seconds(60));
  base::Task<absl::Status> run = loop.Run();
  run.Start();
  EXPECT_THAT(this->capabilities_.asked, SizeIs(1));
  this->clock_->Advance(absl::Seconds(59));
  EXPECT_THAT(this->capabilities_.asked, SizeIs(1));
  this->clock_->Advance(absl::Seconds(61));
  EXPECT_THAT(this->capabilities_.asked, SizeIs(3)) << "a failed fetch is repeated";
  EXPECT_FALSE(run.done());
}

TYPED_TEST(LoopsTest, EndTheirHealthChecksAtACorruptRecordAndADisabledService) {
  this->Register(ServiceStatus::kDisabled);
  HealthLoop loop(this->parts_->health, *this->clock_, absl::Seconds(60));
  base::Task<absl::Status> run = loop.Run();
  run.Start();
  EXPECT_FALSE(run.done());
  this->Ask({"DEL", "studio:health:a"});
  this->Ask({"LPUSH", "studio:health:a", "x"});
  this->clock_->Advance(absl::Seconds(60));
  ASSERT_TRUE(run.done());
  EXPECT_EQ(store::ServerErrorCode(run.TakeResult()), "WRONGTYPE");
  this->Ask({"SET", "studio:services:by-id:a", "{"});
  EXPECT_EQ(ErrorOf(this->Run(loop.Run())), "ValidationError");
}

TYPED_TEST(LoopsTest, PullEveryFiveSecondsWhateverTheyMeet) {
  this->Register(ServiceStatus::kHealthy);
  PullSyncLoop loop(this->parts_->sync, *this->clock_, kDefaultPullSyncInterval);
  base::Task<absl::Status> run = loop.Run();
  run.Start();
  EXPECT_EQ(this->feed_.asked, 1);
  this->feed_.fails = true;
  this->clock_->Advance(absl::Seconds(10));
  EXPECT_EQ(this->feed_.asked, 3);
  EXPECT_EQ(loop.failed_rounds(), 0) << "a failed feed is not a failed round";
  const std::string record = this->Value("studio:services:by-id:a");
  this->Ask({"SET", "studio:services:by-id:a", "{"});
  this->clock_->Advance(absl::Seconds(10));
  EXPECT_EQ(loop.failed_rounds(), 2);
  EXPECT_EQ(ErrorOf(loop.last_error()), "ValidationError");
  this->Ask({"SET", "studio:services:by-id:a", record});
  this->clock_->Advance(absl::Seconds(5));
  EXPECT_EQ(this->feed_.asked, 4) << "the loop continues";
  EXPECT_FALSE(run.done());
}

// A shutdown can stop a sequence of commands anywhere; the next round completes it.
TYPED_TEST(LoopsTest, StopWhereTheyStand) {
  this->SetTask("t1", absl::ZeroDuration());
  {
    RetentionLoop loop(this->parts_->index, *this->clock_, absl::Seconds(60));
    base::Task<absl::Status> run = loop.Run();
    run.Start();
    EXPECT_EQ(loop.removed(), 1);
  }
  this->SetTask("t2", absl::ZeroDuration());
  this->clock_->Advance(absl::Seconds(600));
  EXPECT_EQ(this->TaskCount(), 1u) << "the loop has ended";
}

}  // namespace
}  // namespace redouble::inline v0_1::studio
