#include "backends/redis/options.h"

#include <sys/un.h>

#include <algorithm>
#include <array>
#include <boost/url/parse.hpp>
#include <boost/url/url.hpp>
#include <boost/url/url_view.hpp>
#include <limits>

#include "absl/strings/str_cat.h"
#include "core/base/redis_number.h"
#include "core/base/string_bridge.h"

namespace redouble::redis {
namespace {

namespace urls = boost::urls;

enum class Place { kUser, kPassword, kHost, kPort, kSocket, kDatabase, kQuery };

constexpr std::string_view kTcpScheme = "redis";
constexpr std::string_view kUnixScheme = "unix";
constexpr std::string_view kHidden = "***";

// The values: each pair reads a decoded text (false: refused) and writes it back (none: not set).

bool ReadUser(std::string_view text, Options& options) {
  options.user = text;
  return text.find('\0') == text.npos;
}
std::optional<std::string> WriteUser(const Options& options) {
  if (options.user.empty()) return std::nullopt;
  return options.user;
}

bool ReadPassword(std::string_view text, Options& options) {
  options.password = text;
  return true;
}
std::optional<std::string> WritePassword(const Options& options) {
  if (!options.password) return std::nullopt;
  return std::string(kHidden);
}

bool IsHostCharacter(char c) { return c > ' ' && c != 0x7f; }

bool ReadHost(std::string_view text, Options& options) {
  std::get<TcpAddress>(options.address).host = text;
  return !text.empty() && std::all_of(text.begin(), text.end(), IsHostCharacter);
}
std::optional<std::string> WriteHost(const Options& options) {
  const auto* tcp = std::get_if<TcpAddress>(&options.address);
  if (tcp == nullptr) return std::nullopt;
  return tcp->host;
}

bool ReadPort(std::string_view text, Options& options) {
  const std::optional<int64_t> port = base::ParseInt64(text);
  if (!port || *port < 1 || *port > std::numeric_limits<uint16_t>::max()) return false;
  std::get<TcpAddress>(options.address).port = static_cast<uint16_t>(*port);
  return true;
}
std::optional<std::string> WritePort(const Options& options) {
  const auto* tcp = std::get_if<TcpAddress>(&options.address);
  if (tcp == nullptr) return std::nullopt;
  return absl::StrCat(tcp->port);
}

bool ReadSocket(std::string_view text, Options& options) {
  std::get<UnixAddress>(options.address).path = text;
  return text.size() > 1 && text[0] == '/' && text.find('\0') == text.npos &&
         text.size() < sizeof(sockaddr_un::sun_path);
}
std::optional<std::string> WriteSocket(const Options& options) {
  const auto* local = std::get_if<UnixAddress>(&options.address);
  if (local == nullptr) return std::nullopt;
  return local->path;
}

bool ReadDatabase(std::string_view text, Options& options) {
  const std::optional<int64_t> database = base::ParseInt64(text);
  if (!database || *database < 0 || *database > std::numeric_limits<int>::max()) return false;
  options.database = static_cast<int>(*database);
  return true;
}
std::optional<std::string> WriteDatabase(const Options& options) {
  return absl::StrCat(options.database);
}

bool ReadClientName(std::string_view text, Options& options) {
  options.client_name = text;
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '!' && c <= '~'; });
}
std::optional<std::string> WriteClientName(const Options& options) {
  if (options.client_name.empty()) return std::nullopt;
  return options.client_name;
}

// Below a millisecond a time-out could only ever fire; beyond a year it might as well be "inf", and
// sums with it would leave 64 bits some day.
bool ReadTimeout(std::string_view text, absl::Duration& timeout) {
  if (!absl::ParseDuration(std::string(text), &timeout)) return false;
  return timeout == absl::InfiniteDuration() ||
         (timeout >= absl::Milliseconds(1) && timeout <= absl::Hours(8760));
}
bool ReadConnectTimeout(std::string_view text, Options& options) {
  return ReadTimeout(text, options.connect_timeout);
}
std::optional<std::string> WriteConnectTimeout(const Options& options) {
  return absl::FormatDuration(options.connect_timeout);
}
bool ReadCommandTimeout(std::string_view text, Options& options) {
  return ReadTimeout(text, options.command_timeout);
}
std::optional<std::string> WriteCommandTimeout(const Options& options) {
  return absl::FormatDuration(options.command_timeout);
}

