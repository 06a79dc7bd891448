// A client with TLS under load while certificates expire and are renewed, and the server is killed
// and stopped (chaos_fixture.h).
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "redouble/backends/redis/fsm/counters.h"
#include "redouble/backends/redis/net/client/client.h"
#include "redouble/backends/redis/spawn/certificates_for_test.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/tests/chaos/chaos_fixture.h"

namespace redouble::inline v0_1::tests {
namespace {

using base::IsOk;
using Validity = redis::CertificatesForTest::Validity;

class TlsChaos : public ChaosFixture {
 protected:
  void SetUp() override {
    ChaosFixture::SetUp();
    auto made = redis::CertificatesForTest::Create();
    ASSERT_THAT(made, IsOk());
    certificates = *std::move(made);
    redis::SpawnedServerOptions options;
    options.listen_on_loopback = true;
    options.tls = redis::SpawnedTls{certificates->server_certificate(), certificates->server_key(),
                                    certificates->authority(), /*demands_client_certificate=*/true};
    // Writes survive kill -9.
    options.config = {"appendonly yes", "appendfsync always"};
    StartServer(options);
  }

  std::string Uri() const {
    return absl::StrCat(server->loopback_uri(), "?tls_ca_file=", certificates->authority(),
                        "&tls_certificate_file=", certificates->client_certificate(),
                        "&tls_key_file=", certificates->client_key());
  }

  // Sends a command through the Unix socket, which has no TLS.
  base::Task<void> Administer(std::vector<std::string_view> words) {
    auto control = co_await redis::Client::Connect(
        executor, redis::Options::Parse(server->uri()).value(), redis::Sharing::kDedicated);
    if (!control.ok()) {
      ADD_FAILURE() << control.status();
      co_return;
    }
    const auto reply = co_await SendWords(**control, std::move(words));
    EXPECT_TRUE(reply.ok() && !reply->is_error()) << words[0];
  }

  // The server reads its files again.
  base::Task<void> LoadServerCertificate() {
    const std::string certificate = certificates->server_certificate();
    const std::string key = certificates->server_key();
    const std::vector<std::string_view> words = {"CONFIG",    "SET",          "tls-cert-file",
                                                 certificate, "tls-key-file", key};
    co_await Administer(words);
  }
  // Closes the connections of the clients.
  base::Task<void> Cut() {
    const std::vector<std::string_view> words = {"CLIENT", "KILL", "TYPE", "normal"};
    co_await Administer(words);
  }

  base::Task<void> UntilConnectsFail() {
    const uint64_t before = client->counters().connect_failures;
    while (client->counters().connect_failures < before + 3) {
      co_await clock.Sleep(absl::Milliseconds(2));
    }
  }
  base::Task<void> UntilConnected() {
    const uint64_t before = client->counters().connects;
    co_await Cut();
    while (client->counters().connects == before) co_await clock.Sleep(absl::Milliseconds(2));
  }

  base::Task<void> ServerCertificateIsRenewed() {
    certificates->RenewServer(Validity::kNow);
    co_await LoadServerCertificate();
    co_await UntilConnected();
  }
  // Existing connections go on; new ones are refused by the client until it is renewed.
  base::Task<void> ServerCertificateExpires() {
    certificates->RenewServer(Validity::kExpired);
    co_await LoadServerCertificate();
    co_await Cut();
    co_await UntilConnectsFail();
    certificates->RenewServer(Validity::kNow);
    co_await LoadServerCertificate();
  }
  // New connections are refused by the server until it is renewed.
  base::Task<void> ClientCertificateExpires() {
    certificates->RenewClient(Validity::kExpired);
    co_await Cut();
    co_await UntilConnectsFail();
    certificates->RenewClient(Validity::kNow);
  }
  // What replaces the files has written one of them only when the connection is lost.
  base::Task<void> ClientKeyIsLate() {
    const std::string old_key = certificates->client_key() + ".old";
    const std::string new_key = certificates->client_key() + ".new";
    std::filesystem::copy_file(certificates->client_key(), old_key);
    certificates->RenewClient(Validity::kNow);
    std::filesystem::rename(certificates->client_key(), new_key);
    std::filesystem::rename(old_key, certificates->client_key());
    co_await Cut();
    co_await UntilConnectsFail();
    std::filesystem::rename(new_key, certificates->client_key());
  }

  std::unique_ptr<redis::CertificatesForTest> certificates;
  std::unique_ptr<redis::Client> client;
};

TEST_F(TlsChaos, LosesAndDoublesNothingWhileCertificatesExpire) {
  auto connected =
      Drive(redis::Client::Connect(executor, Disturbed(Uri()), redis::Sharing::kShared));
  ASSERT_THAT(connected, IsOk());
  client = *std::move(connected);
  std::vector<Fault> faults = {
      [this] { return ServerCertificateIsRenewed(); },
      [this] { return ServerCertificateExpires(); },
      [this] { return ClientCertificateExpires(); },
      [this] { return ClientKeyIsLate(); },
      [this] { return KillAndRestart(*server); },
      [this] { return Stop(*server, [this] { return client->counters(); }); },
  };
  const size_t count = faults.size();
  RunUnder(*client, /*may_lose=*/false, std::move(faults));
  EXPECT_GE(client->counters().connects, count);
  EXPECT_GE(client->counters().connect_failures, 9u);
  EXPECT_GT(stops, 0);
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
