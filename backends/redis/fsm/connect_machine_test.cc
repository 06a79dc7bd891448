#include "redouble/backends/redis/fsm/connect_machine.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::redis {
namespace {

using base::IsOk;
using base::StatusIs;
using Kind = ConnectAction::Kind;

// A machine up to the first read of the handshake.
class Handshake {
 public:
  explicit Handshake(Options options) : options_(std::move(options)), machine_(options_) {
    ConnectAction action = machine_.Resume(ConnectEvent::Started());
    while (action.kind != Kind::kRead) {
      if (action.kind == Kind::kWrite) sent_ = action.bytes;
      action = machine_.Resume(ConnectEvent::Done());
    }
  }

  Kind Receive(std::string_view bytes) {
    return machine_.Resume(ConnectEvent::Received(bytes)).kind;
  }
  // The status of the machine after the server has sent `bytes`.
  absl::Status After(std::string_view bytes) {
    EXPECT_EQ(Receive(bytes), Kind::kFinish);
    return machine_.status();
  }

  const std::string& sent() const { return sent_; }
  ConnectMachine& machine() { return machine_; }

 private:
  const Options options_;
  ConnectMachine machine_;
  std::string sent_;
};

Options Parsed(std::string_view uri) { return Options::Parse(uri).value(); }

TEST(ConnectMachine, ResolvesConnectsAndPings) {
  const Options options;
  ConnectMachine machine(options);
  EXPECT_EQ(machine.Resume(ConnectEvent::Started()).kind, Kind::kResolve);
  EXPECT_EQ(machine.Resume(ConnectEvent::Done()).kind, Kind::kConnect);
  const ConnectAction write = machine.Resume(ConnectEvent::Done());
  EXPECT_EQ(write.kind, Kind::kWrite);
  EXPECT_EQ(write.bytes, "*2\r\n$5\r\nHELLO\r\n$1\r\n2\r\n*1\r\n$4\r\nPING\r\n");
  EXPECT_EQ(machine.Resume(ConnectEvent::Done()).kind, Kind::kRead);
  EXPECT_FALSE(machine.finished());
  EXPECT_EQ(machine.Resume(ConnectEvent::Received("*0\r\n+PONG\r\n")).kind, Kind::kFinish);
  EXPECT_TRUE(machine.finished());
  EXPECT_THAT(machine.status(), IsOk()) << machine.status();
}

TEST(ConnectMachine, HasNothingToResolveForAUnixSocket) {
  const Options options = Parsed("unix:///run/redis.sock");
  ConnectMachine machine(options);
  EXPECT_EQ(machine.Resume(ConnectEvent::Started()).kind, Kind::kConnect);
}

TEST(ConnectMachine, SendsTheWholeHandshakeInOneWrite) {
  Handshake handshake(Parsed("redis://ann:pw@h/3?client_name=web"));
  EXPECT_EQ(handshake.sent(),
            "*7\r\n$5\r\nHELLO\r\n$1\r\n2\r\n$4\r\nAUTH\r\n$3\r\nann\r\n$2\r\npw\r\n"
            "$7\r\nSETNAME\r\n$3\r\nweb\r\n"
            "*2\r\n$6\r\nSELECT\r\n$1\r\n3\r\n"
            "*1\r\n$4\r\nPING\r\n");
  EXPECT_THAT(handshake.After("*0\r\n+OK\r\n+PONG\r\n"), IsOk());
}

TEST(ConnectMachine, LogsInTheDefaultUserByName) {
  Handshake handshake(Parsed("redis://:p%0D%0Aw@h"));
  EXPECT_EQ(handshake.sent(),
            "*5\r\n$5\r\nHELLO\r\n$1\r\n2\r\n$4\r\nAUTH\r\n$7\r\ndefault\r\n"
            "$4\r\np\r\nw\r\n*1\r\n$4\r\nPING\r\n");
}

TEST(ConnectMachine, LogsInWithAnEmptyPassword) {
  Handshake handshake(Parsed("redis://ann:@h"));
  EXPECT_NE(handshake.sent().find("$3\r\nann\r\n$0\r\n\r\n"), std::string::npos);
}

TEST(ConnectMachine, ShakesHandsForTlsBeforeItSendsAnything) {
  const Options options = Parsed("rediss://h");
  ConnectMachine machine(options);
  EXPECT_EQ(machine.Resume(ConnectEvent::Started()).kind, Kind::kResolve);
  EXPECT_EQ(machine.Resume(ConnectEvent::Done()).kind, Kind::kConnect);
  EXPECT_EQ(machine.Resume(ConnectEvent::Done()).kind, Kind::kEncrypt);
  EXPECT_EQ(machine.Resume(ConnectEvent::Done()).kind, Kind::kWrite);
}

TEST(ConnectMachine, ReportsThatTlsFailed) {
  const Options options = Parsed("rediss://h");
  ConnectMachine machine(options);
  machine.Resume(ConnectEvent::Started());
  machine.Resume(ConnectEvent::Done());
  machine.Resume(ConnectEvent::Done());
  EXPECT_EQ(machine.Resume(ConnectEvent::Failed("unable to verify")).kind, Kind::kFinish);
  EXPECT_EQ(machine.status().message(),
            "cannot connect to rediss://h:6379: unable to verify (while trying to shake hands for "
            "TLS)");
}

TEST(ConnectMachine, ReportsTheRoleAndVersionInTheReplyToHello) {
  Handshake handshake(Parsed("redis://h"));
  EXPECT_THAT(handshake.After("*6\r\n$7\r\nversion\r\n$6\r\n7.0.15\r\n$5\r\nproto\r\n:2\r\n"
                              "$4\r\nrole\r\n$7\r\nreplica\r\n+PONG\r\n"),
              IsOk());
  EXPECT_EQ(handshake.machine().role(), "replica");
  EXPECT_EQ(handshake.machine().server_version(), "7.0.15");
}

TEST(ConnectMachine, FallsBackToAuthWhenHelloIsUnknown) {
  Handshake handshake(Parsed("redis://:pw@h/3?client_name=web"));
  EXPECT_EQ(handshake.Receive("-ERR unknown command `HELLO`, with args beginning with: `2`\r\n"),
            Kind::kRead);
  EXPECT_EQ(handshake.Receive("-NOAUTH Authentication required.\r\n"), Kind::kRead);
  const ConnectAction again =
      handshake.machine().Resume(ConnectEvent::Received("-NOAUTH Authentication required.\r\n"));
  EXPECT_EQ(again.kind, Kind::kWrite);
  EXPECT_EQ(again.bytes,
            "*2\r\n$4\r\nAUTH\r\n$2\r\npw\r\n"
            "*3\r\n$6\r\nCLIENT\r\n$7\r\nSETNAME\r\n$3\r\nweb\r\n"
            "*2\r\n$6\r\nSELECT\r\n$1\r\n3\r\n*1\r\n$4\r\nPING\r\n");
  EXPECT_EQ(handshake.machine().Resume(ConnectEvent::Done()).kind, Kind::kRead);
  EXPECT_THAT(handshake.After("+OK\r\n+OK\r\n+OK\r\n+PONG\r\n"), IsOk());
  EXPECT_EQ(handshake.machine().role(), "");
}

TEST(ConnectMachine, TheFallBackNamesTheUserAndReportsItsOwnFailures) {
  Handshake handshake(Parsed("redis://ann:s3cret@h?client_name=x"));
  const ConnectAction again = handshake.machine().Resume(
      ConnectEvent::Received("-ERR unknown command 'HELLO'\r\n+PONG\r\n"));
  EXPECT_EQ(again.bytes.find("*3\r\n$4\r\nAUTH\r\n$3\r\nann\r\n$6\r\ns3cret\r\n"), 0u);
  handshake.machine().Resume(ConnectEvent::Done());
  EXPECT_EQ(handshake.After("+OK\r\n-ERR no\r\n").message(),
            "ERR no (CLIENT SETNAME at redis://h:6379)");
}

constexpr std::string_view kHello3 = "%2\r\n$5\r\nproto\r\n:3\r\n$4\r\nrole\r\n$6\r\nmaster\r\n";

TEST(ConnectMachine, AsksForResp3AndTracking) {
  Handshake handshake(
      Parsed("redis://h?protocol=3&cache_bytes=1&cache_broadcast=yes&cache_prefixes=a,b"));
  EXPECT_EQ(handshake.sent(),
            "*2\r\n$5\r\nHELLO\r\n$1\r\n3\r\n"
            "*8\r\n$6\r\nCLIENT\r\n$8\r\nTRACKING\r\n$2\r\nON\r\n$5\r\nBCAST\r\n"
            "$6\r\nPREFIX\r\n$1\r\na\r\n$6\r\nPREFIX\r\n$1\r\nb\r\n"
            "*1\r\n$4\r\nPING\r\n");
  EXPECT_THAT(handshake.After(absl::StrCat(std::string(kHello3), "+OK\r\n+PONG\r\n")), IsOk());
  EXPECT_EQ(handshake.machine().protocol(), store::Protocol::kResp3);
  EXPECT_TRUE(handshake.machine().tracks());
  EXPECT_EQ(handshake.machine().role(), "master");
}

TEST(ConnectMachine, DropsPushesDuringTheHandshake) {
  constexpr std::string_view kPush = ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n";
  Handshake handshake(Parsed("redis://h?protocol=3&cache_bytes=1"));
  EXPECT_EQ(handshake.Receive(absl::StrCat(std::string(kHello3), "+OK\r\n", std::string(kPush),
                                           "+PONG\r\n", std::string(kPush.substr(0, 9)))),
            Kind::kRead);
  EXPECT_THAT(handshake.After(kPush.substr(9)), IsOk());
  EXPECT_TRUE(handshake.machine().tracks());
}

TEST(ConnectMachine, AServerThatRefusesTrackingIsUsedWithoutIt) {
  Handshake handshake(Parsed("redis://h?protocol=3&cache_bytes=1"));
  EXPECT_THAT(
      handshake.After(absl::StrCat(std::string(kHello3),
                                   "-NOPERM no permission for 'client|tracking'\r\n+PONG\r\n")),
      IsOk());
  EXPECT_EQ(handshake.machine().protocol(), store::Protocol::kResp3);
  EXPECT_FALSE(handshake.machine().tracks());
}

TEST(ConnectMachine, AServerThatRefusesResp3IsUsedWithResp2) {
  for (const std::string_view refusal :
       {"-NOPROTO unsupported protocol version\r\n", "-ERR unknown command 'HELLO'\r\n"}) {
    Handshake handshake(Parsed("redis://h?protocol=3&cache_bytes=1&readonly=yes"));
    const ConnectAction again = handshake.machine().Resume(ConnectEvent::Received(
        absl::StrCat(std::string(refusal), "+OK\r\n-ERR needs RESP3\r\n+PONG\r\n")));
    EXPECT_EQ(again.kind, Kind::kWrite);
    EXPECT_EQ(again.bytes, "*1\r\n$8\r\nREADONLY\r\n*1\r\n$4\r\nPING\r\n");
    handshake.machine().Resume(ConnectEvent::Done());
    EXPECT_THAT(handshake.After("+OK\r\n+PONG\r\n"), IsOk());
    EXPECT_EQ(handshake.machine().protocol(), store::Protocol::kResp2);
    EXPECT_FALSE(handshake.machine().tracks());
  }
}

TEST(ConnectMachine, TakesTheAnswersInAnyPieces) {
  Handshake handshake(Parsed("redis://:pw@h"));
  const std::string answers = "*0\r\n+PONG\r\n";
  for (size_t i = 0; i + 1 < answers.size(); ++i) {
    EXPECT_EQ(handshake.Receive(answers.substr(i, 1)), Kind::kRead) << i;
  }
  EXPECT_THAT(handshake.After("\n"), IsOk());
}

TEST(ConnectMachine, ReportsAWrongPasswordWithoutRevealingIt) {
  Handshake handshake(Parsed("redis://:s3cret@h"));
  const absl::Status status = handshake.After(
      "-WRONGPASS invalid username-password pair or user is disabled.\r\n-NOAUTH x\r\n");
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnauthenticated));
  EXPECT_EQ(store::ErrorKindOf(status), store::ErrorKind::kServer);
  EXPECT_EQ(store::ServerErrorCode(status), "WRONGPASS");
  EXPECT_EQ(status.message(),
            "WRONGPASS invalid username-password pair or user is disabled. (AUTH at "
            "redis://h:6379)");
}

