#include "redouble/core/store/reply.h"

#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace redouble::inline v0_1::store {
namespace {

using Kind = Reply::Kind;
using Shape = Reply::Shape;

struct Made {
  Reply reply;
  Kind kind;
  Shape shape;
  std::string_view text;  // DebugString().
};
std::vector<Made> OneOfEach() {
  return {
      {Reply(), Kind::kNil, Shape::kPlain, "nil"},
      {Reply::Nil(), Kind::kNil, Shape::kPlain, "nil"},
      {Reply::NilArray(), Kind::kNil, Shape::kNilArray, "nil"},
      {Reply::Status("PONG"), Kind::kStatus, Shape::kPlain, "PONG"},
      {Reply::Ok(), Kind::kStatus, Shape::kPlain, "OK"},
      {Reply::Error("ERR no"), Kind::kError, Shape::kPlain, "(error) ERR no"},
      {Reply::Integer(-7), Kind::kInteger, Shape::kPlain, "-7"},
      {Reply::Bool(true), Kind::kInteger, Shape::kBool, "1"},
      {Reply::Bool(false), Kind::kInteger, Shape::kBool, "0"},
      {Reply::Bulk("text"), Kind::kBulk, Shape::kPlain, "\"text\""},
      {Reply::Bulk(std::string_view("a\0b", 3)), Kind::kBulk, Shape::kPlain, "\"a\\x00b\""},
      {Reply::Bulk(std::string(100, 'x')), Kind::kBulk, Shape::kPlain, {}},
      {Reply::Double("1.5"), Kind::kBulk, Shape::kDouble, "\"1.5\""},
      {Reply::Verbatim("# Server"), Kind::kBulk, Shape::kVerbatim, "\"# Server\""},
      {Reply::BigNumber("-123"), Kind::kBulk, Shape::kBigNumber, "\"-123\""},
      {Reply::EmptyArray(), Kind::kArray, Shape::kPlain, "[]"},
      {Reply::Array({Reply::Integer(1), Reply::Nil()}), Kind::kArray, Shape::kPlain, "[1, nil]"},
      {Reply::Map({Reply::Bulk("k"), Reply::Ok()}), Kind::kArray, Shape::kMap, "[\"k\", OK]"},
      {Reply::Set({Reply::Bulk("k")}), Kind::kArray, Shape::kSet, "[\"k\"]"},
      {Reply::Push({Reply::Bulk("k")}), Kind::kArray, Shape::kPush, "[\"k\"]"},
      {Reply::WithAttributes({Reply::Bulk("k"), Reply::Integer(1)}, Reply::Ok()), Kind::kArray,
       Shape::kPreceded, "[[\"k\", 1], OK]"},
      {Reply::WithPush({Reply::Bulk("k")}, Reply::Nil()), Kind::kArray, Shape::kPreceded,
       "[[\"k\"], nil]"},
  };
}

TEST(Reply, KnowsItsKindAndShape) {
  for (const Made& made : OneOfEach()) {
    EXPECT_EQ(made.reply.kind(), made.kind) << made.reply;
    EXPECT_EQ(made.reply.shape(), made.shape) << made.reply;
    EXPECT_EQ(made.reply.is_nil(), made.kind == Kind::kNil);
    EXPECT_EQ(made.reply.is_status(), made.kind == Kind::kStatus);
    EXPECT_EQ(made.reply.is_error(), made.kind == Kind::kError);
    EXPECT_EQ(made.reply.is_integer(), made.kind == Kind::kInteger);
    EXPECT_EQ(made.reply.is_bulk(), made.kind == Kind::kBulk);
    EXPECT_EQ(made.reply.is_array(), made.kind == Kind::kArray);
  }
}

TEST(Reply, DescribesItselfInOneLine) {
  for (const Made& made : OneOfEach()) {
    if (made.text.empty()) continue;
    EXPECT_EQ(made.reply.DebugString(), made.text);
    std::ostringstream out;
    out << made.reply;
    EXPECT_EQ(out.str(), made.text);
  }
}

TEST(Reply, IsEqualToItsCopiesAndToNoOtherValue) {
  const std::vector<Made> all = OneOfEach();
  for (const Made& made : all) {
    const Reply copy = made.reply;
    EXPECT_EQ(copy, made.reply);
    EXPECT_EQ(copy.shape(), made.shape);
  }
  EXPECT_NE(Reply::Integer(1), Reply::Integer(2));
  EXPECT_NE(Reply::Bulk("a"), Reply::Bulk("b"));
  EXPECT_NE(Reply::Array({Reply::Integer(1)}), Reply::Array({Reply::Integer(2)}));
  EXPECT_NE(Reply::Array({Reply::Integer(1)}), Reply::EmptyArray());
}

TEST(Reply, ComparesKindsBeforeValues) {
  EXPECT_NE(Reply::Bulk("1"), Reply::Integer(1));
  EXPECT_NE(Reply::Bulk("OK"), Reply::Ok());
  EXPECT_NE(Reply::Error("OK"), Reply::Ok());
  EXPECT_NE(Reply::Nil(), Reply::EmptyArray());
  EXPECT_NE(Reply::Nil(), Reply::Integer(0));
}

TEST(Reply, DoesNotLookAtShapesWhenItCompares) {
  EXPECT_EQ(Reply::NilArray(), Reply::Nil());
  EXPECT_EQ(Reply::Bool(true), Reply::Integer(1));
  EXPECT_EQ(Reply::Double("1"), Reply::Bulk("1"));
  EXPECT_EQ(Reply::Array({Reply::Map({Reply::Bool(false)})}),
            Reply::Array({Reply::Array({Reply::Integer(0)})}));
}

TEST(Reply, IsNilWhenItHasBeenMovedFrom) {
  for (Made& made : OneOfEach()) {
    const Reply copy = made.reply;
    Reply moved = std::move(made.reply);
    EXPECT_EQ(moved, copy);
    EXPECT_EQ(moved.shape(), made.shape);
    EXPECT_EQ(made.reply, Reply::Nil());
    EXPECT_EQ(made.reply.shape(), Shape::kPlain);
  }
}

TEST(Reply, IsAssignedAnyKindOverAnyOther) {
  const std::vector<Made> all = OneOfEach();
  for (const Made& from : all) {
    for (const Made& to : all) {
      Reply copied = to.reply;
      copied = from.reply;
      EXPECT_EQ(copied, from.reply);
      EXPECT_EQ(copied.shape(), from.shape);
      Reply moved = to.reply;
      moved = std::move(copied);
      EXPECT_EQ(moved, from.reply);
    }
  }
}

TEST(Reply, SurvivesAssignmentToItself) {
  Reply reply = Reply::Array({Reply::Bulk("element")});
  Reply& same = reply;
  reply = same;
  EXPECT_EQ(reply, Reply::Array({Reply::Bulk("element")}));
  reply = std::move(same);
  EXPECT_EQ(reply, Reply::Array({Reply::Bulk("element")}));
}

TEST(Reply, GivesItsValue) {
  EXPECT_EQ(Reply::Integer(5).integer(), 5);
  EXPECT_EQ(Reply::Bulk("b").text(), "b");
  EXPECT_EQ(Reply::Status("s").text(), "s");
  EXPECT_EQ(Reply::Error("e").text(), "e");
  EXPECT_EQ(Reply::Array({Reply::Integer(1)}).elements().size(), 1u);
}

TEST(Reply, LetsItsValueBeMovedOut) {
  Reply bulk = Reply::Bulk(std::string(100, 'x'));
  const char* const bytes = bulk.text().data();
  const std::string text = std::move(bulk).text();
  EXPECT_EQ(text.data(), bytes);
  Reply array = Reply::Array({Reply::Integer(1)});
  const std::vector<Reply> elements = std::move(array).elements();
  EXPECT_EQ(elements, std::vector<Reply>{Reply::Integer(1)});
}

TEST(Reply, NestsAsDeepAsItIsBuilt) {
  Reply reply = Reply::Integer(1);
  for (int i = 0; i < 3; ++i) reply = Reply::Array({std::move(reply), Reply::Nil()});
  EXPECT_EQ(reply.DebugString(), "[[[1, nil], nil], nil]");
  const Reply copy = reply;
  EXPECT_EQ(copy, reply);
}

TEST(QuoteBytes, EscapesWhatIsNotPrintable) {
  EXPECT_EQ(QuoteBytes(""), "\"\"");
  EXPECT_EQ(QuoteBytes("a \"b\" \\ \n\r\t"), "\"a \\\"b\\\" \\\\ \\n\\r\\t\"");
  EXPECT_EQ(QuoteBytes("\x7f\xff\x1f"), "\"\\x7f\\xff\\x1f\"");
}

RC_GTEST_PROP(QuoteBytes, TellsAnyTwoTextsApart, (std::string a, std::string b)) {
  RC_ASSERT((QuoteBytes(a) == QuoteBytes(b)) == (a == b));
}

RC_GTEST_PROP(QuoteBytes, WritesOneLineOfPrintableAscii, (std::string text)) {
  for (const char c : QuoteBytes(text)) RC_ASSERT(c >= 0x20 && c < 0x7f);
}

}  // namespace
}  // namespace redouble::inline v0_1::store
