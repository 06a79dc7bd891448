#include "redouble/core/threescale/http/answer_xml.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/threescale/errors.h"
#include "redouble/core/threescale/text/integer.h"
#include "redouble/core/threescale/text/periods.h"

namespace redouble::inline v0_1::threescale {
namespace {

using base::ToAbsl;

constexpr absl::string_view kDeclaration = R"(<?xml version="1.0" encoding="UTF-8"?>)";

std::string Tag(std::string_view name, std::string_view text) {
  return absl::StrCat("<", ToAbsl(name), ">", ToAbsl(text), "</", ToAbsl(name), ">");
}

std::string ReportXml(const UsageReport& report) {
  std::string xml = absl::StrCat("<usage_report metric=\"", report.metric_name, "\" period=\"",
                                 ToAbsl(GranularityName(report.period.granularity)), "\"",
                                 report.exceeded ? " exceeded=\"true\"" : "", ">");
  if (report.period.granularity != Granularity::kEternity) {
    xml += Tag("period_start", FormatReportTime(report.period.start));
    xml += Tag("period_end", FormatReportTime(report.period.end));
  }
  xml += Tag("max_value", FormatInteger(report.max_value));
  xml += Tag("current_value", FormatInteger(report.current_value));
  return xml + "</usage_report>";
}

std::string HierarchyXml(const HierarchyReport& hierarchy) {
  std::string xml = "<hierarchy>";
  for (const auto& [name, children] : hierarchy) {
    absl::StrAppend(&xml, "<metric name=\"", name, "\" children=\"");
    for (size_t i = 0; i < children.size(); ++i) {
      absl::StrAppend(&xml, i == 0 ? "" : " ", children[i].value_or(""));
    }
    xml += "\"/>";
  }
  return xml + "</hierarchy>";
}

std::string KeysXml(const Authorization& authorization, const std::vector<std::string>& keys) {
  std::string xml = absl::StrCat("<app_keys app=\"", authorization.application.id, "\" svc=\"",
                                 authorization.service.id, "\">");
  for (const std::string& key : keys) absl::StrAppend(&xml, "<key id=\"", key, "\"/>");
  return xml + "</app_keys>";
}

}  // namespace

base::Task<absl::StatusOr<AnswerDetails>> ReadAnswerDetails(Authorizer& authorizer,
                                                            const Authorization& authorization) {
  AnswerDetails details;
  const Extensions& extensions = authorization.extensions;
  const bool tells_limits =
      authorization.authorized() || authorization.rejection->code == ErrorCode::kLimitsExceeded;
  if (extensions.limit_headers && tells_limits) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(details.limits,
                                 co_await authorizer.FindLimitHeaders(authorization));
  }
  if (extensions.no_body) co_return details;
  if (IsOauth(authorization.endpoint)) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(details.oauth_keys, co_await authorizer.AppKeys(authorization));
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(details.reports, co_await authorizer.UsageReports(authorization));
  if (extensions.list_app_keys) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(details.listed_keys, co_await authorizer.AppKeys(authorization));
  }
  if (extensions.hierarchy) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(details.hierarchy,
                                 co_await authorizer.FindHierarchy(authorization, details.reports));
  }
  co_return details;
}

std::string AuthorizationXml(const Authorization& authorization, const AnswerDetails& details) {
  if (authorization.extensions.no_body) return "";
  std::string xml = absl::StrCat(kDeclaration, "<status>");
  xml += Tag("authorized", authorization.authorized() ? "true" : "false");
  if (authorization.rejection) xml += Tag("reason", authorization.rejection->message);
  const Application& application = authorization.application;
  if (IsOauth(authorization.endpoint)) {
    const std::string_view key =
        details.oauth_keys.empty() ? std::string_view() : details.oauth_keys.front();
    const std::string_view url = authorization.uses_redirect_uri ? "redirect_uri" : "redirect_url";
    xml += Tag("application", absl::StrCat(Tag("id", application.id), Tag("key", key),
                                           Tag(url, application.redirect_url.value_or(""))));
  }
  xml += Tag("plan", XmlText(application.plan_name.value_or("")));
  if (!details.reports.empty()) {
    std::string reports;
    for (const UsageReport& report : details.reports) reports += ReportXml(report);
    xml += Tag("usage_reports", reports);
  }
  if (authorization.extensions.list_app_keys) xml += KeysXml(authorization, details.listed_keys);
  if (authorization.extensions.hierarchy) xml += HierarchyXml(details.hierarchy);
  return xml + "</status>";
}

std::string ErrorXml(const absl::Status& error) {
  const std::optional<ErrorCode> code = ErrorCodeOf(error);
  if (!code) return "";
  return absl::StrCat(kDeclaration, R"(<error code=")", ToAbsl(SpecOf(*code).name), R"(">)",
                      XmlText(base::ToStd(error.message())), "</error>");
}

std::string XmlText(std::string_view text) {
  return absl::StrReplaceAll(ToAbsl(text), {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}});
}

}  // namespace redouble::inline v0_1::threescale
