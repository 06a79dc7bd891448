#include "redouble/backends/redis/net/tls/tls_context.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "redouble/backends/redis/spawn/certificates_for_test.h"
#include "redouble/core/base/status/status_matchers.h"

namespace redouble::inline v0_1::redis {
namespace {

using base::IsOk;
using base::StatusIs;
using testing::HasSubstr;

class TlsContext : public testing::Test {
 protected:
  void SetUp() override {
    auto made = CertificatesForTest::Create();
    ASSERT_THAT(made, IsOk());
    certificates = *std::move(made);
    options.ca_file = certificates->authority();
    options.certificate_file = certificates->client_certificate();
    options.key_file = certificates->client_key();
  }
  boost::asio::ssl::context* Get() const {
    const auto context = TlsContextFor(options);
    EXPECT_THAT(context, IsOk());
    return context.ok() ? context->get() : nullptr;
  }

  std::unique_ptr<CertificatesForTest> certificates;
  TlsOptions options;
};

TEST_F(TlsContext, IsSharedByConnectionsWithEqualFiles) {
  const auto* const first = Get();
  EXPECT_EQ(Get(), first);
  options.server_name = "redis.example";
  EXPECT_EQ(Get(), first);
}

TEST_F(TlsContext, IsNotSharedIfAnOptionDiffers) {
  const auto* const first = Get();
  TlsOptions others[3] = {options, options, options};
  others[0].ca_file = certificates->other_authority();
  others[1].certificate_file = others[1].key_file = "";
  others[2].verify = false;
  for (const TlsOptions& other : others) {
    options = other;
    EXPECT_NE(Get(), first);
  }
}

// A certificate that was renewed is used by the next connection.
TEST_F(TlsContext, ReadsFilesThatWereReplaced) {
  const auto first = TlsContextFor(options);
  ASSERT_THAT(first, IsOk());
  const std::string copy = certificates->folder() + "/copy.pem";
  std::filesystem::copy_file(certificates->authority(), copy);
  std::filesystem::rename(copy, certificates->authority());
  EXPECT_NE(Get(), first->get());
}

TEST_F(TlsContext, NamesTheFileThatIsRefusedAndTriesAgain) {
  const std::string path = certificates->folder() + "/later.pem";
  options.ca_file = path;
  EXPECT_THAT(TlsContextFor(options),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("tls_ca_file " + path)));
  std::filesystem::copy_file(certificates->authority(), path);
  EXPECT_NE(Get(), nullptr);
}

TEST_F(TlsContext, NamesTheCiphersThatOpenSslDoesNotHave) {
  options.ciphers = "NO-SUCH-CIPHER";
  EXPECT_THAT(TlsContextFor(options),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("tls_ciphers NO-SUCH")));
  options.ciphers = "ECDHE-RSA-AES128-GCM-SHA256";
  options.ciphersuites = "NO_SUCH_SUITE";
  EXPECT_THAT(TlsContextFor(options),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("tls_ciphersuites NO_SUCH")));
  options.ciphersuites = "TLS_AES_128_GCM_SHA256";
  EXPECT_THAT(TlsContextFor(options), IsOk());
}

TEST_F(TlsContext, KeepsOnlySomeContexts) {
  const auto first = TlsContextFor(options);
  ASSERT_THAT(first, IsOk());
  TlsOptions other = options;
  for (size_t i = 0; i < kCachedTlsContexts; ++i) {
    other.ca_file = certificates->folder() + "/authority" + std::to_string(i) + ".pem";
    std::filesystem::copy_file(certificates->authority(), other.ca_file);
    EXPECT_THAT(TlsContextFor(other), IsOk());
  }
  EXPECT_NE(Get(), first->get());
}

TEST_F(TlsContext, MayBeAskedForByManyThreads) {
  std::vector<boost::asio::ssl::context*> seen(4);
  std::vector<std::thread> threads;
  for (auto*& one : seen) {
    threads.emplace_back([this, &one] {
      for (int i = 0; i < 100; ++i) one = Get();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto* const one : seen) EXPECT_EQ(one, seen[0]);
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
