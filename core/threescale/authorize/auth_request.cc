#include "redouble/core/threescale/authorize/auth_request.h"

#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/base/text/trim.h"
#include "redouble/core/threescale/text/query_text.h"

namespace redouble::inline v0_1::threescale {
namespace {

// Ruby's strip also removes NUL.
std::string_view Strip(std::string_view text) {
  constexpr std::string_view kSpace("\0\t\n\v\f\r ", 7);
  return base::Trim(text, kSpace);
}

std::optional<std::string_view> NotBlank(std::optional<std::string_view> text) {
  return text && Strip(*text).empty() ? std::nullopt : text;
}

}  // namespace

bool IsNoBody(std::string_view value) { return value != "0" && value != "false"; }

Extensions ParseExtensions(std::string_view header, std::optional<std::string_view> no_body) {
  const bool no_body_without_header = no_body && IsNoBody(*no_body);
  Extensions extensions;
  extensions.no_body = no_body_without_header;
  const std::pair<std::string_view, bool Extensions::*> flags[] = {
      {"rejection_reason_header", &Extensions::rejection_reason_header},
      {"limit_headers", &Extensions::limit_headers},
      {"hierarchy", &Extensions::hierarchy},
      {"flat_usage", &Extensions::flat_usage},
      {"list_app_keys", &Extensions::list_app_keys}};
  for (const absl::string_view option :
       absl::StrSplit(base::ToAbsl(header), absl::ByAnyChar("&;"))) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(option, absl::MaxSplits('=', 1));
    const std::string name = DecodeQueryText(base::ToStd(absl::StripAsciiWhitespace(parts.first)));
    const std::string value = DecodeQueryText(base::ToStd(parts.second));
    if (name == "no_body") {
      const bool has_value = parts.first.size() < option.size();
      extensions.no_body = has_value ? IsNoBody(value) : no_body_without_header;
    }
    for (const auto& [flag, member] : flags) {
      if (name == flag) extensions.*member = value == "1";
    }
  }
  return extensions;
}

AuthRequest AuthRequest::Normalized() const {
  AuthRequest request = *this;
  request.provider_key = NotBlank(provider_key);
  request.service_id = NotBlank(service_id);
  request.app_id = NotBlank(app_id);
  if (app_key) request.app_key = Strip(*app_key);
  request.user_key = NotBlank(user_key);
  return request;
}

}  // namespace redouble::inline v0_1::threescale
