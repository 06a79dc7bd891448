#include "redouble/core/threescale/errors.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace redouble::inline v0_1::threescale {
namespace {

TEST(ThreescaleErrors, CarryCodeMessageAndHttpStatus) {
  const absl::Status status = MakeError(ErrorCode::kMetricInvalid, "nope");
  EXPECT_EQ(status.message(), "metric \"nope\" is invalid");
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  ASSERT_EQ(ErrorCodeOf(status), ErrorCode::kMetricInvalid);
  const ErrorSpec& spec = SpecOf(ErrorCodeOf(status).value());
  EXPECT_EQ(spec.name, "metric_invalid");
  EXPECT_EQ(spec.class_name, "MetricInvalid");
  EXPECT_EQ(spec.http_status, 404);
}

TEST(ThreescaleErrors, AreNotReadOutOfOtherStatuses) {
  EXPECT_EQ(ErrorCodeOf(absl::OkStatus()), std::nullopt);
  EXPECT_EQ(ErrorCodeOf(absl::NotFoundError("metric \"nope\" is invalid")), std::nullopt);
}

TEST(ThreescaleErrors, SayWhatIsMissingInsteadOfQuotingABlank) {
  EXPECT_EQ(ErrorMessage(ErrorCode::kApplicationNotFound, " \t"), "application id is missing");
  EXPECT_EQ(ErrorMessage(ErrorCode::kApplicationNotFound, "x"),
            "application with id=\"x\" was not found");
  EXPECT_EQ(ErrorMessage(ErrorCode::kUserKeyInvalid, ""), "user key is missing");
  EXPECT_EQ(ErrorMessage(ErrorCode::kApplicationKeyInvalid, ""), "application key is missing");
  EXPECT_EQ(ErrorMessage(ErrorCode::kReferrerNotAllowed, ""), "referrer is missing");
  EXPECT_EQ(ErrorMessage(ErrorCode::kProviderKeyInvalid, ""), "provider key \"\" is invalid");
}

TEST(ThreescaleErrors, TakeTwoArguments) {
  EXPECT_EQ(ErrorMessage(ErrorCode::kUsageValueInvalid, "x", "hits"),
            "usage value \"x\" for metric \"hits\" is invalid");
  EXPECT_EQ(ErrorMessage(ErrorCode::kUsageValueInvalid, "", "hits"),
            "usage value for metric \"hits\" can not be empty");
  EXPECT_EQ(ErrorMessage(ErrorCode::kServiceTokenInvalid, "tok", "2"),
            "service token \"tok\" or service id \"2\" is invalid");
  EXPECT_EQ(
      ErrorMessage(ErrorCode::kApplicationHasInconsistentData, "a", " "),
      "Application id=\"a\" with user_key=\" \" has inconsistent data and could not be saved");
}

TEST(ThreescaleErrors, QuoteArgumentsThatLookLikePlaceholders) {
  EXPECT_EQ(ErrorMessage(ErrorCode::kMetricInvalid, "$0 $1"), "metric \"$0 $1\" is invalid");
}

// The code is the class name in snake case, as in the original.
std::string SnakeCase(std::string_view name) {
  const auto upper = [&](size_t i) { return i < name.size() && name[i] >= 'A' && name[i] <= 'Z'; };
  const auto lower = [&](size_t i) { return i < name.size() && name[i] >= 'a' && name[i] <= 'z'; };
  std::string code;
  for (size_t i = 0; i < name.size(); ++i) {
    if (i > 0 && upper(i) && (lower(i - 1) || lower(i + 1))) code += '_';
    code += upper(i) ? static_cast<char>(name[i] - 'A' + 'a') : name[i];
  }
  return code;
}

TEST(ThreescaleErrors, AreATableWithoutMistakes) {
  std::set<std::string_view> names;
  for (const ErrorSpec& spec : ErrorSpecs()) {
    EXPECT_EQ(spec.name, SnakeCase(spec.class_name));
    EXPECT_TRUE(names.insert(spec.name).second) << spec.name;
    EXPECT_EQ(&SpecOf(spec.code), &spec) << spec.name;
    EXPECT_FALSE(spec.message.empty()) << spec.name;
    EXPECT_TRUE(spec.http_status == 400 || spec.http_status == 403 || spec.http_status == 404 ||
                spec.http_status == 422)
        << spec.name;
    EXPECT_NE(spec.status_code, absl::StatusCode::kOk) << spec.name;
    EXPECT_EQ(ErrorCodeOf(MakeError(spec.code)), spec.code);
  }
}

TEST(ThreescaleErrors, CallTextOfWhiteSpaceBlank) {
  EXPECT_TRUE(IsBlank(""));
  EXPECT_TRUE(IsBlank(" \t\n"));
  EXPECT_FALSE(IsBlank(" x "));
}

}  // namespace
}  // namespace redouble::inline v0_1::threescale
