// TLS against a real redis-server, with certificates made by the test.
#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "redouble/backends/redis/net/client/sentinel_client.h"
#include "redouble/backends/redis/net/live_fixture_for_test.h"
#include "redouble/backends/redis/net/pool/sync_pool.h"
#include "redouble/backends/redis/net/subscriber.h"
#include "redouble/backends/redis/spawn/certificates_for_test.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/message_source.h"
#include "redouble/core/store/pubsub/pubsub.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble::inline v0_1::redis {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using base::StatusIs;
using testing::Eq;
using testing::Optional;

class LiveTls : public LiveTest {
 protected:
  void SetUp() override {
    auto made = CertificatesForTest::Create();
    ASSERT_THAT(made, IsOk());
    certificates = *std::move(made);
    Start(false);
  }
  void Start(bool demands_client_certificate) {
    SpawnedServerOptions options;
    options.listen_on_loopback = true;
    options.password = "s3cret";
    options.tls = SpawnedTls{certificates->server_certificate(), certificates->server_key(),
                             certificates->authority(), demands_client_certificate};
    StartServer(options);
  }
  std::string Uri(std::string_view query) const {
    return absl::StrCat(server->loopback_uri(), std::string(query));
  }
  std::string Trusting() const { return "?tls_ca_file=" + certificates->authority(); }
  // The status of a refused connection; never contains the password.
  std::string Refusal(const std::string& query) {
    const absl::Status status = Connect(Uri(query)).status();
    EXPECT_FALSE(status.ok());
    EXPECT_FALSE(absl::StrContains(status.message(), "s3cret"));
    return std::string(status.message());
  }

  // A folder with the authority, named by the hash of its subject as c_rehash names it.
  std::string AuthorityFolder() const {
    const std::unique_ptr<BIO, int (*)(BIO*)> file(
        BIO_new_file(certificates->authority().c_str(), "r"), BIO_free);
    const std::unique_ptr<X509, void (*)(X509*)> certificate(
        PEM_read_bio_X509(file.get(), nullptr, nullptr, nullptr), X509_free);
    const std::string path = certificates->folder() + "/authorities";
    std::filesystem::create_directory(path);
    const std::string name = absl::StrFormat("%08x.0", X509_subject_name_hash(certificate.get()));
    std::filesystem::copy_file(certificates->authority(), path + "/" + name);
    return path;
  }

  // A file with the client's key, encrypted.
  std::string EncryptedClientKey(const std::string& password) const {
    const std::unique_ptr<BIO, int (*)(BIO*)> plain(
        BIO_new_file(certificates->client_key().c_str(), "r"), BIO_free);
    const std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key(
        PEM_read_bio_PrivateKey(plain.get(), nullptr, nullptr, nullptr), EVP_PKEY_free);
    const std::string path = certificates->folder() + "/encrypted.key";
    const std::unique_ptr<BIO, int (*)(BIO*)> file(BIO_new_file(path.c_str(), "w"), BIO_free);
    EXPECT_EQ(
        PEM_write_bio_PKCS8PrivateKey(file.get(), key.get(), EVP_aes_256_cbc(), password.data(),
                                      static_cast<int>(password.size()), nullptr, nullptr),
        1);
    return path;
  }

  std::unique_ptr<CertificatesForTest> certificates;
};

TEST_F(LiveTls, CarriesCommandsAndLargeValues) {
  const auto client = Connect(Uri(Trusting()));
  ASSERT_THAT(client, IsOk());
  const std::string value(5 << 20, 'x');
  EXPECT_THAT(Run(store::Set(**client, "key", value)), IsOk());
  EXPECT_THAT(Run(store::Get(**client, "key")), IsOkAndHolds(Optional(value)));
  std::vector<base::Task<absl::StatusOr<int64_t>>> all;
  for (int i = 0; i < 1000; ++i) all.push_back(store::Incr(**client, "n"));
  const auto counts = Run(base::WhenAll(std::move(all)));
  for (int64_t i = 0; i < 1000; ++i) EXPECT_EQ(counts[i].value(), i + 1);
}

