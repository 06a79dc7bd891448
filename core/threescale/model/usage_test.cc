#include "redouble/core/threescale/model/usage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/threescale/errors.h"

namespace redouble::inline v0_1::threescale {
namespace {

using base::IsOk;
using ::testing::ElementsAre;
using ::testing::Pointee;
using Ancestors = std::vector<std::vector<std::string>>;

TEST(Usage, TakesDigitsAndASetMarkWithSpaceAround) {
  for (const char* value : {"0", "5", "007", " 5", "5 ", "#5", " #5", "#5\n", "\t00\r"}) {
    EXPECT_THAT(CheckUsageValue({"hits", value}), IsOk()) << value;
  }
}

TEST(Usage, RefusesAnythingElse) {
  for (const char* value : {"-1", "+1", "1.5", "a", "1a", "##1", "# 1", "#", "1 2", "0x1", "1_0"}) {
    const absl::Status status = CheckUsageValue({"hits", value});
    EXPECT_EQ(ErrorCodeOf(status), ErrorCode::kUsageValueInvalid) << value;
    EXPECT_EQ(status.message(),
              "usage value \"" + std::string(value) + "\" for metric \"hits\" is invalid");
  }
}

TEST(Usage, SaysThatAValueIsEmpty) {
  for (const char* value : {"", "  "}) {
    EXPECT_EQ(CheckUsageValue({"hits", value}).message(),
              "usage value for metric \"hits\" can not be empty");
  }
}

TEST(Usage, SetsOnlyByAMarkThatComesFirst) {
  EXPECT_TRUE(IsSet("#5"));
  EXPECT_FALSE(IsSet(" #5"));
  EXPECT_FALSE(IsSet("5"));
  EXPECT_FALSE(IsSet(""));
  EXPECT_EQ(AmountOf("#5"), 5);
  EXPECT_EQ(AmountOf(" #5"), 0);
  EXPECT_EQ(AmountOf("007"), 7);
}

TEST(Usage, AddsOrReplaces) {
  EXPECT_EQ(ApplyUsage(10, "5"), 15);
  EXPECT_EQ(ApplyUsage(10, "#5"), 5);
  EXPECT_EQ(ApplyUsage(10, " #5"), 10);
}

TEST(Usage, KeepsTheFirstPositionOfAMetric) {
  Usage usage;
  PutUsage(usage, "a", "1");
  PutUsage(usage, "b", "2");
  PutUsage(usage, "a", "3");
  EXPECT_THAT(usage, ElementsAre(UsageEntry{"a", "3"}, UsageEntry{"b", "2"}));
  EXPECT_THAT(FindUsage(usage, "b"), Pointee(std::string("2")));
  EXPECT_EQ(FindUsage(usage, "c"), nullptr);
}

TEST(Usage, DropsWhatIsExactlyZero) {
  const Usage usage = {{"a", "0"}, {"b", "00"}, {"c", "#0"}, {"d", " 0"}, {"e", "1"}};
  EXPECT_EQ(WithoutZeros(usage).size(), 4u);
  EXPECT_EQ(FindUsage(WithoutZeros(usage), "a"), nullptr);
}

// The examples of docs/systems/threescale.md 2.4: a and b are children of hits.
TEST(PropagatedUsage, AddsToParentsAndLosesSetsThatIncrementsFollow) {
  const Ancestors both = {{"hits"}, {"hits"}};
  const auto parent = [&](const Usage& usage) {
    const Usage propagated = PropagateUsage(usage, both);
    const std::string* value = FindUsage(propagated, "hits");
    return value == nullptr ? "missing" : *value;
  };
  EXPECT_EQ(parent({{"a", "#20"}, {"b", "5"}}), "5");
  EXPECT_EQ(parent({{"b", "7"}, {"a", "#30"}}), "#30");
  EXPECT_EQ(parent({{"a", "#11"}, {"b", "#12"}}), "#12");
  EXPECT_EQ(parent({{"a", "11"}, {"b", "12"}}), "23");
}

TEST(PropagatedUsage, AddsToAParentThatIsNamedItself) {
  const Ancestors ancestors = {{}, {"hits"}};
  EXPECT_THAT(PropagateUsage({{"hits", "3"}, {"a", "4"}}, ancestors),
              ElementsAre(UsageEntry{"hits", "7"}, UsageEntry{"a", "4"}));
  EXPECT_THAT(PropagateUsage({{"hits", "#3"}, {"a", "4"}}, ancestors),
              ElementsAre(UsageEntry{"hits", "4"}, UsageEntry{"a", "4"}));
}

// Parents receive the reported usage, not the propagated usage of their children.
TEST(PropagatedUsage, PassesOnOnlyWhatTheClientSaid) {
  const Ancestors ancestors = {{"middle", "top"}, {"top"}};
  EXPECT_THAT(
      PropagateUsage({{"leaf", "1"}, {"middle", "10"}}, ancestors),
      ElementsAre(UsageEntry{"leaf", "1"}, UsageEntry{"middle", "11"}, UsageEntry{"top", "11"}));
}

TEST(Usage, WritesDigitsOfAnyNumber) {
  EXPECT_EQ(AmountText("#99999999999999999999999999999999999999999999"),
            "99999999999999999999999999999999999999999999");
  EXPECT_EQ(AmountText("#007"), "7");
  EXPECT_EQ(AmountText(" 5 "), "5");
  EXPECT_EQ(AmountText(" #5"), "0");
  EXPECT_EQ(AmountText("#00"), "0");
}

TEST(Usage, IsAddedUpWithoutEnd) {
  const std::string nines(60, '9');
  EXPECT_EQ(FormatInteger(ApplyUsage(AmountOf(nines), "1")), "1" + std::string(60, '0'));
}

TEST(PropagatedUsage, AddsBeyond64Bits) {
  const Usage propagated =
      PropagateUsage({{"a", "99999999999999999999"}, {"b", "1"}}, Ancestors{{"p"}, {"p"}});
  EXPECT_THAT(FindUsage(propagated, "p"), Pointee(std::string("100000000000000000000")));
}

RC_GTEST_PROP(PropagatedUsageProperty, SumsIncrements, (std::vector<uint32_t> amounts)) {
  Usage usage;
  Integer sum = 0;
  for (size_t i = 0; i < amounts.size(); ++i) {
    usage.push_back({"child-" + std::to_string(i), std::to_string(amounts[i])});
    sum += amounts[i];
  }
  const Usage propagated = PropagateUsage(usage, Ancestors(usage.size(), {"parent"}));
  RC_ASSERT(propagated.size() == usage.size() + (usage.empty() ? 0 : 1));
  if (!usage.empty()) RC_ASSERT(propagated.back().value == FormatInteger(sum));
}

TEST(PropagatedUsage, HasNoEnd) {
  const std::string nines(50, '9');
  const std::vector<std::vector<std::string>> parents = {{"10"}, {"10"}};
  const Usage usage = PropagateUsage({{"11", nines}, {"12", "1"}}, parents);
  EXPECT_THAT(FindUsage(usage, "10"), Pointee("1" + std::string(50, '0')));
}

}  // namespace
}  // namespace redouble::inline v0_1::threescale
