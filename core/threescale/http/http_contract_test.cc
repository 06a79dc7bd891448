#include "redouble/core/threescale/http/http_contract.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "redouble/core/threescale/errors.h"

namespace redouble::inline v0_1::threescale {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

HttpCall Get(const std::string& path, const std::string& query, HttpHeaders headers = {}) {
  return ParseHttpRequest({.path = path, .query = query, .headers = std::move(headers)});
}
HttpCall Post(const std::string& body, HttpHeaders headers = {}) {
  return ParseHttpRequest(
      {.method = "POST", .path = "/transactions.xml", .headers = std::move(headers), .body = body});
}
HttpResponse Refusal(const HttpCall& call) { return std::get<HttpResponse>(call); }

TEST(HttpContract, ReadsAnAuthorization) {
  const HttpCall call =
      Get("/transactions/authrep.xml",
          "provider_key=pk&service_id=2&app_id=a%201&usage[hits]=1&usage[other]=2&log[code]=200",
          {{"3SCALE-OPTIONS", "hierarchy=1"}});
  const AuthCall& auth = std::get<AuthCall>(call);
  EXPECT_EQ(auth.endpoint, Endpoint::kAuthrep);
  const AuthRequest request = auth.View();
  EXPECT_EQ(request.provider_key, "pk");
  EXPECT_EQ(request.service_id, "2");
  EXPECT_EQ(request.app_id, "a 1");
  EXPECT_EQ(request.user_key, std::nullopt);
  EXPECT_EQ(request.usage, (Usage{{"hits", "1"}, {"other", "2"}}));
  EXPECT_EQ(request.log_code, "200");
  EXPECT_TRUE(request.extensions.hierarchy);
  EXPECT_FALSE(request.has_malformed_usage);
}

TEST(HttpContract, KnowsTheFourEndpoints) {
  const std::pair<std::string, Endpoint> rows[] = {
      {"/transactions/authorize.xml", Endpoint::kAuthorize},
      {"/transactions/authrep.xml", Endpoint::kAuthrep},
      {"/transactions/oauth_authorize.xml", Endpoint::kOauthAuthorize},
      {"/transactions/oauth_authrep.xml", Endpoint::kOauthAuthrep}};
  for (const auto& [path, endpoint] : rows) {
    EXPECT_EQ(std::get<AuthCall>(Get(path, "")).endpoint, endpoint) << path;
  }
}

TEST(HttpContract, ReadsNoBodyFromTheParametersToo) {
  const auto no_body = [](const std::string& query, HttpHeaders headers = {}) {
    return std::get<AuthCall>(Get("/transactions/authorize.xml", query, headers))
        .extensions.no_body;
  };
  EXPECT_TRUE(no_body("no_body=true"));
  EXPECT_TRUE(no_body("no_body="));
  EXPECT_FALSE(no_body("no_body=0"));
  EXPECT_FALSE(no_body("no_body=false"));
  EXPECT_TRUE(no_body("no_body=0", {{"3scale-options", "no_body=1"}}));
}

TEST(HttpContract, TellsAUsageThatIsNoMap) {
  const auto view = [](const std::string& query) {
    const HttpCall call = Get("/transactions/authorize.xml", query);
    return std::get<AuthCall>(call).View().has_malformed_usage;
  };
  EXPECT_TRUE(view("usage=1"));
  EXPECT_TRUE(view("usage[]=1"));
  EXPECT_FALSE(view("usage"));
}

TEST(HttpContract, ReadsAReport) {
  const HttpCall call = Post(
      "service_token=t&service_id=2&transactions[0][app_id]=a&transactions[0][usage][hits]=1"
      "&transactions[0][timestamp]=2025-04-23+17:42:39&transactions[0][log][code]=200"
      "&transactions[0][log][request]=x&transactions[1][user_key]=u&transactions[2]",
      {{"content-type", "application/x-www-form-urlencoded"}, {"3scale-options", "flat_usage=1"}});
  const ReportRequest& report = std::get<ReportRequest>(call);
  EXPECT_EQ(report.content_type, "application/x-www-form-urlencoded");
  EXPECT_EQ(report.provider_key, std::nullopt);
  EXPECT_EQ(report.service_token, "t");
  EXPECT_EQ(report.service_id, "2");
  EXPECT_TRUE(report.flat_usage);
  EXPECT_FALSE(report.names_user_id);
  ASSERT_EQ(report.transactions.size(), 3u);
  EXPECT_EQ(report.transactions[0], (Transaction{.app_id = "a",
                                                 .usage = {{"hits", "1"}},
                                                 .timestamp = "2025-04-23 17:42:39",
                                                 .log_code = "200"}));
  EXPECT_EQ(report.transactions[1], (Transaction{.user_key = "u"}));
  EXPECT_EQ(report.transactions[2], std::nullopt);
}

TEST(HttpContract, TellsReportsOfAnotherForm) {
  EXPECT_TRUE(std::get<ReportRequest>(Post("transactions=x")).transactions_are_no_map);
  EXPECT_TRUE(std::get<ReportRequest>(Post("transactions[]=x")).transactions_are_no_map);
  for (const char* const blank : {"", "transactions", "transactions="}) {
    const HttpCall call = Post(blank);
    EXPECT_FALSE(std::get<ReportRequest>(call).transactions_are_no_map) << blank;
    EXPECT_THAT(std::get<ReportRequest>(call).transactions, IsEmpty()) << blank;
  }
  EXPECT_TRUE(std::get<ReportRequest>(Post("transactions[0][user_id]=u")).names_user_id);
}

TEST(HttpContract, RefusesWhatItCannotRead) {
  const HttpResponse syntax = Refusal(Get("/transactions/authorize.xml", "usage=1&usage[a]=2"));
  EXPECT_EQ(syntax.status, 400);
  EXPECT_EQ(syntax.body,
            R"(<?xml version="1.0" encoding="UTF-8"?><error code="bad_request">request contains )"
            R"(syntax errors, should not be repeated without modification</error>)");
  const HttpResponse bytes = Refusal(Get("/transactions/authorize.xml", "app_id=%ff"));
  EXPECT_EQ(bytes.status, 400);
  EXPECT_EQ(bytes.body,
            R"(<?xml version="1.0" encoding="UTF-8"?><error code="not_valid_data">all data must )"
            R"(be valid UTF8</error>)");
  EXPECT_EQ(Refusal(Post("transactions[0][app_id]=%ff")).status, 400);
}

TEST(HttpContract, AnswersOtherPaths) {
  const HttpResponse ok = Refusal(Get("/check.txt", ""));
  EXPECT_EQ(ok.status, 200);
  EXPECT_EQ(ok.body, "ok");
  for (const HttpRequest& request :
       {HttpRequest{.path = "/nowhere"}, HttpRequest{.path = "/transactions.xml"},
        HttpRequest{.method = "POST", .path = "/transactions/authrep.xml"}}) {
    const HttpResponse missing = Refusal(ParseHttpRequest(request));
    EXPECT_EQ(missing.status, 404);
    EXPECT_EQ(missing.body, "");
    EXPECT_THAT(missing.headers,
                ElementsAre(Pair("Content-Type", "application/vnd.3scale-v2.0+xml")));
  }
}

// The example of the page, 2.8.
TEST(ContextInfo, DescribesTheRequest) {
  EXPECT_EQ(ContextInfo({.path = "/transactions/authorize.xml",
                         .query = "provider_key=pkey&service_id=2&app_id=1&usage[nope]=1",
                         .headers = {{"Content-Length", "0"}},
                         .ip = "127.0.0.1"}),
            R"({"url":"http://example.org/transactions/authorize.xml?provider_key=pkey&)"
            R"(service_id=2&app_id=1&usage[nope]=1","method":"GET","form_vars":null,)"
            R"("user_agent":null,"ip":"127.0.0.1","content_type":null,"content_length":"0",)"
            R"("extensions":{}})");
  EXPECT_EQ(ContextInfo({.method = "POST",
                         .path = "/transactions.xml",
                         .headers = {{"User-Agent", "u"},
                                     {"Content-Type", "c"},
                                     {"3scale-options", "no_body=0&flat_usage=1"}},
                         .body = "a=\"1\""}),
            R"({"url":"http://example.org/transactions.xml","method":"POST",)"
            R"("form_vars":"a=\"1\"","user_agent":"u","ip":"","content_type":"c",)"
            R"("content_length":null,"extensions":{"no_body":false,"flat_usage":"1"}})");
}

