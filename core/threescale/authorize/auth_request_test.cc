#include "redouble/core/threescale/authorize/auth_request.h"

#include <gtest/gtest.h>

namespace redouble::inline v0_1::threescale {
namespace {

TEST(ParseExtensions, KnowsSixOptions) {
  const Extensions all = ParseExtensions(
      "no_body=1&rejection_reason_header=1&limit_headers=1&hierarchy=1&flat_usage=1&"
      "list_app_keys=1");
  EXPECT_TRUE(all.no_body && all.rejection_reason_header && all.limit_headers && all.hierarchy &&
              all.flat_usage && all.list_app_keys);
  const Extensions none = ParseExtensions("unknown=1");
  EXPECT_FALSE(none.no_body || none.rejection_reason_header || none.limit_headers ||
               none.hierarchy || none.flat_usage || none.list_app_keys);
}

TEST(ParseExtensions, WantsAOneButForNoBody) {
  EXPECT_FALSE(ParseExtensions("limit_headers=true").limit_headers);
  EXPECT_FALSE(ParseExtensions("limit_headers").limit_headers);
  EXPECT_TRUE(ParseExtensions("no_body=anything").no_body);
  EXPECT_TRUE(ParseExtensions("no_body=").no_body);
  EXPECT_FALSE(ParseExtensions("no_body=0").no_body);
  EXPECT_FALSE(ParseExtensions("no_body=false").no_body);
  EXPECT_FALSE(ParseExtensions("no_body").no_body);
}

TEST(ParseExtensions, ReadsAQuery) {
  EXPECT_TRUE(ParseExtensions("hierarchy=0&hierarchy=1").hierarchy);
  EXPECT_TRUE(ParseExtensions("", "").no_body);
  EXPECT_FALSE(ParseExtensions("", "0").no_body);
  EXPECT_FALSE(ParseExtensions("no_body=0", "1").no_body);
  EXPECT_TRUE(ParseExtensions("no_body", "1").no_body);
  EXPECT_FALSE(ParseExtensions("hierarchy=1&hierarchy=0").hierarchy);
  EXPECT_TRUE(ParseExtensions("hier%61rchy=%31").hierarchy);
  EXPECT_FALSE(ParseExtensions("hierarchy=%3").hierarchy);
  EXPECT_FALSE(ParseExtensions("hierarchy=1+").hierarchy);
  EXPECT_TRUE(ParseExtensions("a=b; hierarchy=1").hierarchy);
}

TEST(AuthRequest, LosesBlankIdsAndTheSpaceAroundTheAppKeyOnly) {
  AuthRequest request = {.provider_key = " pk ", .service_id = " 2 ", .app_id = "\ta\n"};
  request.app_key = std::string_view("\0 k\v\0", 5);
  request.user_key = " u";
  request.referrer = " r ";
  const AuthRequest normalized = request.Normalized();
  EXPECT_EQ(normalized.provider_key, " pk ");
  EXPECT_EQ(normalized.service_id, " 2 ");
  EXPECT_EQ(normalized.app_id, "\ta\n");
  EXPECT_EQ(normalized.app_key, "k");
  EXPECT_EQ(normalized.user_key, " u");
  EXPECT_EQ(normalized.referrer, " r ");

  const std::string_view blank(" \t\r\n\f\v\0", 7);
  request = {.provider_key = blank, .service_id = "", .app_id = blank};
  request.app_key = blank;
  request.user_key = " ";
  const AuthRequest without = request.Normalized();
  EXPECT_EQ(without.provider_key, std::nullopt);
  EXPECT_EQ(without.service_id, std::nullopt);
  EXPECT_EQ(without.app_id, std::nullopt);
  EXPECT_EQ(without.app_key, "") << "an empty key is refused, a missing one may not be needed";
  EXPECT_EQ(without.user_key, std::nullopt);
  EXPECT_EQ(AuthRequest().Normalized().app_key, std::nullopt);
}

TEST(Endpoint, SaysWhatItDoes) {
  EXPECT_TRUE(Reports(Endpoint::kAuthrep) && Reports(Endpoint::kOauthAuthrep));
  EXPECT_FALSE(Reports(Endpoint::kAuthorize) || Reports(Endpoint::kOauthAuthorize));
  EXPECT_TRUE(IsOauth(Endpoint::kOauthAuthorize) && IsOauth(Endpoint::kOauthAuthrep));
  EXPECT_FALSE(IsOauth(Endpoint::kAuthorize) || IsOauth(Endpoint::kAuthrep));
}

}  // namespace
}  // namespace redouble::inline v0_1::threescale