struct OptionRow {
  std::string_view name;
  Place place;
  std::string_view written;   // How it stands in a URI.
  std::string_view expected;  // What a value has to be.
  std::string_view meaning;
  bool (*read)(std::string_view text, Options& options);
  std::optional<std::string> (*write)(const Options& options);
};

constexpr std::string_view kTimeoutValue =
    "a duration from 1ms to 8760h with its unit, such as 500ms or 2s, or inf";

constexpr std::array kTable = {
    OptionRow{"user", Place::kUser, "//USER:PASSWORD@", "a user name without zero bytes",
              "ACL user to log in as; without it the password is the default user's", ReadUser,
              WriteUser},
    OptionRow{"password", Place::kPassword, "//USER:PASSWORD@", "any bytes",
              "password to log in with; without it the client does not log in", ReadPassword,
              WritePassword},
    OptionRow{"host", Place::kHost, "redis://HOST", "a host name or an IP address, IPv6 in [ ]",
              "server to connect to by TCP", ReadHost, WriteHost},
    OptionRow{"port", Place::kPort, "redis://HOST:PORT", "a number from 1 to 65535",
              "TCP port of the server", ReadPort, WritePort},
    OptionRow{"path", Place::kSocket, "unix:///PATH", "an absolute path of at most 107 bytes",
              "Unix socket of the server", ReadSocket, WriteSocket},
    OptionRow{"db", Place::kDatabase, "redis://HOST/N or ?db=N", "a number from 0 to 2147483647",
              "database to select", ReadDatabase, WriteDatabase},
    OptionRow{"client_name", Place::kQuery, "?client_name=NAME", "printable ASCII without spaces",
              "name that CLIENT LIST shows", ReadClientName, WriteClientName},
    OptionRow{"connect_timeout", Place::kQuery, "?connect_timeout=TIME", kTimeoutValue,
              "how long resolving, connecting and logging in may take in all", ReadConnectTimeout,
              WriteConnectTimeout},
    OptionRow{"command_timeout", Place::kQuery, "?command_timeout=TIME", kTimeoutValue,
              "how long a command or batch may wait for its last reply", ReadCommandTimeout,
              WriteCommandTimeout},
};

const OptionRow& RowOf(Place place) {
  return *std::find_if(kTable.begin(), kTable.end(),
                       [&](const OptionRow& row) { return row.place == place; });
}

absl::Status Refused(const OptionRow& row) {
  return absl::InvalidArgumentError(absl::StrCat("Redis URI: ", base::ToAbsl(row.name),
                                                 " is not valid: expected ",
                                                 base::ToAbsl(row.expected)));
}

// Fills options from the parts of a URI, each part at most once.
class OptionReader {
 public:
  void Read(const OptionRow& row, urls::pct_string_view encoded) {
    if (!status_.ok()) return;
    bool& seen = seen_[&row - kTable.data()];
    if (seen) {
      status_ = absl::InvalidArgumentError(absl::StrCat("Redis URI: ", base::ToAbsl(row.name),
                                                        " is given twice: expected one ",
                                                        base::ToAbsl(row.written)));
      return;
    }
    seen = true;
    if (!row.read(encoded.decode(), options)) status_ = Refused(row);
  }

