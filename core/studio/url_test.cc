#include "core/studio/url.h"

#include <gtest/gtest.h>

#include "core/python/error.h"

namespace redouble::studio {
namespace {

struct UrlCase {
  const char* url;
  const char* normalized;  // Null: refused.
  const char* error = nullptr;
};

// Most rows are those of the golden registry_normalize_base_url.
constexpr UrlCase kCases[] = {
    {"http://A.com", "http://a.com"},
    {"HTTPS://A.com:443/x/", "https://a.com:443/x"},
    {"http://a.com:80//", "http://a.com:80"},
    {"http://[::1]:8000/", "http://[::1]:8000"},
    {"http://[FE80::1]", "http://[fe80::1]"},
    {"  http://a.com/ ", "http://a.com"},
    {"http://a.com/A%20b/./c/../", "http://a.com/A%20b/./c/.."},
    {"http://a.com/?", "http://a.com"},
    {"http://a.com/#", "http://a.com"},
    {"http://a.com:", "http://a.com"},
    {"http://a.com:0080", "http://a.com:80"},
    {"http://@a.com", "http://a.com"},
    {"http://b\u00dccher.example", "http://b\u00fccher.example"},
    {"http://a.com;p/x/", "http://a.com;p/x"},
    {"ht\ntp://a.com/x\ty", "http://a.com/xy"},
    {"ftp://a.com", nullptr, "base_url must use http or https"},
    {"//a.com", nullptr, "base_url must use http or https"},
    {"a.com", nullptr, "base_url must use http or https"},
    {"1http://a.com", nullptr, "base_url must use http or https"},
    {"http://", nullptr, "base_url must include a hostname"},
    {"http:///path", nullptr, "base_url must include a hostname"},
    {"http://:80", nullptr, "base_url must include a hostname"},
    {"http://u:p@a.com", nullptr, "base_url must not include user info"},
    {"http://u@a.com", nullptr, "base_url must not include user info"},
    {"http://a.com?x=1", nullptr, "base_url must not include a query string or fragment"},
    {"http://a.com#f", nullptr, "base_url must not include a query string or fragment"},
    {"", nullptr, "base_url must not be empty"},
    {" \u00a0 ", nullptr, "base_url must not be empty"},
    {"http://a.com:99999", nullptr, "Port out of range 0-65535"},
    {"http://a.com:99999999999", nullptr, "Port out of range 0-65535"},
    {"http://a.com:x", nullptr, "Port could not be cast to integer value as 'x'"},
    {"http://[::1", nullptr, "Invalid IPv6 URL"},
};

TEST(NormalizeBaseUrl, IsTheTable) {
  for (const UrlCase& row : kCases) {
    const absl::StatusOr<std::string> url = NormalizeBaseUrl(row.url);
    if (row.normalized != nullptr) {
      ASSERT_TRUE(url.ok()) << row.url << ": " << url.status();
      EXPECT_EQ(*url, row.normalized) << row.url;
      EXPECT_EQ(*NormalizeBaseUrl(*url), *url) << "normalised twice: " << row.url;
    } else {
      ASSERT_FALSE(url.ok()) << row.url << ": " << *url;
      EXPECT_EQ(url.status().message(), row.error) << row.url;
      EXPECT_EQ(python::ErrorType(url.status()), "ValueError");
    }
  }
}

TEST(OutboundPolicy, AllowsWhatEndsLikeAnAllowedHost) {
  const OutboundPolicy policy = *OutboundPolicy::Create();
  EXPECT_TRUE(policy.Check("http://a.svc.cluster.local:80/x", "x").ok());
  EXPECT_TRUE(policy.Check("http://A.EXAMPLE.COM", "x").ok());
  const absl::Status refused = policy.Check("http://evil.com", "Service base_url");
  EXPECT_EQ(refused.message(),
            "Service base_url 'http://evil.com' is not in the trusted host/network allowlist.");
  EXPECT_EQ(python::ErrorType(refused), "OutboundUrlPolicyError");
  // The dot belongs to the suffix.
  EXPECT_FALSE(policy.Check("http://example.com", "x").ok());
  EXPECT_FALSE(policy.Check("http://evilexample.com", "x").ok());
  EXPECT_EQ(policy.Check("no url", "Target").message(), "Target 'no url' is missing a hostname.");
}

TEST(OutboundPolicy, TakesHostsAndPatternsOfItsOwn) {
  OutboundPolicyOptions options;
  options.allowed_hosts = {" Host.one ", "*.two"};
  const OutboundPolicy policy = *OutboundPolicy::Create(options);
  EXPECT_TRUE(policy.Check("http://host.ONE", "x").ok());
  EXPECT_FALSE(policy.Check("http://a.host.one", "x").ok());
  EXPECT_TRUE(policy.Check("http://a.two", "x").ok());
  EXPECT_FALSE(policy.Check("http://two", "x").ok());
  EXPECT_FALSE(policy.Check("http://a.example.com", "x").ok()) << "the default list is replaced";
}

TEST(OutboundPolicy, AllowsAddressesOnlyByTheirNetwork) {
  OutboundPolicyOptions options;
  options.allowed_networks = {"10.1.0.0/20", "192.168.7.9", "fd00::/9", "0.0.0.0/32"};
  const OutboundPolicy policy = *OutboundPolicy::Create(options);
  EXPECT_TRUE(policy.Check("http://10.1.15.255", "x").ok());
  EXPECT_FALSE(policy.Check("http://10.1.16.0", "x").ok());
  EXPECT_TRUE(policy.Check("http://192.168.7.9:8080", "x").ok());
  EXPECT_FALSE(policy.Check("http://192.168.7.8", "x").ok());
  EXPECT_TRUE(policy.Check("http://[fd7f::1]", "x").ok());
  EXPECT_FALSE(policy.Check("http://[fe00::1]", "x").ok());
  EXPECT_FALSE(OutboundPolicy::Create()->Check("http://10.1.15.255", "x").ok());
  OutboundPolicyOptions named;
  named.allowed_hosts = {"10.0.0.1"};
  EXPECT_FALSE(OutboundPolicy::Create(named)->Check("http://10.0.0.1", "x").ok())
      << "an address is no host name";
}

TEST(OutboundPolicy, RefusesWhatIsNoHostAndNoNetwork) {
  OutboundPolicyOptions blank;
  blank.allowed_hosts = {" "};
  EXPECT_EQ(OutboundPolicy::Create(blank).status().message(),
            "allowed_hosts entries must not be empty");
  for (const char* network : {"", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/x", "host/8", "::/129"}) {
    OutboundPolicyOptions options;
    options.allowed_networks = {network};
    EXPECT_EQ(python::ErrorType(OutboundPolicy::Create(options).status()), "ValueError") << network;
  }
}

}  // namespace
}  // namespace redouble::studio
