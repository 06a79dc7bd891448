// Backend::Restore: Redis gets system's data back, also while requests arrive.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/threescale/backend/backend.h"
#include "redouble/core/threescale/errors.h"
#include "redouble/core/threescale/testing/process_for_test.h"
#include "redouble/tests/support/intercepted_store.h"

namespace redouble::inline v0_1::threescale {
namespace {

using base::IsOk;
using base::StatusIs;
using store::Reply;
using ::testing::AnyOf;

SystemService Service() {
  SystemService service = {.id = "2", .provider_key = "pkey", .backend_version = "2"};
  service.referrer_filters_required = true;
  service.is_default = true;
  service.tokens = {"token"};
  Metric hits = {"", "6", "hits"};
  hits.children = {{"", "7", "search"}};
  service.metrics = {hits, {"", "8", "other"}};
  service.plans = {{"44",
                    {{"6", Granularity::kDay, 5},
                     {"6", Granularity::kEternity, 100},
                     {"8", Granularity::kMinute, 1}}}};
  service.alert_levels = {50, 100};
  SystemApplication application = {.id = "app", .plan_id = "44", .plan_name = "Gold"};
  application.user_keys = {"uk"};
  application.keys = {"secret", "other"};
  application.referrer_filters = {"*.example.org"};
  service.applications = {application, {.id = "idle", .state = "suspended"}};
  return service;
}

template <typename Backend_>
class RestoreTest : public ProcessTest<Backend_> {
 protected:
  std::unique_ptr<Backend> Make(store::Store& store) {
    BackendSettings settings;
    settings.key_layout = this->layout();
    return std::make_unique<Backend>(store, this->clock(), settings);
  }
  absl::Status Restore(store::Store& store, const SystemService& service = Service()) {
    const auto backend = Make(store);
    return this->Run(backend->Restore(service));
  }
  absl::Status Restore() { return Restore(this->store()); }
  // The status of the answer to a request of the application.
  int Authorize(std::string query) {
    const auto backend = Make(this->store());
    HttpRequest request = {.path = "/transactions/authorize.xml",
                           .query = "service_id=2&app_id=app" + std::move(query)};
    return this->Run(backend->Handle(request)).value().status;
  }
  // The types and the members or texts of all keys.
  std::map<std::string, std::string> Dump() {
    std::map<std::string, std::string> dump;
    for (const Reply& key : this->Ask({"KEYS", "*"}).elements()) {
      const std::string name = key.text();
      const bool is_set = this->Ask({"TYPE", name}).text() == "set";
      const Reply value = is_set ? this->Ask({"SORT", name, "ALPHA"}) : this->Ask({"DUMP", name});
      dump[name] = value.DebugString();
    }
    return dump;
  }

