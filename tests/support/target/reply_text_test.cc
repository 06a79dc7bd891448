#include "redouble/tests/support/target/reply_text.h"

#include <vector>

#include "gtest/gtest.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::Reply;

TEST(ReplyText, PrintsSimpleRepliesAsRedisCliDoes) {
  EXPECT_EQ(ReplyText(Reply::Ok()), "OK");
  EXPECT_EQ(ReplyText(Reply::Error("ERR syntax error")), "(error) ERR syntax error");
  EXPECT_EQ(ReplyText(Reply::Integer(-3)), "(integer) -3");
  EXPECT_EQ(ReplyText(Reply::Bulk(std::string("a\0\n", 3))), R"("a\x00\n")");
  EXPECT_EQ(ReplyText(Reply::Nil()), "(nil)");
  EXPECT_EQ(ReplyText(Reply::NilArray()), "(nil array)");
  EXPECT_EQ(ReplyText(Reply::EmptyArray()), "(empty array)");
}

TEST(ReplyText, IndentsNestedArrays) {
  const Reply inner = Reply::Array({Reply::Integer(1), Reply::EmptyArray()});
  EXPECT_EQ(ReplyText(Reply::Array({Reply::Bulk("a"), inner, Reply::Nil()})),
            "1) \"a\"\n"
            "2) 1) (integer) 1\n"
            "   2) (empty array)\n"
            "3) (nil)");
}

TEST(ReplyText, AlignsNumbersOfLongArrays) {
  const std::vector<Reply> ten(10, Reply::Array({Reply::Ok(), Reply::Ok()}));
  const std::string text = ReplyText(Reply::Array(ten));
  EXPECT_EQ(text.substr(0, 22), " 1) 1) OK\n    2) OK\n 2");
  EXPECT_TRUE(text.ends_with("10) 1) OK\n    2) OK"));
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
