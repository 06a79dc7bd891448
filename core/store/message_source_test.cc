#include "redouble/core/store/message_source.h"

#include "gtest/gtest.h"

namespace redouble::inline v0_1::store {
namespace {

Reply Push(std::vector<const char*> parts) {
  std::vector<Reply> elements;
  for (const char* part : parts) elements.push_back(Reply::Bulk(part));
  return Reply::Push(std::move(elements));
}

TEST(ReadMessage, OfAChannel) {
  EXPECT_EQ(ReadMessage(Push({"message", "news", "hello"})),
            (Message{.channel = "news", .pattern = std::nullopt, .payload = "hello"}));
}

TEST(ReadMessage, OfAPatternNamesBoth) {
  EXPECT_EQ(ReadMessage(Push({"pmessage", "n*", "news", "hello"})),
            (Message{.channel = "news", .pattern = "n*", .payload = "hello"}));
}

TEST(ReadMessage, OfAShardChannel) {
  EXPECT_EQ(
      ReadMessage(Push({"smessage", "news", "hello"})),
      (Message{.channel = "news", .pattern = std::nullopt, .payload = "hello", .sharded = true}));
}

TEST(ReadMessage, IsNoneForConfirmationsAndOtherReplies) {
  EXPECT_EQ(
      ReadMessage(Reply::Push({Reply::Bulk("subscribe"), Reply::Bulk("news"), Reply::Integer(1)})),
      std::nullopt);
  EXPECT_EQ(ReadMessage(Push({"message", "news"})), std::nullopt);
  EXPECT_EQ(ReadMessage(Push({"pmessage", "news", "hello"})), std::nullopt);
  EXPECT_EQ(ReadMessage(Push({"invalidate", "k", "v"})), std::nullopt);
  EXPECT_EQ(ReadMessage(Reply::Ok()), std::nullopt);
}

}  // namespace
}  // namespace redouble::inline v0_1::store
