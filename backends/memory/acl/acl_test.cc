#include "redouble/backends/memory/acl/acl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace redouble::inline v0_1::memory {
namespace {

using Words = std::vector<std::string_view>;

std::optional<std::string> Set(Acl& acl, std::string_view name, const Words& rules) {
  return acl.SetUser(name, rules);
}

TEST(Acl, HasTheDefaultUser) {
  Acl acl;
  EXPECT_EQ(acl.Find("default"), &acl.default_user());
  EXPECT_EQ(acl.Find("alice"), nullptr);
  EXPECT_EQ(acl.users().size(), 1u);
}

TEST(Acl, AuthenticatesByNameAndPassword) {
  Acl acl;
  EXPECT_EQ(Set(acl, "alice", {"on", ">secret"}), std::nullopt);
  EXPECT_EQ(acl.Authenticate("alice", "secret"), acl.Find("alice"));
  EXPECT_EQ(acl.Authenticate("alice", "wrong"), nullptr);
  EXPECT_EQ(acl.Authenticate("bob", "secret"), nullptr);
  acl.SetDefaultPassword("p");
  EXPECT_EQ(acl.Authenticate("default", ""), nullptr);
  EXPECT_EQ(acl.Authenticate("default", "p"), &acl.default_user());
}

TEST(Acl, AChangedUserStaysTheSame) {
  Acl acl;
  Set(acl, "alice", {"on"});
  const AclUser* const alice = acl.Find("alice");
  Set(acl, "alice", {"+get"});
  EXPECT_EQ(acl.Find("alice"), alice);
  EXPECT_EQ(alice->Describe(), "user alice on resetchannels -@all +get");
}

TEST(Acl, TakesAllRulesOrNone) {
  Acl acl;
  EXPECT_EQ(Set(acl, "alice", {"on", "foo"}),
            "ERR Error in ACL SETUSER modifier 'foo': Syntax error");
  EXPECT_EQ(acl.Find("alice"), nullptr);
  Set(acl, "alice", {"on"});
  EXPECT_NE(Set(acl, "alice", {"off", "foo"}), std::nullopt);
  EXPECT_TRUE(acl.Find("alice")->enabled());
}

TEST(Acl, ASelectorMayBeSeveralWords) {
  Acl acl;
  EXPECT_EQ(Set(acl, "alice", {"(", "+get", "~a", ")", "on"}), std::nullopt);
  EXPECT_EQ(acl.Find("alice")->Describe(),
            "user alice on resetchannels -@all (~a resetchannels -@all +get)");
  EXPECT_EQ(Set(acl, "alice", {"(+get", "~a"}),
            "ERR Unmatched parenthesis in acl selector starting at '(+get'.");
}

TEST(Acl, RemovesUsers) {
  Acl acl;
  Set(acl, "alice", {"on"});
  acl.Remove("alice");
  EXPECT_EQ(acl.Find("alice"), nullptr);
}

DenialEntry Denial(std::string object, int64_t now_ms) {
  return {.reason = "key",
          .context = "toplevel",
          .object = std::move(object),
          .user = "alice",
          .client = "id=" + std::to_string(now_ms),
          .last_ms = now_ms};
}

TEST(DenialLog, CountsTheSameDenialWithinAMinute) {
  DenialLog log;
  log.Add(Denial("a", 1'000), 10);
  log.Add(Denial("b", 2'000), 10);
  log.Add(Denial("a", 61'000), 10);
  ASSERT_EQ(log.entries().size(), 2u);
  EXPECT_EQ(log.entries()[0].object, "a");
  EXPECT_EQ(log.entries()[0].count, 2);
  EXPECT_EQ(log.entries()[0].client, "id=61000");
  log.Add(Denial("a", 121'001), 10);
  EXPECT_EQ(log.entries().size(), 3u);
  log.Clear();
  EXPECT_TRUE(log.entries().empty());
}

TEST(DenialLog, ComparesADenialWithTheTenNewestOnly) {
  DenialLog log;
  for (int i = 0; i <= 10; ++i) log.Add(Denial(std::to_string(i), 1), 100);
  log.Add(Denial("0", 1), 100);
  EXPECT_EQ(log.entries()[0].count, 1);
  EXPECT_EQ(log.entries().size(), 12u);
  log.Add(Denial("2", 1), 100);
  EXPECT_EQ(log.entries()[0].count, 2);
  EXPECT_EQ(log.entries().size(), 12u);
}

TEST(DenialLog, KeepsTheNewest) {
  DenialLog log;
  for (const char* object : {"a", "b", "c"}) log.Add(Denial(object, 1), 2);
  ASSERT_EQ(log.entries().size(), 2u);
  EXPECT_EQ(log.entries()[0].object, "c");
  EXPECT_EQ(log.entries()[1].object, "b");
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
