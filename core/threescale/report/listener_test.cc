#include "redouble/core/threescale/report/listener.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/threescale/report/error_log.h"
#include "redouble/core/threescale/testing/authorizer_for_test.h"
#include "redouble/tests/support/intercepted_store.h"

namespace redouble::inline v0_1::threescale {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

template <typename Backend>
class ListenerTest : public AuthorizerTest<Backend> {
 protected:
  absl::StatusOr<Authorization> Authrep(AuthRequest request, AuthorizerOptions options = {}) {
    return this->Handle(Endpoint::kAuthrep, std::move(request), options);
  }
  static AuthorizerOptions Atomic() {
    AuthorizerOptions options;
    options.hardening.check_and_report_atomically = true;
    return options;
  }
  std::vector<UsageReport> Reports(const Authorization& answer) {
    return this->Run(Authorizer(this->process()).UsageReports(answer)).value();
  }
  LimitHeaders Headers(const Authorization& answer) {
    return this->Run(Authorizer(this->process()).FindLimitHeaders(answer)).value();
  }
  std::string Counter() {
    return this->Value("stats/{service:2}/cinstance:a1/metric:10/day:20260509");
  }
  std::vector<std::string> Errors() {
    return this->Run(ErrorLog(this->process()).List("2")).value();
  }
};
TYPED_TEST_SUITE(ListenerTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(ListenerTest, EnqueuesTheUsageOfAnAuthorizedAuthrep) {
  AuthRequest request = this->Request(Usage{{"hits", "2"}, {"other", "0"}});
  request.log_code = "200";
  EXPECT_EQ(this->Verdict(this->Authrep(request)), "");
  const std::optional<Job> job = this->queue_.Pop();
  ASSERT_TRUE(job);
  const ReportJob& report = std::get<ReportJob>(*job);
  EXPECT_EQ(report.service_id, "2");
  EXPECT_THAT(
      report.transactions,
      ElementsAre(Transaction{.app_id = "a1", .usage = {{"hits", "2"}}, .log_code = "200"}));
  EXPECT_FALSE(report.counted);
  EXPECT_EQ(report.enqueued_at, this->now());
}

TYPED_TEST(ListenerTest, EnqueuesNothingForARejectionAnAuthorizeOrNoUsage) {
  this->SaveLimit("10", Granularity::kDay, "1");
  EXPECT_EQ(this->Verdict(this->Authrep(this->Request(Usage{{"hits", "2"}}))), "limits_exceeded");
  EXPECT_EQ(this->Verdict(this->Authrep(this->Request(Usage{{"hits", "0"}}))), "");
  EXPECT_EQ(this->Verdict(this->Authrep(this->Request())), "");
  EXPECT_EQ(this->VerdictOn(this->Request(Usage{{"hits", "1"}})), "");
  EXPECT_EQ(this->queue_.size(), 0u);
  AuthRequest with_code = this->Request();
  with_code.log_code = "404";
  EXPECT_EQ(this->Verdict(this->Authrep(with_code)), "");
  EXPECT_EQ(this->queue_.size(), 1u);
}

TYPED_TEST(ListenerTest, NotifiesTheMaster) {
  const Process process = this->process();
  NotifierOptions options;
  options.master_service_id = "1";
  Notifier notifier(process, this->queue_, options);
  Listener listener(process, this->queue_, notifier);
  AuthRequest unknown = this->Request();
  unknown.app_id = "nope";
  this->Run(listener.Handle(Endpoint::kAuthorize, unknown, "{}")).status().IgnoreError();
  this->Run(listener.Handle(Endpoint::kAuthrep, unknown, "{}")).status().IgnoreError();
  AuthRequest no_service = this->Request();
  no_service.service_id = "9";
  this->Run(listener.Handle(Endpoint::kAuthrep, no_service, "{}")).status().IgnoreError();
  ASSERT_THAT(
      this->Run(listener.Handle(Endpoint::kAuthrep, this->Request(Usage{{"hits", "1"}}), "{}")),
      IsOk());
  ASSERT_THAT(this->Run(listener.Handle(Endpoint::kAuthrep, this->Request(), "{}")), IsOk());
  std::vector<std::string> lines;
  for (const store::Reply& line :
       this->Ask({"LRANGE", this->keys().NotifyBatch("pk"), "0", "-1"}).elements()) {
    lines.push_back(line.text());
  }
  const auto usage = [](std::string_view text) { return HasSubstr(std::string(text)); };
  EXPECT_THAT(lines, ElementsAre(usage(R"("usage":{"transactions/authorize":1},)"),
                                 usage(R"("usage":{"transactions/authorize":1},)"),
                                 usage(R"("usage":{"transactions/authorize":1,"transactions":1},)"),
                                 usage(R"("usage":{"transactions/authorize":1},)")));
}

TYPED_TEST(ListenerTest, StoresErrorsOfTheProvidersOwnService) {
  AuthRequest request = this->Request();
  request.app_id = "nope";
  EXPECT_EQ(this->VerdictOn(request), "error application_not_found");
  EXPECT_THAT(this->Errors(), ElementsAre(HasSubstr("application_not_found")));
  request.service_id.reset();  // The default service is used.
  EXPECT_EQ(this->VerdictOn(request), "error application_not_found");
  EXPECT_EQ(this->Errors().size(), 2u);
  request.provider_key = "bad";
  EXPECT_EQ(this->VerdictOn(request), "error provider_key_invalid_or_service_missing");
  request.service_id = "2";
  EXPECT_EQ(this->VerdictOn(request), "error provider_key_invalid");
  EXPECT_EQ(this->Errors().size(), 2u);
}

// A missing service has no owner, and neither has a request without a key.
TYPED_TEST(ListenerTest, StoresErrorsOfRequestsWithoutAKeyForMissingServices) {
  AuthRequest request = this->Request();
  request.provider_key.reset();
  request.service_id = "9";
  EXPECT_EQ(this->VerdictOn(request), "error provider_key_or_service_token_required");
  EXPECT_EQ(this->Ask({"LLEN", "errors/service_id:9"}), store::Reply::Integer(1));
}

TYPED_TEST(ListenerTest, ReportsLimitsWithTheUsageOfAnAuthrepAdded) {
  this->SaveLimit("10", Granularity::kDay, "10");
  this->Count({{"hits", "3"}});
  const AuthRequest request = this->Request(Usage{{"hits", "1"}, {"search", "2"}});
  const auto answer = this->Authrep(request);
  ASSERT_THAT(answer, IsOk());
  const std::vector<UsageReport> reports = this->Reports(*answer);
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].metric_name, "hits");
  EXPECT_EQ(reports[0].max_value, 10);
  EXPECT_EQ(reports[0].current_value, 6);
  EXPECT_FALSE(reports[0].exceeded);
  EXPECT_EQ(this->Reports(this->Authorize(request).value())[0].current_value, 3);
}

