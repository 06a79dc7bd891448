// Each row was compared with the MONITOR and SLOWLOG GET of redis-server 7.0.15.
#include "redouble/backends/memory/server/redaction.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace redouble::inline v0_1::memory {
namespace {

using store::CommandId;
using Words = std::vector<std::string_view>;

constexpr std::string_view kHidden = "(redacted)";

TEST(Redaction, HidesWhatAuthIsGiven) {
  EXPECT_EQ(Redact(CommandId::kAuth, Words{"p"}), (Words{kHidden}));
  EXPECT_EQ(Redact(CommandId::kAuth, Words{"u", "p"}), (Words{kHidden, kHidden}));
}

TEST(Redaction, HidesUserAndPasswordOfHello) {
  EXPECT_EQ(Redact(CommandId::kHello, Words{"2", "AUTH", "u", "p", "SETNAME", "x"}),
            (Words{"2", "AUTH", kHidden, kHidden, "SETNAME", "x"}));
  EXPECT_EQ(Redact(CommandId::kHello, Words{"2", "SETNAME", "auth", "auth", "u", "p"}),
            (Words{"2", "SETNAME", "auth", "auth", kHidden, kHidden}));
  EXPECT_EQ(Redact(CommandId::kHello, Words{"2", "NOSUCH", "AUTH", "u", "p"}),
            (Words{"2", "NOSUCH", "AUTH", "u", "p"}));
  EXPECT_EQ(Redact(CommandId::kHello, Words{}), Words{});
}

TEST(Redaction, HidesThePasswordOfMigrateAndNotItsKeys) {
  EXPECT_EQ(Redact(CommandId::kMigrate, Words{"h", "1", "k", "0", "10", "AUTH", "p"}),
            (Words{"h", "1", "k", "0", "10", "AUTH", kHidden}));
  EXPECT_EQ(
      Redact(CommandId::kMigrate,
             Words{"h", "1", "", "0", "10", "COPY", "AUTH2", "u", "p", "KEYS", "AUTH", "k"}),
      (Words{"h", "1", "", "0", "10", "COPY", "AUTH2", kHidden, kHidden, "KEYS", "AUTH", "k"}));
  EXPECT_EQ(Redact(CommandId::kMigrate, Words{"h", "1", "k", "0", "10", "AUTH"}),
            (Words{"h", "1", "k", "0", "10", "AUTH"}));
}

TEST(Redaction, HidesTheRulesOfAUser) {
  EXPECT_EQ(Redact(CommandId::kAclSetUser, Words{"SETUSER", "bob", "on", ">p"}),
            (Words{"SETUSER", kHidden, kHidden, kHidden}));
}

TEST(Redaction, HidesTheValuesOfSecretParametersOnly) {
  EXPECT_EQ(Redact(CommandId::kConfigSet,
                   Words{"SET", "MasterAuth", "p", "timeout", "0", "masteruser", "u"}),
            (Words{"SET", "MasterAuth", kHidden, "timeout", "0", "masteruser", kHidden}));
  EXPECT_EQ(Redact(CommandId::kConfigSet, Words{"SET", "tls-key-file-pass", "p"}),
            (Words{"SET", "tls-key-file-pass", "p"}));
  EXPECT_EQ(Redact(CommandId::kConfigSet, Words{"SET", "timeout", "requirepass"}),
            (Words{"SET", "timeout", "requirepass"}));
  EXPECT_EQ(Redact(CommandId::kConfigSet, Words{"SET", "masterauth", "p", "masteruser"}),
            (Words{"SET", "masterauth", "p", "masteruser"}))
      << "Redis refuses a name without a value first";
}

TEST(Redaction, LeavesOtherCommandsAlone) {
  EXPECT_EQ(Redact(CommandId::kSet, Words{"AUTH", "p"}), (Words{"AUTH", "p"}));
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
