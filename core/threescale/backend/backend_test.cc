#include "redouble/core/threescale/backend/backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/threescale/errors.h"
#include "redouble/core/threescale/testing/authorizer_for_test.h"
#include "redouble/tests/support/intercepted_store.h"

namespace redouble::inline v0_1::threescale {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using base::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::SizeIs;

template <typename Backend_>
class BackendTest : public AuthorizerTest<Backend_> {
 protected:
  using Pairs = std::vector<std::pair<std::string_view, std::string_view>>;

  std::unique_ptr<Backend> Make(const Pairs& variables = {}, BackendParts parts = {}) {
    BackendSettings settings = ReadBackendSettings(variables).value();
    settings.key_layout = this->layout();
    return std::make_unique<Backend>(this->store(), this->clock(), settings, std::move(parts));
  }
  static HttpRequest Authrep(std::string query, HttpHeaders headers = {}) {
    return {.path = "/transactions/authrep.xml",
            .query = "provider_key=pk&service_id=2&app_id=a1" + std::move(query),
            .headers = std::move(headers)};
  }
  static HttpRequest Report(std::string body) {
    return {.method = "POST",
            .path = "/transactions.xml",
            .body = "provider_key=pk&service_id=2" + std::move(body)};
  }
};
TYPED_TEST_SUITE(BackendTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(BackendTest, AuthorizesCountsAndReads) {
  this->SaveLimit("10", Granularity::kDay, "2");
  const auto backend = this->Make();
  ASSERT_OK_AND_ASSIGN(const HttpResponse first,
                       this->Run(backend->Handle(this->Authrep("&usage[hits]=2"))));
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(first.body,
            R"(<?xml version="1.0" encoding="UTF-8"?><status><authorized>true</authorized>)"
            R"(<plan></plan><usage_reports><usage_report metric="hits" period="day">)"
            R"(<period_start>2026-05-09 00:00:00 +0000</period_start>)"
            R"(<period_end>2026-05-10 00:00:00 +0000</period_end><max_value>2</max_value>)"
            R"(<current_value>2</current_value></usage_report></usage_reports></status>)");
  EXPECT_EQ(backend->jobs(), 1u);
  ASSERT_THAT(this->Run(backend->RunJobs()), IsOk());
  StatsQuery query = {.service_id = "2", .application_id = "a1", .metric_id = "10"};
  query.since = query.until = this->now();
  EXPECT_THAT(this->Run(backend->stats().Total(query)), IsOkAndHolds(Integer(2)));

  const HttpHeaders options = {{"3scale-options", "rejection_reason_header=1&limit_headers=1"}};
  ASSERT_OK_AND_ASSIGN(const HttpResponse second,
                       this->Run(backend->Handle(this->Authrep("&usage[hits]=1", options))));
  EXPECT_EQ(second.status, 409);
  EXPECT_THAT(second.body, HasSubstr("<reason>usage limits are exceeded</reason>"));
  EXPECT_THAT(second.headers,
              ElementsAre(Pair("Content-Type", "application/vnd.3scale-v2.0+xml"),
                          Pair("3scale-rejection-reason", "limits_exceeded"),
                          Pair("3scale-limit-remaining", "0"), Pair("3scale-limit-reset", "35818"),
                          Pair("3scale-limit-max-value", "2")));
  EXPECT_EQ(backend->jobs(), 0u);
}

TYPED_TEST(BackendTest, AcceptsAReport) {
  const auto backend = this->Make();
  ASSERT_OK_AND_ASSIGN(const HttpResponse accepted,
                       this->Run(backend->Handle(this->Report(
                           "&transactions[0][app_id]=a1&transactions[0][usage][hits]=3"))));
  EXPECT_EQ(accepted.status, 202);
  EXPECT_EQ(accepted.body, "");
  ASSERT_THAT(this->Run(backend->RunJobs()), IsOk());
  EXPECT_EQ(this->Value("stats/{service:2}/metric:10/eternity"), "3");
  EXPECT_THAT(this->Run(backend->events().List()).value(), SizeIs(2));
  ASSERT_OK_AND_ASSIGN(const HttpResponse blank, this->Run(backend->Handle(this->Report(""))));
  EXPECT_EQ(blank.status, 400);
  EXPECT_THAT(blank.body, HasSubstr("transactions_is_blank"));
}

TYPED_TEST(BackendTest, AnswersErrorsAndStoresThem) {
  const auto backend = this->Make();
  ASSERT_OK_AND_ASSIGN(const HttpResponse refused,
                       this->Run(backend->Handle(this->Authrep("&usage[nope]=1"))));
  EXPECT_EQ(refused.status, 404);
  EXPECT_EQ(refused.body, R"(<?xml version="1.0" encoding="UTF-8"?><error code="metric_invalid">)"
                          R"(metric "nope" is invalid</error>)");
  ASSERT_OK_AND_ASSIGN(const std::vector<std::string> errors,
                       this->Run(backend->errors().List("2")));
  ASSERT_THAT(errors, SizeIs(1));
  EXPECT_THAT(errors[0], HasSubstr("usage[nope]=1"));
  ASSERT_OK_AND_ASSIGN(const HttpResponse malformed,
                       this->Run(backend->Handle(this->Authrep("&usage=1"))));
  EXPECT_EQ(malformed.status, 403);
  EXPECT_EQ(malformed.body, "");
  ASSERT_OK_AND_ASSIGN(const HttpResponse silent,
                       this->Run(backend->Handle(this->Authrep("&usage[nope]=1&no_body=1"))));
  EXPECT_EQ(silent.status, 404);
  EXPECT_EQ(silent.body, "");
}

TYPED_TEST(BackendTest, HasNoResponseForAnErrorOfRedis) {
  const auto backend = this->Make();
  this->Ask({"DEL", "service_id:2/applications"});
  this->Ask({"DEL", "metrics/service_id:2/ids"});
  this->Ask({"SET", "metrics/service_id:2/ids", "x"});
  EXPECT_THAT(this->Run(backend->Handle(this->Authrep(""))),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TYPED_TEST(BackendTest, AnswersWithoutRedisWhereItCan) {
  tests::InterceptedStore store(this->store());
  Backend backend(store, this->clock());
  EXPECT_EQ(this->Run(backend.Handle({.path = "/check.txt"})).value().body, "ok");
  EXPECT_EQ(this->Run(backend.Handle({.path = "/"})).value().status, 404);
  EXPECT_EQ(store.requests(), 0u);
}

TYPED_TEST(BackendTest, TakesItsSettingsFromVariables) {
  int called = 0;
  BackendParts parts;
  parts.events_hook = [&called]() -> base::Task<absl::Status> {
    ++called;
    co_return absl::OkStatus();
  };
  const auto backend = this->Make({{"CONFIG_MASTER_SERVICE_ID", "1"},
                                   {"CONFIG_NOTIFICATION_BATCH", "2"},
                                   {"CONFIG_MASTER_METRICS_TRANSACTIONS", "t"},
                                   {"CONFIG_EVENTS_HOOK", "http://h"}},
                                  parts);
  const HttpRequest request = this->Authrep("&usage[hits]=1");
  ASSERT_THAT(this->Run(backend->Handle(request)), IsOk());
  EXPECT_EQ(this->Ask({"LLEN", this->keys().NotifyBatch("pk")}), store::Reply::Integer(1));
  EXPECT_THAT(this->Ask({"LINDEX", this->keys().NotifyBatch("pk"), "0"}).text(),
              HasSubstr(R"("t":1)"));
  ASSERT_THAT(this->Run(backend->Handle(request)), IsOk());
  EXPECT_EQ(this->Ask({"EXISTS", this->keys().NotifyBatch("pk")}), store::Reply::Integer(0));
  EXPECT_EQ(backend->jobs(), 3u) << "two reports and a notification";
  ASSERT_THAT(this->Run(backend->RunJobs()), IsOk());
  EXPECT_EQ(called, 1);
}

TYPED_TEST(BackendTest, GivesItsJobsToAnotherQueue) {
  InProcessJobQueue other;
  const auto backend = this->Make({}, {.queue = &other});
  ASSERT_THAT(this->Run(backend->Handle(this->Authrep("&usage[hits]=1"))), IsOk());
  EXPECT_EQ(backend->jobs(), 0u);
  ASSERT_EQ(other.size(), 1u);
  ASSERT_THAT(this->Run(backend->worker().Run(*other.Pop())), IsOk());
  EXPECT_EQ(this->Value("stats/{service:2}/metric:10/eternity"), "1");
}

}  // namespace
}  // namespace redouble::inline v0_1::threescale
