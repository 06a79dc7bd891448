#include "redouble/backends/memory/engine/permission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/session_for_test.h"

namespace redouble::inline v0_1::memory {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr int64_t kStartMillis = 1'778'335'382'000;

class Permission : public testing::Test {
 protected:
  Permission() {
    a_.Send({"ACL", "SETUSER", "bob", "on", "nopass", "~b:*", "&c", "+@all", "-set"});
  }

  const DenialEntry& LastDenial() { return engine_.core().acl().log().entries().front(); }

  base::VirtualClock clock_{absl::FromUnixMillis(kStartMillis)};
  Engine engine_{clock_};
  RecordingSession a_{engine_};
  RecordingSession b_{engine_};
};

TEST_F(Permission, LogsWhatWasDeniedWhereAndToWhom) {
  b_.Send({"AUTH", "bob", "x"});
  const struct {
    std::vector<std::string_view> words;
    std::string_view reason;
    std::string_view context;
    std::string_view object;
  } kRows[] = {
      {{"SET", "b:1", "v"}, "command", "toplevel", "set"},
      {{"MGET", "b:1", "x"}, "key", "toplevel", "x"},
      {{"PUBLISH", "d", "v"}, "channel", "toplevel", "d"},
      {{"EVAL", "return redis.pcall('get', 'y')", "0"}, "key", "lua", "y"},
  };
  for (const auto& row : kRows) {
    b_.Send(row.words);
    EXPECT_EQ(LastDenial().reason, row.reason);
    EXPECT_EQ(LastDenial().context, row.context);
    EXPECT_EQ(LastDenial().object, row.object);
    EXPECT_EQ(LastDenial().user, "bob");
  }
  b_.Send({"MULTI"});
  b_.Send({"SET", "b:1", "v"});
  EXPECT_EQ(LastDenial().context, "multi");
}

TEST_F(Permission, LogsLoginsThatFailed) {
  b_.Send({"auth", "nobody", "x"});
  EXPECT_EQ(LastDenial().reason, "auth");
  EXPECT_EQ(LastDenial().object, "auth");
  EXPECT_EQ(LastDenial().user, "nobody");
  EXPECT_EQ(LastDenial().last_ms, kStartMillis);
  EXPECT_THAT(LastDenial().client, HasSubstr("id=2 "));
}

TEST_F(Permission, TheLogReturnsItsEntries) {
  b_.Send({"AUTH", "nobody", "x"});
  clock_.Advance(absl::Milliseconds(1500));
  EXPECT_THAT(a_.Send({"ACL", "LOG"}),
              AllOf(HasSubstr(R"("count", 1, "reason", "auth", "context", "toplevel")"),
                    HasSubstr(R"("object", "AUTH", "username", "nobody", "age-seconds", )"),
                    HasSubstr("1.5"), HasSubstr("client-info")));
  EXPECT_EQ(a_.Send({"ACL", "LOG", "0"}), "[]");
  a_.Send({"ACL", "LOG", "RESET"});
  EXPECT_EQ(a_.Send({"ACL", "LOG"}), "[]");
}

TEST_F(Permission, TheLogHasItsLength) {
  a_.Send({"CONFIG", "SET", "acllog-max-len", "2"});
  for (const std::string_view name : {"x", "y", "z"}) b_.Send({"AUTH", name, "p"});
  EXPECT_EQ(engine_.core().acl().log().entries().size(), 2u);
}

TEST_F(Permission, IsCheckedAgainWhenATransactionRuns) {
  b_.Send({"AUTH", "bob", "x"});
  b_.Send({"MULTI"});
  b_.Send({"INCR", "b:1"});
  a_.Send({"ACL", "SETUSER", "bob", "-incr"});
  EXPECT_THAT(b_.Send({"EXEC"}), HasSubstr("NOPERM ACLs rules changed between the moment"));
  EXPECT_EQ(LastDenial().context, "multi");
}

TEST_F(Permission, ARemovedUserIsDisconnected) {
  b_.Send({"AUTH", "bob", "x"});
  EXPECT_EQ(a_.Send({"ACL", "DELUSER", "bob"}), "1");
  EXPECT_TRUE(b_.session().disconnected());
  EXPECT_FALSE(a_.session().disconnected());
}

TEST_F(Permission, AUserThatRemovesItselfGetsTheReplyFirst) {
  b_.Send({"AUTH", "bob", "x"});
  EXPECT_EQ(b_.Send({"ACL", "DELUSER", "bob"}), "1");
  EXPECT_TRUE(b_.session().disconnected());
}

TEST_F(Permission, ASubscriberThatMayNotListenAnyMoreIsDisconnected) {
  b_.Send({"AUTH", "bob", "x"});
  b_.Send({"SUBSCRIBE", "c"});
  a_.Send({"ACL", "SETUSER", "bob", "&d"});
  EXPECT_FALSE(b_.session().disconnected());
  a_.Send({"ACL", "SETUSER", "bob", "resetchannels", "&d"});
  EXPECT_TRUE(b_.session().disconnected());
}

TEST_F(Permission, ClientsAreKilledByTheirUser) {
  b_.Send({"AUTH", "bob", "x"});
  EXPECT_THAT(a_.Send({"CLIENT", "LIST"}), HasSubstr(" user=bob "));
  EXPECT_EQ(a_.Send({"CLIENT", "KILL", "USER", "bob"}), "1");
  EXPECT_TRUE(b_.session().disconnected());
  EXPECT_THAT(a_.Send({"CLIENT", "KILL", "USER", "nobody"}), HasSubstr("No such user 'nobody'"));
}

TEST_F(Permission, WithoutAPasswordNobodyNeedsToAuthenticate) {
  a_.Send({"CONFIG", "SET", "requirepass", "p"});
  RecordingSession c(engine_);
  EXPECT_THAT(c.Send({"GET", "k"}), HasSubstr("NOAUTH"));
  a_.Send({"ACL", "SETUSER", "default", "nopass"});
  EXPECT_EQ(c.Send({"GET", "k"}), "nil");
}

TEST_F(Permission, PasswordsAreGeneratedFromTheSeed) {
  Engine other(clock_, {.seed = 0});
  RecordingSession c(other);
  const std::string password = a_.Send({"ACL", "GENPASS"});
  EXPECT_EQ(password.size(), 64u + 2);
  EXPECT_EQ(c.Send({"ACL", "GENPASS"}), password);
  EXPECT_EQ(a_.Send({"ACL", "GENPASS", "5"}).size(), 2u + 2);
}

TEST_F(Permission, RefusesProtectedCommandsThatTheConfigurationDoesNotAllow) {
  EXPECT_EQ(a_.Send({"DEBUG", "SLEEP", "0"}), "OK");
  EngineOptions options = engine_.options();
  options.server.enable_debug_command = ProtectedAccess::kNo;
  engine_.Configure(options);
  EXPECT_THAT(a_.Send({"DEBUG", "SLEEP", "0"}),
              testing::StartsWith("(error) ERR DEBUG command not allowed."));
  options.server.enable_debug_command = ProtectedAccess::kLocal;
  engine_.Configure(options);
  EXPECT_EQ(a_.Send({"DEBUG", "SLEEP", "0"}), "OK");
}

TEST_F(Permission, ModulesThatMayBeLoadedAreNotFound) {
  EXPECT_THAT(a_.Send({"MODULE", "UNLOAD", "m"}),
              testing::StartsWith("(error) ERR MODULE command not allowed."));
  EngineOptions options = engine_.options();
  options.server.enable_module_command = ProtectedAccess::kYes;
  engine_.Configure(options);
  EXPECT_EQ(a_.Send({"MODULE", "UNLOAD", "m"}),
            "(error) ERR Error unloading module: no such module with that name");
  EXPECT_EQ(a_.Send({"MODULE", "LOAD", "m"}),
            "(error) ERR Error loading the extension. Please check the server logs.");
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