  static constexpr char kGood[] = "&provider_key=pkey&app_key=secret&referrer=a.example.org";
};
TYPED_TEST_SUITE(RestoreTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(RestoreTest, WritesWhatTheStoresWrite) {
  ASSERT_THAT(this->Restore(), IsOk());
  const std::map<std::string, std::string> restored = this->Dump();
  this->Ask({"FLUSHALL"});
  const auto backend = this->Make(this->store());
  ServiceSave service = {.id = "2", .provider_key = "pkey", .backend_version = "2"};
  service.referrer_filters_required = true;
  ASSERT_THAT(this->Run(backend->services().Save(service)), IsOk());
  const ServiceTokenPair tokens[] = {{"token", "2"}};
  ASSERT_THAT(this->Run(backend->service_tokens().SavePairs(tokens)), IsOk());
  for (const Metric& metric :
       {Metric{"2", "6", "hits"}, Metric{"2", "7", "search", "6"}, Metric{"2", "8", "other"}}) {
    ASSERT_THAT(this->Run(backend->metrics().Save(metric)), IsOk());
  }
  const UsageLimitSave of_hits[] = {{Granularity::kDay, "5"}, {Granularity::kEternity, "100"}};
  const UsageLimitSave of_other[] = {{Granularity::kMinute, "1"}};
  const PlanRef plan = {"2", "44"};
  ASSERT_THAT(this->Run(backend->usage_limits().Save(plan, "6", of_hits)), IsOk());
  ASSERT_THAT(this->Run(backend->usage_limits().Save(plan, "8", of_other)), IsOk());
  for (const char* level : {"50", "100"}) {
    ASSERT_THAT(this->Run(backend->alert_limits().Save("2", level)), IsOk());
  }
  const ApplicationSave app = {
      .service_id = "2", .id = "app", .state = "active", .plan_id = "44", .plan_name = "Gold"};
  ASSERT_THAT(this->Run(backend->applications().Save(app)), IsOk());
  const ApplicationSave idle = {.service_id = "2", .id = "idle", .state = "suspended"};
  ASSERT_THAT(this->Run(backend->applications().Save(idle)), IsOk());
  ASSERT_THAT(this->Run(backend->applications().SaveUserKey({"2", "uk"}, "app")), IsOk());
  base::Rng rng(1);
  for (const char* key : {"secret", "other"}) {
    ASSERT_THAT(this->Run(backend->applications().CreateKey({"2", "app"}, key, rng)), IsOk());
  }
  const ApplicationRef ref = {"2", "app"};
  ASSERT_THAT(this->Run(backend->applications().CreateReferrerFilter(ref, "*.example.org")),
              IsOk());
  EXPECT_EQ(restored, this->Dump());
  EXPECT_THAT(this->Restore(), IsOk()) << "also over data that is there";
  EXPECT_EQ(restored, this->Dump());
}

TYPED_TEST(RestoreTest, AnswersAgain) {
  EXPECT_EQ(this->Authorize(this->kGood), 403);
  ASSERT_THAT(this->Restore(), IsOk());
  EXPECT_EQ(this->Authorize(this->kGood), 200);
  EXPECT_EQ(this->Authorize("&service_token=token&app_key=other&referrer=a.example.org"), 200);
  EXPECT_EQ(this->Authorize(this->kGood + std::string("&usage[search]=6")), 409);
  EXPECT_EQ(this->Authorize("&provider_key=pkey&referrer=a.example.org"), 409);
}

TYPED_TEST(RestoreTest, KeepsWhatSystemDoesNotHave) {
  ASSERT_THAT(this->Restore(), IsOk());
  this->Ask({"SADD", "application/service_id:2/id:app/keys", "later"});
  this->Ask({"SET", "stats/{service:2}/metric:6/eternity", "7"});
  this->Ask({"DEL", "application/service_id:2/id:app/state"});
  ASSERT_THAT(this->Restore(), IsOk());
  EXPECT_EQ(this->Authorize("&provider_key=pkey&app_key=later&referrer=a.example.org"), 200);
  EXPECT_EQ(this->Value("stats/{service:2}/metric:6/eternity"), "7");
}

// The restoration ends before each of its requests in turn, and is repeated. Until it is complete,
// a request without a key, from elsewhere or above a limit is never authorized.
TYPED_TEST(RestoreTest, IsSafeWhereverItEnds) {
  ASSERT_THAT(this->Restore(), IsOk());
  const std::map<std::string, std::string> complete = this->Dump();
  size_t fail = 0;
  for (bool failed = true; failed; ++fail) {
    ASSERT_LT(fail, 60u);
    this->Ask({"FLUSHALL"});
    tests::InterceptedStore store(this->store());
    store.on_request = [fail](size_t index) -> std::optional<absl::StatusOr<Reply>> {
      if (index == fail) return store::NotSentError("gone");
      return std::nullopt;
    };
    const absl::Status status = this->Restore(store);
    failed = store.requests() > fail;
    EXPECT_EQ(status.ok(), !failed);
    for (const char* const bad :
         {"&provider_key=pkey&referrer=a.example.org",
          "&provider_key=pkey&app_key=secret&referrer=a.example.com",
          "&provider_key=pkey&app_key=secret&referrer=a.example.org&usage[hits]=6"}) {
      EXPECT_THAT(this->Authorize(bad), AnyOf(403, 404, 409)) << fail << bad;
    }
    this->Ask({"DEL", "errors/service_id:2"});
    ASSERT_THAT(this->Restore(), IsOk());
    EXPECT_EQ(this->Dump(), complete) << fail;
  }
  EXPECT_GT(fail, 15u);
}

TYPED_TEST(RestoreTest, RefusesWhatCannotBeBeforeItSends) {
  tests::InterceptedStore store(this->store());
  SystemService service = Service();
  service.tokens.push_back("");
  EXPECT_EQ(ErrorCodeOf(this->Restore(store, service)), ErrorCode::kInvalidServiceToken);
  service = Service();
  service.alert_levels.push_back(51);
  EXPECT_THAT(this->Restore(store, service), StatusIs(absl::StatusCode::kInvalidArgument));
  service = Service();
  service.applications[0].referrer_filters.push_back(" ");
  EXPECT_EQ(ErrorCodeOf(this->Restore(store, service)), ErrorCode::kReferrerFilterInvalid);
  service = Service();
  service.applications[1].user_keys.push_back("");
  EXPECT_EQ(ErrorCodeOf(this->Restore(store, service)), ErrorCode::kApplicationHasInconsistentData);
  EXPECT_EQ(store.requests(), 0u);
}

}  // namespace
}  // namespace redouble::inline v0_1::threescale
