#include "redouble/backends/redis/options.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "redouble/core/base/status/status_matchers.h"

namespace redouble::inline v0_1::redis {
namespace {

using base::IsOk;

Options Parsed(std::string_view uri) {
  absl::StatusOr<Options> options = Options::Parse(uri);
  EXPECT_THAT(options, IsOk()) << uri << ": " << options.status();
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
  EXPECT_THAT(Options().Validate(), IsOk());
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

TEST(Options, ReadsTls) {
  const Options options = Parsed(
      "rediss://h?tls_ca_file=/etc/ca%20file.pem&tls_server_name=cache.example&"
      "tls_certificate_file=/me.pem&tls_key_file=/me.key&tls_key_password=s3cret");
  EXPECT_TRUE(options.tls.enabled);
  EXPECT_TRUE(options.tls.verify);
  EXPECT_EQ(options.tls.ca_file, "/etc/ca file.pem");
  EXPECT_EQ(options.tls.server_name, "cache.example");
  EXPECT_EQ(options.tls.certificate_file, "/me.pem");
  EXPECT_EQ(options.tls.key_file, "/me.key");
  EXPECT_EQ(options.tls.key_password, "s3cret");
  EXPECT_EQ(options.ToUri().find("s3cret"), std::string::npos) << options.ToUri();
  EXPECT_EQ(options.AddressUri(), "rediss://h:6379");
  EXPECT_EQ(options.ToUri().find("rediss://h:6379/0?tls_ca_file="), 0u) << options.ToUri();
  EXPECT_FALSE(Parsed("rediss://h?tls_verify=no").tls.verify);
}

TEST(Options, ReadsAClusterAndItsSeeds) {
  const Options options = Parsed("redis://a:7000?cluster=yes&seeds=b:7001,%5B::1%5D:7002");
  EXPECT_TRUE(options.cluster);
  EXPECT_EQ(TcpOf(options), (TcpAddress{"a", 7000}));
  EXPECT_EQ(options.seeds, (std::vector<TcpAddress>{{"b", 7001}, {"::1", 7002}}));
  EXPECT_EQ(Parsed(options.ToUri()), options) << options.ToUri();
}

TEST(Options, ReadsSentinelsWithTheirOwnLogin) {
  const Options options = Parsed(
      "redis://ann:pw@s1:26379/2?sentinel_master=mymaster&seeds=s2:26379&sentinel_user=watch&"
      "sentinel_password=s3cret");
  EXPECT_EQ(options.sentinel_master, "mymaster");
  EXPECT_EQ(options.seeds, (std::vector<TcpAddress>{{"s2", 26379}}));
  EXPECT_EQ(options.sentinel_user, "watch");
  EXPECT_EQ(options.sentinel_password, "s3cret");
  EXPECT_EQ(options.database, 2);
  EXPECT_EQ(options.ToUri().find("s3cret"), std::string::npos);
  EXPECT_NE(options.ToUri().find("sentinel_password=***"), std::string::npos) << options.ToUri();
}

TEST(Options, ReadsHowToReconnectAndRetry) {
  const Options options = Parsed(
      "redis://h?reconnect=no&backoff_base=10ms&backoff_cap=1s&retry=idempotent&attempts=5&"
      "queue_limit=7&queue_bytes=8000000000&blocking_connections=2&idle_connections=0&push_queue=9&"
      "keep_alive=inf&"
      "health_check_interval=1s&blocking_timeout=1m");
  EXPECT_FALSE(options.reconnect);
  EXPECT_EQ(options.backoff_base, absl::Milliseconds(10));
  EXPECT_EQ(options.backoff_cap, absl::Seconds(1));
  EXPECT_EQ(options.retry, RetryPolicy::kIdempotent);
  EXPECT_EQ(options.attempts, 5);
  EXPECT_EQ(options.queue_limit, 7);
  EXPECT_EQ(options.queue_bytes, 8'000'000'000);
  EXPECT_EQ(options.blocking_connections, 2);
  EXPECT_EQ(options.idle_connections, 0);
  EXPECT_EQ(options.push_queue, 9);
  EXPECT_EQ(options.keep_alive, absl::InfiniteDuration());
  EXPECT_EQ(options.health_check_interval, absl::Seconds(1));
  EXPECT_EQ(options.blocking_timeout, absl::Minutes(1));
  EXPECT_EQ(Parsed(options.ToUri()), options) << options.ToUri();
}

TEST(Options, ReadsWhetherCommandsAreSplit) {
  EXPECT_FALSE(Parsed("redis://h?cluster=yes").split_commands);
  const Options options = Parsed("redis://h?cluster=yes&split_commands=yes");
  EXPECT_TRUE(options.split_commands);
  EXPECT_EQ(Parsed(options.ToUri()), options) << options.ToUri();
}

TEST(Options, ReadsTheMappingOfAddresses) {
  const std::string uri =
      "redis://127.0.0.1:6379/0?cluster=yes&address_map="
      "10.0.0.1:6379~example.com:7001,10.0.0.2~tunnel,%5Bfd00::1%5D:7~%5B::1%5D:8,"
      "%5Bfd00::2%5D~%5B::1%5D";
  const auto options = Options::Parse(uri);
  ASSERT_THAT(options, IsOk());
  EXPECT_EQ(options->ToUri(), uri);
  EXPECT_EQ(options->Mapped({"10.0.0.1", 6379}), (TcpAddress{"example.com", 7001}));
  EXPECT_EQ(options->Mapped({"10.0.0.1", 6380}), (TcpAddress{"10.0.0.1", 6380}));
  EXPECT_EQ(options->Mapped({"10.0.0.2", 1234}), (TcpAddress{"tunnel", 1234}));
  EXPECT_EQ(options->Mapped({"fd00::1", 7}), (TcpAddress{"::1", 8}));
  EXPECT_EQ(options->Mapped({"fd00::2", 9}), (TcpAddress{"::1", 9}));
  for (const std::string_view bad :
       {"a", "a~", "~b", "a:0~b", "a:x~b", "a~b,", "a~b~c:1", "a~::1"}) {
    EXPECT_FALSE(Options::Parse("redis://h?cluster=yes&address_map=" + std::string(bad)).ok())
        << bad;
  }
  EXPECT_FALSE(Options::Parse("redis://h?address_map=a~b").ok()) << "a single server";
}

TEST(Options, RefusesBadSeeds) {
  for (const std::string_view seeds : {"", "b", "b:0", ":1", "b:1,", "::1:2", "b:1;c:2"}) {
    EXPECT_EQ(Refusal("redis://h?cluster=yes&seeds=" + std::string(seeds))
                  .find("Redis URI: seeds is not valid: expected HOST:PORT"),
              0u)
        << seeds;
  }
}

TEST(Options, RefusesOtherWordsThanTheirOwn) {
  EXPECT_EQ(Refusal("redis://h?reconnect=true"),
            "Redis URI: reconnect is not valid: expected yes or no");
  EXPECT_EQ(Refusal("rediss://h?tls_verify="),
            "Redis URI: tls_verify is not valid: expected yes or no");
  EXPECT_EQ(Refusal("redis://h?retry=always"),
            "Redis URI: retry is not valid: expected never, not_sent or idempotent");
  for (const std::string_view count : {"0", "-1", "x", "1000000001"}) {
    EXPECT_EQ(Refusal("redis://h?attempts=" + std::string(count)),
              "Redis URI: attempts is not valid: expected a number from 1 to 1000000000");
  }
}

TEST(Options, RefusesWhatHasNoMeaningBesideTheOthers) {
  EXPECT_EQ(Refusal("redis://h?tls_ca_file=/ca.pem"),
            "Redis options: tls_ca_file has no meaning here: expected it beside rediss://");
  EXPECT_EQ(Refusal("redis://h?tls_verify=no"),
            "Redis options: tls_verify has no meaning here: expected it beside rediss://");
  EXPECT_EQ(Refusal("redis://h?seeds=b:1"),
            "Redis options: seeds has no meaning here: expected it beside cluster=yes or "
            "sentinel_master");
  EXPECT_EQ(Refusal("redis://h?sentinel_password=x"),
            "Redis options: sentinel_password has no meaning here: expected it beside "
            "sentinel_master");
  EXPECT_EQ(Refusal("redis://h?split_commands=yes"),
            "Redis options: split_commands has no meaning here: expected it beside cluster=yes");
  EXPECT_EQ(Refusal("redis://h?redirections=1"),
            "Redis options: redirections has no meaning here: expected it beside cluster=yes");
  EXPECT_EQ(Refusal("unix:///s?cluster=yes"),
            "Redis options: cluster has no meaning here: expected it beside redis:// or rediss://");
}

TEST(Options, TellsAddressesFromNames) {
  for (const char* const address : {"10.0.0.1", "::1", "fe80::1%eth0"}) {
    EXPECT_TRUE(IsIpAddress(address)) << address;
  }
  for (const char* const name : {"cache.example", "10.0.0", "localhost"}) {
    EXPECT_FALSE(IsIpAddress(name)) << name;
  }
}

TEST(Options, ReadsTheProtocolAndTheCache) {
  EXPECT_EQ(Parsed("redis://h").protocol, RespVersion::kResp2);
  const Options options = Parsed(
      "redis://h?protocol=3&cache_bytes=4096&cache_broadcast=yes&cache_prefixes=user%3A,cart");
  EXPECT_EQ(options.protocol, RespVersion::kResp3);
  EXPECT_EQ(options.cache_bytes, 4096);
  EXPECT_TRUE(options.cache_broadcast);
  EXPECT_EQ(options.cache_prefixes, (std::vector<std::string>{"user:", "cart"}));
  EXPECT_EQ(Parsed(options.ToUri()), options);
  EXPECT_EQ(Refusal("redis://h?protocol=4"), "Redis URI: protocol is not valid: expected 2 or 3");
  EXPECT_EQ(Refusal("redis://h?cache_bytes=1"),
            "Redis options: cache_bytes needs invalidations of RESP3: expected protocol=3");
  EXPECT_EQ(Refusal("redis://h?protocol=3&cache_broadcast=yes"),
            "Redis options: cache_broadcast without a cache: expected cache_bytes");
  EXPECT_EQ(Refusal("redis://h?protocol=3&cache_bytes=1&cache_prefixes=a"),
            "Redis options: cache_prefixes without cache_broadcast=yes: expected both");
  for (const std::string prefixes : {"", "a,", "a,ab", "ab,a", "a,a"}) {
    EXPECT_EQ(
        Refusal("redis://h?protocol=3&cache_bytes=1&cache_broadcast=yes&cache_prefixes=" + prefixes)
            .find("Redis URI: cache_prefixes is not valid"),
        0u)
        << prefixes;
  }
}

TEST(Options, ReadsWhereToReadFrom) {
  EXPECT_EQ(Parsed("redis://h?cluster=yes").read_from, ReadFrom::kMaster);
  const Options options = Parsed("redis://h?cluster=yes&read_from=replica_preferred");
  EXPECT_EQ(options.read_from, ReadFrom::kReplicaPreferred);
  EXPECT_EQ(Parsed(options.ToUri()), options);
  EXPECT_EQ(Parsed("redis://h?sentinel_master=m&read_from=replica").read_from, ReadFrom::kReplica);
  EXPECT_EQ(Parsed("redis://h?cluster=yes&read_from=any").read_from, ReadFrom::kAny);
  EXPECT_EQ(
      Refusal("redis://h?cluster=yes&read_from=slave"),
      "Redis URI: read_from is not valid: expected master, replica_preferred, replica or any");
  EXPECT_EQ(Refusal("redis://h?read_from=any"),
            "Redis options: read_from has no meaning here: expected it beside cluster=yes or "
            "sentinel_master");
  EXPECT_TRUE(Parsed("redis://h?readonly=yes").readonly);
}

TEST(Options, ReadsFurtherOptionsOfTls) {
  const Options options = Parsed(
      "rediss://h?tls_ca_folder=/"
      "c&tls_ciphers=ECDHE-RSA-AES128-GCM-SHA256&tls_ciphersuites=TLS_AES_"
      "256_GCM_SHA384");
  EXPECT_EQ(options.tls.ca_folder, "/c");
  EXPECT_EQ(options.tls.ciphers, "ECDHE-RSA-AES128-GCM-SHA256");
  EXPECT_EQ(options.tls.ciphersuites, "TLS_AES_256_GCM_SHA384");
  EXPECT_EQ(Parsed(options.ToUri()), options);
  EXPECT_EQ(Parsed("redis://h?sentinel_master=m").sentinel_tls, std::nullopt);
  EXPECT_EQ(Parsed("rediss://h?sentinel_master=m&sentinel_tls=no").sentinel_tls, false);
  EXPECT_EQ(Parsed("redis://h?sentinel_master=m&sentinel_tls=yes&tls_ca_file=/c").tls.ca_file,
            "/c");
  EXPECT_EQ(Refusal("rediss://h?tls_verify=no&tls_ca_folder=/c"),
            "Redis options: tls_ca_folder has no use with tls_verify=no: expected one of them");
}

TEST(Options, RefusesContradictions) {
  EXPECT_EQ(Refusal("rediss://h?tls_key_file=/k"),
            "Redis options: tls_certificate_file and tls_key_file belong together: expected both "
            "or none");
  EXPECT_EQ(Refusal("rediss://h?tls_key_password=s3cret"),
            "Redis options: tls_key_password without tls_key_file: expected both");
  EXPECT_EQ(Refusal("redis://h?queue_bytes=0"),
            "Redis URI: queue_bytes is not valid: expected a number from 1 to 1125899906842624");
  EXPECT_EQ(Refusal("rediss://h?tls_verify=no&tls_ca_file=/ca"),
            "Redis options: tls_ca_file has no use with tls_verify=no: expected one of them");
  EXPECT_EQ(Refusal("redis://h?cluster=yes&sentinel_master=m"),
            "Redis options: cluster=yes and sentinel_master: expected one of them");
  EXPECT_EQ(Refusal("redis://h/1?cluster=yes"),
            "Redis options: a Redis Cluster has database 0 only: expected no other db");
  EXPECT_EQ(Refusal("redis://h?sentinel_master=m&sentinel_user=u"),
            "Redis options: sentinel_user without sentinel_password: expected both");
  EXPECT_EQ(Refusal("redis://h?backoff_base=6s"),
            "Redis options: backoff_base is longer than backoff_cap: expected it to be shorter");
}

TEST(Options, ValidateRefusesTlsThroughAUnixSocketAndUnknownPolicies) {
  Options options;
  options.address = UnixAddress{"/s"};
  options.tls.enabled = true;
  EXPECT_EQ(options.Validate().message(),
            "Redis options: TLS through a Unix socket: expected a TCP address");
  options = Options();
  options.retry = static_cast<RetryPolicy>(7);
  EXPECT_EQ(options.Validate().message(),
            "Redis URI: retry is not valid: expected never, not_sent or idempotent");
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
            "Redis URI: unknown scheme \"http\": expected redis://, rediss:// or unix://");
  EXPECT_EQ(Refusal("redis:h"), "Redis URI: expected two slashes behind the scheme");
}

TEST(Options, RefusesUnknownOptionsAndNamesTheKnown) {
  EXPECT_EQ(Refusal("redis://h?timeout=5s")
                .find("Redis URI: unknown option \"timeout\": expected one of db, client_name, "
                      "tls_verify, "),
            0u);
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
  EXPECT_THAT(options.Validate(), IsOk());
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
  for (const std::string_view name :
       {"user", "password", "host", "port", "path", "db", "client_name", "connect_timeout",
        "command_timeout", "tls_ca_file", "seeds", "retry", "push_queue"}) {
    EXPECT_NE(text.find("\n| " + std::string(name) + " | "), std::string::npos) << name;
  }
  EXPECT_NE(
      text.find("| host | `redis://HOST or rediss://HOST` | a host name or an IP address, IPv6 "
                "in [ ] | 127.0.0.1 | server to connect to by TCP; rediss:// goes through "
                "TLS |"),
      std::string::npos);
  EXPECT_NE(text.find("| 5s |"), std::string::npos);
}

// A path of a URI may be normalized, or be taken for a part of the authority.
TEST(Options, UnusualSocketPathsReadBack) {
  for (const std::string path : {"//", "//a", "//a/b", "/.", "/..", "/./a", "/a/../b", "/a//b",
                                 "/%2F", "/a?b#c", "/a b", "/:@", "/\xff"}) {
    Options options;
    options.address = UnixAddress{path};
    ASSERT_THAT(options.Validate(), IsOk()) << path;
    EXPECT_EQ(UnixOf(Parsed(options.ToUri())).path, path) << options.ToUri();
  }
}

// A directory is not a socket, so neither way accepts it.
TEST(Options, TheRootIsNoSocketPath) {
  Options options;
  options.address = UnixAddress{"/"};
  EXPECT_FALSE(options.Validate().ok());
  EXPECT_FALSE(Options::Parse(options.ToUri()).ok());
}

RC_GTEST_PROP(OptionsProperty, WhatIsPrintedReadsBackAsTheSameOptions, ()) {
  Options options;
  if (*rc::gen::arbitrary<bool>()) {
    options.address = UnixAddress{
        "/" + *rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::nonZero<char>()))};
    RC_PRE(options.Validate().ok());
  } else {
    options.address = TcpAddress{"h.example", *rc::gen::nonZero<uint16_t>()};
    options.tls.enabled = *rc::gen::arbitrary<bool>();
    if (options.tls.enabled) {
      options.tls.ca_file = *rc::gen::container<std::string>(rc::gen::nonZero<char>());
    }
    if (*rc::gen::arbitrary<bool>()) {
      options.sentinel_master =
          *rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::nonZero<char>()));
      options.seeds.push_back({"s.example", *rc::gen::nonZero<uint16_t>()});
    }
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
}  // namespace redouble::inline v0_1::redis
