#include "redouble/core/store/resp/reply_encoding.h"

#include <string>

#include "gtest/gtest.h"

namespace redouble::inline v0_1::store {
namespace {

struct Case {
  Reply reply;
  std::string resp2;
  std::string resp3;
};

std::string Encoded(const Reply& reply, Protocol protocol) {
  std::string out;
  AppendReply(reply, protocol, out);
  return out;
}

TEST(AppendReply, WritesEveryShapeInBothProtocols) {
  const Reply one = Reply::Integer(1);
  const Reply two = Reply::Bulk("b");
  const Case kCases[] = {
      {Reply::Nil(), "$-1\r\n", "_\r\n"},
      {Reply::NilArray(), "*-1\r\n", "_\r\n"},
      {Reply::Ok(), "+OK\r\n", "+OK\r\n"},
      {Reply::Error("ERR no"), "-ERR no\r\n", "-ERR no\r\n"},
      {Reply::Integer(-5), ":-5\r\n", ":-5\r\n"},
      {Reply::Bool(true), ":1\r\n", "#t\r\n"},
      {Reply::Bool(false), ":0\r\n", "#f\r\n"},
      {Reply::Bulk(std::string("a\0\r\n", 4)), std::string("$4\r\na\0\r\n\r\n", 10),
       std::string("$4\r\na\0\r\n\r\n", 10)},
      {Reply::Double("1.5"), "$3\r\n1.5\r\n", ",1.5\r\n"},
      {Reply::Verbatim("text"), "$4\r\ntext\r\n", "=8\r\ntxt:text\r\n"},
      {Reply::BigNumber("-12"), "$3\r\n-12\r\n", "(-12\r\n"},
      {Reply::EmptyArray(), "*0\r\n", "*0\r\n"},
      {Reply::Array({one, Reply::Nil()}), "*2\r\n:1\r\n$-1\r\n", "*2\r\n:1\r\n_\r\n"},
      {Reply::Map({one, two}), "*2\r\n:1\r\n$1\r\nb\r\n", "%1\r\n:1\r\n$1\r\nb\r\n"},
      {Reply::Set({one, two}), "*2\r\n:1\r\n$1\r\nb\r\n", "~2\r\n:1\r\n$1\r\nb\r\n"},
      {Reply::Push({one, two}), "*2\r\n:1\r\n$1\r\nb\r\n", ">2\r\n:1\r\n$1\r\nb\r\n"},
      {Reply::Pairs({two, one}), "*2\r\n$1\r\nb\r\n:1\r\n", "*1\r\n*2\r\n$1\r\nb\r\n:1\r\n"},
      {Reply::MapOfPairs({Reply::Array({two, one})}), "*1\r\n*2\r\n$1\r\nb\r\n:1\r\n",
       "%1\r\n$1\r\nb\r\n:1\r\n"},
      {Reply::WithAttributes({one, two}, two), "$1\r\nb\r\n", "|1\r\n:1\r\n$1\r\nb\r\n$1\r\nb\r\n"},
      {Reply::WithPush({two, one}, Reply::Ok()), "+OK\r\n", ">2\r\n$1\r\nb\r\n:1\r\n+OK\r\n"},
      {Reply::Array({Reply::WithAttributes({two, one}, one), two}), "*2\r\n:1\r\n$1\r\nb\r\n",
       "*2\r\n|1\r\n$1\r\nb\r\n:1\r\n:1\r\n$1\r\nb\r\n"},
      {Reply::Array({Reply::Double("2")}), "*1\r\n$1\r\n2\r\n", "*1\r\n,2\r\n"},
  };
  for (const Case& one_case : kCases) {
    EXPECT_EQ(Encoded(one_case.reply, Protocol::kResp2), one_case.resp2);
    EXPECT_EQ(Encoded(one_case.reply, Protocol::kResp3), one_case.resp3);
  }
}

TEST(AppendReply, AppendsToTheBuffer) {
  std::string out = "+OK\r\n";
  AppendReply(Reply::Integer(7), Protocol::kResp2, out);
  EXPECT_EQ(out, "+OK\r\n:7\r\n");
}

}  // namespace
}  // namespace redouble::inline v0_1::store
