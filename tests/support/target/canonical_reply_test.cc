#include "redouble/tests/support/target/canonical_reply.h"

#include "gtest/gtest.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::Reply;

TEST(CanonicalReplies, LeavesMostRepliesAsTheyAre) {
  const Reply values = Reply::Array({Reply::Bulk("b"), Reply::Bulk("a")});
  EXPECT_EQ(CanonicalReplies().Of({"MGET", "x", "y"}, values), values);
}

TEST(CanonicalReplies, SortsWhatHasNoOrder) {
  const Reply keys = Reply::Array({Reply::Bulk("b"), Reply::Bulk("a")});
  const Reply sorted = Reply::Array({Reply::Bulk("a"), Reply::Bulk("b")});
  EXPECT_EQ(CanonicalReplies().Of({"keys", "*"}, keys), sorted);
  EXPECT_EQ(CanonicalReplies().Of({"KEYS"}, Reply::Error("ERR")), Reply::Error("ERR"));
}

TEST(CanonicalReplies, KeepsPairsTogether) {
  const Reply fields =
      Reply::Array({Reply::Bulk("b"), Reply::Bulk("1"), Reply::Bulk("a"), Reply::Bulk("2")});
  const Reply sorted =
      Reply::Array({Reply::Bulk("a"), Reply::Bulk("2"), Reply::Bulk("b"), Reply::Bulk("1")});
  EXPECT_EQ(CanonicalReplies().Of({"HGETALL", "h"}, fields), sorted);
  const Reply scan = Reply::Array({Reply::Bulk("0"), fields});
  EXPECT_EQ(CanonicalReplies().Of({"HSCAN", "h", "0", "COUNT", "1000"}, scan),
            Reply::Array({Reply::Bulk("0"), sorted}));
}

TEST(CanonicalReplies, ComparesAScanThatListsEverything) {
  const Reply keys = Reply::Array({Reply::Bulk("b"), Reply::Bulk("a")});
  const Reply reply = Reply::Array({Reply::Bulk("0"), keys});
  const Reply sorted =
      Reply::Array({Reply::Bulk("0"), Reply::Array({Reply::Bulk("a"), Reply::Bulk("b")})});
  EXPECT_EQ(CanonicalReplies().Of({"SCAN", "0", "count", "1000"}, reply), sorted);
  EXPECT_EQ(CanonicalReplies().Of({"SCAN", "0", "COUNT", "2"}, reply),
            Reply::Status("(a cursor and elements)"));
  EXPECT_EQ(CanonicalReplies().Of({"SCAN", "1", "COUNT", "1000"}, reply),
            Reply::Status("(a cursor and elements)"));
  EXPECT_EQ(CanonicalReplies().Of({"SCAN", "x"}, Reply::Error("ERR")), Reply::Error("ERR"));
}

TEST(CanonicalReplies, HidesRandomElementsByDefault) {
  EXPECT_EQ(CanonicalReplies().Of({"RANDOMKEY"}, Reply::Bulk("a")), Reply::Status("(drawn)"));
  EXPECT_EQ(CanonicalReplies().Of({"RANDOMKEY"}, Reply::Nil()), Reply::Nil());
  EXPECT_EQ(CanonicalReplies(true).Of({"RANDOMKEY"}, Reply::Bulk("a")), Reply::Bulk("a"));
}

TEST(CanonicalReplies, FollowsTransactions) {
  const Reply queued = Reply::Status("QUEUED");
  const Reply keys = Reply::Array({Reply::Bulk("b"), Reply::Bulk("a")});
  const Reply sorted = Reply::Array({Reply::Bulk("a"), Reply::Bulk("b")});
  CanonicalReplies replies;
  replies.Of({"MULTI"}, Reply::Ok());
  replies.Of({"KEYS", "*"}, queued);
  replies.Of({"DISCARD"}, Reply::Ok());
  replies.Of({"MULTI"}, Reply::Ok());
  replies.Of({"MGET", "x", "y"}, queued);
  replies.Of({"KEYS", "*"}, queued);
  EXPECT_EQ(replies.Of({"EXEC"}, Reply::Array({keys, keys})), Reply::Array({keys, sorted}));
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
