// Certificates of a test's own: an authority, a server on the loopback, a client.
//
//   CertificatesForTest certificates((*folder).path());
//   options.tls = SpawnedTls{certificates.server_certificate(), certificates.server_key(),
//                            certificates.authority()};
//
// Made by OpenSSL on the spot (P-256, valid for an hour), so that no key lies in the repository.
// Dies when OpenSSL refuses, which only a broken installation does.
#ifndef REDOUBLE_BACKENDS_REDIS_SPAWN_CERTIFICATES_FOR_TEST_H_
#define REDOUBLE_BACKENDS_REDIS_SPAWN_CERTIFICATES_FOR_TEST_H_

#include <string>

namespace redouble::redis {

class CertificatesForTest {
 public:
  // Writes PEM files into the folder, which must exist. The server's certificate bears the names
  // localhost, redis.example and 127.0.0.1.
  explicit CertificatesForTest(std::string folder);

  std::string authority() const { return folder_ + "/authority.pem"; }
  std::string server_certificate() const { return folder_ + "/server.pem"; }
  std::string server_key() const { return folder_ + "/server.key"; }
  std::string client_certificate() const { return folder_ + "/client.pem"; }
  std::string client_key() const { return folder_ + "/client.key"; }
  // Another authority, which has signed nothing here.
  std::string other_authority() const { return folder_ + "/other.pem"; }

 private:
  const std::string folder_;
};

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_SPAWN_CERTIFICATES_FOR_TEST_H_
