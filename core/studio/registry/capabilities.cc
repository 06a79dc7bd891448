#include "redouble/core/studio/registry/capabilities.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/python/error.h"
#include "redouble/core/python/model_reader.h"

namespace redouble::inline v0_1::studio {
namespace {

using base::ToAbsl;
using python::Value;

constexpr std::string_view kCurrentCompatibility = "capabilities_v1";
constexpr std::array<int, 3> kNoEndpointStatuses = {404, 405, 501};
constexpr int kHttpOk = 200;

Value TextArray(const std::vector<std::string>& texts) {
  return Value(python::Array(texts.begin(), texts.end()));
}

absl::StatusOr<Value> ReadAliases(const Value& value) {
  python::ModelReader reader(value, "AliasConfigSummary");
  Value aliases(python::Object{{"aliasing_enabled", reader.BoolOr("aliasing_enabled", false)},
                               {"payload_aliases", reader.Object("payload_aliases")},
                               {"http_aliases", reader.Object("http_aliases")}});
  REDOUBLE_RETURN_IF_ERROR(reader.status());
  return aliases;
}

absl::StatusOr<Value> ReadMetadata(const Value& value) {
  python::ModelReader reader(value, "CapabilityServiceMetadata");
  Value metadata(python::Object{{"service_title", reader.OptionalString("service_title")},
                                {"capability_path", reader.String("capability_path")},
                                {"discovery_source", reader.String("discovery_source")},
                                {"compatibility", reader.String("compatibility")}});
  REDOUBLE_RETURN_IF_ERROR(reader.status());
  return metadata;
}

absl::Status RefreshError(std::string_view base_url, std::string_view what) {
  return python::Error(absl::StatusCode::kUnavailable, "CapabilityRefreshError",
                       absl::StrCat("Capability endpoint for '", ToAbsl(base_url), "' returned ",
                                    ToAbsl(what), "."));
}

}  // namespace

absl::StatusOr<Value> ReadCapabilityDocument(const Value& value) {
  python::ModelReader reader(value, "CapabilityDocument");
  const std::string version = reader.String("relayna_version");
  const std::string topology = reader.String("topology_kind");
  absl::StatusOr<Value> aliases = ReadAliases(reader.Object("alias_config_summary"));
  if (!aliases.ok()) reader.Update(aliases.status());
  const std::vector<std::string> routes = reader.Strings("supported_routes");
  const std::vector<std::string> flags = reader.Strings("feature_flags");
  absl::StatusOr<Value> metadata = ReadMetadata(reader.Object("service_metadata"));
  if (!metadata.ok()) reader.Update(metadata.status());
  REDOUBLE_RETURN_IF_ERROR(reader.status());
  return Value(python::Object{{"relayna_version", version},
                              {"topology_kind", topology},
                              {"alias_config_summary", *std::move(aliases)},
                              {"supported_routes", TextArray(routes)},
                              {"feature_flags", TextArray(flags)},
                              {"service_metadata", *std::move(metadata)}});
}

Value LegacyCapabilityDocument() {
  return Value(python::Object{
      {"relayna_version", "unknown"},
      {"topology_kind", "unknown"},
      {"alias_config_summary", Value(python::Object{{"aliasing_enabled", false},
                                                    {"payload_aliases", Value(python::Object())},
                                                    {"http_aliases", Value(python::Object())}})},
      {"supported_routes", Value(python::Array())},
      {"feature_flags", Value(python::Array())},
      {"service_metadata",
       Value(python::Object{{"service_title", nullptr},
                            {"capability_path", kCapabilityPath},
                            {"discovery_source", "fallback"},
                            {"compatibility", "legacy_no_capabilities_endpoint"}})}});
}

bool SupportsRoute(const Value& capabilities, std::string_view route) {
  if (capabilities.object() == nullptr) return false;
  const absl::StatusOr<Value> document = ReadCapabilityDocument(capabilities);
  if (!document.ok()) return false;
  const Value* compatibility = document->Find("service_metadata")->Find("compatibility");
  if (*compatibility->text() != kCurrentCompatibility) return false;
  const python::Array& routes = *document->Find("supported_routes")->array();
  return std::any_of(routes.begin(), routes.end(),
                     [&](const Value& one) { return *one.text() == route; });
}

absl::StatusOr<Value> ReadCapabilityResponse(const HttpResponse& response,
                                             std::string_view base_url) {
  if (std::find(kNoEndpointStatuses.begin(), kNoEndpointStatuses.end(), response.http_status) !=
      kNoEndpointStatuses.end()) {
    return LegacyCapabilityDocument();
  }
  if (response.http_status != kHttpOk) {
    return RefreshError(base_url, absl::StrCat("unexpected status ", response.http_status));
  }
  const absl::StatusOr<Value> body = python::ParseModelJson(response.body, "CapabilityDocument");
  if (!body.ok()) return RefreshError(base_url, "invalid JSON");
  absl::StatusOr<Value> document = ReadCapabilityDocument(*body);
  if (!document.ok()) return RefreshError(base_url, "an invalid capability document");
  return document;
}

}  // namespace redouble::inline v0_1::studio
