#include "redouble/backends/redis/net/tls/tls_context.h"

#include <openssl/x509.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <list>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "boost/system/error_code.hpp"
#include "redouble/backends/redis/net/tls/tls_sessions.h"
#include "redouble/core/base/status/status_macros.h"

namespace redouble::inline v0_1::redis {
namespace {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;
using Context = std::shared_ptr<ssl::context>;

// What tells whether a file or folder was replaced or written.
struct Stamp {
  dev_t device = 0;
  ino_t inode = 0;
  off_t size = 0;
  time_t seconds = 0;
  long nanoseconds = 0;

  friend bool operator==(const Stamp&, const Stamp&) = default;
};

// A missing file has the stamp of an empty path.
Stamp StampOf(const std::string& path) {
  struct stat found = {};
  if (path.empty() || stat(path.c_str(), &found) != 0) return {};
  return {found.st_dev, found.st_ino, found.st_size, found.st_mtim.tv_sec, found.st_mtim.tv_nsec};
}

// The value of an environment variable of OpenSSL, or OpenSSL's own value.
std::string PathFrom(const char* variable, const char* otherwise) {
  const char* const value = std::getenv(variable);
  return value != nullptr ? value : otherwise;
}

using Stamps = std::array<Stamp, 4>;

Stamps StampsOf(const TlsOptions& options) {
  const Stamp certificate = StampOf(options.certificate_file), key = StampOf(options.key_file);
  if (!options.verify) return {Stamp{}, Stamp{}, certificate, key};
  if (!options.ca_file.empty() || !options.ca_folder.empty()) {
    return {StampOf(options.ca_file), StampOf(options.ca_folder), certificate, key};
  }
  return {StampOf(PathFrom(X509_get_default_cert_file_env(), X509_get_default_cert_file())),
          StampOf(PathFrom(X509_get_default_cert_dir_env(), X509_get_default_cert_dir())),
          certificate, key};
}

absl::Status Refused(const std::string& what, const error_code& error) {
  return absl::InvalidArgumentError(absl::StrCat("Redis options: ", what, ": ", error.message()));
}

absl::Status LoadAuthorities(const TlsOptions& options, ssl::context& context) {
  if (!options.verify) return absl::OkStatus();
  error_code error;
  if (options.ca_file.empty() && options.ca_folder.empty()) {
    context.set_default_verify_paths(error);
    if (error) return Refused("the system's authorities cannot be read", error);
  }
  if (!options.ca_file.empty()) {
    context.load_verify_file(options.ca_file, error);
    if (error) return Refused(absl::StrCat("tls_ca_file ", options.ca_file), error);
  }
  if (!options.ca_folder.empty()) {
    context.add_verify_path(options.ca_folder, error);
    if (error) return Refused(absl::StrCat("tls_ca_folder ", options.ca_folder), error);
  }
  return absl::OkStatus();
}

absl::Status SetCiphers(const TlsOptions& options, SSL_CTX* context) {
  const auto refused = [](const std::string& what) {
    return absl::InvalidArgumentError(
        absl::StrCat("Redis options: ", what, ": OpenSSL has none of these"));
  };
  if (!options.ciphers.empty() && SSL_CTX_set_cipher_list(context, options.ciphers.c_str()) != 1) {
    return refused(absl::StrCat("tls_ciphers ", options.ciphers));
  }
  if (!options.ciphersuites.empty() &&
      SSL_CTX_set_ciphersuites(context, options.ciphersuites.c_str()) != 1) {
    return refused(absl::StrCat("tls_ciphersuites ", options.ciphersuites));
  }
  return absl::OkStatus();
}

absl::Status LoadCertificate(const TlsOptions& options, ssl::context& context) {
  if (options.certificate_file.empty()) return absl::OkStatus();
  error_code error;
  // Without a callback OpenSSL would ask on the terminal, also for a part of the certificate file
  // that is encrypted. An empty password fails.
  context.set_password_callback([password = options.key_password.value_or("")](
                                    size_t, ssl::context::password_purpose) { return password; },
                                error);
  if (error) return Refused("tls_key_password", error);
  context.use_certificate_chain_file(options.certificate_file, error);
  if (error) return Refused(absl::StrCat("tls_certificate_file ", options.certificate_file), error);
  context.use_private_key_file(options.key_file, ssl::context::pem, error);
  if (error) return Refused(absl::StrCat("tls_key_file ", options.key_file), error);
  return absl::OkStatus();
}

absl::StatusOr<Context> Load(const TlsOptions& options) {
  const auto context = std::make_shared<ssl::context>(ssl::context::tls_client);
  SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
  REDOUBLE_RETURN_IF_ERROR(SetCiphers(options, context->native_handle()));
  REDOUBLE_RETURN_IF_ERROR(LoadAuthorities(options, *context));
  REDOUBLE_RETURN_IF_ERROR(LoadCertificate(options, *context));
  KeepTlsSessions(context->native_handle());
  return context;
}

class Cache {
 public:
  absl::StatusOr<Context> Get(TlsOptions options) {
    options.server_name.clear();
    // A file that is replaced after this line is read again for the next connection.
    const Stamps stamps = StampsOf(options);
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(rows_.begin(), rows_.end(),
                                    [&](const Row& row) { return row.options == options; });
    if (found != rows_.end() && found->stamps == stamps) {
      rows_.splice(rows_.begin(), rows_, found);
      return found->context;
    }
    if (found != rows_.end()) rows_.erase(found);
    REDOUBLE_ASSIGN_OR_RETURN(Context context, Load(options));
    rows_.push_front({std::move(options), stamps, context});
    if (rows_.size() > kCachedTlsContexts) rows_.pop_back();
    return context;
  }

 private:
  struct Row {
    TlsOptions options;
    Stamps stamps;
    Context context;
  };

  std::mutex mutex_;     // Guards rows_.
  std::list<Row> rows_;  // The one that was used last comes first.
};

}  // namespace

absl::StatusOr<Context> TlsContextFor(const TlsOptions& options) {
  static Cache& cache = *new Cache;
  return cache.Get(options);
}

}  // namespace redouble::inline v0_1::redis
