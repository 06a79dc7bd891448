#include "redouble/backends/memory/acl/acl_user.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redouble/core/base/hash/digest.h"

namespace redouble::inline v0_1::memory {
namespace {

using store::CommandId;
using testing::ElementsAre;

using Words = std::vector<std::string_view>;

AclUser Make(const Words& rules) {
  AclUser user("alice");
  for (const std::string_view rule : rules) EXPECT_EQ(user.Apply(rule), std::nullopt) << rule;
  return user;
}

Verdict Check(const AclUser& user, CommandId id, const Words& arguments) {
  return user.Check(id, arguments);
}

TEST(AclUser, IsOffAtFirst) {
  const AclUser user("alice");
  EXPECT_FALSE(user.enabled());
  EXPECT_FALSE(user.unrestricted());
  EXPECT_EQ(user.Describe(), "user alice off resetchannels -@all");
}

TEST(AclUser, MayUseAllChannelsAtFirstWhenTheParameterSaysSo) {
  const AclUser user("alice", AclUser::NewChannels::kAll);
  EXPECT_EQ(user.Describe(), "user alice off &* -@all");
}

TEST(AclUser, TheDefaultOneMayDoAll) {
  const AclUser user = AclUser::Default();
  EXPECT_TRUE(user.unrestricted());
  EXPECT_FALSE(user.needs_password());
  EXPECT_TRUE(user.Accepts("anything"));
  EXPECT_EQ(user.Describe(), "user default on nopass ~* &* +@all");
}

TEST(AclUser, AcceptsAnyOfItsPasswordsWhileItIsOn) {
  AclUser user = Make({">one", "#" + base::Sha256Hex("two")});
  EXPECT_FALSE(user.Accepts("one"));
  user.Apply("on");
  EXPECT_TRUE(user.Accepts("one"));
  EXPECT_TRUE(user.Accepts("two"));
  EXPECT_FALSE(user.Accepts("three"));
  user.Apply("<one");
  EXPECT_FALSE(user.Accepts("one"));
  user.Apply("!" + base::Sha256Hex("two"));
  EXPECT_TRUE(user.password_hashes().empty());
  EXPECT_FALSE(user.Accepts(""));
}

TEST(AclUser, APasswordTwiceIsOne) { EXPECT_EQ(Make({">a", ">a"}).password_hashes().size(), 1u); }

TEST(AclUser, NopassForgetsPasswordsAndAPasswordEndsIt) {
  AclUser user = Make({"on", ">a", "nopass"});
  EXPECT_TRUE(user.password_hashes().empty());
  EXPECT_TRUE(user.Accepts("b"));
  user.Apply(">c");
  EXPECT_FALSE(user.Accepts("b"));
  user.Apply("nopass");
  user.Apply("resetpass");
  EXPECT_FALSE(user.Accepts("c"));
}

TEST(AclUser, RequirepassIsItsOnlyPassword) {
  AclUser user = Make({"on", ">a"});
  user.SetOnlyPassword("b");
  EXPECT_THAT(user.password_hashes(), ElementsAre(base::Sha256Hex("b")));
  user.SetOnlyPassword("");
  EXPECT_FALSE(user.needs_password());
}

TEST(AclUser, ListsItsFlags) {
  EXPECT_THAT(Make({"on", "nopass", "skip-sanitize-payload"}).Flags(),
              ElementsAre("on", "nopass", "skip-sanitize-payload"));
  EXPECT_THAT(Make({"sanitize-payload"}).Flags(), ElementsAre("off", "sanitize-payload"));
  EXPECT_THAT(Make({"ON", "off"}).Flags(), ElementsAre("off"));
}

TEST(AclUser, ResetTakesAllAway) {
  EXPECT_EQ(Make({"on", ">a", "~*", "&*", "+@all", "(+get)", "reset"}).Describe(),
            "user alice off sanitize-payload resetchannels -@all");
}

TEST(AclUser, DeniesCommandThenKeyThenChannel) {
  const AclUser user = Make({"~a:*", "&c", "+@all", "-set"});
  EXPECT_EQ(Check(user, CommandId::kSet, {"a:1", "v"}).denied, Denied::kCommand);
  EXPECT_EQ(Check(user, CommandId::kGet, {"a:1"}).denied, Denied::kNothing);
  const Verdict key = Check(user, CommandId::kMGet, {"a:1", "b:1"});
  EXPECT_EQ(key.denied, Denied::kKey);
  EXPECT_EQ(key.index, 1u);
  EXPECT_EQ(Check(user, CommandId::kPublish, {"d", "x"}).denied, Denied::kChannel);
  EXPECT_EQ(Check(user, CommandId::kSubscribe, {"c", "d"}).index, 1u);
  EXPECT_EQ(Check(user, CommandId::kPSubscribe, {"c*"}).denied, Denied::kChannel);
  EXPECT_EQ(Check(user, CommandId::kUnsubscribe, {"d"}).denied, Denied::kNothing);
}

TEST(AclUser, AKeyMustBeAllowedForWhatTheCommandDoes) {
  const AclUser user = Make({"%R~r", "%W~w", "+@all"});
  EXPECT_EQ(Check(user, CommandId::kCopy, {"r", "w"}).denied, Denied::kNothing);
  EXPECT_EQ(Check(user, CommandId::kCopy, {"w", "r"}).denied, Denied::kKey);
  EXPECT_EQ(Check(user, CommandId::kSet, {"w", "v"}).denied, Denied::kNothing);
  EXPECT_EQ(Check(user, CommandId::kSet, {"w", "v", "GET"}).denied, Denied::kKey);
}

TEST(AclUser, OneSelectorMustAllowAllOfIt) {
  const AclUser user = Make({"~a", "+get", "(~b +set)"});
  EXPECT_EQ(Check(user, CommandId::kGet, {"a"}).denied, Denied::kNothing);
  EXPECT_EQ(Check(user, CommandId::kSet, {"b", "v"}).denied, Denied::kNothing);
  EXPECT_EQ(Check(user, CommandId::kGet, {"b"}).denied, Denied::kKey);
  EXPECT_EQ(user.Describe(),
            "user alice off ~a resetchannels -@all +get (~b resetchannels -@all +set)");
  EXPECT_EQ(Make({"(+get)", "clearselectors"}).selectors().size(), 1u);
}

TEST(AclUser, ReadsAllKeysWhenTheSelectorThatAllowsTheCommandDoes) {
  const Words sort = {"k", "BY", "w_*"};
  EXPECT_TRUE(Make({"+sort", "%R~*"}).MayReadAllKeys(CommandId::kSort, sort));
  EXPECT_FALSE(Make({"+sort", "~k"}).MayReadAllKeys(CommandId::kSort, sort));
  EXPECT_FALSE(Make({"+sort", "~k", "(~* +get)"}).MayReadAllKeys(CommandId::kSort, sort));
}

TEST(AclUser, RefusesAMalformedRuleAndChangesNothing) {
  AclUser user = Make({"on", ">a", "+get"});
  const std::string before = user.Describe();
  const struct {
    std::string_view rule;
    RuleError error;
  } kRows[] = {{"<b", rule_error::kNoSuchPassword},
               {"#abc", rule_error::kBadHash},
               {"!abc", rule_error::kBadHash},
               {"(on)", rule_error::kSyntax},
               {"(+get +nocmd)", rule_error::kUnknownName},
               {")", rule_error::kSyntax}};
  for (const auto& row : kRows) {
    EXPECT_EQ(user.Apply(row.rule), row.error) << row.rule;
    EXPECT_EQ(user.Describe(), before) << row.rule;
  }
  EXPECT_EQ(user.Apply("#" + std::string(64, 'A')), rule_error::kBadHash);
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
