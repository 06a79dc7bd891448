#include "redouble/core/threescale/http/form.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "redouble/core/threescale/errors.h"

namespace redouble::inline v0_1::threescale {
namespace {

using Kind = FormValue::Kind;

TEST(ParseForm, ReadsTextsMapsAndLists) {
  const FormValue form =
      ParseForm("a=1&b&c=&u[hits]=2&u[x%20y]=%263&l[]=p&l[]=q&&d[e][f]=g").value();
  EXPECT_EQ(form.TextOf("a"), "1");
  EXPECT_EQ(form.Find("b")->kind(), Kind::kNone);
  EXPECT_EQ(form.TextOf("b"), std::nullopt);
  EXPECT_EQ(form.TextOf("c"), "");
  ASSERT_TRUE(form.Find("u")->is_map());
  EXPECT_EQ(form.Find("u")->TextOf("hits"), "2");
  EXPECT_EQ(form.Find("u")->TextOf("x y"), "&3");
  EXPECT_EQ(form.Find("l")->kind(), Kind::kList);
  EXPECT_EQ(form.Find("l")->members().size(), 2u);
  EXPECT_EQ(form.Find("l")->Find("0"), nullptr);
  EXPECT_EQ(form.Find("d")->Find("e")->TextOf("f"), "g");
  EXPECT_EQ(form.Find("z"), nullptr);
  EXPECT_EQ(form.Find("a")->Find("z"), nullptr);
  EXPECT_EQ(form.TextOf("u"), std::nullopt);
}

TEST(ParseForm, KeepsTheFirstPositionAndTheLastValue) {
  const FormValue form = ParseForm("b=1&a=2&b=3").value();
  ASSERT_EQ(form.members().size(), 2u);
  EXPECT_EQ(form.members()[0].first, "b");
  EXPECT_EQ(form.members()[0].second.text(), "3");
}

TEST(ParseForm, RefusesANameOfTwoKinds) {
  for (const std::string_view query :
       {"a=1&a[b]=2", "a[b]=2&a=1", "a[]=1&a[b]=2", "a[b]=1&a[]=2"}) {
    EXPECT_EQ(ErrorCodeOf(ParseForm(query).status()), ErrorCode::kBadRequest) << query;
  }
  std::string deep = "a";
  for (int i = 0; i < 31; ++i) deep += "[b]";
  EXPECT_TRUE(ParseForm(deep + "=1").ok());
  EXPECT_EQ(ErrorCodeOf(ParseForm(deep + "[b]=1").status()), ErrorCode::kBadRequest);
}

}  // namespace
}  // namespace redouble::inline v0_1::threescale