TYPED_TEST(ListenerTest, ReportsAnExceededLimitAsItStands) {
  this->SaveLimit("10", Granularity::kDay, "10");
  this->Count({{"hits", "11"}});
  const auto answer = this->Authrep(this->Request(Usage{{"hits", "1"}}));
  ASSERT_THAT(answer, IsOk());
  EXPECT_EQ(this->Verdict(answer), "limits_exceeded");
  EXPECT_EQ(this->Reports(*answer)[0].current_value, 11);
  EXPECT_TRUE(this->Reports(*answer)[0].exceeded);
  EXPECT_EQ(this->Headers(*answer).remaining, 0);
}

TYPED_TEST(ListenerTest, LeavesOutLimitsOfMetricsWithoutAName) {
  this->SaveLimit("10", Granularity::kDay, "10");
  this->Ask({"DEL", "metric/service_id:2/id:10/name"});
  const auto answer = this->Authorize(this->Request());
  ASSERT_THAT(answer, IsOk());
  EXPECT_EQ(answer->limits.size(), 1u);
  EXPECT_THAT(this->Reports(*answer), IsEmpty());
}

TYPED_TEST(ListenerTest, TellsTheTightestLimit) {
  this->SaveLimit("10", Granularity::kDay, "10");
  this->SaveLimit("10", Granularity::kHour, "8");
  this->SaveLimit("6", Granularity::kDay, "1");
  this->Count({{"hits", "4"}});
  const LimitHeaders of_hits =
      this->Headers(this->Authorize(this->Request(Usage{{"hits", "1"}})).value());
  EXPECT_EQ(of_hits.remaining, 4);
  EXPECT_EQ(of_hits.max_value, Integer(8));
  EXPECT_EQ(of_hits.reset_seconds, 3418);  // From 14:03:02 to 15:00:00.
  // Two at a time; hits is the parent of search.
  EXPECT_EQ(this->Headers(this->Authorize(this->Request(Usage{{"search", "2"}})).value()).remaining,
            2);
}

