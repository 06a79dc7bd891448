// CertificatesForTest: PEM files of an authority, a server on loopback and a client, for TLS tests.
//
//   REDOUBLE_ASSIGN_OR_RETURN(auto certificates, CertificatesForTest::Create());
//   options.tls = SpawnedTls{certificates->server_certificate(), certificates->server_key(),
//                            certificates->authority()};
//
//   certificates->RenewServer(CertificatesForTest::Validity::kExpired);
//
// OpenSSL makes them at run time (P-256, valid for an hour), so the repository contains no key.
// Aborts the program if OpenSSL fails, which means a broken installation.
//
// Thread-safety: const calls may be concurrent with each other.
#ifndef REDOUBLE_BACKENDS_REDIS_SPAWN_CERTIFICATES_FOR_TEST_H_
#define REDOUBLE_BACKENDS_REDIS_SPAWN_CERTIFICATES_FOR_TEST_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "redouble/backends/redis/spawn/private_folder.h"

namespace redouble::inline v0_1::redis {

class CertificatesForTest {
 public:
  enum class Validity : uint8_t { kNow, kExpired };
  struct Identity;

  // Writes the PEM files into the folder, which must exist. The server certificate is valid for
  // localhost, redis.example and 127.0.0.1.
  explicit CertificatesForTest(std::string folder);
  // The files in a new folder, which is removed with the object. Errors: PrivateFolder::Create's.
  static absl::StatusOr<std::unique_ptr<CertificatesForTest>> Create();
  ~CertificatesForTest();

  const std::string& folder() const { return folder_; }

  // Writes a new key and a new certificate over those of the server, or of the client.
  void RenewServer(Validity validity);
  void RenewClient(Validity validity);

  std::string authority() const { return folder_ + "/authority.pem"; }
  std::string server_certificate() const { return folder_ + "/server.pem"; }
  std::string server_key() const { return folder_ + "/server.key"; }
  std::string client_certificate() const { return folder_ + "/client.pem"; }
  std::string client_key() const { return folder_ + "/client.key"; }
  // Another authority, which has signed none of these certificates.
  std::string other_authority() const { return folder_ + "/other.pem"; }

 private:
  const std::string folder_;
  std::unique_ptr<const PrivateFolder> owned_;  // Null if the caller has it.
  std::unique_ptr<const Identity> authority_;
  long serial_ = 2;  // Of the last certificate.
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_SPAWN_CERTIFICATES_FOR_TEST_H_
