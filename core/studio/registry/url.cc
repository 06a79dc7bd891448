#include "redouble/core/studio/registry/url.h"

#include <algorithm>
#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/python/error.h"
#include "redouble/core/python/text.h"
#include "redouble/core/studio/registry/ip_address.h"

namespace redouble::inline v0_1::studio {
namespace {

using base::ToAbsl;

constexpr int kMaxPort = 65535;

// The characters that Unicode's NFKC normalization turns into a delimiter of URLs (one of `/?#@:`),
// for example U+2100 into "a/c". A resolver that normalizes a host would see another host.
constexpr std::array<std::string_view, 19> kUnsafeUnderNfkc = {
    "\u2047", "\u2048", "\u2049", "\u2100", "\u2101", "\u2105", "\u2106",
    "\u2A74", "\uFE13", "\uFE16", "\uFE55", "\uFE56", "\uFE5F", "\uFE6B",
    "\uFF03", "\uFF0F", "\uFF1A", "\uFF1F", "\uFF20"};

constexpr std::array<std::string_view, 9> kDefaultHosts = {
    ".svc.local",   ".svc.cluster.local", ".cluster.local", ".example.com", ".example.net",
    ".example.org", ".example.test",      ".invalid",       ".test"};

// The parts of a URL without their delimiters. Views into the text.
struct UrlParts {
  std::string_view scheme;
  std::string_view authority;
  std::string_view path;
  std::string_view query;
  std::string_view fragment;
};

bool IsSchemeCharacter(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '+' || c == '-' || c == '.';
}

std::string_view CutAfter(std::string_view& text, char mark) {
  const size_t at = text.find(mark);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = text.substr(at + 1);
  text = text.substr(0, at);
  return rest;
}

UrlParts Split(std::string_view url) {
  UrlParts parts;
  const size_t colon = url.find(':');
  if (colon != std::string_view::npos && colon > 0 &&
      absl::ascii_isalpha(static_cast<unsigned char>(url.front())) &&
      std::all_of(url.begin(), url.begin() + colon, IsSchemeCharacter)) {
    parts.scheme = url.substr(0, colon);
    url.remove_prefix(colon + 1);
  }
  if (url.starts_with("//")) {
    url.remove_prefix(2);
    const size_t end = std::min(url.find_first_of("/?#"), url.size());
    parts.authority = url.substr(0, end);
    url.remove_prefix(end);
  }
  parts.fragment = CutAfter(url, '#');
  parts.query = CutAfter(url, '?');
  parts.path = url;
  return parts;
}

struct Authority {
  std::string_view user_information;
  std::string_view host;
  std::string_view port;
};

Authority SplitAuthority(std::string_view text) {
  Authority authority;
  const size_t at = text.rfind('@');
  if (at != std::string_view::npos) {
    authority.user_information = text.substr(0, at);
    text.remove_prefix(at + 1);
  }
  const size_t bracket = text.find('[');
  if (bracket != std::string_view::npos) {
    text.remove_prefix(bracket + 1);
    const size_t end = std::min(text.find(']'), text.size());
    authority.host = text.substr(0, end);
    std::string_view rest = text.substr(std::min(end + 1, text.size()));
    authority.port = CutAfter(rest, ':');
    return authority;
  }
  authority.port = CutAfter(text, ':');
  authority.host = text;
  return authority;
}

// Python's URL parser drops control characters and spaces before a URL, and tabs and line ends
// inside it.
std::string Cleaned(std::string_view url) {
  const auto is_control_or_space = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
  url.remove_prefix(static_cast<size_t>(
      std::find_if_not(url.begin(), url.end(), is_control_or_space) - url.begin()));
  std::string text;
  std::copy_if(url.begin(), url.end(), std::back_inserter(text),
               [](char c) { return c != '\t' && c != '\r' && c != '\n'; });
  return text;
}

// IPvFuture: "v", hexadecimal digits, a dot and anything.
bool IsFutureAddress(std::string_view text) {
  const size_t dot = text.find('.');
  const std::string_view version = text.substr(1, dot - 1);
  return dot != std::string_view::npos && dot + 1 < text.size() && !version.empty() &&
         std::all_of(version.begin(), version.end(),
                     [](unsigned char c) { return absl::ascii_isxdigit(c); });
}

absl::Status CheckBracketedHost(std::string_view host) {
  if (host.starts_with('v')) {
    if (IsFutureAddress(host)) return absl::OkStatus();
    return python::ValueError("IPvFuture address is invalid");
  }
  constexpr size_t kIpv4Bytes = 4;
  const std::optional<std::string> address = IpAddressBytes(host);
  if (!address) {
    return python::ValueError(
        absl::StrCat("'", ToAbsl(host), "' does not appear to be an IPv4 or IPv6 address"));
  }
  if (address->size() != kIpv4Bytes) return absl::OkStatus();
  return python::ValueError("An IPv4 address cannot be in brackets");
}

// The errors of Python's urlsplit.
absl::Status CheckAuthority(std::string_view authority) {
  const size_t open = authority.find('[');
  const bool closes = authority.find(']') != std::string_view::npos;
  if ((open != std::string_view::npos) != closes) return python::ValueError("Invalid IPv6 URL");
  if (closes) {
    std::string_view host = authority.substr(open + 1);
    CutAfter(host, ']');
    REDOUBLE_RETURN_IF_ERROR(CheckBracketedHost(host));
  }
  const bool is_safe = std::none_of(kUnsafeUnderNfkc.begin(), kUnsafeUnderNfkc.end(),
                                    [&](std::string_view character) {
                                      return authority.find(character) != std::string_view::npos;
                                    });
  if (is_safe) return absl::OkStatus();
  return python::ValueError(absl::StrCat("netloc '", ToAbsl(authority),
                                         "' contains invalid characters under NFKC normalization"));
}

absl::StatusOr<int> ParsePort(std::string_view port) {
  if (!std::all_of(port.begin(), port.end(),
                   [](unsigned char c) { return absl::ascii_isdigit(c); })) {
    return python::ValueError(
        absl::StrCat("Port could not be cast to integer value as '", ToAbsl(port), "'"));
  }
  int number = 0;
  if (!absl::SimpleAtoi(ToAbsl(port), &number) || number > kMaxPort) {
    return python::ValueError("Port out of range 0-65535");
  }
  return number;
}

absl::Status CheckParts(const UrlParts& parts, const Authority& authority) {
  const std::string scheme = absl::AsciiStrToLower(ToAbsl(parts.scheme));
  if (scheme != "http" && scheme != "https") {
    return python::ValueError("base_url must use http or https");
  }
  if (parts.authority.empty()) return python::ValueError("base_url must include a hostname");
  if (!parts.query.empty() || !parts.fragment.empty()) {
    return python::ValueError("base_url must not include a query string or fragment");
  }
  // `@` and `:@` alone do not count as user information.
  if (!authority.user_information.empty() && authority.user_information != ":") {
    return python::ValueError("base_url must not include user info");
  }
  if (authority.host.empty()) return python::ValueError("base_url must include a hostname");
  return absl::OkStatus();
}

bool SharesPrefix(std::string_view a, std::string_view b, int bits) {
  constexpr int kByteBits = 8;
  const size_t whole = static_cast<size_t>(bits / kByteBits);
  if (a.size() != b.size() || a.substr(0, whole) != b.substr(0, whole)) return false;
  const int rest = bits % kByteBits;
  if (rest == 0) return true;
  const int shift = kByteBits - rest;
  return (static_cast<unsigned char>(a[whole]) >> shift) ==
         (static_cast<unsigned char>(b[whole]) >> shift);
}

}  // namespace

absl::StatusOr<std::string> NormalizeBaseUrl(std::string_view url) {
  const std::string_view stripped = python::Strip(url);
  if (stripped.empty()) return python::ValueError("base_url must not be empty");
  const std::string text = Cleaned(stripped);
  const UrlParts parts = Split(text);
  REDOUBLE_RETURN_IF_ERROR(CheckAuthority(parts.authority));
  const Authority authority = SplitAuthority(parts.authority);
  REDOUBLE_RETURN_IF_ERROR(CheckParts(parts, authority));

  const std::string host = python::Lower(authority.host);
  std::string normalized = absl::StrCat(absl::AsciiStrToLower(ToAbsl(parts.scheme)), "://");
  if (host.find(':') != std::string::npos) {
    absl::StrAppend(&normalized, "[", host, "]");
  } else {
    absl::StrAppend(&normalized, host);
  }
  if (!authority.port.empty()) {
    REDOUBLE_ASSIGN_OR_RETURN(const int port, ParsePort(authority.port));
    absl::StrAppend(&normalized, ":", port);
  }
  const size_t end = parts.path.find_last_not_of('/');
  if (end != std::string_view::npos) {
    absl::StrAppend(&normalized, ToAbsl(parts.path.substr(0, end + 1)));
  }
  return normalized;
}

std::optional<std::string> HostOf(std::string_view url) {
  const std::string text = Cleaned(url);
  const UrlParts parts = Split(text);
  if (!CheckAuthority(parts.authority).ok()) return std::nullopt;
  const Authority authority = SplitAuthority(parts.authority);
  if (authority.host.empty()) return std::nullopt;
  return python::Lower(authority.host);
}

absl::StatusOr<OutboundPolicy> OutboundPolicy::Create(const OutboundPolicyOptions& options) {
  OutboundPolicy policy;
  const std::vector<std::string> hosts = options.allowed_hosts.value_or(
      std::vector<std::string>(kDefaultHosts.begin(), kDefaultHosts.end()));
  for (const std::string& host : hosts) {
    std::string pattern = python::Lower(python::Strip(host));
    if (pattern.empty()) return python::ValueError("allowed_hosts entries must not be empty");
    if (pattern.starts_with("*.")) pattern.erase(0, 1);
    policy.hosts_.push_back(std::move(pattern));
  }
  for (const std::string& text : options.allowed_networks) {
    constexpr int kByteBits = 8;
    std::string_view address = python::Strip(text);
    const std::string_view bits = CutAfter(address, '/');
    Network network;
    network.address = IpAddressBytes(address).value_or("");
    network.prefix_bits = static_cast<int>(network.address.size()) * kByteBits;
    int given = network.prefix_bits;
    if (network.address.empty() || (!bits.empty() && !absl::SimpleAtoi(ToAbsl(bits), &given)) ||
        given < 0 || given > network.prefix_bits) {
      return python::ValueError(
          absl::StrCat("'", text, "' does not appear to be an IPv4 or IPv6 network"));
    }
    network.prefix_bits = given;
    policy.networks_.push_back(std::move(network));
  }
  return policy;
}

bool OutboundPolicy::AllowsAddress(std::string_view address) const {
  return std::any_of(networks_.begin(), networks_.end(), [&](const Network& network) {
    return SharesPrefix(address, network.address, network.prefix_bits);
  });
}

bool OutboundPolicy::AllowsHost(std::string_view host) const {
  return std::any_of(hosts_.begin(), hosts_.end(), [&](std::string_view pattern) {
    return pattern.starts_with('.') ? host.ends_with(pattern) : host == pattern;
  });
}

absl::Status OutboundPolicy::Check(std::string_view url, std::string_view label) const {
  constexpr std::string_view kPolicyError = "OutboundUrlPolicyError";
  const std::optional<std::string> host = HostOf(url);
  if (!host) {
    return python::Error(
        absl::StatusCode::kInvalidArgument, kPolicyError,
        absl::StrCat(ToAbsl(label), " '", ToAbsl(url), "' is missing a hostname."));
  }
  const std::optional<std::string> address = IpAddressBytes(*host);
  if (address ? AllowsAddress(*address) : AllowsHost(*host)) return absl::OkStatus();
  return python::Error(absl::StatusCode::kInvalidArgument, kPolicyError,
                       absl::StrCat(ToAbsl(label), " '", ToAbsl(url),
                                    "' is not in the trusted host/network allowlist."));
}

}  // namespace redouble::inline v0_1::studio