TYPED_TEST(ListenerTest, ReadsTheHierarchyOnlyForLimitsOfTheUsage) {
  this->SaveLimit("10", Granularity::kDay, "10");
  const Authorization answer = this->Authrep(this->Request(Usage{{"other", "1"}})).value();
  this->Ask({"DEL", "metrics/service_id:2/ids"});
  this->Ask({"SET", "metrics/service_id:2/ids", "of another type"});
  EXPECT_EQ(this->Headers(answer).remaining, -1);
}

TYPED_TEST(ListenerTest, PrefersTheLongerOfTwoPeriods) {
  this->SaveLimit("10", Granularity::kDay, "8");
  this->SaveLimit("10", Granularity::kEternity, "8");
  const LimitHeaders headers =
      this->Headers(this->Authorize(this->Request(Usage{{"hits", "1"}})).value());
  EXPECT_EQ(headers.remaining, 8);
  EXPECT_EQ(headers.reset_seconds, -1);
}

TYPED_TEST(ListenerTest, TellsWhenThereIsNoLimit) {
  const LimitHeaders headers = this->Headers(this->Authorize(this->Request()).value());
  EXPECT_EQ(headers.remaining, -1);
  EXPECT_EQ(headers.reset_seconds, -1);
  EXPECT_EQ(headers.max_value, std::nullopt);
}

TYPED_TEST(ListenerTest, NamesTheChildrenOfTheReportedMetrics) {
  this->SaveLimit("10", Granularity::kDay, "10");
  this->SaveLimit("6", Granularity::kDay, "10");
  const auto answer = this->Authorize(this->Request());
  ASSERT_THAT(answer, IsOk());
  ASSERT_OK_AND_ASSIGN(
      const HierarchyReport hierarchy,
      this->Run(Authorizer(this->process()).FindHierarchy(*answer, this->Reports(*answer))));
  EXPECT_EQ(hierarchy, (HierarchyReport{{"other", {}}, {"hits", {"search"}}}));
}

TYPED_TEST(ListenerTest, ListsNoMoreThan256Keys) {
  for (int i = 0; i < 300; ++i) {
    this->Ask({"SADD", "application/service_id:2/id:a1/keys", std::to_string(i)});
  }
  const AuthRequest request = this->Request();
  ASSERT_OK_AND_ASSIGN(
      const Authorization answer,
      this->Run(Authorizer(this->process()).Authorize(Endpoint::kAuthorize, "pk", request)));
  EXPECT_THAT(this->Run(Authorizer(this->process()).AppKeys(answer)), IsOkAndHolds(SizeIs(256)));
}

// Hazard H23: the counter is read now, and written when the worker runs.
TYPED_TEST(ListenerTest, LetsSeveralRequestsPassALimitOfOne) {
  this->SaveLimit("10", Granularity::kDay, "1");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(this->Verdict(this->Authrep(this->Request(Usage{{"hits", "1"}}))), "");
  }
  this->RunJobs();
  EXPECT_EQ(this->Counter(), "3");
}

TYPED_TEST(ListenerTest, CountsAtOnceWhenHardened) {
  this->SaveLimit("10", Granularity::kDay, "1");
  const AuthRequest request = this->Request(Usage{{"search", "1"}});
  const auto answer = this->Authrep(request, this->Atomic());
  ASSERT_THAT(answer, IsOk());
  EXPECT_EQ(this->Verdict(answer), "");
  EXPECT_TRUE(answer->counted);
  EXPECT_EQ(this->Reports(*answer)[0].current_value, 1);
  EXPECT_EQ(this->Verdict(this->Authrep(request, this->Atomic())), "limits_exceeded");
  EXPECT_EQ(this->Counter(), "1");
  this->RunJobs();
  EXPECT_EQ(this->Counter(), "1");
  EXPECT_EQ(this->Ask({"ZCARD", "events/queue"}), store::Reply::Integer(2));
}

// The script writes the same keys as a worker, including TTLs.
TYPED_TEST(ListenerTest, LeavesTheSameCountersWhenHardened) {
  const auto dump = [this] {
    std::map<std::string, std::pair<std::string, int64_t>> counters;
    for (const store::Reply& key : this->Ask({"KEYS", "stats/*metric*"}).elements()) {
      counters[key.text()] = {this->Value(key.text()), this->Ttl(key.text())};
    }
    return counters;
  };
  const Usage usages[] = {{{"search", "2"}, {"other", "1"}}, {{"hits", "#7"}}, {{"other", "#0"}}};
  for (const Usage& usage : usages) this->Count(usage);
  const auto by_worker = dump();
  for (const auto& [key, value] : by_worker) this->Ask({"DEL", key});
  for (const Usage& usage : usages) {
    EXPECT_EQ(this->Verdict(this->Authrep(this->Request(usage), this->Atomic())), "");
  }
  EXPECT_EQ(dump(), by_worker);
  EXPECT_EQ(by_worker.size(), 24u);
}

