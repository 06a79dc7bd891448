#include "redouble/backends/redis/options.h"

#include <arpa/inet.h>

#include <algorithm>
#include <boost/url/encode.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/rfc/pchars.hpp>
#include <boost/url/url.hpp>
#include <boost/url/url_view.hpp>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/backends/redis/option_table.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::redis {
namespace {

namespace urls = boost::urls;

using Place = OptionRow::Place;

constexpr std::string_view kTcpScheme = "redis";
constexpr std::string_view kTlsScheme = "rediss";
constexpr std::string_view kUnixScheme = "unix";

const OptionRow& RowOf(Place place) {
  const std::span<const OptionRow> table = OptionTable();
  return *std::find_if(table.begin(), table.end(),
                       [&](const OptionRow& row) { return row.place == place; });
}

absl::Status Refused(const OptionRow& row) {
  return absl::InvalidArgumentError(absl::StrCat("Redis URI: ", base::ToAbsl(row.name),
                                                 " is not valid: expected ",
                                                 base::ToAbsl(row.expected)));
}

// Fills options from the parts of a URI; each part may occur once.
class OptionReader {
 public:
  void Read(const OptionRow& row, urls::pct_string_view encoded) {
    if (!status_.ok()) return;
    const size_t index = &row - OptionTable().data();
    if (seen_[index]) {
      status_ = absl::InvalidArgumentError(absl::StrCat("Redis URI: ", base::ToAbsl(row.name),
                                                        " is given twice: expected one ",
                                                        base::ToAbsl(row.written)));
      return;
    }
    seen_[index] = true;
    if (!row.read(encoded.decode(), options)) status_ = Refused(row);
  }

  void ReadQuery(std::string_view name, bool has_value, urls::pct_string_view encoded) {
    if (!status_.ok()) return;
    std::string known;
    for (const OptionRow& row : OptionTable()) {
      if (row.place != Place::kQuery && row.place != Place::kDatabase) continue;
      if (row.name == name) {
        if (!has_value) status_ = Refused(row);
        return Read(row, encoded);
      }
      absl::StrAppend(&known, known.empty() ? "" : ", ", base::ToAbsl(row.name));
    }
    status_ = absl::InvalidArgumentError(absl::StrCat(
        "Redis URI: unknown option \"", base::ToAbsl(name), "\": expected one of ", known));
  }

  void Fail(absl::Status status) { status_.Update(status); }
  absl::Status status() const { return status_; }

  Options options;

 private:
  std::vector<bool> seen_ = std::vector<bool>(OptionTable().size());
  absl::Status status_;
};

void ReadUserInfo(const urls::url_view& uri, OptionReader& reader) {
  if (!uri.has_userinfo()) return;
  if (!uri.encoded_user().empty()) reader.Read(RowOf(Place::kUser), uri.encoded_user());
  if (uri.has_password()) reader.Read(RowOf(Place::kPassword), uri.encoded_password());
}

void ReadTcpAddress(const urls::url_view& uri, OptionReader& reader) {
  reader.options.address = TcpAddress();
  const urls::pct_string_view host = uri.encoded_host_address();
  if (!host.empty()) {
    reader.Read(RowOf(Place::kHost), host);
  } else if (uri.has_port() || uri.has_userinfo()) {
    reader.Fail(Refused(RowOf(Place::kHost)));
  }
  if (uri.has_port()) reader.Read(RowOf(Place::kPort), urls::pct_string_view(uri.port()));
  // A path of "/" selects no database.
  const urls::pct_string_view path = uri.encoded_path();
  if (path.size() > 1) reader.Read(RowOf(Place::kDatabase), path.substr(1));
}

void ReadUnixAddress(const urls::url_view& uri, OptionReader& reader) {
  reader.options.address = UnixAddress();
  if (!uri.encoded_host().empty() || uri.has_port()) {
    reader.Fail(absl::InvalidArgumentError(
        "Redis URI: a Unix socket has no host or port: expected unix:///absolute/path, with three "
        "slashes"));
  }
  reader.Read(RowOf(Place::kSocket), uri.encoded_path());
}

absl::Status HasFragment() {
  return absl::InvalidArgumentError(
      "Redis URI: a fragment (#) has no meaning: write # as %23 and / as %2F where they belong "
      "to a password or name");
}

absl::Status CheckScheme(const urls::url_view& uri) {
  const std::string_view scheme = uri.scheme();
  if (scheme != kTcpScheme && scheme != kTlsScheme && scheme != kUnixScheme) {
    return absl::InvalidArgumentError(absl::StrCat("Redis URI: unknown scheme \"",
                                                   base::ToAbsl(scheme),
                                                   "\": expected redis://, rediss:// or unix://"));
  }
  if (!uri.has_authority()) {
    return absl::InvalidArgumentError("Redis URI: expected two slashes behind the scheme");
  }
  return uri.has_fragment() ? HasFragment() : absl::OkStatus();
}

absl::Status Contradiction(std::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("Redis options: ", base::ToAbsl(what)));
}

