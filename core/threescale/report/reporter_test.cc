#include "redouble/core/threescale/report/reporter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/threescale/errors.h"
#include "redouble/core/threescale/testing/reporting_for_test.h"
#include "redouble/tests/support/intercepted_store.h"

namespace redouble::inline v0_1::threescale {
namespace {

using base::IsOk;

Transaction Of(Usage usage) {
  Transaction transaction;
  transaction.app_id = "app";
  transaction.usage = std::move(usage);
  return transaction;
}

template <typename Backend>
class ReporterTest : public ReportingTest<Backend> {
 protected:
  static ReportRequest Request(std::vector<std::optional<Transaction>> transactions) {
    ReportRequest request;
    request.provider_key = "pkey";
    request.service_id = "2";
    request.transactions = std::move(transactions);
    return request;
  }
  absl::Status Report(ReportRequest request) {
    Notifier notifier(this->process(), queue_, {.master_service_id = "1"});
    return this->Run(Reporter(this->process(), queue_, notifier).Report(std::move(request)));
  }
  std::optional<ErrorCode> ReportError(ReportRequest request) {
    const std::optional<ErrorCode> code = ErrorCodeOf(Report(std::move(request)));
    EXPECT_EQ(queue_.size(), 0u);
    return code;
  }
  std::string Notified() {
    return this->Ask({"LRANGE", this->keys().NotifyBatch("pkey"), "0", "-1"}).DebugString();
  }

  InProcessJobQueue queue_;
};
TYPED_TEST_SUITE(ReporterTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(ReporterTest, LeavesAJobAndNotifiesTheMaster) {
  ReportRequest request = this->Request({Of({{"hits", "1"}}), Of({})});
  request.flat_usage = true;
  ASSERT_THAT(this->Report(request), IsOk());
  const std::optional<Job> job = this->queue_.Pop();
  ASSERT_TRUE(job.has_value());
  const auto& report = std::get<ReportJob>(*job);
  EXPECT_EQ(report.service_id, "2");
  EXPECT_EQ(report.transactions.size(), 2u) << "one without any usage stays";
  EXPECT_TRUE(report.flat_usage);
  EXPECT_EQ(report.enqueued_at, this->now());
  EXPECT_THAT(this->Notified(), ::testing::HasSubstr("{\\\"transactions\\\":2}"));
}

TYPED_TEST(ReporterTest, DropsUsageOfZero) {
  ASSERT_THAT(
      this->Report(this->Request({Of({{"hits", "0"}}), Of({{"hits", "0"}, {"search", "1"}})})),
      IsOk());
  const std::optional<Job> job = this->queue_.Pop();
  ASSERT_TRUE(job.has_value());
  const auto& report = std::get<ReportJob>(*job);
  ASSERT_EQ(report.transactions.size(), 1u);
  EXPECT_EQ(report.transactions[0].usage, (Usage{{"search", "1"}}));
}

TYPED_TEST(ReporterTest, SendsNothingWhenNoTransactionIsLeft) {
  ASSERT_THAT(this->Report(this->Request({Of({{"hits", "0"}})})), IsOk());
  EXPECT_EQ(this->queue_.size(), 0u);
  EXPECT_EQ(this->Notified(), "[]");
}

TYPED_TEST(ReporterTest, RefusesOtherContentTypes) {
  ReportRequest request = this->Request({Of({{"hits", "1"}})});
  for (const char* type : {"application/json", "text/plain; charset=utf-8"}) {
    request.content_type = type;
    EXPECT_EQ(this->ReportError(request), ErrorCode::kContentTypeInvalid) << type;
  }
  for (const char* type : {"", "application/x-www-form-urlencoded; charset=utf-8",
                           "multipart/form-data; boundary=x"}) {
    request.content_type = type;
    EXPECT_THAT(this->Report(request), IsOk()) << type;
  }
}

TYPED_TEST(ReporterTest, NamesTheMediaTypeThatItRefuses) {
  ReportRequest request = this->Request({Of({{"hits", "1"}})});
  request.content_type = "Text/Plain ; charset=utf-8";
  EXPECT_EQ(this->Report(request).message(), "invalid Content-Type: text/plain");
  request.content_type = "application/json, text/plain";
  EXPECT_EQ(this->Report(request).message(), "invalid Content-Type: application/json");
}

// Unlike the authorization endpoints, this one does not normalize its parameters.
TYPED_TEST(ReporterTest, TakesIdsAsTheyAre) {
  ReportRequest request = this->Request({Of({{"hits", "1"}})});
  request.provider_key = " pkey ";
  EXPECT_EQ(this->Report(request).message(), "provider key \" pkey \" is invalid");
  request.provider_key = " ";
  EXPECT_EQ(this->Report(request).message(), "provider key \" \" is invalid");
  request.provider_key = "pkey";
  request.service_id = " 2 ";
  EXPECT_EQ(this->ReportError(request), ErrorCode::kServiceIdInvalid);
}

TYPED_TEST(ReporterTest, RefusesWhatHasTheWrongForm) {
  EXPECT_EQ(this->ReportError(this->Request({})), ErrorCode::kTransactionsIsBlank);
  EXPECT_EQ(this->ReportError(this->Request({std::nullopt})),
            ErrorCode::kTransactionsHasNilTransaction);
  ReportRequest no_map = this->Request({});
  no_map.transactions_are_no_map = true;
  EXPECT_EQ(this->ReportError(no_map), ErrorCode::kTransactionsFormatInvalid);
  ReportRequest user_id = this->Request({Of({{"hits", "1"}})});
  user_id.names_user_id = true;
  EXPECT_EQ(this->ReportError(user_id), ErrorCode::kEndUsersNoLongerSupported);
}

TYPED_TEST(ReporterTest, RefusesStrangers) {
  ReportRequest request = this->Request({Of({{"hits", "1"}})});
  request.provider_key = "other";
  EXPECT_EQ(this->ReportError(request), ErrorCode::kProviderKeyInvalid);
  request.provider_key = std::nullopt;
  EXPECT_EQ(this->ReportError(request), ErrorCode::kProviderKeyOrServiceTokenRequired);
  request.service_token = "token";
  EXPECT_EQ(this->ReportError(request), ErrorCode::kServiceTokenInvalid);
  this->Ask({"HSET", "service_token/token:token/service_id:2", "permissions", ""});
  EXPECT_THAT(this->Report(request), IsOk());
}

}  // namespace
}  // namespace redouble::inline v0_1::threescale
