#include "redouble/backends/memory/engine/invalidation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/session_for_test.h"

namespace redouble::inline v0_1::memory {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int64_t kStartMillis = 1'778'335'382'000;

class Invalidations : public testing::Test {
 protected:
  Invalidations() { a_.Send({"HELLO", "3"}); }

  base::VirtualClock clock_{absl::FromUnixMillis(kStartMillis)};
  Engine engine_{clock_};
  RecordingSession a_{engine_};
  RecordingSession b_{engine_};
};

constexpr std::string_view kTellsK = R"(["invalidate", ["k"]])";

// As redis-server 7.0.15 pushes them.
TEST_F(Invalidations, FollowTheFirstChangeOfAKeyThatWasRead) {
  a_.Send({"CLIENT", "TRACKING", "ON"});
  a_.Send({"GET", "k"});
  b_.Send({"SET", "k", "1"});
  b_.Send({"SET", "k", "2"});
  EXPECT_THAT(a_.TakePushes(), ElementsAre(kTellsK));
}

TEST_F(Invalidations, ComeWithOnesOwnChangesUnlessNoLoop) {
  a_.Send({"CLIENT", "TRACKING", "ON"});
  a_.Send({"GET", "k"});
  a_.Send({"SET", "k", "1"});
  EXPECT_THAT(a_.TakePushes(), ElementsAre(kTellsK));
  a_.Send({"CLIENT", "TRACKING", "ON", "NOLOOP"});
  a_.Send({"GET", "k"});
  a_.Send({"SET", "k", "2"});
  EXPECT_THAT(a_.TakePushes(), IsEmpty());
}

TEST_F(Invalidations, ComeWhenAKeyExpires) {
  b_.Send({"SET", "k", "1", "PX", "100"});
  a_.Send({"CLIENT", "TRACKING", "ON"});
  a_.Send({"GET", "k"});
  clock_.Advance(absl::Milliseconds(101));
  EXPECT_THAT(a_.TakePushes(), ElementsAre(kTellsK));
}

TEST_F(Invalidations, ComeWhenATransactionIsOver) {
  a_.Send({"CLIENT", "TRACKING", "ON"});
  a_.Send({"MULTI"});
  a_.Send({"GET", "k"});
  a_.Send({"SET", "k", "1"});
  EXPECT_THAT(a_.TakePushes(), IsEmpty());
  a_.Send({"EXEC"});
  EXPECT_THAT(a_.TakePushes(), ElementsAre(kTellsK));
}

TEST_F(Invalidations, OfAFlushNameNoKey) {
  a_.Send({"CLIENT", "TRACKING", "ON"});
  b_.Send({"FLUSHALL"});
  EXPECT_THAT(a_.TakePushes(), ElementsAre(R"(["invalidate", nil])"));
}

TEST_F(Invalidations, OfReadOnlyScriptsFollowTheirReads) {
  b_.Send(
      {"FUNCTION", "LOAD",
       "#!lua name=lib\nredis.register_function{function_name='f', callback=function() return 1 "
       "end, flags={'no-writes'}}"});
  a_.Send({"CLIENT", "TRACKING", "ON"});
  EXPECT_EQ(a_.Send({"EVAL_RO", "return 1", "1", "k"}), "1");
  EXPECT_EQ(a_.Send({"EVALSHA_RO", "e0e1f9fabfc9d4800c877a703b823ac0578ff8db", "1", "k"}), "1");
  EXPECT_EQ(a_.Send({"FCALL_RO", "f", "1", "k"}), "1");
  b_.Send({"SET", "k", "1"});
  EXPECT_THAT(a_.TakePushes(), IsEmpty());
  a_.Send({"EVAL_RO", "return redis.call('get', 'undeclared')", "1", "k"});
  b_.Send({"SET", "undeclared", "1"});
  b_.Send({"SET", "k", "2"});
  EXPECT_THAT(a_.TakePushes(), ElementsAre(kTellsK));
}

TEST_F(Invalidations, OfScriptsAreOfTheirDeclaredKeys) {
  a_.Send({"CLIENT", "TRACKING", "ON"});
  a_.Send({"EVAL", "return redis.call('get', 'undeclared')", "1", "k"});
  b_.Send({"SET", "undeclared", "1"});
  EXPECT_THAT(a_.TakePushes(), IsEmpty());
  b_.Send({"SET", "k", "1"});
  EXPECT_THAT(a_.TakePushes(), ElementsAre(kTellsK));
}

TEST_F(Invalidations, OfBroadcastsNameAllKeysOfACommand) {
  a_.Send({"CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", "k"});
  b_.Send({"MSET", "k2", "1", "k1", "1", "other", "1"});
  EXPECT_THAT(a_.TakePushes(), ElementsAre(R"(["invalidate", ["k1", "k2"]])"));
}

TEST_F(Invalidations, FollowCachingInOptIn) {
  a_.Send({"CLIENT", "TRACKING", "ON", "OPTIN"});
  a_.Send({"GET", "k"});
  b_.Send({"SET", "k", "1"});
  EXPECT_THAT(a_.TakePushes(), IsEmpty());
  a_.Send({"CLIENT", "CACHING", "YES"});
  a_.Send({"GET", "k"});
  a_.Send({"GET", "not cached"});
  b_.Send({"SET", "k", "2"});
  b_.Send({"SET", "not cached", "2"});
  EXPECT_THAT(a_.TakePushes(), ElementsAre(kTellsK));
}

TEST_F(Invalidations, LeaveOutWhatOptOutNamed) {
  a_.Send({"CLIENT", "TRACKING", "ON", "OPTOUT"});
  a_.Send({"CLIENT", "CACHING", "NO"});
  a_.Send({"GET", "not cached"});
  a_.Send({"GET", "k"});
  b_.Send({"SET", "not cached", "1"});
  b_.Send({"SET", "k", "1"});
  EXPECT_THAT(a_.TakePushes(), ElementsAre(kTellsK));
}

TEST_F(Invalidations, AreMessagesToASubscriberThatTheyAreRedirectedTo) {
  const std::string id = std::to_string(b_.session().id());
  RecordingSession c(engine_);
  c.Send({"CLIENT", "TRACKING", "ON", "REDIRECT", id});
  c.Send({"GET", "k"});
  a_.Send({"SET", "k", "1"});
  EXPECT_THAT(b_.TakePushes(), IsEmpty());
  b_.Send({"SUBSCRIBE", "__redis__:invalidate"});
  b_.TakePushes();
  c.Send({"GET", "k"});
  a_.Send({"SET", "k", "2"});
  EXPECT_THAT(b_.TakePushes(), ElementsAre(R"(["message", "__redis__:invalidate", ["k"]])"));
}

TEST_F(Invalidations, SayThatTheRedirectionIsBroken) {
  auto target = std::make_unique<RecordingSession>(engine_);
  const std::string id = std::to_string(target->session().id());
  a_.Send({"CLIENT", "TRACKING", "ON", "REDIRECT", id});
  EXPECT_EQ(a_.Send({"CLIENT", "GETREDIR"}), id);
  target.reset();
  a_.Send({"GET", "k"});
  b_.Send({"SET", "k", "1"});
  EXPECT_THAT(a_.TakePushes(), ElementsAre(R"(["tracking-redir-broken", )" + id + "]"));
  EXPECT_THAT(a_.Send({"CLIENT", "TRACKINGINFO"}), testing::HasSubstr("broken_redirect"));
}

TEST_F(Invalidations, EndWithReset) {
  a_.Send({"CLIENT", "TRACKING", "ON"});
  a_.Send({"RESET"});
  EXPECT_FALSE(engine_.core().tracking().has_clients());
}

TEST_F(Invalidations, DoNotReachAClientOfResp2) {
  b_.Send({"CLIENT", "TRACKING", "ON"});
  b_.Send({"GET", "k"});
  a_.Send({"SET", "k", "1"});
  EXPECT_THAT(b_.TakePushes(), IsEmpty());
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
