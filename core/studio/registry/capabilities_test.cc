#include "redouble/core/studio/registry/capabilities.h"

#include <gtest/gtest.h>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/python/error.h"
#include "redouble/core/python/json.h"

namespace redouble::inline v0_1::studio {
namespace {

using base::IsOk;
using base::IsOkAndHolds;

constexpr const char* kDocument = R"({
  "service_metadata": {"compatibility": "capabilities_v1", "discovery_source": "live",
                       "capability_path": "/relayna/capabilities", "service_title": "Svc"},
  "supported_routes": ["events.feed"], "relayna_version": "1.4.11", "unknown": 1,
  "topology_kind": "shared_tasks"})";

python::Value Json(std::string_view text) { return python::ParseJson(text).value(); }

TEST(Capabilities, HaveTheirModelsFormWhateverWasSent) {
  const auto document = ReadCapabilityResponse({200, kDocument}, "http://a.test");
  ASSERT_THAT(document, IsOk());
  EXPECT_THAT(
      python::PydanticJson(*document),
      IsOkAndHolds(
          R"({"relayna_version":"1.4.11","topology_kind":"shared_tasks","alias_config_summary":)"
          R"({"aliasing_enabled":false,"payload_aliases":{},"http_aliases":{}},)"
          R"("supported_routes":["events.feed"],"feature_flags":[],"service_metadata":)"
          R"({"service_title":"Svc","capability_path":"/relayna/capabilities",)"
          R"("discovery_source":"live","compatibility":"capabilities_v1"}})"));
  EXPECT_THAT(ReadCapabilityDocument(*document), IsOkAndHolds(*document));
}

TEST(Capabilities, OfAServiceWithoutTheEndpointAreTheLegacyOnes) {
  for (const int status : {404, 405, 501}) {
    const auto document = ReadCapabilityResponse({status, "gone"}, "http://a.test");
    ASSERT_THAT(document, IsOk());
    EXPECT_EQ(*document, LegacyCapabilityDocument());
  }
  EXPECT_THAT(ReadCapabilityDocument(LegacyCapabilityDocument()), IsOk());
  EXPECT_FALSE(SupportsRoute(LegacyCapabilityDocument(), kEventsFeedRoute));
}

TEST(Capabilities, ThatCannotBeReadAreARefreshError) {
  const struct {
    HttpResponse response;
    const char* error;
  } kCases[] = {
      {{500, ""}, "Capability endpoint for 'http://a.test' returned unexpected status 500."},
      {{201, kDocument}, "Capability endpoint for 'http://a.test' returned unexpected status 201."},
      {{200, "{bad"}, "Capability endpoint for 'http://a.test' returned invalid JSON."},
      {{200, "{}"},
       "Capability endpoint for 'http://a.test' returned an invalid capability document."},
      {{200, "7"},
       "Capability endpoint for 'http://a.test' returned an invalid capability document."},
  };
  for (const auto& row : kCases) {
    const absl::Status status = ReadCapabilityResponse(row.response, "http://a.test").status();
    EXPECT_EQ(status.message(), row.error);
    EXPECT_EQ(python::ErrorType(status), "CapabilityRefreshError");
  }
}

TEST(SupportsRoute, NeedsAValidDocumentOfTheCurrentKind) {
  python::Value document = Json(kDocument);
  EXPECT_TRUE(SupportsRoute(document, kEventsFeedRoute));
  EXPECT_FALSE(SupportsRoute(document, kHealthWorkersRoute));
  EXPECT_FALSE(SupportsRoute(python::Value(), kEventsFeedRoute));
  EXPECT_FALSE(SupportsRoute(Json("{}"), kEventsFeedRoute));
  document.object()->Set("service_metadata",
                         Json(R"({"compatibility": "v0", "discovery_source": "live",
                                  "capability_path": "/"})"));
  EXPECT_FALSE(SupportsRoute(document, kEventsFeedRoute));
}

}  // namespace
}  // namespace redouble::inline v0_1::studio