TEST(ConnectMachine, ReportsAMissingPassword) {
  Handshake handshake(Parsed("redis://h"));
  const absl::Status status = handshake.After("-NOAUTH Authentication required.\r\n");
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnauthenticated));
  EXPECT_EQ(status.message(), "NOAUTH Authentication required. (HELLO at redis://h:6379)");
}

TEST(ConnectMachine, ReportsADatabaseThatTheServerDoesNotHave) {
  Handshake handshake(Parsed("redis://h/99"));
  const absl::Status status = handshake.After("*0\r\n-ERR DB index is out of range\r\n");
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(status.message(), "ERR DB index is out of range (SELECT at redis://h:6379)");
}

TEST(ConnectMachine, IsUnavailableWhileTheServerLoads) {
  Handshake handshake{Options()};
  const absl::Status status = handshake.After("*0\r\n-LOADING Redis is loading the dataset\r\n");
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable));
}

TEST(ConnectMachine, AcceptsAUserWhoMayNotPing) {
  Handshake handshake(Parsed("redis://ann:pw@h"));
  EXPECT_THAT(handshake.After("*0\r\n-NOPERM this user has no permissions\r\n"), IsOk());
}

TEST(ConnectMachine, RefusesAnswersThatAreNotTheExpected) {
  Handshake handshake{Options()};
  const absl::Status status = handshake.After("*0\r\n:1\r\n");
  EXPECT_EQ(store::ErrorKindOf(status), store::ErrorKind::kProtocol);
  EXPECT_EQ(status.message(), "redis://127.0.0.1:6379 answered PING with 1");
}

