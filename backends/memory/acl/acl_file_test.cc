// The texts are those of redis-server 7.0.15; tests/serve/acl_file_test.py compares them.
#include "redouble/backends/memory/acl/acl_file.h"

#include <string>
#include <string_view>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace redouble::inline v0_1::memory {
namespace {

constexpr AclUser::NewChannels kNone = AclUser::NewChannels::kNone;

std::string Errors(std::string_view text) { return ReadAclFile(text, "f", kNone).errors; }

TEST(AclFile, ReplacesTheUsers) {
  Acl acl;
  acl.SetUser("old", {});
  const AclUser* const default_user = &acl.default_user();
  AclFileUsers file = ReadAclFile(
      "\n  user ann on ~a ~b\r\nuser bob (+get ~x) (%R~y +set)\n\nuser default on +ping", "f",
      kNone);
  EXPECT_EQ(file.errors, "");
  acl.Replace(std::move(file.users));
  EXPECT_EQ(WriteAclFile(acl),
            "user ann on ~a ~b resetchannels -@all\n"
            "user bob off resetchannels -@all (~x resetchannels -@all +get) "
            "(%R~y resetchannels -@all +set)\n"
            "user default on resetchannels -@all +ping\n");
  EXPECT_EQ(&acl.default_user(), default_user);
  EXPECT_EQ(acl.Find("default"), default_user);
}

TEST(AclFile, WithoutADefaultUserHasRediss) {
  Acl acl;
  acl.SetDefaultPassword("secret");
  acl.Replace(ReadAclFile("", "f", kNone).users);
  EXPECT_EQ(WriteAclFile(acl), "user default on nopass ~* &* +@all\n");
}

TEST(AclFile, NewUsersMayUseAllChannelsIfTheParameterSaysSo) {
  Acl acl;
  acl.Replace(ReadAclFile("user ann", "f", AclUser::NewChannels::kAll).users);
  EXPECT_EQ(acl.Find("ann")->Describe(), "user ann off &* -@all");
}

TEST(AclFile, HasTheCommandsAndTheSelectorsOfTheVersion) {
  constexpr std::string_view kText = "user ann on +hexpire (+get ~a* (+set ~b)";
  EXPECT_THAT(ReadAclFile("user ann on +hexpire", "f", kNone).errors,
              testing::HasSubstr("Unknown command"));
  EXPECT_EQ(ReadAclFile("user ann on +hexpire", "f", kNone, store::Version::kRedis80).errors, "");
  EXPECT_THAT(ReadAclFile(kText, "f", kNone, store::Version::kRedis80).errors,
              testing::HasSubstr("Syntax error"));
}

TEST(AclFile, ListsTheErrorsOfAllLines) {
  constexpr std::string_view kEnd =
      "WARNING: ACL errors detected, no change to the previously active ACL rules was performed";
  const auto errors = [&](std::string_view text) {
    const std::string all = Errors(text);
    EXPECT_TRUE(all.ends_with(kEnd)) << all;
    return all.substr(0, all.size() - kEnd.size());
  };
  EXPECT_EQ(errors("user\nusr bob\n# x"),
            "f:1 should start with user keyword followed by the username. "
            "f:2 should start with user keyword followed by the username. "
            "f:3 should start with user keyword followed by the username. ");
  EXPECT_EQ(errors("user a\tb on"), "'f:1: username 'a\tb' contains invalid characters. ");
  EXPECT_EQ(errors("user a on\nuser a off"), "WARNING: Duplicate user 'a' found on line 2. ");
  EXPECT_EQ(errors("user a (+get\nuser b +@nosuch"),
            "f:1: Unmatched parenthesis in selector definition."
            "f:2: Error in applying operation '+@nosuch': Unknown command or category name in "
            "ACL. ");
  EXPECT_EQ(errors("user a nonsense +nosuch more"),
            "f:1: Syntax error. f:1: Error in applying operation '+nosuch': Unknown command or "
            "category name in ACL. ");
}

TEST(UserDirectives, AreCheckedWhenTheyAreRead) {
  const std::vector<UserDirective> others = {{"ann", "on"}};
  EXPECT_EQ(CheckUserDirective({"bob", "on", "(+get", "~x)", "+nosuch"}, others), std::nullopt);
  EXPECT_EQ(CheckUserDirective({"ann"}, others),
            "Error in user declaration 'ann': Duplicate user found. A user can only be defined "
            "once in config files");
  EXPECT_EQ(CheckUserDirective({"bob", "on", "nonsense"}, others),
            "Error in user declaration 'bob': Syntax error");
  EXPECT_EQ(CheckUserDirective({"bob", "on", "+@nosuch", "nonsense"}, others),
            "Error in user declaration 'on': Syntax error");
  EXPECT_EQ(CheckUserDirective({"bob", "(+get"}, others),
            "Error in user declaration 'user': Unknown command or category name in ACL");
}

TEST(UserDirectives, MakeUsersAndChangeTheDefaultUserFromNothing) {
  Acl acl;
  const std::vector<UserDirective> directives = {{"default", "on", "+ping"},
                                                 {"ann", "(+get", "~x)"}};
  EXPECT_EQ(LoadUserDirectives(directives, kNone, acl), std::nullopt);
  EXPECT_EQ(WriteAclFile(acl),
            "user ann off resetchannels -@all (~x resetchannels -@all +get)\n"
            "user default on sanitize-payload resetchannels -@all +ping\n");
}

TEST(UserDirectives, MayBeWrongWhenTheyAreLoaded) {
  Acl acl;
  const std::vector<UserDirective> unknown = {{"ann", "+nosuch"}};
  EXPECT_EQ(LoadUserDirectives(unknown, kNone, acl),
            "Error loading ACL rule '+nosuch' for the user named 'ann': Unknown command or "
            "category name in ACL");
  const std::vector<UserDirective> blank = {{"a b"}};
  EXPECT_EQ(LoadUserDirectives(blank, kNone, acl), "Spaces not allowed in ACL usernames");
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
