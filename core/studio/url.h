// Base URLs of services: the one form in which the registry keeps them, and which of them Studio
// may call.
//
//   studio::NormalizeBaseUrl(" HTTP://A.Example.TEST:8080/api/// ")
//       // "http://a.example.test:8080/api"
//
//   const auto policy = studio::OutboundPolicy::Create();
//   policy->Check("http://evil.com", "Service base_url")
//       // InvalidArgument, OutboundUrlPolicyError: Service base_url 'http://evil.com' is not in
//       // the trusted host/network allowlist.
//
// Thread-safety: pure functions and constant values.
// Source: reference/relayna.md section 6; goldens registry_normalize_base_url,
// registry_create_list.
#ifndef REDOUBLE_CORE_STUDIO_URL_H_
#define REDOUBLE_CORE_STUDIO_URL_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace redouble::studio {

// The base URL in the form that the registry compares byte by byte: white space around it is gone,
// scheme and host are in lower case, an IPv6 host stands in brackets, an empty port, a bare `?` or
// `#` and the slashes at the end are gone. Everything else stays: the port, also when it is the
// scheme's own (so `http://a` and `http://a:80` are two services), dot segments, percent signs, the
// case of the path. Errors: InvalidArgument that is a ValueError (python/error.h), in this order:
// empty, a scheme other than http and https, no host, a query or fragment, user information, a port
// that is no number or above 65535.
absl::StatusOr<std::string> NormalizeBaseUrl(std::string_view url);

// The host of a URL in lower case, without brackets; none when it has none.
std::optional<std::string> HostOf(std::string_view url);

struct OutboundPolicyOptions {
  // Hosts, or with a dot (or `*.`) in front what a host may end with. None: the default list, which
  // holds names of clusters and of documentation only.
  std::optional<std::vector<std::string>> allowed_hosts = std::nullopt;
  // Networks in CIDR notation ("10.0.0.0/8", "fd00::/8"). An address is never a host name: without
  // its network it is refused.
  std::vector<std::string> allowed_networks = {};
};

class OutboundPolicy {
 public:
  // Errors: InvalidArgument (ValueError) for a blank host or a malformed network.
  static absl::StatusOr<OutboundPolicy> Create(const OutboundPolicyOptions& options = {});

  // OK when Studio may call `url`. Errors: InvalidArgument that is an OutboundUrlPolicyError; it
  // begins with `label`.
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

}  // namespace redouble::studio

#endif  // REDOUBLE_CORE_STUDIO_URL_H_