TEST_F(LiveTls, IsUsedByPoolsAndSubscribers) {
  const Options options = Options::Parse(Uri(Trusting())).value();
  const auto pool = SyncPool::Connect(options);
  ASSERT_THAT(pool, IsOk());
  EXPECT_THAT(base::Run(store::Set(**pool, "key", "value")), IsOk());
  const auto subscriber = Run(Subscriber::Connect(context.get_executor(), options));
  ASSERT_THAT(subscriber, IsOk());
  const std::string_view channels[] = {"news"};
  ASSERT_THAT(Run(store::Subscribe(**subscriber, channels)), IsOk());
  EXPECT_THAT(base::Run(store::Publish(**pool, "news", "text")), IsOkAndHolds(1));
  const auto event = Run((*subscriber)->Next());
  ASSERT_THAT(event, IsOk());
  EXPECT_EQ(store::ReadMessage(*event->push)->payload, "text");
  // And refused by them.
  const Options wary =
      Options::Parse(Uri("?tls_ca_file=" + certificates->other_authority())).value();
  for (const absl::Status& refused :
       {SyncPool::Connect(wary).status(),
        Run(Subscriber::Connect(context.get_executor(), wary)).status()}) {
    EXPECT_TRUE(absl::StrContains(refused.message(), "certificate verify failed")) << refused;
  }
}

TEST_F(LiveTls, RefusesACertificateOfAnotherAuthority) {
  const std::string refusal = Refusal("?tls_ca_file=" + certificates->other_authority());
  EXPECT_TRUE(absl::StrContains(refusal, "certificate verify failed")) << refusal;
  EXPECT_TRUE(absl::StrContains(refusal, "while trying to shake hands for TLS")) << refusal;
}

TEST_F(LiveTls, RefusesACertificateThatTheSystemDoesNotKnow) {
  EXPECT_TRUE(absl::StrContains(Refusal(""), "certificate verify failed"));
}

TEST_F(LiveTls, RefusesACertificateOfAnotherName) {
  const std::string refusal = Refusal(Trusting() + "&tls_server_name=other.example");
  EXPECT_TRUE(absl::StrContains(refusal, "certificate verify failed")) << refusal;
}

TEST_F(LiveTls, LooksForTheNameItIsTold) {
  EXPECT_THAT(Connect(Uri(Trusting() + "&tls_server_name=redis.example")), IsOk());
}

TEST_F(LiveTls, TakesAnyCertificateOnlyWhenTold) {
  EXPECT_THAT(Connect(Uri("?tls_verify=no")), IsOk());
}

TEST_F(LiveTls, TrustsTheAuthoritiesOfAFolder) {
  EXPECT_THAT(Connect(Uri("?tls_ca_folder=" + AuthorityFolder())), IsOk());
  const std::string empty = certificates->folder() + "/empty";
  std::filesystem::create_directory(empty);
  EXPECT_TRUE(absl::StrContains(Refusal("?tls_ca_folder=" + empty), "certificate verify failed"));
}

TEST_F(LiveTls, OffersTheCiphersOfTheOptionsOnly) {
  EXPECT_THAT(Connect(Uri(Trusting() + "&tls_ciphersuites=TLS_AES_128_GCM_SHA256")), IsOk());
  SpawnedServerOptions options;
  options.listen_on_loopback = true;
  options.password = "s3cret";
  options.tls = SpawnedTls{certificates->server_certificate(), certificates->server_key(),
                           certificates->authority(), false};
  options.config = {"tls-ciphersuites TLS_AES_256_GCM_SHA384", "tls-protocols TLSv1.3"};
  StartServer(options);
  EXPECT_THAT(Connect(Uri(Trusting() + "&tls_ciphersuites=TLS_AES_256_GCM_SHA384")), IsOk());
  Refusal(Trusting() + "&tls_ciphersuites=TLS_AES_128_GCM_SHA256");
}