// An option that has no effect in this combination is reported as a mistake.
absl::Status CheckScopes(const Options& options) {
  const Options defaults;
  for (const OptionRow& row : OptionTable()) {
    if (Applies(row.scope, options) || row.write(options) == row.write(defaults)) continue;
    return Contradiction(std::string_view(absl::StrCat(base::ToAbsl(row.name),
                                                       " has no meaning here: expected it beside ",
                                                       base::ToAbsl(ScopeText(row.scope)))));
  }
  return absl::OkStatus();
}

absl::Status CheckTogether(const Options& options) {
  if (!options.user.empty() && !options.password) {
    return Contradiction(
        "a user without a password: expected USER:PASSWORD@, or USER:@ for an empty password");
  }
  if (!options.sentinel_user.empty() && !options.sentinel_password) {
    return Contradiction("sentinel_user without sentinel_password: expected both");
  }
  if (options.tls.enabled && std::holds_alternative<UnixAddress>(options.address)) {
    return Contradiction("TLS through a Unix socket: expected a TCP address");
  }
  if (options.tls.certificate_file.empty() != options.tls.key_file.empty()) {
    return Contradiction(
        "tls_certificate_file and tls_key_file belong together: expected both or none");
  }
  if (options.tls.key_password && options.tls.key_file.empty()) {
    return Contradiction("tls_key_password without tls_key_file: expected both");
  }
  if (!options.tls.verify && !options.tls.ca_file.empty()) {
    return Contradiction("tls_ca_file has no use with tls_verify=no: expected one of them");
  }
  if (!options.tls.verify && !options.tls.ca_folder.empty()) {
    return Contradiction("tls_ca_folder has no use with tls_verify=no: expected one of them");
  }
  if (options.cluster && !options.sentinel_master.empty()) {
    return Contradiction("cluster=yes and sentinel_master: expected one of them");
  }
  if (options.cluster && options.database != 0) {
    return Contradiction("a Redis Cluster has database 0 only: expected no other db");
  }
  if (options.cache_bytes > 0 && options.protocol != RespVersion::kResp3) {
    return Contradiction("cache_bytes needs invalidations of RESP3: expected protocol=3");
  }
  if (options.cache_broadcast && options.cache_bytes == 0) {
    return Contradiction("cache_broadcast without a cache: expected cache_bytes");
  }
  if (!options.cache_prefixes.empty() && !options.cache_broadcast) {
    return Contradiction("cache_prefixes without cache_broadcast=yes: expected both");
  }
  if (options.backoff_base > options.backoff_cap) {
    return Contradiction("backoff_base is longer than backoff_cap: expected it to be shorter");
  }
  return CheckScopes(options);
}

std::string EncodedSocket(const Options& options) {
  return urls::encode(RowOf(Place::kSocket).write(options).value_or(""), urls::pchars + '/');
}

}  // namespace

bool IsIpAddress(const std::string& host) {
  in6_addr address = {};
  // An IPv6 address may name its zone: fe80::1%eth0.
  return inet_pton(AF_INET, host.c_str(), &address) == 1 ||
         inet_pton(AF_INET6, host.substr(0, host.find('%')).c_str(), &address) == 1;
}

