#include "redouble/backends/memory/acl/selector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace redouble::inline v0_1::memory {
namespace {

using store::CommandId;

using Words = std::vector<std::string_view>;

Selector Make(const Words& rules) {
  Selector selector;
  for (const std::string_view rule : rules) EXPECT_EQ(selector.Apply(rule), std::nullopt) << rule;
  return selector;
}

bool MayRun(const Selector& selector, CommandId id, const Words& arguments = {}) {
  return selector.MayRun(id, arguments);
}

TEST(Selector, AllowsNothingAtFirst) {
  const Selector selector;
  EXPECT_FALSE(MayRun(selector, CommandId::kGet));
  EXPECT_FALSE(selector.MayTouch("k", Selector::kNoAccess));
  EXPECT_FALSE(selector.MayUse("c", Selector::ChannelKind::kName));
  EXPECT_EQ(selector.Describe(), "resetchannels -@all");
}

TEST(Selector, AllowsWhatNeedsNoLogin) { EXPECT_TRUE(MayRun(Selector(), CommandId::kHello)); }

TEST(Selector, TakesCommandsAndCategoriesInAnyCase) {
  const Selector selector = Make({"+GET", "+@LIST", "-lPush"});
  EXPECT_TRUE(MayRun(selector, CommandId::kGet));
  EXPECT_TRUE(MayRun(selector, CommandId::kRPush));
  EXPECT_FALSE(MayRun(selector, CommandId::kLPush));
  EXPECT_EQ(selector.DescribeCommands(), "-@all +@list +get -lpush");
}

TEST(Selector, TakesAContainerWithItsSubcommands) {
  const Selector selector = Make({"+config", "-config|set"});
  EXPECT_TRUE(MayRun(selector, CommandId::kConfigGet));
  EXPECT_FALSE(MayRun(selector, CommandId::kConfigSet));
  EXPECT_EQ(selector.DescribeCommands(), "-@all +config -config|set");
}

TEST(Selector, AllowsFirstArguments) {
  Selector selector = Make({"+select|0", "+select|1", "+select|0"});
  EXPECT_TRUE(MayRun(selector, CommandId::kSelect, {"1"}));
  EXPECT_FALSE(MayRun(selector, CommandId::kSelect, {"2"}));
  EXPECT_FALSE(MayRun(selector, CommandId::kSelect));
  EXPECT_EQ(selector.DescribeCommands(), "-@all +select|0 +select|1");
  selector.Apply("-select");
  EXPECT_EQ(selector.DescribeCommands(), "-@all");
}

TEST(Selector, AllowsTheSimulatorWithAllCommandsAndAllKeysOnly) {
  EXPECT_FALSE(Selector().MaySimulate());
  EXPECT_TRUE(Make({"+@all", "~*"}).MaySimulate());
  EXPECT_FALSE(Make({"+@all", "~x*"}).MaySimulate());
  EXPECT_FALSE(Make({"+@all", "~*", "-@all"}).MaySimulate());
  const Selector only = Make({"+@sim", "~*"});
  EXPECT_TRUE(only.MaySimulate());
  EXPECT_EQ(only.DescribeCommands(), "-@all +@sim");
  const Selector without = Make({"+@all", "-@sim", "~*"});
  EXPECT_FALSE(without.MaySimulate());
  EXPECT_TRUE(MayRun(without, CommandId::kGet));
  EXPECT_EQ(without.DescribeCommands(), "+@all -@sim");
}

TEST(Selector, DescribesExceptionsFromAll) {
  EXPECT_EQ(Make({"+@all", "-set"}).DescribeCommands(), "+@all -set");
  EXPECT_EQ(Make({"allcommands"}).DescribeCommands(), "+@all");
  EXPECT_EQ(Make({"+@all", "nocommands"}).DescribeCommands(), "-@all");
  EXPECT_EQ(Make({"+@all", "-@dangerous"}).DescribeCommands(), "+@all -@dangerous");
}

TEST(Selector, ItsDescriptionRestoresIt) {
  for (const Words& rules : std::vector<Words>{{"+@read", "-@hash", "+config|get"},
                                               {"+@all", "-@write", "+set"},
                                               {"+@slow", "-@admin"},
                                               {"+@string", "+@stream", "-xadd", "+select|3"}}) {
    const Selector selector = Make(rules);
    const std::string described = selector.DescribeCommands();
    Selector again;
    size_t begin = 0;
    while (begin < described.size()) {
      const size_t end = std::min(described.find(' ', begin), described.size());
      EXPECT_EQ(again.Apply(std::string_view(described).substr(begin, end - begin)), std::nullopt);
      begin = end + 1;
    }
    for (const store::CommandSpec& spec : store::AllCommands()) {
      if (!spec.versions.Has(store::Version::kRedis70)) continue;
      EXPECT_EQ(again.MayRun(spec.id, {}), selector.MayRun(spec.id, {})) << spec.name;
    }
    EXPECT_EQ(again.DescribeCommands(), described);
  }
}

TEST(Selector, KeyPatternsAllowReadingWritingOrBoth) {
  const Selector selector = Make({"~a:*", "%R~r:*", "%w~w:*", "%RW~b:*"});
  EXPECT_TRUE(selector.MayTouch("a:1", Selector::kReadWrite));
  EXPECT_TRUE(selector.MayTouch("r:1", Selector::kRead));
  EXPECT_FALSE(selector.MayTouch("r:1", Selector::kWrite));
  EXPECT_FALSE(selector.MayTouch("w:1", Selector::kReadWrite));
  EXPECT_TRUE(selector.MayTouch("w:1", Selector::kNoAccess));
  EXPECT_FALSE(selector.MayTouch("c:1", Selector::kNoAccess));
  EXPECT_EQ(selector.DescribeKeys(), "~a:* %R~r:* %W~w:* ~b:*");
}

TEST(Selector, TheSamePatternAddsToWhatItAllows) {
  EXPECT_EQ(Make({"%R~a", "%W~a"}).DescribeKeys(), "~a");
}

TEST(Selector, AllKeysTakesThePlaceOfPatterns) {
  Selector selector = Make({"~a", "allkeys"});
  EXPECT_EQ(selector.DescribeKeys(), "~*");
  EXPECT_EQ(selector.Apply("~b"), rule_error::kPatternAfterAllKeys);
  EXPECT_EQ(selector.Apply("resetkeys"), std::nullopt);
  EXPECT_EQ(selector.DescribeKeys(), "");
}

TEST(Selector, ReadsAllKeysByAStarOnly) {
  EXPECT_TRUE(Make({"~*"}).MayReadAllKeys());
  EXPECT_TRUE(Make({"%R~*"}).MayReadAllKeys());
  EXPECT_FALSE(Make({"%W~*"}).MayReadAllKeys());
  EXPECT_FALSE(Make({"~a*"}).MayReadAllKeys());
}

TEST(Selector, ChannelPatternsMustBeAllowedLiterally) {
  Selector selector = Make({"&news.*", "&news.*"});
  EXPECT_TRUE(selector.MayUse("news.a", Selector::ChannelKind::kName));
  EXPECT_FALSE(selector.MayUse("news.a*", Selector::ChannelKind::kPattern));
  EXPECT_TRUE(selector.MayUse("news.*", Selector::ChannelKind::kPattern));
  EXPECT_EQ(selector.Describe(), "resetchannels &news.* -@all");
  EXPECT_EQ(Make({"&a", "allchannels"}).DescribeChannels(), "&*");
  EXPECT_EQ(Make({"&*"}).Apply("&b"), rule_error::kPatternAfterAllChannels);
  EXPECT_EQ(Make({"&*", "resetchannels"}).DescribeChannels(), "");
}

TEST(Selector, RefusesAMalformedRuleAndChangesNothing) {
  const struct {
    std::string_view rule;
    RuleError error;
  } kRows[] = {
      {"foo", rule_error::kSyntax},
      {"+nocmd", rule_error::kUnknownName},
      {"-nocmd", rule_error::kUnknownName},
      {"+@nocat", rule_error::kUnknownName},
      {"-@nocat", rule_error::kUnknownName},
      {"+config|nosub", rule_error::kUnknownName},
      {"+nocmd|sub", rule_error::kUnknownName},
      {"-get|x", rule_error::kUnknownName},
      {"+config|get|x", rule_error::kFirstArgument},
      {"+select|", rule_error::kSyntax},
      {"%~x", rule_error::kSyntax},
      {"%Q~x", rule_error::kSyntax},
      {"%RR~x", rule_error::kSyntax},
      {"~a b", rule_error::kSyntax},
      {"&a b", rule_error::kSyntax},
  };
  Selector selector = Make({"+get", "~a", "&b"});
  const std::string before = selector.Describe();
  for (const auto& row : kRows) {
    EXPECT_EQ(selector.Apply(row.rule), row.error) << row.rule;
    EXPECT_EQ(selector.Describe(), before) << row.rule;
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
