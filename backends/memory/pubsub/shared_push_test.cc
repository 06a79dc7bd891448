#include "redouble/backends/memory/pubsub/shared_push.h"

#include "gtest/gtest.h"

namespace redouble::inline v0_1::memory {
namespace {

using store::Protocol;
using store::Reply;

TEST(SharedPush, IsEncodedOnceForEachProtocol) {
  const SharedPush push(
      Reply::Push({Reply::Bulk("message"), Reply::Bulk("c"), Reply::Bulk("hello")}));
  EXPECT_EQ(push.Encoded(Protocol::kResp2), "*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$5\r\nhello\r\n");
  const std::string_view resp3 = push.Encoded(Protocol::kResp3);
  EXPECT_EQ(resp3, ">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$5\r\nhello\r\n");
  EXPECT_EQ(push.Encoded(Protocol::kResp3).data(), resp3.data());
}

TEST(SharedPush, CountsItsTextsAndAnOverheadForEachPart) {
  EXPECT_EQ(SharedPush(Reply::Status("four")).bytes(), 64u + 4u);
  EXPECT_EQ(SharedPush(Reply::Push({Reply::Bulk("abc"), Reply::Integer(1)})).bytes(),
            64u + (64u + 3u) + 64u);
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
