#include "redouble/backends/redis/net/transport.h"

#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <boost/asio/ssl/host_name_verification.hpp>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"

namespace redouble::redis {
namespace {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;

absl::Status Refused(const std::string& what, const error_code& error) {
  return absl::InvalidArgumentError(absl::StrCat("Redis options: ", what, ": ", error.message()));
}

absl::Status LoadFiles(const TlsOptions& options, ssl::context& context) {
  error_code error;
  if (options.verify && options.ca_file.empty()) {
    context.set_default_verify_paths(error);
    if (error) return Refused("the system's authorities cannot be read", error);
  } else if (options.verify) {
    context.load_verify_file(options.ca_file, error);
    if (error) return Refused(absl::StrCat("tls_ca_file ", options.ca_file), error);
  }
  if (options.certificate_file.empty()) return absl::OkStatus();
  context.use_certificate_chain_file(options.certificate_file, error);
  if (error) return Refused(absl::StrCat("tls_certificate_file ", options.certificate_file), error);
  // Without a callback OpenSSL would ask on the terminal. An empty password fails.
  context.set_password_callback([password = options.key_password.value_or("")](
                                    size_t, ssl::context::password_purpose) { return password; },
                                error);
  if (error) return Refused("tls_key_password", error);
  context.use_private_key_file(options.key_file, ssl::context::pem, error);
  if (error) return Refused(absl::StrCat("tls_key_file ", options.key_file), error);
  return absl::OkStatus();
}

}  // namespace

absl::Status Transport::Encrypt(const TlsOptions& options, const std::string& host) {
  ssl::context context(ssl::context::tls_client);
  SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
  REDOUBLE_RETURN_IF_ERROR(LoadFiles(options, context));
  const std::string& name = options.server_name.empty() ? host : options.server_name;
  tls_.emplace(std::move(socket_), context);
  error_code error;
  tls_->set_verify_mode(options.verify ? ssl::verify_peer : ssl::verify_none, error);
  if (options.verify) tls_->set_verify_callback(ssl::host_name_verification(name), error);
  if (error) return Refused("TLS", error);
  // SNI carries names only, no IP addresses.
  if (!IsIpAddress(name) && SSL_set_tlsext_host_name(tls_->native_handle(), name.c_str()) != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("Redis options: ", name, " is no name that TLS can ask for"));
  }
  return absl::OkStatus();
}

std::string Transport::VerifyError() const {
  if (!tls_) return "";
  // The accessor is not const in Asio.
  auto& stream = const_cast<ssl::stream<Socket>&>(*tls_);
  const long result = SSL_get_verify_result(stream.native_handle());
  if (result == X509_V_OK) return "";
  return X509_verify_cert_error_string(result);
}

}  // namespace redouble::redis
