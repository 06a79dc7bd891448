#include "core/studio/url.h"

#include <algorithm>
#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/base/string_bridge.h"
#include "core/python/error.h"
#include "core/python/text.h"
#include "core/studio/ip_address.h"

namespace redouble::studio {
namespace {

using base::ToAbsl;

constexpr int kMostPort = 65535;

constexpr std::array<std::string_view, 9> kDefaultHosts = {
    ".svc.local",   ".svc.cluster.local", ".cluster.local", ".example.com", ".example.net",
    ".example.org", ".example.test",      ".invalid",       ".test"};

// What stands between the slashes, the marks and the signs. Views into the text.
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

std::string_view TakeBehind(std::string_view& text, char mark) {
  const size_t at = text.find(mark);
  if (at == std::string_view::npos) return {};
  const std::string_view behind = text.substr(at + 1);
  text = text.substr(0, at);
  return behind;
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
  parts.fragment = TakeBehind(url, '#');
  parts.query = TakeBehind(url, '?');
  parts.path = url;
  return parts;
}

struct Authority {
  std::string_view user_information;
  std::string_view host;
  std::string_view port;
  bool malformed = false;
};

Authority SplitAuthority(std::string_view text) {
  Authority authority;
  const size_t at = text.rfind('@');
  if (at != std::string_view::npos) {
    authority.user_information = text.substr(0, at);
    text.remove_prefix(at + 1);
  }
  const bool opens = text.find('[') != std::string_view::npos;
  const bool closes = text.find(']') != std::string_view::npos;
  authority.malformed = opens != closes;
  if (opens && closes) {
    text.remove_prefix(text.find('[') + 1);
    const size_t end = std::min(text.find(']'), text.size());
    authority.host = text.substr(0, end);
    std::string_view rest = text.substr(std::min(end + 1, text.size()));
    authority.port = TakeBehind(rest, ':');
    return authority;
  }
  authority.port = TakeBehind(text, ':');
  authority.host = text;
  return authority;
}

// Tabs and line ends inside a URL count as nothing.
std::string WithoutLineEnds(std::string_view url) {
  std::string text;
  std::copy_if(url.begin(), url.end(), std::back_inserter(text),
               [](char c) { return c != '\t' && c != '\r' && c != '\n'; });
  return text;
}

absl::StatusOr<int> ParsePort(std::string_view port) {
  if (!std::all_of(port.begin(), port.end(),
                   [](unsigned char c) { return absl::ascii_isdigit(c); })) {
    return python::ValueError(
        absl::StrCat("Port could not be cast to integer value as '", ToAbsl(port), "'"));
  }
  int number = 0;
  if (!absl::SimpleAtoi(ToAbsl(port), &number) || number > kMostPort) {
    return python::ValueError("Port out of range 0-65535");
  }
  return number;
}

absl::Status CheckParts(const UrlParts& parts, const Authority& authority) {
  const std::string scheme = absl::AsciiStrToLower(ToAbsl(parts.scheme));
  if (authority.malformed) return python::ValueError("Invalid IPv6 URL");
  if (scheme != "http" && scheme != "https") {
    return python::ValueError("base_url must use http or https");
  }
  if (parts.authority.empty()) return python::ValueError("base_url must include a hostname");
  if (!parts.query.empty() || !parts.fragment.empty()) {
    return python::ValueError("base_url must not include a query string or fragment");
  }
  // A lone `@`, or `:@`, is no information.
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
  const std::string stripped = WithoutLineEnds(python::Strip(url));
  if (stripped.empty()) return python::ValueError("base_url must not be empty");
  const UrlParts parts = Split(stripped);
  const Authority authority = SplitAuthority(parts.authority);
  if (absl::Status status = CheckParts(parts, authority); !status.ok()) return status;

  const std::string host = python::Lower(authority.host);
  std::string normalized = absl::StrCat(absl::AsciiStrToLower(ToAbsl(parts.scheme)), "://");
  if (host.find(':') != std::string::npos) {
    absl::StrAppend(&normalized, "[", host, "]");
  } else {
    absl::StrAppend(&normalized, host);
  }
  if (!authority.port.empty()) {
    const absl::StatusOr<int> port = ParsePort(authority.port);
    if (!port.ok()) return port.status();
    absl::StrAppend(&normalized, ":", *port);
  }
  const size_t end = parts.path.find_last_not_of('/');
  if (end != std::string_view::npos) {
    absl::StrAppend(&normalized, ToAbsl(parts.path.substr(0, end + 1)));
  }
  return normalized;
}

std::optional<std::string> HostOf(std::string_view url) {
  const Authority authority = SplitAuthority(Split(url).authority);
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
    const std::string_view bits = TakeBehind(address, '/');
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

}  // namespace redouble::studio