TEST_F(LiveTls, ReportsTheFileThatCannotBeRead) {
  for (const std::string option :
       {"tls_ca_file=/no/ca.pem", "tls_certificate_file=/no/me.pem", "tls_key_file=/no/me.key"}) {
    const bool is_key = absl::StartsWith(option, "tls_key");
    const bool is_ca = absl::StartsWith(option, "tls_ca");
    std::string query = is_ca ? "?" + option : Trusting() + "&" + option;
    if (is_key) query += "&tls_certificate_file=" + certificates->client_certificate();
    if (!is_key && !is_ca) query += "&tls_key_file=" + certificates->client_key();
    const std::string name = option.substr(0, option.find('='));
    EXPECT_TRUE(absl::StrContains(Refusal(query), "Redis options: " + name + " /no/")) << option;
  }
}

TEST_F(LiveTls, ShowsItsOwnCertificateWhenTheServerDemandsOne) {
  Start(true);
  EXPECT_FALSE(Connect(Uri(Trusting())).ok());
  const auto client = Connect(
      Uri(absl::StrCat(Trusting(), "&tls_certificate_file=", certificates->client_certificate(),
                       "&tls_key_file=", certificates->client_key())));
  ASSERT_THAT(client, IsOk());
  EXPECT_THAT(Run(store::Set(**client, "key", "value")), IsOk());
}

TEST_F(LiveTls, ReportsAServerWithoutTls) {
  SpawnedServerOptions options;
  options.listen_on_loopback = true;
  StartServer(options);
  const absl::Status status = Connect(absl::StrCat("rediss://127.0.0.1:", server->port(),
                                                   Trusting(), "&connect_timeout=50ms"))
                                  .status();
  // The server takes the first bytes for the start of a command and waits for its end.
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_TRUE(absl::StrContains(status.message(), "while trying to shake hands for TLS"));
}

TEST_F(LiveTls, ComesBackAfterARestartAndBlocksThroughTls) {
  const auto client = Connect(Uri(Trusting() + "&retry=idempotent"));
  ASSERT_THAT(client, IsOk());
  ASSERT_THAT(server->Restart(), IsOk());
  EXPECT_THAT(Run(store::Get(**client, "key")), IsOkAndHolds(Eq(std::nullopt)));
  const auto popped = Send(**client, {"BLPOP", "list", "0.01"});
  ASSERT_THAT(popped, IsOk());
  EXPECT_TRUE(popped->is_nil());
}

TEST_F(LiveTls, ResumesTheSessionOfTheSameServerAndName) {
  const auto first = Connect(Uri(Trusting()));
  ASSERT_THAT(first, IsOk());
  ASSERT_THAT(Run(store::Set(**first, "key", "value")), IsOk());
  EXPECT_EQ((*first)->counters().tls_resumptions, 0u);
  const auto second = Connect(Uri(Trusting()));
  ASSERT_THAT(second, IsOk());
  EXPECT_EQ((*second)->counters().tls_resumptions, 1u);
  EXPECT_THAT(Run(store::Get(**second, "key")), IsOkAndHolds(Optional(std::string("value"))));
  // The certificate was not verified for this name.
  const auto other_name = Connect(Uri(Trusting() + "&tls_server_name=redis.example"));
  ASSERT_THAT(other_name, IsOk());
  EXPECT_EQ((*other_name)->counters().tls_resumptions, 0u);
  Refusal(Trusting() + "&tls_server_name=other.example");
}

TEST_F(LiveTls, ARestartedServerMakesANewSession) {
  const auto client = Connect(Uri(Trusting() + "&retry=idempotent"));
  ASSERT_THAT(client, IsOk());
  ASSERT_THAT(Run(store::Set(**client, "key", "value")), IsOk());
  // The new process cannot decrypt the ticket of the old one.
  ASSERT_THAT(server->Restart(), IsOk());
  EXPECT_THAT(Run(store::Get(**client, "key")), IsOk());
  EXPECT_EQ((*client)->counters().tls_resumptions, 0u);
}

