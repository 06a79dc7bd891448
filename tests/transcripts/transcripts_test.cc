// What the client makes of the words of each version (transcripts.h).
#include "redouble/tests/transcripts/transcripts.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "redouble/backends/redis/fsm/cluster/cluster_redirect.h"
#include "redouble/backends/redis/fsm/connect_machine.h"
#include "redouble/backends/redis/options.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::tests {
namespace {

using base::IsOk;
using base::StatusIs;
using redis::ConnectAction;
using redis::ConnectEvent;
using redis::ConnectMachine;

// A handshake with a server that has accepted the connection.
class Handshake {
 public:
  explicit Handshake(std::string_view uri)
      : options_(redis::Options::Parse(uri).value()), machine_(options_) {
    ConnectAction action = machine_.Resume(ConnectEvent::Started());
    while (action.kind != ConnectAction::Kind::kRead)
      action = machine_.Resume(ConnectEvent::Done());
  }

  // Receives lines with a sign before them. Returns the commands that the client sends then.
  std::string Receive(const std::string& lines) {
    const ConnectAction action = machine_.Resume(ConnectEvent::Received(lines));
    return action.kind == ConnectAction::Kind::kWrite ? std::string(action.bytes) : "";
  }
  bool finished() const { return machine_.finished(); }
  const absl::Status& status() const { return machine_.status(); }

 private:
  const redis::Options options_;
  ConnectMachine machine_;
};

std::string Error(std::string_view situation, std::string_view server) {
  return absl::StrCat("-", base::ToAbsl(ErrorIn(situation, server)), "\r\n");
}

TEST(Transcripts, HaveEachSituationOnceForEachServer) {
  std::set<std::string_view> situations;
  for (const Transcript& row : Transcripts()) situations.insert(row.situation);
  for (const std::string_view situation : situations) {
    for (const std::string_view server : TranscribedServers()) {
      const bool is_new = situation == "more clients than maxclients on a cluster";
      EXPECT_EQ(ErrorIn(situation, server).empty(), is_new && server == "6.2")
          << situation << " " << server;
    }
  }
}

TEST(Transcripts, BecomeStatusesWithTheirCodes) {
  for (const Transcript& row : Transcripts()) {
    EXPECT_THAT(store::ServerError(row.error), StatusIs(row.code)) << row.error;
  }
}

TEST(Transcripts, ARefusedPasswordEndsTheHandshakeWithTheReason) {
  for (const std::string_view server : TranscribedServers()) {
    for (const char* const situation :
         {"HELLO with a wrong password", "HELLO without a password"}) {
      Handshake handshake("redis://:pw@h");
      EXPECT_EQ(handshake.Receive(Error(situation, server)), "");
      ASSERT_TRUE(handshake.finished()) << server;
      EXPECT_THAT(handshake.status(), StatusIs(absl::StatusCode::kUnauthenticated)) << server;
    }
  }
}

TEST(Transcripts, AFullServerOrOneThatLoadsIsUnavailable) {
  for (const std::string_view server : TranscribedServers()) {
    for (const char* const situation :
         {"more clients than maxclients", "more clients than maxclients on a cluster",
          "PING during loading"}) {
      if (ErrorIn(situation, server).empty()) continue;
      Handshake handshake("redis://h");
      handshake.Receive(Error(situation, server));
      ASSERT_TRUE(handshake.finished()) << situation << " " << server;
      EXPECT_THAT(handshake.status(), StatusIs(absl::StatusCode::kUnavailable)) << server;
    }
  }
}

TEST(Transcripts, AServerThatLacksTheProtocolIsSpokenToInResp2) {
  for (const std::string_view server : TranscribedServers()) {
    Handshake handshake("redis://h?protocol=3");
    EXPECT_EQ(handshake.Receive(Error("HELLO 4", server) + "+PONG\r\n"), "*1\r\n$4\r\nPING\r\n")
        << server;
  }
}

TEST(Transcripts, AnUnknownHelloIsFollowedByAuth) {
  for (const std::string_view server : TranscribedServers()) {
    const std::string unknown =
        absl::StrReplaceAll(Error("an unknown command", server), {{"FOO", "HELLO"}});
    Handshake handshake("redis://:pw@h");
    EXPECT_EQ(handshake.Receive(unknown + Error("PING without a password", server)),
              "*2\r\n$4\r\nAUTH\r\n$2\r\npw\r\n*1\r\n$4\r\nPING\r\n")
        << server;
  }
}

TEST(Transcripts, AUserWhoMayNotPingIsConnected) {
  for (const std::string_view server : TranscribedServers()) {
    Handshake handshake("redis://ann:pw@h");
    handshake.Receive("*0\r\n" + Error("PING by a user who may not", server));
    EXPECT_TRUE(handshake.finished()) << server;
    EXPECT_THAT(handshake.status(), IsOk()) << server;
  }
}

TEST(Transcripts, ANodeOfAClusterThatIsDownIsLeft) {
  for (const std::string_view server : TranscribedServers()) {
    const store::Reply reply =
        store::Reply::Error(ErrorIn("GET on a cluster without slots", server));
    const auto redirect = redis::ReadRedirect(reply, {});
    ASSERT_TRUE(redirect.has_value()) << server;
    EXPECT_EQ(redirect->kind, redis::Redirect::Kind::kDown) << server;
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
