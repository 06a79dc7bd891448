#include "redouble/sim/operations/threescale/threescale_session.h"

#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/threescale/errors.h"
#include "redouble/core/threescale/model/service.h"

namespace redouble::inline v0_1::scenarios {
namespace {

using base::ToAbsl;
using sim::Json;

// Encodes a text as forms and queries do.
std::string EncodeQueryText(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    if (absl::ascii_isalnum(c) || c == '*' || c == '-' || c == '.' || c == '_') {
      encoded += c;
    } else if (c == ' ') {
      encoded += '+';
    } else {
      absl::StrAppendFormat(&encoded, "%%%02X", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

void AppendQuery(const Json& value, const std::string& prefix, std::vector<std::string>& parts) {
  if (value.is_object()) {
    for (const auto& [name, member] : value.items()) {
      const std::string encoded = EncodeQueryText(name);
      AppendQuery(member, prefix.empty() ? encoded : absl::StrCat(prefix, "[", encoded, "]"),
                  parts);
    }
  } else if (value.is_array()) {
    for (const Json& element : value) AppendQuery(element, prefix + "[]", parts);
  } else if (value.is_null()) {
    parts.push_back(prefix);
  } else {
    parts.push_back(absl::StrCat(prefix, "=", EncodeQueryText(TextOf(value).value_or(""))));
  }
}

}  // namespace

ThreescaleSession::ThreescaleSession(ThreescaleSettings settings)
    : settings_(std::move(settings)) {}

threescale::Process ThreescaleSession::Begin(const sim::OperationContext& context,
                                             sim::ArgumentReader& reader) {
  clock_.set_now(reader.TimeOr("now", context.clock.Now()));
  reader.Find("label");
  threescale::Process process(context.store, clock_);
  const bool trimmed = settings_.stamp_format == threescale::StampFormat::kTrimmed;
  process.stamp_format = reader.BoolOr("trimmed_stamps", trimmed)
                             ? threescale::StampFormat::kTrimmed
                             : threescale::StampFormat::kFixedWidth;
  if (settings_.memory == ThreescaleSettings::Memory::kNone) return process;
  if (settings_.memory == ThreescaleSettings::Memory::kOfOneOperation) memoizer_.ClearAll();
  process.memoizer = &memoizer_;
  return process;
}

void AddThreescale(sim::OperationTable& table, const ThreescaleSessions& sessions, std::string name,
                   ThreescaleOperation operation) {
  table.Add(std::move(name),
            [sessions, operation](sim::OperationContext context, const Json& arguments) {
              return operation(sessions(), context, arguments);
            });
}

threescale::Hardening ReadThreescaleHardening(sim::ArgumentReader& reader) {
  threescale::Hardening hardening;
  hardening.publish_events_atomically = reader.BoolOr("publish_events_atomically", false);
  hardening.raise_alerts_atomically = reader.BoolOr("raise_alerts_atomically", false);
  hardening.expire_atomically = reader.BoolOr("expire_atomically", false);
  hardening.take_notifications_atomically = reader.BoolOr("take_notifications_atomically", false);
  hardening.check_and_report_atomically = reader.BoolOr("check_and_report_atomically", false);
  hardening.note_traffic_atomically = reader.BoolOr("note_traffic_atomically", false);
  hardening.count_jobs_once = reader.BoolOr("count_jobs_once", false);
  hardening.check_applications_atomically = reader.BoolOr("check_applications_atomically", false);
  hardening.change_metrics_atomically = reader.BoolOr("change_metrics_atomically", false);
  hardening.change_services_atomically = reader.BoolOr("change_services_atomically", false);
  hardening.trim_errors_atomically = reader.BoolOr("trim_errors_atomically", false);
  return hardening;
}

std::optional<std::string> Text(sim::ArgumentReader& reader, std::string_view name) {
  const Json* value = reader.Find(name);
  if (value == nullptr) return std::nullopt;
  std::optional<std::string> text = TextOf(*value);
  if (!text) reader.Refuse(name, "expected a text or a number");
  return text;
}

std::optional<std::string> TextOf(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number() || value.is_boolean()) return value.dump();
  return std::nullopt;
}

Json ThreescaleErrorResult(const absl::Status& status) {
  if (const auto code = threescale::ErrorCodeOf(status)) {
    const threescale::ErrorSpec& spec = threescale::SpecOf(*code);
    return {{"class", spec.class_name},
            {"code", spec.name},
            {"message", std::string(status.message())},
            {"http", spec.http_status}};
  }
  std::string_view name = "RuntimeError";
  if (absl::IsInvalidArgument(status)) name = "ArgumentError";
  if (status == threescale::MissingDefaultError()) name = "TypeError";
  if (store::ErrorKindOf(status) == store::ErrorKind::kServer) name = "Redis::CommandError";
  return {{"class", name}, {"message", std::string(status.message())}};
}

std::string NestedQuery(const Json& params) {
  std::vector<std::string> parts;
  AppendQuery(params, "", parts);
  return absl::StrJoin(parts, "&");
}

threescale::HttpRequest RequestOf(std::string_view method, std::string_view path,
                                  const Json& params, std::string_view extensions_header) {
  threescale::HttpRequest request{.method = std::string(method), .path = std::string(path)};
  const bool is_post = method == "POST";
  (is_post ? request.body : request.query) = NestedQuery(params);
  if (is_post) request.headers.emplace_back("Content-Type", "application/x-www-form-urlencoded");
  request.headers.emplace_back("Content-Length", absl::StrCat(request.body.size()));
  request.headers.emplace_back("3scale-options", extensions_header);
  request.ip = "127.0.0.1";
  return request;
}

Json ErrorAnswer(const absl::Status& status, const threescale::HttpRequest& request) {
  const threescale::HttpResponse response = threescale::ErrorResponse(status, request);
  return {{"status", response.status}, {"body", response.body}};
}

}  // namespace redouble::inline v0_1::scenarios
