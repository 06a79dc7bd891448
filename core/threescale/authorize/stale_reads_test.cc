// The stale answers of a listener with a read cache, and how long they last (hazard H20 of
// docs/systems/threescale.md). Another process writes meanwhile. A listener without a memoizer sees
// all changes at once.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/threescale/authorize/limit_usage.h"
#include "redouble/core/threescale/memoizer.h"
#include "redouble/core/threescale/testing/authorizer_for_test.h"
#include "redouble/core/threescale/text/integer.h"

namespace redouble::inline v0_1::threescale {
namespace {

using base::IsOk;

template <typename Backend>
class StaleReads : public AuthorizerTest<Backend> {
 protected:
  void SetUp() override {
    AuthorizerTest<Backend>::SetUp();
    if (!this->IsSkipped()) memoizer_.emplace(this->clock());
  }

  Process Remembering() {
    Process process = this->process();
    process.memoizer = &*memoizer_;
    return process;
  }
  // The verdict of the listener with the cache.
  std::string Remembered(AuthRequest request) {
    const Process process = Remembering();
    Notifier notifier(process, this->queue_);
    Listener listener(process, this->queue_, notifier);
    return this->Verdict(
        this->Run(listener.Handle(Endpoint::kAuthorize, std::move(request), "{}")));
  }
  // The limits that the process uses for the application's utilization: "hits 5; other 7; ".
  std::string MeasuredLimits() {
    const Process process = Remembering();
    const auto application = this->Run(ApplicationStore(process).LoadOrFail({"2", "a1"}));
    if (!application.ok()) return application.status().ToString();
    const auto usage = this->Run(ReadLimitUsage(process, *application));
    if (!usage.ok()) return usage.status().ToString();
    std::string text;
    for (const LimitUsage& limit : *usage) {
      absl::StrAppend(&text, limit.metric_name, " ", FormatInteger(limit.max_value), "; ");
    }
    return text;
  }
  // The cached listener returns `stale` until the 60th second after its read, and then the result
  // of a listener without a cache.
  void ExpectStaleForAMinute(const AuthRequest& request, std::string_view stale,
                             std::string_view truth) {
    EXPECT_EQ(this->VerdictOn(request), truth);
    EXPECT_EQ(Remembered(request), stale);
    this->Advance(absl::Seconds(60));
    EXPECT_EQ(Remembered(request), stale) << "in the 60th second";
    this->Advance(absl::Seconds(1));
    EXPECT_EQ(Remembered(request), truth);
  }

