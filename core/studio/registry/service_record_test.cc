#include "redouble/core/studio/registry/service_record.h"

#include <gtest/gtest.h>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/python/error.h"
#include "redouble/core/python/json.h"

namespace redouble::inline v0_1::studio {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using ::testing::Not;

python::Value Json(std::string_view text) { return python::ParseJson(text).value(); }

constexpr std::string_view kRequest = R"({
  "service_id": " svc-a ", "name": "  Svc A ", "base_url": " HTTP://A.Example.TEST:8080/api/// ",
  "environment": "prod", "tags": [" core ", "core", "", "x"], "auth_mode": "none",
  "status": "healthy", "capabilities": {"a": 1}, "last_seen_at": "2026-01-01T00:00:00Z"})";

// From tests/data/golden/relayna/registry_create_list.json.
TEST(ReadCreateRequest, StripsAndNormalizes) {
  ASSERT_OK_AND_ASSIGN(const ServiceRecord record, ReadCreateRequest(Json(kRequest)));
  EXPECT_THAT(
      python::PydanticJson(ToValue(record)),
      IsOkAndHolds(
          R"({"service_id":"svc-a","name":"Svc A","base_url":"http://a.example.test:8080/api",)"
          R"("environment":"prod","tags":["core","x"],"auth_mode":"none","status":"registered",)"
          R"("capabilities":null,"last_seen_at":null,"log_config":null,"metrics_config":null,)"
          R"("trace_config":null,"health":null})"));
}

TEST(ParseServiceRecord, ReadsItsOwnText) {
  ASSERT_OK_AND_ASSIGN(ServiceRecord record, ReadServiceRecord(Json(kRequest)));
  EXPECT_EQ(record.status, ServiceStatus::kHealthy);
  EXPECT_EQ(ParseServiceRecord(python::PydanticJson(ToValue(record)).value()).value(), record);
  EXPECT_EQ(python::ErrorType(ParseServiceRecord("{bad").status()), "ValidationError");
}

