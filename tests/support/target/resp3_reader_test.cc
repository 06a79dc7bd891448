#include "redouble/tests/support/target/resp3_reader.h"

#include <stdexcept>
#include <string>

#include "gtest/gtest.h"
#include "redouble/core/store/resp/reply_encoding.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::Reply;

// Returns the texts of all replies in the bytes.
std::string TextsOf(const std::string& bytes) {
  Resp3Reader reader;
  reader.Feed(bytes);
  std::string texts;
  while (const std::optional<Reply> reply = reader.Next()) texts += ShapedText(*reply) + ";";
  return texts;
}

TEST(Resp3Reader, ReadsEveryType) {
  EXPECT_EQ(
      TextsOf("_\r\n+OK\r\n-ERR no\r\n:-5\r\n#t\r\n,1.5\r\n(12\r\n$2\r\nhi\r\n=6\r\ntxt:hi\r\n"),
      "nil;OK;(error) ERR no;-5;bool 1;double \"1.5\";big number \"12\";\"hi\";"
      "verbatim \"hi\";");
  EXPECT_EQ(TextsOf("*2\r\n:1\r\n_\r\n%1\r\n+a\r\n*0\r\n~1\r\n:1\r\n>1\r\n:2\r\n"),
            "[1, nil];map[a, []];set[1];push[2];");
}

TEST(Resp3Reader, ReadsAttributesWithTheReplyAfterThem) {
  EXPECT_EQ(TextsOf("|1\r\n+a\r\n:1\r\n+OK\r\n:2\r\n"), "preceded[attributes[a, 1], OK];2;");
}

TEST(Resp3Reader, WaitsForTheWholeReply) {
  const std::string whole = "*3\r\n|1\r\n+a\r\n:1\r\n:0\r\n$4\r\na\r\nb\r\n%1\r\n:1\r\n,2\r\n";
  Resp3Reader reader;
  for (size_t i = 0; i + 1 < whole.size(); ++i) {
    reader.Feed(whole.substr(i, 1));
    ASSERT_EQ(reader.Next(), std::nullopt) << i;
  }
  reader.Feed("\n");
  EXPECT_EQ(ShapedText(reader.Next().value()),
            "[preceded[attributes[a, 1], 0], \"a\\r\\nb\", map[1, double \"2\"]]");
}

TEST(Resp3Reader, ReadsTheNilsOfResp2) { EXPECT_EQ(TextsOf("$-1\r\n*-1\r\n"), "nil;nil;"); }

TEST(Resp3Reader, RefusesATypeThatIsNone) { EXPECT_THROW(TextsOf("?0\r\n"), std::runtime_error); }

TEST(Resp3Reader, ReadsWhatTheEngineWouldSend) {
  std::string wire;
  AppendReply(Reply::Pairs({Reply::Bulk("a"), Reply::Double("1")}), store::Protocol::kResp3, wire);
  EXPECT_EQ(TextsOf(wire), "[[\"a\", double \"1\"]];");
}

TEST(ShapedText, NamesTheShapesThatOnlyTheEngineHas) {
  EXPECT_EQ(ShapedText(Reply::Pairs({Reply::Nil(), Reply::NilArray()})), "pairs[nil, nil]");
  EXPECT_EQ(ShapedText(Reply::MapOfPairs({})), "map of pairs[]");
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