TEST_F(LiveTls, ARenewedClientCertificateIsUsedByTheNextConnection) {
  Start(true);
  const std::string query =
      absl::StrCat(Trusting(), "&tls_certificate_file=", certificates->client_certificate(),
                   "&tls_key_file=", certificates->client_key());
  const auto client = Connect(Uri(query));
  ASSERT_THAT(client, IsOk());
  ASSERT_THAT(Run(store::Set(**client, "key", "value")), IsOk());
  // The files are replaced by those of the server, whose certificate the authority has signed, too.
  for (const auto& [from, to] :
       {std::pair(certificates->server_certificate(), certificates->client_certificate()),
        std::pair(certificates->server_key(), certificates->client_key())}) {
    std::filesystem::rename(from, to);
  }
  const auto renewed = Connect(Uri(query));
  ASSERT_THAT(renewed, IsOk());
  EXPECT_EQ((*renewed)->counters().tls_resumptions, 0u);
}

TEST_F(LiveTls, AHookGivesThePasswordOfTheKey) {
  Start(true);
  const std::string encrypted = EncryptedClientKey("open sesame");
  const std::string query =
      absl::StrCat(Trusting(), "&tls_certificate_file=", certificates->client_certificate(),
                   "&tls_key_file=", encrypted);
  EXPECT_TRUE(absl::StrContains(Refusal(query), "tls_key_file"));
  ClientHooks hooks;
  int calls = 0;
  hooks.key_password = [&] {
    ++calls;
    return std::string("open sesame");
  };
  EXPECT_THAT(Connect(Uri(query), hooks), IsOk());
  EXPECT_EQ(calls, 1);
}

// The sentinel names a server without TLS, whose address is mapped to the one with TLS.
TEST_F(LiveTls, SentinelsMayBeReachedWithoutTls) {
  SpawnedServerOptions plain;
  plain.listen_on_loopback = true;
  auto named = SpawnedServer::Start(plain);
  ASSERT_THAT(named, IsOk());
  SpawnedServerOptions watching = plain;
  watching.sentinel = true;
  watching.config = {absl::StrCat("sentinel monitor mymaster 127.0.0.1 ", (*named)->port(), " 1")};
  auto sentinel = SpawnedServer::Start(watching);
  ASSERT_THAT(sentinel, IsOk());
  Options options = Options::Parse(absl::StrCat("rediss://:s3cret@127.0.0.1:", (*sentinel)->port(),
                                                Trusting(), "&sentinel_master=mymaster"))
                        .value();
  options.address_map = {{"127.0.0.1", static_cast<uint16_t>((*named)->port()), "127.0.0.1",
                          static_cast<uint16_t>(server->port())}};
  options.connect_timeout = absl::Milliseconds(500);
  EXPECT_FALSE(Run(SentinelClient::Connect(context.get_executor(), options)).ok())
      << "the sentinel speaks no TLS";
  options.sentinel_tls = false;
  auto client = Run(SentinelClient::Connect(context.get_executor(), options));
  ASSERT_THAT(client, IsOk());
  EXPECT_THAT(Run(store::Set(**client, "key", "value")), IsOk());
  const auto direct = Connect(Uri(Trusting()));
  ASSERT_THAT(direct, IsOk());
  EXPECT_THAT(Run(store::Get(**direct, "key")), IsOkAndHolds(Optional(std::string("value"))));
}

TEST_F(LiveTls, SentinelsMayBeReachedWithTlsAndTheirMasterWithout) {
  SpawnedServerOptions plain;
  plain.listen_on_loopback = true;
  auto master = SpawnedServer::Start(plain);
  ASSERT_THAT(master, IsOk());
  SpawnedServerOptions watching = plain;
  watching.sentinel = true;
  watching.tls = SpawnedTls{certificates->server_certificate(), certificates->server_key(),
                            certificates->authority(), false};
  watching.config = {absl::StrCat("sentinel monitor mymaster 127.0.0.1 ", (*master)->port(), " 1")};
  auto sentinel = SpawnedServer::Start(watching);
  ASSERT_THAT(sentinel, IsOk());
  const auto options =
      Options::Parse(absl::StrCat("redis://127.0.0.1:", (*sentinel)->port(), Trusting(),
                                  "&sentinel_master=mymaster&sentinel_tls=yes"));
  ASSERT_THAT(options, IsOk());
  auto client = Run(SentinelClient::Connect(context.get_executor(), *options));
  ASSERT_THAT(client, IsOk());
  EXPECT_THAT(Run(store::Set(**client, "key", "value")), IsOk());
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