  void ReadQuery(std::string_view name, bool has_value, urls::pct_string_view encoded) {
    if (!status_.ok()) return;
    std::string known;
    for (const OptionRow& row : kTable) {
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
  std::array<bool, kTable.size()> seen_ = {};
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
  // A lone slash selects nothing.
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

absl::Status CheckScheme(const urls::url_view& uri) {
  const std::string_view scheme = uri.scheme();
  if (scheme == "rediss") {
    return absl::UnimplementedError(
        "Redis URI: rediss:// needs TLS, which is not built yet: expected redis:// or unix://");
  }
  if (scheme != kTcpScheme && scheme != kUnixScheme) {
    return absl::InvalidArgumentError(absl::StrCat(
        "Redis URI: unknown scheme \"", base::ToAbsl(scheme), "\": expected redis:// or unix://"));
  }
  if (!uri.has_authority()) {
    return absl::InvalidArgumentError("Redis URI: expected two slashes behind the scheme");
  }
  if (uri.has_fragment()) {
    return absl::InvalidArgumentError(
        "Redis URI: a fragment (#) has no meaning: write # as %23 and / as %2F where they belong "
        "to a password or name");
  }
  return absl::OkStatus();
}

absl::Status CheckLogin(const Options& options) {
  if (options.user.empty() || options.password) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "Redis options: a user without a password: expected USER:PASSWORD@, or USER:@ for an empty "
      "password");
}

}  // namespace

absl::StatusOr<Options> Options::Parse(std::string_view uri_text) {
  const auto parsed = urls::parse_uri(uri_text);
  if (!parsed) {
    return absl::InvalidArgumentError(
        "Redis URI: not a URI: expected redis://[user:password@]host[:port][/db][?option=value] or "
        "unix://[user:password@]/path[?option=value], special characters percent-encoded");
  }
  const urls::url_view uri = *parsed;
  if (absl::Status status = CheckScheme(uri); !status.ok()) return status;
  OptionReader reader;
  ReadUserInfo(uri, reader);
  if (std::string_view(uri.scheme()) == kUnixScheme) {
    ReadUnixAddress(uri, reader);
  } else {
    ReadTcpAddress(uri, reader);
  }
  for (const auto param : uri.encoded_params()) {
    reader.ReadQuery(param.key.decode(), param.has_value, param.value);
  }
  reader.Fail(CheckLogin(reader.options));
  if (!reader.status().ok()) return reader.status();
  return std::move(reader.options);
}

absl::Status Options::Validate() const {
  // What the table writes, it must be able to read.
  Options copy = *this;
  for (const OptionRow& row : kTable) {
    const std::optional<std::string> text = row.write(*this);
    if (text && !row.read(*text, copy)) return Refused(row);
  }
  return CheckLogin(*this);
}

std::string Options::ToUri() const {
  const bool is_unix = std::holds_alternative<UnixAddress>(address);
  const Options defaults;
  urls::url uri;
  uri.set_scheme(is_unix ? kUnixScheme : kTcpScheme);
  uri.set_encoded_authority("");
  for (const OptionRow& row : kTable) {
    const std::optional<std::string> text = row.write(*this);
    if (!text) continue;
    const bool is_default = text == row.write(defaults);
    if (row.place == Place::kUser) uri.set_user(*text);
    if (row.place == Place::kPassword) uri.set_password(*text);
    if (row.place == Place::kHost) uri.set_host_address(*text);
    if (row.place == Place::kPort) uri.set_port(*text);
    if (row.place == Place::kSocket) uri.set_path(*text);
    if (row.place == Place::kDatabase && !is_unix) uri.set_path("/" + *text);
    const bool in_query = row.place == Place::kQuery || (row.place == Place::kDatabase && is_unix);
    if (in_query && !is_default) uri.params().append({row.name, *text});
  }
  return std::string(uri.buffer());
}

std::string Options::AddressUri() const {
  if (const auto* local = std::get_if<UnixAddress>(&address)) {
    return absl::StrCat("unix://", local->path);
  }
  const auto& tcp = std::get<TcpAddress>(address);
  const bool is_ipv6 = tcp.host.find(':') != tcp.host.npos;
  return absl::StrCat("redis://", is_ipv6 ? "[" : "", tcp.host, is_ipv6 ? "]" : "", ":", tcp.port);
}

std::string OptionsReference() {
  const Options defaults;
  std::string text =
      "| option | written | value | default | meaning |\n| --- | --- | --- | --- | --- |\n";
  for (const OptionRow& row : kTable) {
    const std::string initial = row.write(defaults).value_or("none");
    absl::StrAppend(&text, "| ", base::ToAbsl(row.name), " | `", base::ToAbsl(row.written), "` | ",
                    base::ToAbsl(row.expected), " | ", initial);
    absl::StrAppend(&text, " | ", base::ToAbsl(row.meaning), " |\n");
  }
  return text;
}

}  // namespace redouble::redis