TEST(ReadServiceRecord, RefusesWhatIsBlankOrOfAnotherType) {
  const struct {
    const char* name;
    const char* value;
    const char* error;
  } kCases[] = {
      {"service_id", R"("  ")", "service_id: value must not be empty"},
      {"service_id", "7", "service_id: value must be a string"},
      {"name", "null", "name: value must be a string"},
      {"environment", R"("\u00a0")", "environment: value must not be empty"},
      {"auth_mode", "true", "auth_mode: value must be a string"},
      {"base_url", R"("ftp://a")", "base_url: base_url must use http or https"},
      {"tags", R"("core")", "tags: Input should be a list"},
      {"tags", "[1]", "tags: value must be a string"},
      {"status", R"("gone")",
       "status: Input should be 'registered', 'healthy', 'unavailable' or 'disabled'"},
      {"last_seen_at", R"("yesterday")", "last_seen_at: Input should be a datetime"},
      {"capabilities", "[]", "capabilities: Input should be an object"},
  };
  for (const auto& row : kCases) {
    python::Value request = Json(kRequest);
    request.object()->Set(row.name, Json(row.value));
    const absl::Status status = ReadServiceRecord(request).status();
    EXPECT_EQ(status.message(), row.error);
    EXPECT_EQ(python::ErrorType(status), "ValidationError");
  }
  EXPECT_THAT(ReadServiceRecord(Json("[]")), Not(IsOk()));
}

TEST(ApplyChanges, PutsMembersInTheirPlaceAndNormalizesThem) {
  ASSERT_OK_AND_ASSIGN(ServiceRecord record, ReadCreateRequest(Json(kRequest)));
  ASSERT_OK_AND_ASSIGN(record,
                       ApplyChanges(record, Json(R"({"name": " New ", "base_url": "http://B.test/",
                                          "tags": null, "status": "disabled"})")));
  EXPECT_EQ(record.name, "New");
  EXPECT_EQ(record.base_url, "http://b.test");
  EXPECT_TRUE(record.tags.empty());
  EXPECT_EQ(record.status, ServiceStatus::kDisabled);
  EXPECT_EQ(ApplyChanges(record, Json(R"({"status": null})")).value().status,
            ServiceStatus::kDisabled);
}

TEST(ApplyChanges, ClearsAConfigThatIsNull) {
  ASSERT_OK_AND_ASSIGN(ServiceRecord record, ReadCreateRequest(Json(kRequest)));
  ASSERT_OK_AND_ASSIGN(
      record, ApplyChanges(record, Json(R"({"trace_config": {"base_url": "http://t.test/"}})")));
  EXPECT_EQ(*record.trace_config.Find("base_url")->text(), "http://t.test");
  ASSERT_OK_AND_ASSIGN(record, ApplyChanges(record, Json(R"({"trace_config": null})")));
  EXPECT_TRUE(record.trace_config.is_null());
}

TEST(ApplyChanges, KeepsWhatARefreshWroteDown) {
  ASSERT_OK_AND_ASSIGN(ServiceRecord record, ReadCreateRequest(Json(kRequest)));
  record.last_seen_at = absl::FromUnixMicros(1767268800000001);
  record.capabilities = Json(R"({"relayna_version": "1"})");
  record.status = ServiceStatus::kHealthy;
  ASSERT_OK_AND_ASSIGN(ServiceRecord renamed, ApplyChanges(record, Json(R"({"name": "New"})")));
  record.name = "New";
  EXPECT_EQ(renamed, record);
}

TEST(ApplyChanges, LeavesHealthyToRefreshes) {
  ASSERT_OK_AND_ASSIGN(const ServiceRecord record, ReadCreateRequest(Json(kRequest)));
  const absl::Status status = ApplyChanges(record, Json(R"({"status": "healthy"})")).status();
  EXPECT_EQ(status.message(), "Service status 'healthy' can only be set by refresh.");
  EXPECT_EQ(python::ErrorType(status), "ValueError");
  EXPECT_EQ(python::ErrorType(ApplyChanges(record, Json(R"({"name": null})")).status()),
            "ValidationError");
}

// The model of a create request does not have these members, so that pydantic ignores them.
TEST(ReadCreateRequest, IgnoresMembersThatItDoesNotHave) {
  python::Value request = Json(kRequest);
  for (const char* name : {"status", "capabilities", "last_seen_at", "health", "other"}) {
    request.object()->Set(name, Json("[7]"));
  }
  EXPECT_THAT(ReadCreateRequest(request), IsOkAndHolds(ReadCreateRequest(Json(kRequest)).value()));
  EXPECT_EQ(python::ErrorType(ReadServiceRecord(request).status()), "ValidationError");
}

// Null means no tags, but a member with another default must not be null.
TEST(ReadServiceRecord, RefusesNullWhereTheModelHasADefault) {
  python::Value record = Json(kRequest);
  record.object()->Set("tags", nullptr);
  EXPECT_THAT(ReadServiceRecord(record), IsOk());
  record.object()->Set("status", nullptr);
  EXPECT_EQ(ReadServiceRecord(record).status().message(), "status: value must be a string");
}

TEST(CheckChanges, LetsNullStandForNoChange) {
  EXPECT_THAT(CheckChanges(Json(R"({"status": null, "tags": null})")), IsOk());
}

TEST(CheckChanges, RefusesWhatCanBeAppliedToNoRecord) {
  EXPECT_THAT(CheckChanges(Json(R"({"name": "x"})")), IsOk());
  EXPECT_THAT(CheckChanges(Json(R"({"log_config": null})")), IsOk());
  for (const char* changes :
       {"{}", R"({"service_id": "x"})", R"({"name": " "})", R"({"environment": 1})",
        R"({"base_url": ""})", R"({"tags": {}})", R"({"status": "x"})",
        R"({"metrics_config": {"base_url": "http://m.test"}})", "[]"}) {
    EXPECT_EQ(python::ErrorType(CheckChanges(Json(changes))), "ValidationError") << changes;
  }
}

TEST(CheckOutboundUrls, LooksAtTheUrlsOfAllConfigs) {
  const OutboundPolicy policy = OutboundPolicy::Create().value();
  ASSERT_OK_AND_ASSIGN(const ServiceRecord record, ReadCreateRequest(Json(kRequest)));
  EXPECT_THAT(CheckOutboundUrls(policy, record), IsOk());
  ServiceRecord traced =
      ApplyChanges(record, Json(R"({"trace_config": {"base_url": "http://evil.com"}})")).value();
  EXPECT_EQ(CheckOutboundUrls(policy, traced).message(),
            "Tempo trace_config.base_url 'http://evil.com' is not in the trusted host/network "
            "allowlist.");
}

TEST(ServiceStatus, IsFoundByItsName) {
  EXPECT_EQ(FindServiceStatus("unavailable"), ServiceStatus::kUnavailable);
  EXPECT_EQ(ServiceStatusName(ServiceStatus::kDisabled), "disabled");
  EXPECT_FALSE(FindServiceStatus("Healthy").has_value());
}

}  // namespace
}  // namespace redouble::inline v0_1::studio
