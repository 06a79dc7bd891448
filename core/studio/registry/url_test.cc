#include "redouble/core/studio/registry/url.h"

#include <gtest/gtest.h>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/python/error.h"

namespace redouble::inline v0_1::studio {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using ::testing::Not;

struct UrlCase {
  const char* url;
  const char* normalized;  // nullptr: an error.
  const char* error = nullptr;
};

// Most rows are from tests/data/golden/relayna/registry_normalize_base_url.json.
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
    // The rows below were recorded from CPython 3.11.7.
    {"\x01http://a.test", "http://a.test"},
    {" \x1b\t http://a.test", "http://a.test"},
    {"http://[v1.x]", "http://v1.x"},
    {"http://[FE80::1%eth0]", "http://[fe80::1%eth0]"},
    {"http://[::1]@b.test", nullptr, "base_url must not include user info"},
    {"\x01", nullptr, "base_url must use http or https"},
    {"http://\x01", "http://\x01"},
    {"http://[abc]", nullptr, "'abc' does not appear to be an IPv4 or IPv6 address"},
    {"http://[]", nullptr, "'' does not appear to be an IPv4 or IPv6 address"},
    {"http://[a.test]", nullptr, "'a.test' does not appear to be an IPv4 or IPv6 address"},
    {"http://[abc]@b.test", nullptr, "'abc' does not appear to be an IPv4 or IPv6 address"},
    {"http://[fe80::1%]", nullptr, "'fe80::1%' does not appear to be an IPv4 or IPv6 address"},
    {"http://[1.2.3.4]", nullptr, "An IPv4 address cannot be in brackets"},
    {"http://[v]", nullptr, "IPvFuture address is invalid"},
    {"http://[v1.]", nullptr, "IPvFuture address is invalid"},
    {"http://[v.x]", nullptr, "IPvFuture address is invalid"},
    {"http://[vg.x]", nullptr, "IPvFuture address is invalid"},
    {"http://a\u2100b.test", nullptr,
     "netloc 'a\u2100b.test' contains invalid characters under NFKC normalization"},
    {"http://a.com\uff0f.test", nullptr,
     "netloc 'a.com\uff0f.test' contains invalid characters under NFKC normalization"},
};

TEST(NormalizeBaseUrl, IsTheTable) {
  for (const UrlCase& row : kCases) {
    const absl::StatusOr<std::string> url = NormalizeBaseUrl(row.url);
    if (row.normalized != nullptr) {
      ASSERT_THAT(url, IsOk()) << row.url << ": " << url.status();
      EXPECT_EQ(*url, row.normalized) << row.url;
      EXPECT_THAT(NormalizeBaseUrl(*url), IsOkAndHolds(*url)) << "normalized twice: " << row.url;
    } else {
      ASSERT_THAT(url, Not(IsOk())) << row.url << ": " << *url;
      EXPECT_EQ(url.status().message(), row.error) << row.url;
      EXPECT_EQ(python::ErrorType(url.status()), "ValueError");
    }
  }
}

TEST(OutboundPolicy, AllowsWhatEndsLikeAnAllowedHost) {
  const OutboundPolicy policy = OutboundPolicy::Create().value();
  EXPECT_THAT(policy.Check("http://a.svc.cluster.local:80/x", "x"), IsOk());
  EXPECT_THAT(policy.Check("http://A.EXAMPLE.COM", "x"), IsOk());
  const absl::Status refused = policy.Check("http://evil.com", "Service base_url");
  EXPECT_EQ(refused.message(),
            "Service base_url 'http://evil.com' is not in the trusted host/network allowlist.");
  EXPECT_EQ(python::ErrorType(refused), "OutboundUrlPolicyError");
  // A suffix includes its dot.
  EXPECT_THAT(policy.Check("http://example.com", "x"), Not(IsOk()));
  EXPECT_THAT(policy.Check("http://evilexample.com", "x"), Not(IsOk()));
  EXPECT_EQ(policy.Check("no url", "Target").message(), "Target 'no url' is missing a hostname.");
  for (const char* url : {"http://[a.test]", "http://[a.test", "http://evil.com\uff0f.test"}) {
    EXPECT_EQ(policy.Check(url, "x").message(),
              "x '" + std::string(url) + "' is missing a hostname.");
  }
}

TEST(OutboundPolicy, AcceptsConfiguredHostsAndPatterns) {
  OutboundPolicyOptions options;
  options.allowed_hosts = {" Host.one ", "*.two"};
  const OutboundPolicy policy = OutboundPolicy::Create(options).value();
  EXPECT_THAT(policy.Check("http://host.ONE", "x"), IsOk());
  EXPECT_THAT(policy.Check("http://a.host.one", "x"), Not(IsOk()));
  EXPECT_THAT(policy.Check("http://a.two", "x"), IsOk());
  EXPECT_THAT(policy.Check("http://two", "x"), Not(IsOk()));
  EXPECT_THAT(policy.Check("http://a.example.com", "x"), Not(IsOk()))
      << "the default list is replaced";
}

TEST(OutboundPolicy, AllowsAddressesOnlyByTheirNetwork) {
  OutboundPolicyOptions options;
  options.allowed_networks = {"10.1.0.0/20", "192.168.7.9", "fd00::/9", "0.0.0.0/32"};
  const OutboundPolicy policy = OutboundPolicy::Create(options).value();
  EXPECT_THAT(policy.Check("http://10.1.15.255", "x"), IsOk());
  EXPECT_THAT(policy.Check("http://10.1.16.0", "x"), Not(IsOk()));
  EXPECT_THAT(policy.Check("http://192.168.7.9:8080", "x"), IsOk());
  EXPECT_THAT(policy.Check("http://192.168.7.8", "x"), Not(IsOk()));
  EXPECT_THAT(policy.Check("http://[fd7f::1]", "x"), IsOk());
  EXPECT_THAT(policy.Check("http://[fe00::1]", "x"), Not(IsOk()));
  EXPECT_THAT(OutboundPolicy::Create().value().Check("http://10.1.15.255", "x"), Not(IsOk()));
  OutboundPolicyOptions named;
  named.allowed_hosts = {"10.0.0.1"};
  EXPECT_THAT(OutboundPolicy::Create(named).value().Check("http://10.0.0.1", "x"), Not(IsOk()))
      << "an address is not a host name";
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
}  // namespace redouble::inline v0_1::studio
