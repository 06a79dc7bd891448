#include "redouble/core/studio/app/studio.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/tests/support/studio_test.h"

namespace redouble::inline v0_1::studio {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using ::testing::ElementsAre;
using ::testing::Not;
using ::testing::SizeIs;

// A feed with the same events for all services, on one page.
class OneEventFeed final : public FeedSource {
 public:
  base::Task<absl::StatusOr<FeedPage>> Fetch(std::string_view, FeedRequest) override {
    FeedPage page;
    page.items = {Event("e1", "2026-05-09T14:00:00Z").event};
    co_return page;
  }
};

template <typename Backend>
class StudioTest : public StudioBackendTest<Backend> {
 protected:
  using Pairs = std::vector<std::pair<std::string_view, std::string_view>>;

  void SetUp() override {
    StudioBackendTest<Backend>::SetUp();
    if (this->IsSkipped()) return;
    clock_.emplace(this->now());
    capabilities_.response = HttpResponse{200, CapabilitiesWith(R"("events.feed")")};
  }
  std::unique_ptr<Studio> Make(store::Store& store, const Pairs& variables) {
    const StudioHttp http = {capabilities_, workers_, feed_};
    StudioSettings settings = ReadStudioSettings(variables).value();
    settings.key_layout = this->layout();
    return Studio::Create(store, *clock_, http, settings).value();
  }
  std::unique_ptr<Studio> Make(const Pairs& variables = {}) {
    return Make(this->store(), variables);
  }
  static python::Value Request() {
    return Json(R"({"service_id": "a", "name": "A", "base_url": "http://a.test",
                    "environment": "prod", "auth_mode": "none"})");
  }

  FixedCapabilities capabilities_;
  FixedWorkers workers_;
  OneEventFeed feed_;
  std::optional<base::VirtualClock> clock_;
};
TYPED_TEST_SUITE(StudioTest, tests::LayoutBackends, tests::BackendNames);

// The program of docs/systems/studio.md.
TYPED_TEST(StudioTest, RunsAWholeStudio) {
  // [readme: a whole Studio]
  const std::unique_ptr<Studio> studio = this->Make();
  ASSERT_THAT(this->Run(studio->Start()), IsOk());
  ASSERT_THAT(this->Run(studio->registry().CreateService(this->Request())), IsOk());
  ASSERT_THAT(this->Run(studio->registry().RefreshService("a", this->now())), IsOk());
  ASSERT_OK_AND_ASSIGN(const SyncRound round,
                       this->Run(studio->pull_sync().SyncAll(*this->clock_)));
  EXPECT_THAT(round.synced, ElementsAre("a"));
  ASSERT_THAT(this->Run(studio->health().RefreshAll(this->now())), IsOk());

  ASSERT_OK_AND_ASSIGN(const ServiceRecord service, this->Run(studio->GetService(" a ")));
  EXPECT_EQ(service.status, ServiceStatus::kHealthy);
  EXPECT_EQ(*service.health.Find("http_status")->Find("state"), python::Value("reachable"));
  EXPECT_THAT(this->Run(studio->ListServices()), IsOkAndHolds(ElementsAre(service)));
  const TaskQuery running = {.status = "running"};
  ASSERT_OK_AND_ASSIGN(const TaskPage page,
                       this->Run(studio->search().SearchTasks(running, this->now())));
  ASSERT_THAT(page.items, SizeIs(1));
  EXPECT_EQ(page.items[0].task_id, "t1");
  // [end]
  EXPECT_THAT(this->Run(studio->ingest().ListServiceEvents("a", {}, {})), IsOk());
  EXPECT_EQ(this->Ttl("studio:events:service:a:history"), 86400);
}

TYPED_TEST(StudioTest, TakesItsSettingsFromVariables) {
  const std::unique_ptr<Studio> studio =
      this->Make({{"RELAYNA_STUDIO_REGISTRY_PREFIX", "r"},
                  {"RELAYNA_STUDIO_EVENT_STORE_PREFIX", "e"},
                  {"RELAYNA_STUDIO_EVENT_STORE_TTL_SECONDS", "off"},
                  {"RELAYNA_STUDIO_EVENT_HISTORY_MAXLEN", "1"},
                  {"RELAYNA_STUDIO_HEALTH_STORE_PREFIX", "h"},
                  {"RELAYNA_STUDIO_TASK_SEARCH_INDEX_PREFIX", "s"},
                  {"RELAYNA_STUDIO_TASK_INDEX_TTL_SECONDS", "120"},
                  {"RELAYNA_STUDIO_PUSH_INGEST_ENABLED", "true"},
                  {"RELAYNA_STUDIO_CAPABILITY_STALE_AFTER_SECONDS", "10"}});
  ASSERT_THAT(this->Run(studio->registry().CreateService(this->Request())), IsOk());
  const EventEnvelope events[] = {Event("e1", "2026-05-09T14:00:00Z"),
                                  Event("e2", "2026-05-09T14:00:01Z")};
  ASSERT_OK_AND_ASSIGN(const IngestReport report, this->Run(studio->Push(events)));
  EXPECT_EQ(report.inserted, 2);
  ASSERT_THAT(this->Run(studio->health().RefreshHealth("a", this->now())), IsOk());
  EXPECT_TRUE(this->Exists("r:by-id:a"));
  EXPECT_TRUE(this->Exists("h:a"));
  EXPECT_TRUE(this->Exists("s:service:doc:a"));
  const std::string history = EventKeys("e", this->layout()).ServiceHistory("a");
  EXPECT_EQ(this->Ttl(history), -1);
  EXPECT_EQ(this->Ask({"LLEN", history}), store::Reply::Integer(1));
  ASSERT_OK_AND_ASSIGN(const HealthDocument stale,
                       this->Run(studio->health().GetHealth("a", this->now() + absl::Seconds(11))));
  EXPECT_EQ(stale.capability_status.state, CapabilityState::kStale);
  const TaskQuery all = {.service_id = "a"};
  const absl::Time end = this->clock_->Now() + absl::Seconds(120);
  EXPECT_THAT(this->Run(studio->search().SearchTasks(all, end - absl::Seconds(1))).value().items,
              SizeIs(1));
  EXPECT_THAT(this->Run(studio->search().SearchTasks(all, end)).value().items, SizeIs(0));
}