absl::StatusOr<Options> Options::Parse(std::string_view uri_text) {
  const auto parsed = urls::parse_uri(uri_text);
  if (!parsed) {
    // Boost 1.83 refuses what a # in the password leaves of the host's port.
    if (uri_text.find('#') != std::string_view::npos) return HasFragment();
    return absl::InvalidArgumentError(
        "Redis URI: not a URI: expected redis://[user:password@]host[:port][/db][?option=value], "
        "rediss://... or unix://[user:password@]/path[?option=value], special characters "
        "percent-encoded");
  }
  const urls::url_view uri = *parsed;
  REDOUBLE_RETURN_IF_ERROR(CheckScheme(uri));
  OptionReader reader;
  reader.options.tls.enabled = std::string_view(uri.scheme()) == kTlsScheme;
  ReadUserInfo(uri, reader);
  if (std::string_view(uri.scheme()) == kUnixScheme) {
    ReadUnixAddress(uri, reader);
  } else {
    ReadTcpAddress(uri, reader);
  }
  for (const auto param : uri.encoded_params()) {
    reader.ReadQuery(param.key.decode(), param.has_value, param.value);
  }
  reader.Fail(CheckTogether(reader.options));
  if (!reader.status().ok()) return reader.status();
  return std::move(reader.options);
}

absl::Status Options::Validate() const {
  // Each value must survive printing and parsing.
  Options copy = *this;
  for (const OptionRow& row : OptionTable()) {
    const std::optional<std::string> text = row.write(*this);
    if (text && !row.read(*text, copy)) return Refused(row);
  }
  return CheckTogether(*this);
}

std::string Options::ToUri() const {
  const bool is_unix = std::holds_alternative<UnixAddress>(address);
  const Options defaults;
  urls::url uri;
  uri.set_scheme(is_unix ? kUnixScheme : tls.enabled ? kTlsScheme : kTcpScheme);
  uri.set_encoded_authority("");
  for (const OptionRow& row : OptionTable()) {
    const std::optional<std::string> text = row.write(*this);
    if (!text) continue;
    const bool is_default = text == row.write(defaults);
    if (row.place == Place::kUser) uri.set_user(*text);
    if (row.place == Place::kPassword) uri.set_password(*text);
    if (row.place == Place::kHost) uri.set_host_address(*text);
    if (row.place == Place::kPort) uri.set_port(*text);
    if (row.place == Place::kDatabase && !is_unix) uri.set_path("/" + *text);
    const bool in_query = row.place == Place::kQuery || (row.place == Place::kDatabase && is_unix);
    if (in_query && !is_default) uri.params().append({row.name, *text});
  }
  std::string printed(uri.buffer());
  // set_path would write "/" as "/./", which reads back as another path.
  if (is_unix) printed.insert(std::min(printed.find('?'), printed.size()), EncodedSocket(*this));
  return printed;
}

TcpAddress Options::Mapped(const TcpAddress& address) const {
  for (const AddressMapping& mapping : address_map) {
    if (mapping.from_host != address.host) continue;
    if (mapping.from_port != 0 && mapping.from_port != address.port) continue;
    return {mapping.to_host, mapping.to_port != 0 ? mapping.to_port : address.port};
  }
  return address;
}

std::string Options::AddressUri() const {
  if (const auto* local = std::get_if<UnixAddress>(&address)) {
    return absl::StrCat("unix://", local->path);
  }
  const auto& tcp = std::get<TcpAddress>(address);
  const bool is_ipv6 = tcp.host.find(':') != tcp.host.npos;
  return absl::StrCat(tls.enabled ? "rediss://" : "redis://", is_ipv6 ? "[" : "", tcp.host,
                      is_ipv6 ? "]" : "", ":", tcp.port);
}

std::string OptionsReference() {
  const Options defaults;
  std::string text =
      "| option | written | value | default | meaning |\n| --- | --- | --- | --- | --- |\n";
  for (const OptionRow& row : OptionTable()) {
    const std::string initial = row.write(defaults).value_or("none");
    absl::StrAppend(&text, "| ", base::ToAbsl(row.name), " | `", base::ToAbsl(row.written), "` | ",
                    base::ToAbsl(row.expected), " | ", initial);
    absl::StrAppend(&text, " | ", base::ToAbsl(row.meaning), " |\n");
  }
  return text;
}

}  // namespace redouble::inline v0_1::redis
