#include "redouble/core/python/value.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace redouble::inline v0_1::python {
namespace {

TEST(PythonValue, IsWhatItWasMadeFrom) {
  EXPECT_TRUE(Value().is_null());
  EXPECT_TRUE(Value(nullptr).is_null());
  EXPECT_EQ(*Value(true).boolean(), true);
  EXPECT_EQ(Value(7).integer()->digits, "7");
  EXPECT_EQ(Value(uint64_t{18446744073709551615u}).integer()->digits, "18446744073709551615");
  EXPECT_EQ(*Value(2.5).real(), 2.5);
  EXPECT_EQ(*Value("x").text(), "x");
  EXPECT_EQ(Value(Array{1, 2}).array()->size(), 2u);
  EXPECT_EQ(Value(Object({{"a", 1}})).object()->size(), 1u);
  EXPECT_EQ(Value(DateTime{absl::UnixEpoch()}).date_time()->time, absl::UnixEpoch());
  EXPECT_EQ(Value(Opaque{"set", "{1}"}).opaque()->type, "set");
  EXPECT_TRUE(Value(std::optional<std::string>()).is_null());
  EXPECT_EQ(*Value(std::optional<std::string>("t")).text(), "t");
}

TEST(PythonValue, HasOneType) {
  const Value value(true);
  EXPECT_EQ(value.integer(), nullptr);
  EXPECT_EQ(value.real(), nullptr);
  EXPECT_EQ(value.text(), nullptr);
  EXPECT_EQ(value.array(), nullptr);
  EXPECT_EQ(value.object(), nullptr);
  EXPECT_EQ(value.date_time(), nullptr);
  EXPECT_EQ(value.opaque(), nullptr);
  EXPECT_EQ(Value(1).boolean(), nullptr);
  EXPECT_EQ(value.Find("a"), nullptr);
}

TEST(PythonValue, DistinguishesOneFromOnePointZero) {
  EXPECT_EQ(Value(1), Value(Integer{"1"}));
  EXPECT_FALSE(Value(1) == Value(1.0));
  EXPECT_FALSE(Value(true) == Value(1));
  EXPECT_FALSE(Value(std::nan("")) == Value(std::nan("")));
}

TEST(PythonValue, ReturnsAnIntegerThatFits) {
  EXPECT_EQ(Value(-5).AsInt64(), -5);
  EXPECT_EQ(Value(Integer{"9223372036854775808"}).AsInt64(), std::nullopt);
  EXPECT_EQ(Value(1.0).AsInt64(), std::nullopt);
  EXPECT_EQ(Value("1").AsInt64(), std::nullopt);
}

TEST(PythonValue, IsTruthyAsInPython) {
  for (const Value& value : {Value(), Value(false), Value(0), Value(0.0), Value(-0.0), Value(""),
                             Value(Array()), Value(Object())}) {
    EXPECT_FALSE(value.IsTruthy());
  }
  for (const Value& value :
       {Value(true), Value(-1), Value(0.1), Value(std::nan("")), Value(" "), Value(Array{Value()}),
        Value(Object({{"a", nullptr}})), Value(DateTime{}), Value(Opaque{})}) {
    EXPECT_TRUE(value.IsTruthy());
  }
}

TEST(PythonValue, OfAnOptionalTimeIsNullWithoutOne) {
  EXPECT_TRUE(OptionalTimeValue(std::nullopt).is_null());
  EXPECT_EQ(OptionalTimeValue(DateTime(absl::UnixEpoch())), Value(DateTime(absl::UnixEpoch())));
}

TEST(PythonObject, KeepsTheOrderInWhichMembersCame) {
  Object object({{"b", 1}, {"a", 2}});
  object.Set("c", 3);
  object.Set("b", 4);
  ASSERT_EQ(object.size(), 3u);
  EXPECT_EQ(object.members()[0].name, "b");
  EXPECT_EQ(object.members()[0].value, Value(4));
  EXPECT_EQ(object.members()[1].name, "a");
  EXPECT_EQ(object.members()[2].name, "c");
  EXPECT_FALSE(Object({{"a", 1}, {"b", 2}}) == Object({{"b", 2}, {"a", 1}}));
}

TEST(PythonObject, TakesTheLastOfTwoEqualNamesInPlaceOfTheFirst) {
  const Object object({{"a", 1}, {"b", 2}, {"a", 3}});
  ASSERT_EQ(object.size(), 2u);
  EXPECT_EQ(object.members()[0].value, Value(3));
}

TEST(PythonObject, FindsAndErases) {
  Object object({{"a", 1}, {"b", 2}});
  EXPECT_EQ(*object.Find("b"), Value(2));
  object.Erase("b");
  object.Erase("none");
  EXPECT_EQ(object.Find("b"), nullptr);
  EXPECT_EQ(object.size(), 1u);
}

}  // namespace
}  // namespace redouble::inline v0_1::python