TYPED_TEST(StudioTest, AsksAServiceForItsCapabilitiesOnceInARefresh) {
  const std::unique_ptr<Studio> studio = this->Make();
  ASSERT_THAT(this->Run(studio->registry().CreateService(this->Request())), IsOk());
  ASSERT_OK_AND_ASSIGN(const ServiceRecord service, this->Run(studio->RefreshService(" a ")));
  EXPECT_THAT(this->capabilities_.asked, SizeIs(1));
  EXPECT_EQ(service.status, ServiceStatus::kHealthy);
  EXPECT_EQ(*service.health.Find("http_status")->Find("state"), python::Value("reachable"));
  EXPECT_EQ(*service.health.Find("capability_status")->Find("state"), python::Value("fresh"));
  EXPECT_EQ(*service.health.Find("last_checked_at"),
            python::Value(python::DateTime(this->clock_->Now())));
  EXPECT_THAT(this->Run(studio->GetService("a")), IsOkAndHolds(service));
  EXPECT_THAT(this->Members("studio:search:service:filter:health:unknown"), ElementsAre("a"))
      << "no events yet";

  this->capabilities_.response = HttpResponse{500, ""};
  EXPECT_EQ(ErrorOf(this->Run(studio->RefreshService("a")).status()), "CapabilityRefreshError");
  EXPECT_THAT(this->Run(studio->GetService("a")), IsOkAndHolds(service)) << "nothing is written";
  EXPECT_EQ(ErrorOf(this->Run(studio->RefreshService("b")).status()), "ServiceNotFoundError");
}

TYPED_TEST(StudioTest, AcceptsPushedEventsOnlyIfEnabled) {
  tests::InterceptedStore watched(this->store());
  const std::unique_ptr<Studio> studio = this->Make(watched, {});
  const EventEnvelope events[] = {Event("e1", "2026-05-09T14:00:00Z")};
  EXPECT_THAT(this->Run(studio->Push(events)), base::StatusIs(absl::StatusCode::kPermissionDenied));
  EXPECT_EQ(watched.requests(), 0u);
}

TYPED_TEST(StudioTest, RunsTheLoopsThatAreOn) {
  const std::unique_ptr<Studio> off =
      this->Make({{"RELAYNA_STUDIO_PULL_SYNC_INTERVAL_SECONDS", "off"},
                  {"RELAYNA_STUDIO_HEALTH_REFRESH_INTERVAL_SECONDS", "off"},
                  {"RELAYNA_STUDIO_RETENTION_PRUNE_INTERVAL_SECONDS", "off"}});
  EXPECT_THAT(this->Run(off->pull_sync_loop().Run()), IsOk());
  EXPECT_THAT(this->Run(off->health_loop().Run()), IsOk());
  EXPECT_THAT(this->Run(off->retention_loop().Run()), IsOk());

  const std::unique_ptr<Studio> on =
      this->Make({{"RELAYNA_STUDIO_HEALTH_REFRESH_INTERVAL_SECONDS", "30"}});
  ASSERT_THAT(this->Run(on->registry().CreateService(this->Request())), IsOk());
  base::Task<absl::Status> loop = on->health_loop().Run();
  loop.Start();
  EXPECT_THAT(this->capabilities_.asked, SizeIs(1));
  this->clock_->Advance(absl::Seconds(30));
  EXPECT_THAT(this->capabilities_.asked, SizeIs(2));
}

TYPED_TEST(StudioTest, PassesErrorsOn) {
  StudioSettings settings;
  settings.outbound.allowed_networks = {"x"};
  const StudioHttp http = {this->capabilities_, this->workers_, this->feed_};
  EXPECT_EQ(ErrorOf(Studio::Create(this->store(), *this->clock_, http, settings).status()),
            "ValueError");
  const std::unique_ptr<Studio> studio = this->Make();
  EXPECT_EQ(ErrorOf(this->Run(studio->GetService("a")).status()), "ServiceNotFoundError");
  ASSERT_THAT(this->Run(studio->registry().CreateService(this->Request())), IsOk());
  this->Ask({"LPUSH", "studio:health:a", "x"});
  EXPECT_THAT(this->Run(studio->GetService("a")), Not(IsOk()));
  EXPECT_THAT(this->Run(studio->ListServices()), Not(IsOk()));
  EXPECT_THAT(this->Run(studio->RefreshService("a")), Not(IsOk()));
  this->Ask({"DEL", "studio:search:task:all"});
  this->Ask({"SET", "studio:search:task:all", "x"});
  EXPECT_THAT(this->Run(studio->Start()), Not(IsOk()));
}

}  // namespace
}  // namespace redouble::inline v0_1::studio
