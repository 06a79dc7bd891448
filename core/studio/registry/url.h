// NormalizeBaseUrl and OutboundPolicy: the form in which the registry stores and compares base
// URLs, and the URLs that Studio may call.
//
//   studio::NormalizeBaseUrl(" HTTP://A.Example.TEST:8080/api/// ");
//       // "http://a.example.test:8080/api"
//
//   const auto policy = studio::OutboundPolicy::Create();
//   policy->Check("http://evil.com", "Service base_url");
//       // InvalidArgument, OutboundUrlPolicyError: Service base_url 'http://evil.com' is not in
//       // the trusted host/network allowlist.
//
// Thread-safety: pure functions and constant values.
// Source: docs/systems/studio.md 2.2.
#ifndef REDOUBLE_CORE_STUDIO_REGISTRY_URL_H_
#define REDOUBLE_CORE_STUDIO_REGISTRY_URL_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace redouble::inline v0_1::studio {

// Returns the base URL in the form that the registry compares byte by byte. White space around it,
// control characters before it, an empty port, a bare `?` or `#`, and slashes at the end are
// removed; scheme and host are written in lower case; an IPv6 host is put in brackets. Everything
// else stays, also the default port of a scheme, so `http://a` and `http://a:80` are two URLs.
//
// Errors: InvalidArgument (ValueError), checked in this order: empty, brackets around anything but
// an IPv6 address, a host with a character that NFKC turns into a delimiter, a scheme other than
// http and https, no host, a query or fragment, user information, a port that is not a number or
// above 65535.
absl::StatusOr<std::string> NormalizeBaseUrl(std::string_view url);

// The host of a URL in lower case, without brackets; nullopt if it has no host, or one that
// NormalizeBaseUrl refuses.
std::optional<std::string> HostOf(std::string_view url);

struct OutboundPolicyOptions {
  // Host names, or suffixes if they begin with `.` or `*.`. nullopt: the default suffixes, which
  // are names of clusters and of documentation (docs/systems/studio.md 2.2).
  std::optional<std::vector<std::string>> allowed_hosts = std::nullopt;
  // Networks in CIDR notation ("10.0.0.0/8", "fd00::/8"). An IP address must be in one of them; it
  // never matches a host name.
  std::vector<std::string> allowed_networks = {};
};

class OutboundPolicy {
 public:
  // Errors: InvalidArgument (ValueError) for a blank host or a malformed network.
  static absl::StatusOr<OutboundPolicy> Create(const OutboundPolicyOptions& options = {});

  // Returns OK if Studio may call `url`. Errors: InvalidArgument (OutboundUrlPolicyError) with a
  // message that begins with `label`.
  absl::Status Check(std::string_view url, std::string_view label) const;

 private:
  struct Network {
    std::string address;  // 4 or 16 bytes.
    int prefix_bits = 0;
  };

  OutboundPolicy() = default;
  bool AllowsAddress(std::string_view address) const;
  bool AllowsHost(std::string_view host) const;

  std::vector<std::string> hosts_;
  std::vector<Network> networks_;
};

}  // namespace redouble::inline v0_1::studio

#endif  // REDOUBLE_CORE_STUDIO_REGISTRY_URL_H_