TEST(ConnectMachine, RefusesWhatIsNoRedis) {
  Handshake handshake{Options()};
  const absl::Status status = handshake.After("HTTP/1.1 400 Bad Request\r\n");
  EXPECT_EQ(store::ErrorKindOf(status), store::ErrorKind::kProtocol);
  EXPECT_EQ(status.message(),
            "redis://127.0.0.1:6379 does not speak Redis's protocol: Redis's reply cannot be read: "
            "a reply begins with byte 72");
}

TEST(ConnectMachine, RefusesMoreThanWasAskedFor) {
  for (const std::string_view extra : {"+OK\r\n", "+O"}) {
    Handshake handshake{Options()};
    const absl::Status status = handshake.After("*0\r\n+PONG\r\n" + std::string(extra));
    EXPECT_EQ(status.message(), "redis://127.0.0.1:6379 sent more replies than it was asked for");
  }
}

TEST(ConnectMachine, RefusesAnEndlessAnswer) {
  Handshake handshake{Options()};
  EXPECT_FALSE(handshake.After("+" + std::string(100'000, 'x')).ok());
}

TEST(ConnectMachine, ReportsTheFailedStep) {
  struct Row {
    int steps;
    std::string message;
  };
  for (const Row& row :
       {Row{0, "cannot connect to redis://h:6379: why (while trying to resolve its name)"},
        Row{1, "cannot connect to redis://h:6379: why (while trying to connect)"},
        Row{2, "cannot connect to redis://h:6379: why (while trying to send the handshake)"},
        Row{3, "cannot connect to redis://h:6379: why (while trying to get the answer to AUTH)"}}) {
    const Options options = Parsed("redis://:s3cret@h");
    ConnectMachine machine(options);
    machine.Resume(ConnectEvent::Started());
    for (int i = 0; i < row.steps; ++i) machine.Resume(ConnectEvent::Done());
    EXPECT_EQ(machine.Resume(ConnectEvent::Failed("why")).kind, Kind::kFinish);
    EXPECT_EQ(machine.status().message(), row.message);
    EXPECT_THAT(machine.status(), StatusIs(absl::StatusCode::kUnavailable));
    EXPECT_EQ(store::ErrorKindOf(machine.status()), store::ErrorKind::kNotSent);
  }
}

TEST(ConnectMachine, GivesUpWhenTheTimeIsOver) {
  Handshake handshake(Parsed("redis://:s3cret@h/1?connect_timeout=250ms"));
  EXPECT_EQ(handshake.Receive("*0\r\n"), Kind::kRead);
  EXPECT_EQ(handshake.machine().Resume(ConnectEvent::Timer()).kind, Kind::kFinish);
  const absl::Status status = handshake.machine().status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_EQ(store::ErrorKindOf(status), store::ErrorKind::kNotSent);
  EXPECT_EQ(status.message(),
            "cannot connect to redis://h:6379 within 250ms (while trying to get the answer to "
            "SELECT)");
}

TEST(ConnectMachine, IgnoresWhatComesAfterItsEnd) {
  Handshake handshake{Options()};
  EXPECT_THAT(handshake.After("*0\r\n+PONG\r\n"), IsOk());
  EXPECT_EQ(handshake.machine().Resume(ConnectEvent::Timer()).kind, Kind::kFinish);
  EXPECT_EQ(handshake.machine().Resume(ConnectEvent::Failed("late")).kind, Kind::kFinish);
  EXPECT_THAT(handshake.machine().status(), IsOk());
}

// What servers and proxies answer to HELLO 2 when they refuse it. From the documentation and source
// of Redis 5.0 to 8.0, Valkey 8, Envoy and Redis Enterprise; not recorded.
TEST(ConnectMachine, FallsBackWheneverHelloIsRefused) {
  for (const char* const refusal :
       {"ERR unknown command `HELLO`, with args beginning with: `2`, ",    // Redis 5.0
        "ERR unknown command 'HELLO', with args beginning with: '2' ",     // 7.0 to 8.0, Valkey 8
        "NOPERM this user has no permissions to run the 'hello' command",  // 6.2 and later
        "NOPROTO unsupported protocol version", "ERR unsupported command 'hello'",
        "ERR Command is not available: 'HELLO'. See https://redis.io/docs", "ERR Syntax error"}) {
    Handshake handshake(Parsed("redis://:pw@h"));
    const std::string answer =
        absl::StrCat("-", refusal, "\r\n-NOAUTH Authentication required.\r\n");
    const ConnectAction action = handshake.machine().Resume(ConnectEvent::Received(answer));
    EXPECT_EQ(action.kind, Kind::kWrite) << refusal;
    EXPECT_EQ(action.bytes, "*2\r\n$4\r\nAUTH\r\n$2\r\npw\r\n*1\r\n$4\r\nPING\r\n") << refusal;
  }
}

TEST(ConnectMachine, DoesNotFallBackFromWhatAuthWouldMeetAsWell) {
  for (const char* const refusal :
       {"WRONGPASS invalid username-password pair or user is disabled.",
        "NOAUTH HELLO must be called with the client already authenticated",
        "LOADING Redis is loading the dataset in memory", "ERR max number of clients reached",
        "ERR max number of clients + cluster connections reached",
        "DENIED Redis is running in protected mode because protected mode is enabled"}) {
    Handshake handshake(Parsed("redis://:pw@h"));
    EXPECT_EQ(handshake.Receive(absl::StrCat("-", refusal, "\r\n")), Kind::kFinish) << refusal;
  }
}

TEST(ConnectMachine, NeverRepeatsAPasswordThatTheServerQuotes) {
  for (const char* const answer :
       {"-ERR unknown command 'AUTH', with args beginning with: 'secret-word' \r\n+PONG\r\n",
        "-ERR unknown command `AUTH`, with args beginning with: `secret-w`\r\n+PONG\r\n",
        "-ERR the password secret-word is too long\r\n+PONG\r\n"}) {
    Handshake handshake(Parsed("redis://:secret-word@h"));
    handshake.Receive("-ERR unknown command 'HELLO'\r\n+PONG\r\n");
    handshake.machine().Resume(ConnectEvent::Done());
    const absl::Status status = handshake.After(answer);
    EXPECT_FALSE(status.ok());
    EXPECT_EQ(status.message().find("secret"), std::string::npos) << status;
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