TYPED_TEST(ListenerTest, CountsNothingForAnApplicationThatIsDeletedMeanwhileWhenHardened) {
  this->SaveLimit("10", Granularity::kDay, "5");
  tests::InterceptedStore store(this->store());
  store.on_request = [&](size_t) -> std::optional<absl::StatusOr<store::Reply>> {
    if (store.log().back().starts_with("EVAL")) {
      this->Ask({"DEL", "application/service_id:2/id:a1/state"});
    }
    return std::nullopt;
  };
  const Process process = this->process_on(store);
  Notifier notifier(process, this->queue_);
  AuthorizerOptions options = this->Atomic();
  options.hardening.check_applications_atomically = true;
  Listener listener(process, this->queue_, notifier, options);
  const AuthRequest request = this->Request(Usage{{"hits", "1"}});
  const auto answer = this->Run(listener.Handle(Endpoint::kAuthrep, request, "{}"));
  EXPECT_EQ(this->Verdict(answer), "error application_not_found");
  EXPECT_EQ(this->Counter(), "nil");
  EXPECT_EQ(this->queue_.size(), 0u);
  this->SaveApplication("active");
  EXPECT_EQ(this->Verdict(this->Authrep(request, options)), "");
  EXPECT_EQ(this->Counter(), "1");
}

TYPED_TEST(ListenerTest, ChecksAHardenedRequestAsAnyOther) {
  this->SaveLimit("10", Granularity::kDay, "5");
  this->SaveLimit("6", Granularity::kEternity, "1");
  this->Count({{"other", "2"}});
  const auto verdict = [this](std::optional<Usage> usage) {
    return this->Verdict(this->Authrep(this->Request(std::move(usage)), this->Atomic()));
  };
  EXPECT_EQ(verdict(std::nullopt), "limits_exceeded");
  EXPECT_EQ(verdict(Usage{{"other", "0"}}), "limits_exceeded");
  EXPECT_EQ(verdict(Usage{{"hits", "6"}}), "limits_exceeded");
  EXPECT_EQ(verdict(Usage{{"hits", "#6"}}), "limits_exceeded");
  EXPECT_EQ(verdict(Usage{{"hits", "5"}}), "");
  EXPECT_EQ(verdict(Usage{{"hits", "1"}}), "limits_exceeded");
  EXPECT_EQ(this->Counter(), "5");
}

// Lua numbers could not tell these values apart.
TYPED_TEST(ListenerTest, ComparesInItsScriptToTheLastDigit) {
  constexpr std::string_view kAlmost = "9223372036854775800";
  const auto authrep = [&](std::string_view hits) {
    AuthRequest request = this->Request(Usage{{"hits", std::string(hits)}});
    return this->Verdict(this->Authrep(std::move(request), this->Atomic()));
  };
  this->SaveLimit("10", Granularity::kDay, "9223372036854775806");
  EXPECT_EQ(authrep("9223372036854775807"), "limits_exceeded");
  ASSERT_EQ(authrep(kAlmost), "");
  EXPECT_EQ(authrep("7"), "limits_exceeded");
  EXPECT_EQ(this->Counter(), kAlmost);
  EXPECT_EQ(authrep("6"), "");
  EXPECT_EQ(authrep("1" + std::string(40, '0')), "limits_exceeded");
  EXPECT_EQ(authrep("#9223372036854775807"), "limits_exceeded");
  EXPECT_EQ(authrep("#9223372036854775806"), "");
  EXPECT_EQ(authrep("1"), "limits_exceeded");
}

TYPED_TEST(ListenerTest, KeepsALimitBelowZeroInItsScript) {
  this->SaveLimit("10", Granularity::kDay, "-1");
  const auto verdict = [&](Usage usage) {
    return this->Verdict(this->Authrep(this->Request(std::move(usage)), this->Atomic()));
  };
  EXPECT_EQ(verdict({{"other", "1"}}), "limits_exceeded") << "0 is above it";
  this->Ask({"SET", "stats/{service:2}/cinstance:a1/metric:10/day:20260509", "-5"});
  EXPECT_EQ(verdict({{"hits", "4"}}), "");
  EXPECT_EQ(verdict({{"hits", "1"}}), "limits_exceeded");
}

}  // namespace
}  // namespace redouble::inline v0_1::threescale
