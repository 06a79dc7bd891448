#include "redouble/backends/redis/spawn/certificates_for_test.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#include "redouble/core/base/status/status_macros.h"

namespace redouble::inline v0_1::redis {
namespace {

void DieUnless(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "cannot make certificates: %s\n", what);
  std::abort();
}

struct Free {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(X509_EXTENSION* extension) const { X509_EXTENSION_free(extension); }
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using Key = std::unique_ptr<EVP_PKEY, Free>;
using Certificate = std::unique_ptr<X509, Free>;

}  // namespace

struct CertificatesForTest::Identity {
  Key key;
  Certificate certificate;
};

namespace {

using Identity = CertificatesForTest::Identity;
using Validity = CertificatesForTest::Validity;

void AddExtension(X509* certificate, int id, const char* value) {
  const std::unique_ptr<X509_EXTENSION, Free> extension(
      X509V3_EXT_conf_nid(nullptr, nullptr, id, value));
  DieUnless(extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1, value);
}

// `authority` null: a self-signed authority. `names` null: no subject alternative names.
Identity Make(const char* name, long serial, const Identity* authority, const char* names,
              Validity validity = Validity::kNow) {
  Identity made{Key(EVP_EC_gen("P-256")), Certificate(X509_new())};
  X509* const certificate = made.certificate.get();
  DieUnless(made.key != nullptr && certificate != nullptr, "keys");
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial);
  // The start lies in the past, because the clock of another process may be behind. An expired
  // certificate was valid for an hour.
  X509_gmtime_adj(X509_getm_notBefore(certificate), -7200);
  X509_gmtime_adj(X509_getm_notAfter(certificate), validity == Validity::kNow ? 3600 : -3600);
  X509_set_pubkey(certificate, made.key.get());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
  const Identity& issuer = authority == nullptr ? made : *authority;
  X509_set_issuer_name(certificate, X509_get_subject_name(issuer.certificate.get()));
  if (authority == nullptr) AddExtension(certificate, NID_basic_constraints, "critical,CA:TRUE");
  if (names != nullptr) AddExtension(certificate, NID_subject_alt_name, names);
  DieUnless(X509_sign(certificate, issuer.key.get(), EVP_sha256()) > 0, "signature");
  return made;
}

void Write(const Identity& identity, const std::string& certificate_path,
           const std::string& key_path) {
  const std::unique_ptr<std::FILE, Free> file(std::fopen(certificate_path.c_str(), "w"));
  DieUnless(file != nullptr && PEM_write_X509(file.get(), identity.certificate.get()) == 1,
            certificate_path.c_str());
  if (key_path.empty()) return;
  const std::unique_ptr<std::FILE, Free> key(std::fopen(key_path.c_str(), "w"));
  DieUnless(key != nullptr && PEM_write_PrivateKey(key.get(), identity.key.get(), nullptr, nullptr,
                                                   0, nullptr, nullptr) == 1,
            key_path.c_str());
}

}  // namespace

CertificatesForTest::CertificatesForTest(std::string folder) : folder_(std::move(folder)) {
  authority_ = std::make_unique<const Identity>(Make("Test authority", 1, nullptr, nullptr));
  Write(*authority_, authority(), "");
  RenewServer(Validity::kNow);
  RenewClient(Validity::kNow);
  Write(Make("Other authority", 2, nullptr, nullptr), other_authority(), "");
}

absl::StatusOr<std::unique_ptr<CertificatesForTest>> CertificatesForTest::Create() {
  REDOUBLE_ASSIGN_OR_RETURN(PrivateFolder made, PrivateFolder::Create("redouble-certificates-"));
  auto folder = std::make_unique<const PrivateFolder>(std::move(made));
  auto certificates = std::make_unique<CertificatesForTest>(folder->path());
  certificates->owned_ = std::move(folder);
  return certificates;
}

CertificatesForTest::~CertificatesForTest() = default;

void CertificatesForTest::RenewServer(Validity validity) {
  constexpr char kNames[] = "DNS:localhost,DNS:redis.example,IP:127.0.0.1";
  Write(Make("Server", ++serial_, authority_.get(), kNames, validity), server_certificate(),
        server_key());
}

void CertificatesForTest::RenewClient(Validity validity) {
  Write(Make("Client", ++serial_, authority_.get(), nullptr, validity), client_certificate(),
        client_key());
}

}  // namespace redouble::inline v0_1::redis
