#include "redouble/core/threescale/authorize/auth_request.h"

#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/base/text/trim.h"

namespace redouble::threescale {
namespace {

int HexDigit(char c) {
  if (absl::ascii_isdigit(c)) return c - '0';
  return absl::ascii_isxdigit(c) ? absl::ascii_tolower(c) - 'a' + 10 : -1;
}

std::string DecodeQueryText(absl::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
    const int low = high < 0 ? -1 : HexDigit(text[i + 2]);
    if (low >= 0) {
      decoded += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      decoded += text[i] == '+' ? ' ' : text[i];
    }
  }
  return decoded;
}

// Ruby's strip also removes NUL.
std::string_view Strip(std::string_view text) {
  constexpr std::string_view kSpace("\0\t\n\v\f\r ", 7);
  return base::Trim(text, kSpace);
}

std::optional<std::string_view> NotBlank(std::optional<std::string_view> text) {
  return text && Strip(*text).empty() ? std::nullopt : text;
}

}  // namespace

Extensions ParseExtensions(std::string_view header) {
  Extensions extensions;
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
    const std::string name = DecodeQueryText(absl::StripAsciiWhitespace(parts.first));
    const std::string value = DecodeQueryText(parts.second);
    if (name == "no_body") {
      extensions.no_body = parts.first.size() < option.size() && value != "0" && value != "false";
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

}  // namespace redouble::threescale
