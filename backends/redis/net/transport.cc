#include "redouble/backends/redis/net/transport.h"

#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <boost/asio/ssl/host_name_verification.hpp>
#include <memory>

#include "absl/strings/str_cat.h"
#include "redouble/backends/redis/net/tls/tls_context.h"
#include "redouble/backends/redis/net/tls/tls_sessions.h"
#include "redouble/core/base/status/status_macros.h"

namespace redouble::inline v0_1::redis {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;

absl::Status Transport::Encrypt(const TlsOptions& options, const std::string& host, uint16_t port) {
  REDOUBLE_ASSIGN_OR_RETURN(const std::shared_ptr<ssl::context> context, TlsContextFor(options));
  const std::string& name = options.server_name.empty() ? host : options.server_name;
  tls_.emplace(std::move(socket_), *context);
  error_code error;
  tls_->set_verify_mode(options.verify ? ssl::verify_peer : ssl::verify_none, error);
  if (options.verify) tls_->set_verify_callback(ssl::host_name_verification(name), error);
  if (error) {
    return absl::InvalidArgumentError(absl::StrCat("Redis options: TLS: ", error.message()));
  }
  // SNI carries names only, no IP addresses.
  if (!IsIpAddress(name) && SSL_set_tlsext_host_name(tls_->native_handle(), name.c_str()) != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("Redis options: ", name, " is no name that TLS can ask for"));
  }
  ResumeTlsSession(tls_->native_handle(), absl::StrCat(name, " ", port));
  return absl::OkStatus();
}

bool Transport::resumed() const {
  return tls_ && SSL_session_reused(const_cast<ssl::stream<Socket>&>(*tls_).native_handle()) == 1;
}

std::string Transport::VerifyError() const {
  if (!tls_) return "";
  // The accessor is not const in Asio.
  auto& stream = const_cast<ssl::stream<Socket>&>(*tls_);
  const long result = SSL_get_verify_result(stream.native_handle());
  if (result == X509_V_OK) return "";
  return X509_verify_cert_error_string(result);
}

}  // namespace redouble::inline v0_1::redis
