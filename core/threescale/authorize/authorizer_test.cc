#include "redouble/core/threescale/authorize/authorizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/threescale/testing/authorizer_for_test.h"
#include "redouble/tests/support/intercepted_store.h"

namespace redouble::inline v0_1::threescale {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TYPED_TEST_SUITE(AuthorizerTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(AuthorizerTest, AuthorizesAnApplicationWithoutKeysAndLimits) {
  const auto answer = this->Authorize(this->Request());
  EXPECT_EQ(this->Verdict(answer), "");
  EXPECT_EQ(answer->http_status(), 200);
  EXPECT_EQ(answer->application.id, "a1");
}

TYPED_TEST(AuthorizerTest, IdentifiesTheApplication) {
  AuthRequest request = this->Request();
  request.app_id.reset();
  EXPECT_EQ(this->VerdictOn(request), "error application_not_found");
  request.app_id = "nope";
  EXPECT_EQ(this->VerdictOn(request), "error application_not_found");
  request.user_key = "uk";
  EXPECT_EQ(this->VerdictOn(request), "error authentication_error");
  request = this->Request();
  request.user_id = "u";
  EXPECT_EQ(this->VerdictOn(request), "error end_users_no_longer_supported");
}

// docs/systems/threescale.md D17: only application keys lose the white space around them.
TYPED_TEST(AuthorizerTest, KnowsNoPaddedIds) {
  AuthRequest request = this->Request();
  request.service_id = " 2 ";
  EXPECT_EQ(this->VerdictOn(request), "error service_id_invalid");
  request = this->Request();
  request.app_id = " a1 ";
  EXPECT_EQ(this->VerdictOn(request), "error application_not_found");
  request = this->Request();
  request.provider_key = " pk ";
  EXPECT_EQ(this->VerdictOn(request), "error provider_key_invalid");
  request = this->Request();
  request.service_id = " \t";
  EXPECT_EQ(this->VerdictOn(request), "") << "a blank id means the default service";
  this->Ask({"SADD", "application/service_id:2/id:a1/keys", "k"});
  request.app_key = " k\n";
  EXPECT_EQ(this->VerdictOn(request), "");
}

TYPED_TEST(AuthorizerTest, IdentifiesTheApplicationByUserKeyWhereTheServiceWantsIt) {
  this->SaveService("1");
  ASSERT_THAT(this->Run(ApplicationStore(this->process()).SaveUserKey({"2", "uk"}, "a1")), IsOk());
  AuthRequest request = this->Request();
  EXPECT_EQ(this->VerdictOn(request), "error user_key_invalid");  // The app_id is ignored.
  request.app_id.reset();
  request.user_key = "uk";
  EXPECT_EQ(this->VerdictOn(request), "");
  request.user_key = "nope";
  EXPECT_EQ(this->VerdictOn(request), "error user_key_invalid");
}

TYPED_TEST(AuthorizerTest, WantsAProviderKeyOrAServiceToken) {
  AuthRequest request = this->Request();
  request.provider_key.reset();
  EXPECT_EQ(this->VerdictOn(request), "error provider_key_or_service_token_required");
  request.service_token = "tok";
  EXPECT_EQ(this->VerdictOn(request), "error service_token_invalid");
  this->Ask({"HSET", "service_token/token:tok/service_id:2", "permissions", ""});
  EXPECT_EQ(this->VerdictOn(request), "");
  request.service_id.reset();
  EXPECT_EQ(this->VerdictOn(request), "error service_id_missing");
  request = this->Request();
  request.provider_key = "bad";
  EXPECT_EQ(this->VerdictOn(request), "error provider_key_invalid");
}

TYPED_TEST(AuthorizerTest, ChecksKeysOnceThereAreSome) {
  AuthRequest request = this->Request();
  request.app_key = "k";
  EXPECT_EQ(this->VerdictOn(request), "");
  this->Ask({"SADD", "application/service_id:2/id:a1/keys", "k"});
  EXPECT_EQ(this->VerdictOn(request), "");
  request.app_key = "other";
  EXPECT_EQ(this->Authorize(request).value().rejection.value().message,
            "application key \"other\" is invalid");
  request.app_key.reset();
  EXPECT_EQ(this->Authorize(request).value().rejection.value().message,
            "application key is missing");
}

TYPED_TEST(AuthorizerTest, ChecksReferrersWhereTheServiceWantsIt) {
  AuthRequest request = this->Request();
  this->Ask({"SADD", "application/service_id:2/id:a1/referrer_filters", "*.example.org"});
  EXPECT_EQ(this->VerdictOn(request), "");
  this->SaveService("2", /*filters=*/true);
  EXPECT_EQ(this->Authorize(request).value().rejection.value().message, "referrer is missing");
  request.referrer = "www.example.com";
  EXPECT_EQ(this->VerdictOn(request), "referrer_not_allowed");
  request.referrer = "www.example.org";
  EXPECT_EQ(this->VerdictOn(request), "");
  request.referrer = "http://www.example.org/";
  EXPECT_EQ(this->VerdictOn(request), "referrer_not_allowed");
  AuthorizerOptions legacy;
  legacy.referrer_match = ReferrerMatch::kAnyPart;
  EXPECT_EQ(this->Verdict(this->Authorize(request, legacy)), "");
}

TYPED_TEST(AuthorizerTest, StopsAtTheFirstValidatorThatRejects) {
  this->SaveLimit("10", Granularity::kDay, "0");
  this->SaveService("2", /*filters=*/true, "suspended");
  this->SaveApplication("pending");
  this->Ask({"SADD", "application/service_id:2/id:a1/keys", "k"});
  this->Ask({"SADD", "application/service_id:2/id:a1/referrer_filters", "test.org"});
  AuthRequest request = this->Request(Usage{{"hits", "1"}});
  EXPECT_EQ(this->VerdictOn(request), "application_key_invalid");
  request.app_key = "k";
  EXPECT_EQ(this->VerdictOn(request), "referrer_not_allowed");
  request.referrer = "test.org";
  EXPECT_EQ(this->VerdictOn(request), "application_not_active");
  this->SaveApplication("active");
  EXPECT_EQ(this->VerdictOn(request), "service_not_active");
  this->SaveService("2", /*filters=*/true, "active");
  EXPECT_EQ(this->VerdictOn(request), "limits_exceeded");
  EXPECT_EQ(this->Authorize(request).value().http_status(), 409);
}

TYPED_TEST(AuthorizerTest, UsesTheRedirectionThatItChecked) {
  AuthRequest request = this->Request();
  request.redirect_uri = "http://b";
  const auto uses_uri = [&] {
    return this->Handle(Endpoint::kOauthAuthorize, request).value().uses_redirect_uri;
  };
  EXPECT_FALSE(uses_uri()) << "the check of the service rejects first";
  this->SaveService("oauth");
  EXPECT_TRUE(uses_uri());
  request.app_key = "";
  EXPECT_FALSE(uses_uri()) << "the check of the key rejects first";
}

TYPED_TEST(AuthorizerTest, ReadsTheHierarchyOnlyForReports) {
  const Authorization authorization = this->Authorize(this->Request()).value();
  this->Ask({"DEL", "metrics/service_id:2/ids"});
  this->Ask({"SET", "metrics/service_id:2/ids", "of another type"});
  Authorizer authorizer(this->process());
  EXPECT_THAT(this->Run(authorizer.FindHierarchy(authorization, {})), IsOkAndHolds(IsEmpty()));
  EXPECT_FALSE(this->Run(authorizer.FindHierarchy(authorization, {UsageReport()})).ok());
}

TYPED_TEST(AuthorizerTest, ChecksRedirectionsAtOauthEndpoints) {
  const auto verdict = [this](AuthRequest request) {
    return this->Verdict(this->Handle(Endpoint::kOauthAuthorize, std::move(request)));
  };
  AuthRequest request = this->Request();
  EXPECT_EQ(verdict(request), "oauth_not_enabled");
  this->SaveService("oauth");
  this->SaveApplication("active", "http://a");
  EXPECT_EQ(verdict(request), "");
  request.redirect_uri = "http://b";
  EXPECT_EQ(verdict(request), "redirect_uri_invalid");
  request.redirect_url = "http://c";
  EXPECT_EQ(verdict(request), "redirect_url_invalid");
  request.redirect_url = "";
  EXPECT_EQ(verdict(request), "");  // It is present, so redirect_uri is ignored.
  request.redirect_url = "http://a";
  EXPECT_EQ(verdict(request), "");
  request.app_id.reset();
  EXPECT_EQ(verdict(request), "error application_not_found");
}

TYPED_TEST(AuthorizerTest, ChecksAKeyOfOauthOnlyWhenOneIsSent) {
  this->SaveService("oauth");
  this->Ask({"SADD", "application/service_id:2/id:a1/keys", "k"});
  for (const Endpoint endpoint : {Endpoint::kAuthorize, Endpoint::kOauthAuthorize}) {
    const auto verdict = [this, endpoint](std::optional<std::string_view> app_key) {
      AuthRequest request = this->Request();
      request.app_key = app_key;
      return this->Verdict(this->Handle(endpoint, request));
    };
    EXPECT_EQ(verdict(std::nullopt), "");
    EXPECT_EQ(verdict("k"), "");
    EXPECT_EQ(verdict("other"), "application_key_invalid");
    EXPECT_EQ(verdict(""), "application_key_invalid");
  }
}

TYPED_TEST(AuthorizerTest, AllowsUpToTheLimitItself) {
  this->SaveLimit("10", Granularity::kDay, "5");
  this->Count({{"hits", "3"}});
  EXPECT_EQ(this->VerdictOn(this->Request(Usage{{"hits", "2"}})), "");
  EXPECT_EQ(this->VerdictOn(this->Request(Usage{{"hits", "3"}})), "limits_exceeded");
  EXPECT_EQ(this->VerdictOn(this->Request(Usage{{"search", "3"}})), "limits_exceeded");
  EXPECT_EQ(this->VerdictOn(this->Request(Usage{{"hits", "#5"}})), "");
  EXPECT_EQ(this->VerdictOn(this->Request(Usage{{"hits", "#6"}})), "limits_exceeded");
  AuthRequest flat = this->Request(Usage{{"search", "3"}});
  flat.extensions.flat_usage = true;
  EXPECT_EQ(this->VerdictOn(flat), "");
}

TYPED_TEST(AuthorizerTest, LooksAtTheMetricsOfTheUsageOnly) {
  this->SaveLimit("6", Granularity::kEternity, "1");
  this->SaveLimit("10", Granularity::kDay, "5");
  this->Count({{"other", "2"}});
  EXPECT_EQ(this->VerdictOn(this->Request()), "limits_exceeded");
  EXPECT_EQ(this->VerdictOn(this->Request(Usage{{"hits", "1"}})), "");
  EXPECT_EQ(this->VerdictOn(this->Request(Usage{{"other", "0"}})), "limits_exceeded");
}

TYPED_TEST(AuthorizerTest, TakesALimitOfZeroAndOneThatIsNoNumber) {
  this->SaveLimit("6", Granularity::kDay, "junk");
  EXPECT_EQ(this->VerdictOn(this->Request()), "");
  EXPECT_EQ(this->VerdictOn(this->Request(Usage{{"other", "0"}})), "");
  EXPECT_EQ(this->VerdictOn(this->Request(Usage{{"other", "1"}})), "limits_exceeded");
}

TYPED_TEST(AuthorizerTest, ComparesNumbersOfAnyLength) {
  const std::string wide = "1" + std::string(40, '0');
  this->SaveLimit("6", Granularity::kDay, wide);
  EXPECT_EQ(this->VerdictOn(this->Request(Usage{{"other", wide}})), "");
  this->Count({{"other", "1"}});
  EXPECT_EQ(this->VerdictOn(this->Request(Usage{{"other", std::string(40, '9')}})), "");
  EXPECT_EQ(this->VerdictOn(this->Request(Usage{{"other", wide}})), "limits_exceeded");
  EXPECT_EQ(this->VerdictOn(this->Request(Usage{{"other", "#" + wide}})), "");
}

TYPED_TEST(AuthorizerTest, RefusesUsageThatItCannotRead) {
  EXPECT_EQ(this->VerdictOn(this->Request(Usage{{"nope", "1"}})), "error metric_invalid");
  EXPECT_EQ(this->VerdictOn(this->Request(Usage{{"hits", "x"}})), "error usage_value_invalid");
  AuthRequest malformed = this->Request();
  malformed.has_malformed_usage = true;
  const auto answer = this->Authorize(malformed);
  EXPECT_TRUE(absl::IsPermissionDenied(answer.status()));
  EXPECT_EQ(ErrorCodeOf(answer.status()), std::nullopt);
}

TYPED_TEST(AuthorizerTest, ReadsOnlyTheLimitsThatMatterForAnAnswerWithoutBody) {
  this->SaveLimit("6", Granularity::kDay, "1");
  this->SaveLimit("10", Granularity::kDay, "5");
  AuthRequest request = this->Request(Usage{{"search", "1"}});
  request.extensions.no_body = true;
  const auto answer = this->Authorize(request);
  ASSERT_EQ(this->Verdict(answer), "");
  ASSERT_EQ(answer->limits.size(), 1u);
  EXPECT_EQ(answer->limits[0].limit.metric_id, "10");
  request.usage = Usage{{"nope", "1"}};
  EXPECT_EQ(this->VerdictOn(request), "error metric_invalid");
}

TYPED_TEST(AuthorizerTest, NeverSeesTheUsageOfAnIdWithASpace) {
  this->Ask({"SET", "application/service_id:2/id:my+app/state", "active"});
  this->Ask({"SET", "application/service_id:2/id:my+app/plan_id", "44"});
  this->SaveLimit("10", Granularity::kDay, "0");
  this->Ask({"SET", "stats/{service:2}/cinstance:my app/metric:10/day:20260509", "7"});
  AuthRequest request = this->Request();
  request.app_id = "my app";
  EXPECT_EQ(this->VerdictOn(request), "");
}

struct Edge {
  Granularity period;
  std::string_view last;   // The last second of a period,
  std::string_view first;  // and the first of the next.
};

// Usage up to the limit in the last second of a period exhausts it, and leaves the next period
// unused.
TYPED_TEST(AuthorizerTest, BeginsEveryPeriodAnew) {
  const Edge edges[] = {
      {Granularity::kHour, "2028-02-28T22:59:59Z", "2028-02-28T23:00:00Z"},
      {Granularity::kMinute, "2028-02-28T23:58:59Z", "2028-02-28T23:59:00Z"},
      {Granularity::kDay, "2028-02-28T23:59:59Z", "2028-02-29T00:00:00Z"},
      {Granularity::kDay, "2028-02-29T23:59:59Z", "2028-03-01T00:00:00Z"},  // A leap day.
      {Granularity::kMonth, "2029-02-28T23:59:59Z", "2029-03-01T00:00:00Z"},
      {Granularity::kWeek, "2029-03-04T23:59:59Z", "2029-03-05T00:00:00Z"},  // Sunday to Monday.
      {Granularity::kYear, "2029-12-31T23:59:59Z", "2030-01-01T00:00:00Z"},
      {Granularity::kMonth, "2032-02-29T23:59:59Z", "2032-03-01T00:00:00Z"},
  };
  for (const Edge& edge : edges) {
    this->AdvanceTo(edge.last);
    this->SaveLimit("10", edge.period, "3");
    this->Count({{"hits", "3"}});
    const AuthRequest request = this->Request(Usage{{"hits", "1"}});
    EXPECT_EQ(this->VerdictOn(request), "limits_exceeded") << edge.last;
    this->AdvanceTo(edge.first);
    EXPECT_EQ(this->VerdictOn(request), "") << edge.first;
    ASSERT_THAT(this->Run(UsageLimitStore(this->process()).Delete({"2", "44"}, "10", edge.period)),
                IsOk());
  }
}

// 2030 begins on a Tuesday: the week continues, the month and the year end.
TYPED_TEST(AuthorizerTest, KeepsTheWeekAcrossAChangeOfYears) {
  this->AdvanceTo("2029-12-31T23:59:59Z");
  this->SaveLimit("10", Granularity::kWeek, "3");
  this->Count({{"hits", "3"}});
  this->AdvanceTo("2030-01-01T00:00:00Z");
  EXPECT_EQ(this->VerdictOn(this->Request(Usage{{"hits", "1"}})), "limits_exceeded");
  this->AdvanceTo("2030-01-07T00:00:00Z");
  EXPECT_EQ(this->VerdictOn(this->Request(Usage{{"hits", "1"}})), "");
}

TYPED_TEST(AuthorizerTest, NeverForgetsEternity) {
  this->SaveLimit("10", Granularity::kEternity, "3");
  this->Count({{"hits", "3"}});
  this->AdvanceTo("2031-01-01T00:00:00Z");
  EXPECT_EQ(this->VerdictOn(this->Request(Usage{{"hits", "1"}})), "limits_exceeded");
}

TYPED_TEST(AuthorizerTest, ReadsTrimmedStampsWhereAskedTo) {
  this->AdvanceTo("2028-02-28T20:00:05Z");
  this->SaveLimit("10", Granularity::kHour, "3");
  this->Ask({"SET", "stats/{service:2}/cinstance:a1/metric:10/hour:202802282", "4"});
  EXPECT_EQ(this->VerdictOn(this->Request()), "");
  Process process = this->process();
  process.stamp_format = StampFormat::kTrimmed;
  const AuthRequest request = this->Request();
  const auto answer = this->Run(Authorizer(process).Authorize(Endpoint::kAuthorize, "pk", request));
  EXPECT_EQ(this->Verdict(answer), "limits_exceeded");
}

TYPED_TEST(AuthorizerTest, AsksInTheOrderOfTheOriginal) {
  this->SaveLimit("10", Granularity::kDay, "3");
  tests::InterceptedStore store(this->store());
  const AuthRequest request = this->Request(Usage{{"hits", "1"}});
  ASSERT_THAT(
      this->Run(Authorizer(this->process_on(store)).Authorize(Endpoint::kAuthorize, "pk", request)),
      IsOk());
  std::vector<std::string> names;
  for (const std::string& line : store.log()) names.push_back(line.substr(0, line.find(' ')));
  EXPECT_THAT(names, ElementsAre("MGET", "GET", "MGET", "SMEMBERS", "MGET", "MGET", "MGET", "SCARD",
                                 "GET", "GET"));
  EXPECT_EQ(store.requests(), 10u);
}

TYPED_TEST(AuthorizerTest, PassesOnTheErrorsOfRedis) {
  for (size_t broken = 0; broken < 10; ++broken) {
    this->SaveLimit("10", Granularity::kDay, "3");
    tests::InterceptedStore store(this->store());
    store.on_request = [broken](size_t index) -> std::optional<absl::StatusOr<store::Reply>> {
      if (index != broken) return std::nullopt;
      return store::Reply::Error("ERR broken");
    };
    const AuthRequest request = this->Request(Usage{{"hits", "1"}});
    const auto answer = this->Run(
        Authorizer(this->process_on(store)).Authorize(Endpoint::kAuthorize, "pk", request));
    EXPECT_EQ(answer.status().message(), "ERR broken") << broken;
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::threescale
