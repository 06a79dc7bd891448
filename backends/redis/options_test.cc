#include "backends/redis/options.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <fstream>
#include <iterator>

namespace redouble::redis {
namespace {

Options Parsed(std::string_view uri) {
  absl::StatusOr<Options> options = Options::Parse(uri);
  EXPECT_TRUE(options.ok()) << uri << ": " << options.status();
  return options.ok() ? *options : Options();
}

std::string Refusal(std::string_view uri) {
  absl::StatusOr<Options> options = Options::Parse(uri);
  EXPECT_FALSE(options.ok()) << uri;
  return std::string(options.status().message());
}

TcpAddress TcpOf(const Options& options) { return std::get<TcpAddress>(options.address); }
UnixAddress UnixOf(const Options& options) { return std::get<UnixAddress>(options.address); }

TEST(Options, DefaultIsTheLocalServer) {
  EXPECT_EQ(Options().ToUri(), "redis://127.0.0.1:6379/0");
  EXPECT_EQ(Parsed("redis://"), Options());
  EXPECT_TRUE(Options().Validate().ok());
}

TEST(Options, ReadsEveryPartOfATcpUri) {
  const Options options = Parsed(
      "redis://ann:s3cret@cache.example:6380/7?client_name=web-1&connect_timeout=500ms&"
      "command_timeout=2s");
  EXPECT_EQ(TcpOf(options), (TcpAddress{"cache.example", 6380}));
  EXPECT_EQ(options.user, "ann");
  EXPECT_EQ(options.password, "s3cret");
  EXPECT_EQ(options.database, 7);
  EXPECT_EQ(options.client_name, "web-1");
  EXPECT_EQ(options.connect_timeout, absl::Milliseconds(500));
  EXPECT_EQ(options.command_timeout, absl::Seconds(2));
}

TEST(Options, ReadsEveryPartOfAUnixUri) {
  const Options options = Parsed("unix://ann:s3cret@/run/redis.sock?db=3&command_timeout=inf");
  EXPECT_EQ(UnixOf(options), (UnixAddress{"/run/redis.sock"}));
  EXPECT_EQ(options.user, "ann");
  EXPECT_EQ(options.password, "s3cret");
  EXPECT_EQ(options.database, 3);
  EXPECT_EQ(options.command_timeout, absl::InfiniteDuration());
}

TEST(Options, LeavesOutWhatIsNotGiven) {
  const Options options = Parsed("redis://cache/");
  EXPECT_EQ(TcpOf(options), (TcpAddress{"cache", 6379}));
  EXPECT_EQ(options.password, std::nullopt);
  EXPECT_EQ(options.database, 0);
}

TEST(Options, DecodesPercentSignsButLeavesPlusAlone) {
  const Options options = Parsed("redis://a%40b:p%3A%2F%00%ff+@h/0?client_name=a+b%25");
  EXPECT_EQ(options.user, "a@b");
  EXPECT_EQ(options.password, std::string("p:/\0\xff+", 6));
  EXPECT_EQ(options.client_name, "a+b%");
  EXPECT_EQ(UnixOf(Parsed("unix:///tmp/a%20b")).path, "/tmp/a b");
}

TEST(Options, ReadsAPasswordOfTheDefaultUser) {
  EXPECT_EQ(Parsed("redis://:pw@h").password, "pw");
  EXPECT_EQ(Parsed("redis://:pw@h").user, "");
  EXPECT_EQ(Parsed("redis://ann:@h").password, "");
}

TEST(Options, ReadsIpv6InBrackets) {
  EXPECT_EQ(TcpOf(Parsed("redis://[::1]:6380")), (TcpAddress{"::1", 6380}));
  EXPECT_EQ(Parsed("redis://[::1]:6380").ToUri(), "redis://[::1]:6380/0");
  EXPECT_EQ(Parsed("redis://[::1]:6380").AddressUri(), "redis://[::1]:6380");
}

TEST(Options, HidesThePasswordWhenPrinted) {
  EXPECT_EQ(Parsed("redis://ann:s3cret@h").ToUri(), "redis://ann:***@h:6379/0");
  EXPECT_EQ(Parsed("redis://:s3cret@h").ToUri(), "redis://:***@h:6379/0");
  EXPECT_EQ(Parsed("redis://ann:s3cret@h").AddressUri(), "redis://h:6379");
  EXPECT_EQ(Parsed("unix://:s3cret@/run/r.sock?db=1").ToUri(), "unix://:***@/run/r.sock?db=1");
  EXPECT_EQ(Parsed("unix://:s3cret@/run/r.sock?db=1").AddressUri(), "unix:///run/r.sock");
}

TEST(Options, RefusesTlsByName) {
  const absl::Status status = Options::Parse("rediss://h").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(status.message(),
            "Redis URI: rediss:// needs TLS, which is not built yet: expected redis:// or unix://");
}

TEST(Options, RefusesWhatIsNoUri) {
  for (const std::string_view text :
       {"", "127.0.0.1:6379", "/run/redis.sock", "redis://h/%zz", "redis://h/a b"}) {
    EXPECT_EQ(Refusal(text).find("Redis URI: not a URI: expected redis://[user:password@]host"), 0u)
        << text;
  }
}

TEST(Options, RefusesAnotherScheme) {
  EXPECT_EQ(Refusal("http://h"),
            "Redis URI: unknown scheme \"http\": expected redis:// or unix://");
  EXPECT_EQ(Refusal("redis:h"), "Redis URI: expected two slashes behind the scheme");
}

TEST(Options, RefusesUnknownOptionsAndNamesTheKnown) {
  EXPECT_EQ(Refusal("redis://h?timeout=5s"),
            "Redis URI: unknown option \"timeout\": expected one of db, client_name, "
            "connect_timeout, command_timeout");
  EXPECT_EQ(Refusal("redis://h?host=x").find("Redis URI: unknown option \"host\""), 0u);
}

TEST(Options, RefusesWhatIsGivenTwice) {
  EXPECT_EQ(Refusal("redis://h?client_name=a&client_name=a"),
            "Redis URI: client_name is given twice: expected one ?client_name=NAME");
  EXPECT_EQ(Refusal("redis://h/1?db=2"),
            "Redis URI: db is given twice: expected one redis://HOST/N or ?db=N");
}

TEST(Options, RefusesAUserWithoutAPassword) {
  EXPECT_EQ(Refusal("redis://ann@h"),
            "Redis options: a user without a password: expected USER:PASSWORD@, or USER:@ for an "
            "empty password");
}

TEST(Options, RefusesBadPorts) {
  for (const std::string_view port : {"0", "65536", "999999999999", ""}) {
    EXPECT_EQ(Refusal("redis://h:" + std::string(port)),
              "Redis URI: port is not valid: expected a number from 1 to 65535");
  }
}

TEST(Options, RefusesBadDatabases) {
  for (const std::string_view path : {"-1", "1/2", "x", "2147483648", "01"}) {
    EXPECT_EQ(Refusal("redis://h/" + std::string(path)),
              "Redis URI: db is not valid: expected a number from 0 to 2147483647");
  }
  EXPECT_EQ(Refusal("unix:///s?db"),
            "Redis URI: db is not valid: expected a number from 0 to 2147483647");
}

TEST(Options, RefusesBadHosts) {
  for (const std::string_view uri : {"redis://:6379", "redis://:pw@", "redis://a%20b"}) {
    EXPECT_EQ(Refusal(uri),
              "Redis URI: host is not valid: expected a host name or an IP address, IPv6 in [ ]");
  }
}

TEST(Options, RefusesBadSocketPaths) {
  const std::string expected =
      "Redis URI: path is not valid: expected an absolute path of at most 107 bytes";
  EXPECT_EQ(Refusal("unix://"), expected);
  EXPECT_EQ(Refusal("unix:///"), expected);
  EXPECT_EQ(Refusal("unix:///a%00b"), expected);
  EXPECT_EQ(Refusal("unix:///" + std::string(107, 'x')), expected);
  EXPECT_EQ(UnixOf(Parsed("unix:///" + std::string(106, 'x'))).path.size(), 107u);
  EXPECT_EQ(Refusal("unix://run/redis.sock"),
            "Redis URI: a Unix socket has no host or port: expected unix:///absolute/path, with "
            "three slashes");
}

TEST(Options, RefusesBadTimeouts) {
  for (const std::string_view value : {"", "5", "0", "0s", "-1s", "1us", "8761h", "-inf", "soon"}) {
    EXPECT_EQ(Refusal("redis://h?command_timeout=" + std::string(value)),
              "Redis URI: command_timeout is not valid: expected a duration from 1ms to 8760h with "
              "its unit, such as 500ms or 2s, or inf");
  }
}

TEST(Options, RefusesClientNamesThatRedisRefuses) {
  EXPECT_EQ(Refusal("redis://h?client_name=a%20b"),
            "Redis URI: client_name is not valid: expected printable ASCII without spaces");
}

TEST(Options, RefusesFragmentsWithoutQuotingThePassword) {
  const std::string refusal = Refusal("redis://:p#w@h");
  EXPECT_EQ(refusal.find("Redis URI: a fragment (#) has no meaning"), 0u);
  for (const std::string_view uri :
       {"redis://ann:s3cret@h:0", "redis://ann:s3cret@h b", "redis://ann:s3cret@h?x=1"}) {
    EXPECT_EQ(Refusal(uri).find("s3cret"), std::string::npos) << uri;
  }
}

TEST(Options, ValidateFindsWhatParseWouldRefuse) {
  Options options;
  options.user = "ann";
  EXPECT_FALSE(options.Validate().ok());
  options.password = "";
  EXPECT_TRUE(options.Validate().ok());
  options.database = -1;
  EXPECT_EQ(options.Validate().message(),
            "Redis URI: db is not valid: expected a number from 0 to 2147483647");
  options.database = 0;
  options.address = UnixAddress{"relative.sock"};
  EXPECT_FALSE(options.Validate().ok());
  options.address = TcpAddress{"h", 0};
  EXPECT_FALSE(options.Validate().ok());
  options.address = TcpAddress{"h", 1};
  options.command_timeout = absl::ZeroDuration();
  EXPECT_FALSE(options.Validate().ok());
}

TEST(Options, ReferenceHasALinePerOption) {
  const std::string text = OptionsReference();
  for (const std::string_view name : {"user", "password", "host", "port", "path", "db",
                                      "client_name", "connect_timeout", "command_timeout"}) {
    EXPECT_NE(text.find("\n| " + std::string(name) + " | "), std::string::npos) << name;
  }
  EXPECT_NE(text.find("| host | `redis://HOST` | a host name or an IP address, IPv6 in [ ] | "
                      "127.0.0.1 | server to connect to by TCP |"),
            std::string::npos);
  EXPECT_NE(text.find("| 5s |"), std::string::npos);
}

TEST(Options, TheReadmeHoldsTheReference) {
  std::ifstream file("backends/redis/README.md");
  const std::string readme((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
  ASSERT_FALSE(readme.empty());
  EXPECT_NE(readme.find(OptionsReference()), std::string::npos)
      << "the table of options in backends/redis/README.md should be:\n\n"
      << OptionsReference();
}

RC_GTEST_PROP(OptionsProperty, WhatIsPrintedReadsBackAsTheSameOptions, ()) {
  Options options;
  if (*rc::gen::arbitrary<bool>()) {
    options.address = UnixAddress{
        "/" + *rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::nonZero<char>()))};
    RC_PRE(options.Validate().ok());
  } else {
    options.address = TcpAddress{"h.example", *rc::gen::nonZero<uint16_t>()};
  }
  if (*rc::gen::arbitrary<bool>()) {
    options.user = *rc::gen::container<std::string>(rc::gen::nonZero<char>());
    options.password = "***";
  }
  options.database = *rc::gen::inRange(0, 100);
  options.client_name = *rc::gen::container<std::string>(rc::gen::inRange<char>('!', '~'));
  options.connect_timeout = absl::Milliseconds(*rc::gen::inRange(1, 1'000'000));
  const absl::StatusOr<Options> read = Options::Parse(options.ToUri());
  RC_ASSERT(read.ok());
  RC_ASSERT(*read == options);
}

}  // namespace
}  // namespace redouble::redis