 private:
  std::optional<Memoizer> memoizer_;
};
TYPED_TEST_SUITE(StaleReads, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(StaleReads, AcceptAKeyThatWasTakenAway) {
  const std::string key = "application/service_id:2/id:a1/keys";
  this->Ask({"SADD", key, "old"});
  AuthRequest request = this->Request();
  request.app_key = "old";
  ASSERT_EQ(this->Remembered(request), "");
  this->Ask({"SREM", key, "old"});
  this->Ask({"SADD", key, "new"});
  this->ExpectStaleForAMinute(request, "", "application_key_invalid");
}

TYPED_TEST(StaleReads, AuthorizeAnApplicationThatWasSuspended) {
  ASSERT_EQ(this->Remembered(this->Request()), "");
  this->SaveApplication("suspended");
  this->ExpectStaleForAMinute(this->Request(), "", "application_not_active");
}

TYPED_TEST(StaleReads, AuthorizeTheApplicationsOfAServiceThatWasSuspended) {
  ASSERT_EQ(this->Remembered(this->Request()), "");
  this->SaveService("2", /*filters=*/false, "suspended");
  this->ExpectStaleForAMinute(this->Request(), "", "service_not_active");
}

TYPED_TEST(StaleReads, OverlookALimitThatWasChanged) {
  this->SaveLimit("10", Granularity::kDay, "5");
  this->Count({{"hits", "3"}});
  ASSERT_EQ(this->Remembered(this->Request()), "");
  this->SaveLimit("10", Granularity::kDay, "2");
  this->ExpectStaleForAMinute(this->Request(), "", "limits_exceeded");
}

TYPED_TEST(StaleReads, ReadCountersAnewAllTheSame) {
  this->SaveLimit("10", Granularity::kDay, "2");
  ASSERT_EQ(this->Remembered(this->Request()), "");
  this->Count({{"hits", "3"}});
  EXPECT_EQ(this->Remembered(this->Request()), "limits_exceeded");
}

TYPED_TEST(StaleReads, RefuseAUserKeyThatWasNotThere) {
  this->SaveService("1");
  AuthRequest request = this->Request();
  request.app_id.reset();
  request.user_key = "uk";
  ASSERT_EQ(this->Remembered(request), "error user_key_invalid");
  ASSERT_THAT(this->Run(ApplicationStore(this->process()).SaveUserKey({"2", "uk"}, "a1")), IsOk());
  this->ExpectStaleForAMinute(request, "error user_key_invalid", "");
}

TYPED_TEST(StaleReads, RefuseAnApplicationThatWasNotThere) {
  AuthRequest request = this->Request();
  request.app_id = "a2";
  ASSERT_EQ(this->Remembered(request), "error application_not_found");
  ApplicationSave save = {.service_id = "2", .id = "a2", .state = "active"};
  ASSERT_THAT(this->Run(ApplicationStore(this->process()).Save(save)), IsOk());
  this->ExpectStaleForAMinute(request, "error application_not_found", "");
}

// The metric is cached for a minute from its first read, and the names of the service's metrics for
// another minute from then.
TYPED_TEST(StaleReads, KnowAParentThatWasChangedForUpToTwoMinutes) {
  this->SaveLimit("6", Granularity::kDay, "0");
  const AuthRequest request = this->Request(Usage{{"search", "1"}});
  ASSERT_EQ(this->Remembered(request), "") << "its parent is hits, which has no limit";
  this->Ask({"SET", "metric/service_id:2/id:11/parent_id", "6"});
  EXPECT_EQ(this->VerdictOn(request), "limits_exceeded");
  this->Advance(absl::Seconds(60));
  EXPECT_EQ(this->Remembered(request), "");
  this->Advance(absl::Seconds(61));
  EXPECT_EQ(this->Remembered(request), "limits_exceeded");
}

// The limits of the plan are cached for a minute. An application that reads them at the end of that
// minute keeps them for the rest of its own.
TYPED_TEST(StaleReads, MeasureUtilizationByOldLimitsForUpToTwoMinutes) {
  this->SaveLimit("10", Granularity::kDay, "5");
  ASSERT_THAT(this->Run(UsageLimitStore(this->Remembering()).LoadAll({"2", "44"})), IsOk());
  this->SaveLimit("10", Granularity::kDay, "2");
  this->Advance(absl::Seconds(60));
  ASSERT_EQ(this->MeasuredLimits(), "hits 5; ") << "remembered in the 60th second";
  this->Advance(absl::Seconds(60));
  EXPECT_EQ(this->MeasuredLimits(), "hits 5; ") << "by the application alone";
  this->Advance(absl::Seconds(1));
  EXPECT_EQ(this->MeasuredLimits(), "hits 2; ");
}

TYPED_TEST(StaleReads, MeasureUtilizationByTheLimitsOfTheLastAuthorization) {
  this->SaveLimit("10", Granularity::kDay, "5");
  this->SaveLimit("6", Granularity::kDay, "7");
  AuthRequest request = this->Request(Usage{{"hits", "1"}});
  request.extensions.no_body = true;
  ASSERT_EQ(this->Remembered(request), "");
  EXPECT_EQ(this->MeasuredLimits(), "hits 5; ") << "no_body read those of the usage alone";
  ASSERT_EQ(this->Remembered(this->Request(Usage{{"hits", "1"}})), "");
  EXPECT_THAT(this->MeasuredLimits(), testing::AnyOf("hits 5; other 7; ", "other 7; hits 5; "));
}

}  // namespace
}  // namespace redouble::inline v0_1::threescale