TEST(ContextInfo, NamesTheParameterNoBodyAsAnExtension) {
  const auto extensions = [](std::string query, std::string options) {
    const std::string info = ContextInfo(
        {.path = "/", .query = std::move(query), .headers = {{"3scale-options", options}}});
    return info.substr(info.find("\"extensions\":"));
  };
  EXPECT_EQ(extensions("no_body=1", ""), R"("extensions":{"no_body":true}})");
  EXPECT_EQ(extensions("no_body=0", "a=1"), R"("extensions":{"a":"1","no_body":false}})");
  EXPECT_EQ(extensions("no_body=1", "no_body=0"), R"("extensions":{"no_body":false}})");
  EXPECT_EQ(extensions("no_body=1", "no_body&a=1"), R"("extensions":{"no_body":true,"a":"1"}})");
  EXPECT_EQ(extensions("", "no_body"), R"("extensions":{"no_body":null}})");
}

TEST(ErrorResponse, HasTheStatusAndTheDocumentOfItsCode) {
  const HttpResponse response = ErrorResponse(MakeError(ErrorCode::kMetricInvalid, "a<b"));
  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.body, R"(<?xml version="1.0" encoding="UTF-8"?>)"
                           R"(<error code="metric_invalid">metric "a&lt;b" is invalid</error>)");
  const HttpResponse without = ErrorResponse(absl::PermissionDeniedError("usage"));
  EXPECT_EQ(without.status, 403);
  EXPECT_EQ(without.body, "");
}

TEST(ErrorResponse, HasNoBodyIfTheRequestWantsNone) {
  const absl::Status error = MakeError(ErrorCode::kMetricInvalid, "a");
  const auto has_body = [&](std::string query, std::string options, std::string form = "") {
    const HttpResponse response = ErrorResponse(error, {.path = "/transactions/authorize.xml",
                                                        .query = std::move(query),
                                                        .headers = {{"3scale-options", options}},
                                                        .body = std::move(form)});
    EXPECT_EQ(response.status, 404);
    return !response.body.empty();
  };
  EXPECT_TRUE(has_body("", ""));
  EXPECT_FALSE(has_body("", "no_body=1"));
  EXPECT_FALSE(has_body("no_body=", ""));
  EXPECT_TRUE(has_body("no_body=false", ""));
  EXPECT_TRUE(has_body("no_body=1", "no_body=0")) << "the option comes first";
  EXPECT_FALSE(has_body("no_body=1", "no_body")) << "an option without a value is ignored";
  EXPECT_TRUE(has_body("", "", "no_body=1")) << "the parameter in a form has no effect";
}

}  // namespace
}  // namespace redouble::inline v0_1::threescale
