#include "redouble/core/threescale/report/worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/threescale/report/error_log.h"
#include "redouble/core/threescale/testing/reporting_for_test.h"
#include "redouble/tests/support/intercepted_store.h"

namespace redouble::inline v0_1::threescale {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Transaction Of(std::string app_id, Usage usage) {
  Transaction transaction;
  transaction.app_id = std::move(app_id);
  transaction.usage = std::move(usage);
  return transaction;
}

template <typename Backend>
class WorkerTest : public ReportingTest<Backend> {
 protected:
  absl::Status RunReport(std::vector<Transaction> transactions, bool flat_usage = false) {
    ReportJob job;
    job.service_id = "2";
    job.transactions = std::move(transactions);
    job.flat_usage = flat_usage;
    return this->Run(Worker(this->process()).Run(Job(std::move(job))));
  }
  // The code of the newest error; "none" if the list is empty.
  std::string LastError() {
    const auto errors = this->Run(ErrorLog(this->process()).List("2"));
    if (!errors.ok() || errors->empty()) return "none";
    const std::string& entry = errors->front();
    const size_t code = entry.find("\"code\":\"") + 8;
    return entry.substr(code, entry.find('"', code) - code);
  }
  // The application is gone when the next script runs.
  void DeleteApplicationBeforeScripts(tests::InterceptedStore& store) {
    store.on_request = [this, &store](size_t) -> std::optional<absl::StatusOr<store::Reply>> {
      if (store.log().back().starts_with("EVAL")) {
        this->Ask({"DEL", "application/service_id:2/id:app/state"});
      }
      return std::nullopt;
    };
  }
  // Runs an invalid report, and expects that it is done and nothing was counted.
  void ExpectDiscarded(std::vector<Transaction> transactions, std::string_view code) {
    this->Ask({"DEL", "errors/service_id:2"});
    EXPECT_THAT(RunReport(std::move(transactions)), IsOk()) << code;
    EXPECT_EQ(LastError(), code);
    EXPECT_EQ(this->Counter("6", "eternity"), "nil");
  }
};
TYPED_TEST_SUITE(WorkerTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(WorkerTest, CountsUsageForParentsToo) {
  ASSERT_THAT(this->RunReport({Of("app", {{"search", "2"}, {"hits", "1"}})}), IsOk());
  EXPECT_EQ(this->Counter("7", "eternity"), "2");
  EXPECT_EQ(this->Counter("6", "eternity"), "3");
  EXPECT_EQ(this->LastError(), "none");
}

TYPED_TEST(WorkerTest, CountsNoParentsOfFlatUsage) {
  ASSERT_THAT(this->RunReport({Of("app", {{"search", "2"}})}, /*flat_usage=*/true), IsOk());
  EXPECT_EQ(this->Counter("7", "eternity"), "2");
  EXPECT_EQ(this->Counter("6", "eternity"), "nil");
}

TYPED_TEST(WorkerTest, TellsNobodyOfAReportThatCountsNothing) {
  int calls = 0;
  WorkerOptions options;
  options.aggregator.events_hook = [&]() -> base::Task<absl::Status> {
    ++calls;
    co_return absl::OkStatus();
  };
  const auto run = [&](Usage usage) {
    ReportJob job{.service_id = "2", .transactions = {Of("app", std::move(usage))}};
    return this->Run(Worker(this->process(), options).Run(Job(std::move(job))));
  };
  ASSERT_THAT(run({{"hits", "1"}}), IsOk());
  EXPECT_EQ(calls, 1);
  this->Ask({"DEL", "events/ping"});
  ASSERT_THAT(run({}), IsOk());
  EXPECT_EQ(calls, 1);
}

TYPED_TEST(WorkerTest, SkipsATransactionWithoutUsageAndItsCode) {
  Transaction transaction = Of("app", {});
  transaction.log_code = "200";
  ASSERT_THAT(this->RunReport({transaction}), IsOk());
  EXPECT_EQ(this->Ask({"EXISTS", "stats/{service:2}/response_code:200/eternity"}),
            store::Reply::Integer(0));
}

TYPED_TEST(WorkerTest, WritesApplicationByApplication) {
  this->SaveApplication("other");
  tests::InterceptedStore store(this->store());
  ReportJob job;
  job.service_id = "2";
  job.transactions = {Of("app", {{"hits", "1"}}), Of("other", {{"hits", "2"}}),
                      Of("app", {{"hits", "3"}})};
  ASSERT_THAT(this->Run(Worker(this->process_on(store)).Run(Job(job))), IsOk());
  std::vector<std::string> writes;
  for (const std::string& line : store.log()) {
    if (line.starts_with("INCRBY stats/{service:2}/metric:6/eternity")) {
      writes.push_back(line.substr(line.rfind(' ') + 1));
    }
  }
  EXPECT_THAT(writes, ElementsAre("1", "3", "2"));
}

TYPED_TEST(WorkerTest, FindsApplicationsByUserKey) {
  this->Ask({"SET", "application/service_id:2/key:uk/id", "app"});
  Transaction transaction;
  transaction.user_key = "uk";
  transaction.usage = {{"hits", "1"}};
  ASSERT_THAT(this->RunReport({transaction}), IsOk());
  EXPECT_EQ(this->Counter("6", "eternity"), "1");
}

// The application is deleted between the check and the counters.
TYPED_TEST(WorkerTest, DiscardsAReportOfAnApplicationThatIsDeletedMeanwhileWhenHardened) {
  tests::InterceptedStore store(this->store());
  this->DeleteApplicationBeforeScripts(store);
  WorkerOptions options;
  options.aggregator.hardening.check_applications_atomically = true;
  ReportJob job;
  job.service_id = "2";
  job.transactions = {Of("app", {{"hits", "1"}})};
  ASSERT_THAT(this->Run(Worker(this->process_on(store), options).Run(Job(job))), IsOk());
  EXPECT_EQ(this->LastError(), "application_not_found");
  EXPECT_EQ(this->Counter("6", "eternity"), "nil");
}

TYPED_TEST(WorkerTest, DropsANotificationOfAnApplicationThatIsDeletedMeanwhileWhenHardened) {
  this->Ask({"SET", "application/service_id:2/key:pk/id", "app"});
  tests::InterceptedStore store(this->store());
  this->DeleteApplicationBeforeScripts(store);
  WorkerOptions options;
  options.master_service_id = "2";
  options.aggregator.hardening.check_applications_atomically = true;
  NotifyJob job;
  job.provider_key = "pk";
  job.usage = {{"hits", "1"}};
  job.time = this->now();
  ASSERT_THAT(this->Run(Worker(this->process_on(store), options).Run(Job(job))), IsOk());
  EXPECT_EQ(this->LastError(), "none");
  EXPECT_EQ(this->Counter("6", "eternity"), "nil");
}

TYPED_TEST(WorkerTest, CountsADeliveredJobOnceWhenHardened) {
  this->Ask({"SET", "application/service_id:2/key:pk/id", "app"});
  WorkerOptions options;
  options.master_service_id = "2";
  options.aggregator.hardening.count_jobs_once = true;
  ReportJob report;
  report.service_id = "2";
  report.transactions = {Of("app", {{"hits", "1"}})};
  report.id = "j1";
  NotifyJob notification;
  notification.provider_key = "pk";
  notification.usage = {{"hits", "10"}};
  notification.time = this->now();
  notification.id = "j2";
  Worker worker(this->process(), options);
  for (int i = 0; i < 2; ++i) {
    ASSERT_THAT(this->Run(worker.Run(Job(report))), IsOk());
    ASSERT_THAT(this->Run(worker.Run(Job(notification))), IsOk());
  }
  EXPECT_EQ(this->Counter("6", "eternity"), "11");
}

TYPED_TEST(WorkerTest, DiscardsTheWholeReportForOneMistake) {
  const Transaction good = Of("app", {{"hits", "1"}});
  this->ExpectDiscarded({good, Of("nobody", {{"hits", "1"}})}, "application_not_found");
  this->ExpectDiscarded({good, Of("app", {{"nope", "1"}})}, "metric_invalid");
  this->ExpectDiscarded({good, Of("app", {{"hits", "-1"}})}, "usage_value_invalid");
  Transaction both = good;
  both.user_key = "uk";
  this->ExpectDiscarded({good, both}, "authentication_error");
  Transaction unknown_key;
  unknown_key.user_key = "nope";
  this->ExpectDiscarded({good, unknown_key}, "user_key_invalid");
  this->ExpectDiscarded({good, Transaction()}, "application_not_found");
  this->ExpectDiscarded({good, Of("app", {{"hits", "\xff"}})}, "not_valid_data");
}

TYPED_TEST(WorkerTest, DescribesNoRequestInItsErrors) {
  ASSERT_THAT(this->RunReport({Of("nobody", {{"hits", "1"}})}), IsOk());
  const auto errors = this->Run(ErrorLog(this->process()).List("2"));
  ASSERT_THAT(errors, IsOkAndHolds(::testing::SizeIs(1)));
  EXPECT_THAT(errors->front(), ::testing::EndsWith(",\"context_info\":{}}"));
}

TYPED_TEST(WorkerTest, TakesTransactionsWithinTheWindowOfTimeOnly) {
  const auto at = [&](absl::Duration ahead) {
    Transaction transaction = Of("app", {{"hits", "1"}});
    transaction.timestamp = FormatJsonTime(this->now() + ahead);
    return transaction;
  };
  this->ExpectDiscarded({at(-absl::Seconds(86401))}, "transaction_timestamp_too_old");
  this->ExpectDiscarded({at(absl::Seconds(3601))}, "transaction_timestamp_too_new");
  ASSERT_THAT(this->RunReport({at(-absl::Seconds(86400)), at(absl::Seconds(3600))}), IsOk());
  EXPECT_EQ(this->Counter("6", "day:20260616"), "1");
  EXPECT_EQ(this->Counter("6", "hour:2026061718"), "1");
}

TYPED_TEST(WorkerTest, BooksAtItsOwnTimeWhatHasNone) {
  Transaction unreadable = Of("app", {{"hits", "1"}});
  unreadable.timestamp = "whenever";
  Transaction empty = unreadable;
  empty.timestamp = "";
  ASSERT_THAT(this->RunReport({Of("app", {{"hits", "1"}}), unreadable, empty}), IsOk());
  EXPECT_EQ(this->Counter("6", "minute:202606171742"), "3");
}

TYPED_TEST(WorkerTest, FailsOnACircleOfParents) {
  this->SaveMetric("6", "hits", "7");
  const absl::Status status = this->RunReport({Of("app", {{"search", "1"}})});
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(this->LastError(), "none");
}

TYPED_TEST(WorkerTest, StopsAtAJobThatFails) {
  InProcessJobQueue queue;
  ReportJob job;
  job.service_id = "2";
  job.transactions = {Of("app", {{"hits", "99999999999999999999"}})};
  ASSERT_THAT(this->Run(queue.Enqueue(Job(job))), IsOk());
  job.transactions = {Of("app", {{"hits", "1"}})};
  ASSERT_THAT(this->Run(queue.Enqueue(Job(job))), IsOk());
  Worker worker(this->process());
  EXPECT_THAT(this->Run(worker.RunAll(queue)), Not(IsOk()));
  EXPECT_EQ(queue.size(), 1u);
  EXPECT_THAT(this->Run(worker.RunAll(queue)), IsOk());
}

template <typename Backend>
class NotifyJobTest : public ReportingTest<Backend> {
 protected:
  // Service 2 is the master service.
  absl::Status RunNotify(std::string provider_key, Usage usage,
                         absl::Duration ahead = absl::ZeroDuration()) {
    NotifyJob job;
    job.provider_key = std::move(provider_key);
    job.usage = std::move(usage);
    job.time = this->now() + ahead;
    return this->Run(
        Worker(this->process(), {.aggregator = {}, .master_service_id = "2"}).Run(Job(job)));
  }
};
TYPED_TEST_SUITE(NotifyJobTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(NotifyJobTest, CountsOnTheMasterService) {
  this->Ask({"SET", "application/service_id:2/key:p1/id", "app"});
  ASSERT_THAT(this->RunNotify("p1", {{"search", "2"}}, -absl::Hours(1)), IsOk());
  EXPECT_EQ(this->Counter("6", "hour:2026061716"), "2");
  EXPECT_THAT(this->EventTypes(), ElementsAre("first_traffic", "first_daily_traffic"));
}

TYPED_TEST(NotifyJobTest, DropsWhatCannotBeCounted) {
  const int64_t keys = this->KeyCount();
  EXPECT_THAT(this->RunNotify("stranger", {{"hits", "2"}}), IsOk());
  this->Ask({"SET", "application/service_id:2/key:p1/id", "app"});
  EXPECT_THAT(this->RunNotify("p1", {{"nope", "2"}}), IsOk());
  EXPECT_THAT(this->RunNotify("p1", {{"hits", "2"}}, absl::Hours(2)), IsOk());
  this->Ask({"SET", "application/service_id:2/key:p1/id", "gone"});
  EXPECT_THAT(this->RunNotify("p1", {{"hits", "2"}}), IsOk());
  EXPECT_THAT(this->Run(Worker(this->process()).Run(Job(NotifyJob()))), IsOk());
  EXPECT_EQ(this->KeyCount(), keys + 1);
}

}  // namespace
}  // namespace redouble::inline v0_1::threescale
