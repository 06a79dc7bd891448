#include "redouble/core/store/resp/reply_reader.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/resp/reply_writer_for_test.h"

namespace redouble::inline v0_1::store {
namespace {

using base::IsOk;
using base::StatusIs;
using Outcome = ReplyReader::Outcome;

// All replies that are complete so far.
std::vector<Reply> Drain(ReplyReader& reader) {
  std::vector<Reply> replies;
  Reply reply;
  while (reader.Next(reply) == Outcome::kReply) replies.push_back(std::move(reply));
  return replies;
}

std::vector<Reply> ReadAll(std::string_view text) {
  ReplyReader reader;
  reader.Feed(text);
  std::vector<Reply> replies = Drain(reader);
  EXPECT_THAT(reader.status(), IsOk()) << reader.status();
  return replies;
}

Reply ReadOne(std::string_view text) {
  std::vector<Reply> replies = ReadAll(text);
  EXPECT_EQ(replies.size(), 1u);
  return replies.empty() ? Reply::Error("nothing was read") : std::move(replies[0]);
}

absl::Status FailureOf(std::string_view text) {
  ReplyReader reader;
  reader.Feed(text);
  Reply reply;
  Outcome outcome = reader.Next(reply);
  while (outcome == Outcome::kReply) outcome = reader.Next(reply);
  EXPECT_EQ(outcome, Outcome::kFailed);
  return reader.status();
}

// The replies of RESP3, with their shapes.
std::vector<Reply> ReadAll3(std::string_view text) {
  ReplyReader reader(ReplyReader::kDefaultMaxReplyBytes, Protocol::kResp3);
  reader.Feed(text);
  std::vector<Reply> replies = Drain(reader);
  EXPECT_THAT(reader.status(), IsOk()) << reader.status();
  EXPECT_TRUE(reader.idle());
  return replies;
}

void ExpectOne3(std::string_view text, const Reply& expected) {
  const std::vector<Reply> replies = ReadAll3(text);
  ASSERT_EQ(replies.size(), 1u) << text;
  EXPECT_EQ(replies[0], expected);
  EXPECT_EQ(replies[0].shape(), expected.shape()) << text;
}

std::string FailureOf3(std::string_view text) {
  ReplyReader reader(ReplyReader::kDefaultMaxReplyBytes, Protocol::kResp3);
  reader.Feed(text);
  Drain(reader);
  return std::string(reader.status().message());
}

std::string Nested(size_t depth) {
  std::string text;
  for (size_t i = 0; i < depth; ++i) text += "*1\r\n";
  return text + ":7\r\n";
}

TEST(ReplyReader, ReadsEachKind) {
  EXPECT_EQ(ReadOne("+OK\r\n"), Reply::Ok());
  EXPECT_EQ(ReadOne("-WRONGTYPE no\r\n"), Reply::Error("WRONGTYPE no"));
  EXPECT_EQ(ReadOne(":-9223372036854775808\r\n"), Reply::Integer(INT64_MIN));
  EXPECT_EQ(ReadOne("$3\r\nabc\r\n"), Reply::Bulk("abc"));
  EXPECT_EQ(ReadOne("$0\r\n\r\n"), Reply::Bulk(""));
  EXPECT_EQ(ReadOne("$-1\r\n"), Reply::Nil());
  EXPECT_EQ(ReadOne("*0\r\n"), Reply::EmptyArray());
  EXPECT_EQ(ReadOne("*2\r\n:1\r\n$1\r\na\r\n"),
            Reply::Array({Reply::Integer(1), Reply::Bulk("a")}));
}

TEST(ReplyReader, DistinguishesANilArrayFromANilString) {
  EXPECT_EQ(ReadOne("*-1\r\n").shape(), Reply::Shape::kNilArray);
  EXPECT_EQ(ReadOne("$-1\r\n").shape(), Reply::Shape::kPlain);
}

TEST(ReplyReader, ReadsEachTypeOfResp3) {
  ExpectOne3("_\r\n", Reply::Nil());
  ExpectOne3("#t\r\n", Reply::Bool(true));
  ExpectOne3("#f\r\n", Reply::Bool(false));
  ExpectOne3(",3.25\r\n", Reply::Double("3.25"));
  ExpectOne3(",-inf\r\n", Reply::Double("-inf"));
  ExpectOne3("(-12345678901234567890\r\n", Reply::BigNumber("-12345678901234567890"));
  ExpectOne3("=8\r\ntxt:abcd\r\n", Reply::Verbatim("abcd"));
  ExpectOne3("=4\r\ntxt:\r\n", Reply::Verbatim(""));
  ExpectOne3("!5\r\nERR x\r\n", Reply::Error("ERR x"));
  ExpectOne3("%1\r\n+k\r\n:1\r\n", Reply::Map({Reply::Status("k"), Reply::Integer(1)}));
  ExpectOne3("%0\r\n", Reply::Map({}));
  ExpectOne3("~2\r\n:1\r\n:2\r\n", Reply::Set({Reply::Integer(1), Reply::Integer(2)}));
  ExpectOne3("~0\r\n", Reply::Set({}));
  ExpectOne3(">2\r\n$10\r\ninvalidate\r\n_\r\n",
             Reply::Push({Reply::Bulk("invalidate"), Reply::Nil()}));
  ExpectOne3("$-1\r\n", Reply::Nil());
}

TEST(ReplyReader, ReadsPushesBetweenReplies) {
  const std::vector<Reply> replies = ReadAll3("+a\r\n>1\r\n+p\r\n%1\r\n~1\r\n:1\r\n_\r\n");
  ASSERT_EQ(replies.size(), 3u);
  EXPECT_EQ(replies[1].shape(), Reply::Shape::kPush);
  EXPECT_EQ(replies[2], Reply::Map({Reply::Set({Reply::Integer(1)}), Reply::Nil()}));
}

TEST(ReplyReader, SkipsAttributesWhereverTheyAre) {
  ExpectOne3("|1\r\n+ttl\r\n:5\r\n$1\r\nv\r\n", Reply::Bulk("v"));
  ExpectOne3("*2\r\n:1\r\n|1\r\n+a\r\n*1\r\n:9\r\n:2\r\n",
             Reply::Array({Reply::Integer(1), Reply::Integer(2)}));
  ExpectOne3("|0\r\n:1\r\n", Reply::Integer(1));
}

TEST(ReplyReader, RefusesMalformedValuesOfResp3) {
  for (const std::string_view text : {"_x\r\n", "#y\r\n", ",\r\n", "(\r\n", "=3\r\ntxt\r\n",
                                      "%-1\r\n", "~?\r\n", ">-1\r\n", "*1\r\n>0\r\n", "$?\r\n"}) {
    EXPECT_NE(FailureOf3(text), "") << text;
  }
}

TEST(ReplyReader, KnowsNoTypesOfResp3InResp2) {
  for (const char* const text : {"_\r\n", "%0\r\n", ">0\r\n", "#t\r\n"}) {
    EXPECT_EQ(FailureOf(text).message(), "Redis's reply cannot be read: a reply begins with byte " +
                                             std::to_string(static_cast<unsigned char>(text[0])));
  }
}

TEST(ReplyReader, KeepsAnyBytesOfAString) {
  const std::string bytes("\r\n\0*1\r\n\xff", 9);
  EXPECT_EQ(ReadOne("$9\r\n" + bytes + "\r\n"), Reply::Bulk(bytes));
}

TEST(ReplyReader, PutsElementsBehindANestedArrayInTheirPlace) {
  EXPECT_EQ(ReadOne("*3\r\n*2\r\n:1\r\n*0\r\n*-1\r\n:2\r\n"),
            Reply::Array({Reply::Array({Reply::Integer(1), Reply::EmptyArray()}), Reply::Nil(),
                          Reply::Integer(2)}));
}

TEST(ReplyReader, ReturnsRepliesInOrder) {
  EXPECT_EQ(ReadAll("+a\r\n*1\r\n:1\r\n+b\r\n"),
            (std::vector<Reply>{Reply::Status("a"), Reply::Array({Reply::Integer(1)}),
                                Reply::Status("b")}));
}

TEST(ReplyReader, NeedsMoreUntilAReplyIsWhole) {
  ReplyReader reader;
  Reply reply = Reply::Status("untouched");
  EXPECT_EQ(reader.Next(reply), Outcome::kNeedMore);
  reader.Feed("*2\r\n$3\r\nab");
  EXPECT_EQ(reader.Next(reply), Outcome::kNeedMore);
  EXPECT_EQ(reply, Reply::Status("untouched"));
  reader.Feed("c\r\n:1\r\n");
  EXPECT_EQ(reader.Next(reply), Outcome::kReply);
  EXPECT_EQ(reply, Reply::Array({Reply::Bulk("abc"), Reply::Integer(1)}));
}

TEST(ReplyReader, IsIdleBetweenReplies) {
  ReplyReader reader;
  EXPECT_TRUE(reader.idle());
  reader.Feed("+OK\r\n+O");
  EXPECT_EQ(Drain(reader).size(), 1u);
  EXPECT_FALSE(reader.idle());
  reader.Feed("K\r\n");
  EXPECT_EQ(Drain(reader).size(), 1u);
  EXPECT_TRUE(reader.idle());
}

TEST(ReplyReader, ReadsArraysNestedAsDeepAsScriptsReturnThemAndNoDeeper) {
  EXPECT_EQ(ReadOne(Nested(12)).DebugString(), "[[[[[[[[[[[[7]]]]]]]]]]]]");
  ReadOne(Nested(ReplyReader::kMaxNesting));
  const absl::Status status = FailureOf(Nested(ReplyReader::kMaxNesting + 1));
  EXPECT_EQ(store::ErrorKindOf(status), store::ErrorKind::kProtocol);
  EXPECT_EQ(status.message(), "Redis's reply cannot be read: arrays are nested deeper than 8192");
}

TEST(ReplyReader, FailsOnWhatIsNoReply) {
  for (const char* const text : {"HTTP/1.1 400 Bad Request\r\n", "HTTP"}) {
    const absl::Status status = FailureOf(text);
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInternal));
    EXPECT_EQ(store::ErrorKindOf(status), store::ErrorKind::kProtocol);
    EXPECT_EQ(status.message(), "Redis's reply cannot be read: a reply begins with byte 72");
  }
}

TEST(ReplyReader, FailsOnMalformedLineEnds) {
  const auto message = [](std::string_view text) {
    return std::string(FailureOf(text).message()).substr(30);
  };
  EXPECT_EQ(message("\r\n"), "a line is empty");
  EXPECT_EQ(message("+OK\rx"), "a line end is malformed");
  EXPECT_EQ(message("$3\r\nabcde"), "a string has no end");
  EXPECT_EQ(message("+" + std::string(65 * 1024, 'x')), "a line has no end");
  ReplyReader split;
  split.Feed("$3\r\nab");
  EXPECT_EQ(Drain(split).size(), 0u);
  split.Feed("cde");
  EXPECT_EQ(Drain(split).size(), 0u);
  EXPECT_EQ(split.status().message(), "Redis's reply cannot be read: a string has no end");
}

TEST(ReplyReader, ReadsALongStringInPieces) {
  const std::string value(1'000'000, 'v');
  const std::string text = ToResp(Reply::Array({Reply::Bulk(value), Reply::Integer(1)}));
  ReplyReader reader;
  std::vector<Reply> read;
  for (size_t i = 0; i < text.size(); i += 16 * 1024) {
    reader.Feed(std::string_view(text).substr(i, 16 * 1024));
    for (Reply& reply : Drain(reader)) read.push_back(std::move(reply));
  }
  EXPECT_EQ(read, std::vector<Reply>{Reply::Array({Reply::Bulk(value), Reply::Integer(1)})});
  EXPECT_TRUE(reader.idle());
}

TEST(ReplyReader, FailsOnMalformedNumbers) {
  EXPECT_FALSE(FailureOf(":12x\r\n").ok());
  EXPECT_FALSE(FailureOf("$x\r\n").ok());
  EXPECT_FALSE(FailureOf("$-2\r\n").ok());
  EXPECT_FALSE(FailureOf("*-2\r\n").ok());
  EXPECT_FALSE(FailureOf("*99999999999\r\n").ok());
}

TEST(ReplyReader, ReturnsTheRepliesBeforeAFailureOnly) {
  ReplyReader reader;
  reader.Feed("+OK\r\n?\r\n+OK\r\n");
  EXPECT_EQ(Drain(reader), std::vector<Reply>{Reply::Ok()});
  EXPECT_FALSE(reader.status().ok());
  reader.Feed("+OK\r\n");
  Reply reply;
  EXPECT_EQ(reader.Next(reply), Outcome::kFailed);
}

TEST(ReplyReader, DoesNotTrustAnAnnouncedSize) {
  ReplyReader reader;
  reader.Feed("*2000000000\r\n*2000000000\r\n$500000000\r\n");
  EXPECT_EQ(Drain(reader).size(), 0u);
  EXPECT_THAT(reader.status(), IsOk());
}

TEST(ReplyReader, RefusesAReplyBeyondItsLimit) {
  ReplyReader reader(/*max_reply_bytes=*/100);
  const std::string small = ToResp(Reply::Bulk(std::string(50, 'x')));
  for (int i = 0; i < 10; ++i) {
    reader.Feed(small + small.substr(0, 20));
    EXPECT_EQ(Drain(reader).size(), 1u);
    reader.Feed(small.substr(20));
    EXPECT_EQ(Drain(reader).size(), 1u);
  }
  reader.Feed("$1000\r\n" + std::string(100, 'x'));
  Reply reply;
  EXPECT_EQ(reader.Next(reply), Outcome::kFailed);
  EXPECT_EQ(reader.status().message(),
            "Redis's reply cannot be read: a reply is larger than the limit of 100 bytes");
}

TEST(ReplyReader, MayBeDestroyedInTheMiddleOfAReply) {
  ReplyReader reader;
  reader.Feed("*3\r\n$3\r\nabc\r\n*2\r\n:1\r\n");
  EXPECT_EQ(Drain(reader).size(), 0u);
}

constexpr int kDepth = 10;

std::string Line() {
  return *rc::gen::container<std::string>(
      rc::gen::suchThat(rc::gen::arbitrary<char>(), [](char c) { return c != '\r' && c != '\n'; }));
}

Reply AnyReply(int nesting) {
  const int kind = *rc::gen::inRange(0, nesting == 0 ? 6 : 9);
  switch (kind) {
    case 0:
      return Reply::Nil();
    case 1:
      return Reply::NilArray();
    case 2:
      return Reply::Status(Line());
    case 3:
      return Reply::Error(Line());
    case 4:
      return Reply::Integer(*rc::gen::arbitrary<int64_t>());
    case 5:
      return Reply::Bulk(*rc::gen::arbitrary<std::string>());
    default:
      std::vector<Reply> elements;
      const int size = *rc::gen::inRange(0, 4);
      for (int i = 0; i < size; ++i) elements.push_back(AnyReply(nesting - 1));
      return Reply::Array(std::move(elements));
  }
}

Reply AnyReply3(int nesting) {
  const int kind = *rc::gen::inRange(0, nesting == 0 ? 5 : 8);
  if (kind == 0) return Reply::Bool(*rc::gen::arbitrary<bool>());
  if (kind == 1) return Reply::Double("0.5");
  if (kind == 2) return Reply::Verbatim(*rc::gen::arbitrary<std::string>());
  if (kind == 3) return Reply::BigNumber("-17");
  if (kind == 4) return AnyReply(0);
  std::vector<Reply> elements;
  const int size = 2 * *rc::gen::inRange(0, 3);
  for (int i = 0; i < size; ++i) elements.push_back(AnyReply3(nesting - 1));
  if (kind == 5) return Reply::Map(std::move(elements));
  if (kind == 6) return Reply::Set(std::move(elements));
  return Reply::Array(std::move(elements));
}

RC_GTEST_PROP(ReplyReaderProperty, ReadsWhatWasWrittenSplitAtEveryByte, ()) {
  const std::vector<Reply> written = {AnyReply(kDepth), AnyReply(kDepth)};
  const std::string text = ToResp(written[0]) + ToResp(written[1]);
  RC_PRE(text.size() < 4096);
  for (size_t split = 0; split <= text.size(); ++split) {
    ReplyReader reader;
    reader.Feed(std::string_view(text).substr(0, split));
    std::vector<Reply> read = Drain(reader);
    reader.Feed(std::string_view(text).substr(split));
    for (Reply& reply : Drain(reader)) read.push_back(std::move(reply));
    RC_ASSERT(read == written);
  }
}

// RESP3 distinguishes a set from an array, and so on, so texts are compared.
RC_GTEST_PROP(ReplyReaderProperty, ReadsResp3AsItWasWrittenByteByByte, ()) {
  std::string text;
  AppendReply(Reply::Push({Reply::Bulk("p"), AnyReply3(2)}), Protocol::kResp3, text);
  AppendReply(AnyReply3(kDepth), Protocol::kResp3, text);
  ReplyReader reader(ReplyReader::kDefaultMaxReplyBytes, Protocol::kResp3);
  std::string again;
  for (const char byte : text) {
    reader.Feed(std::string_view(&byte, 1));
    for (const Reply& reply : Drain(reader)) AppendReply(reply, Protocol::kResp3, again);
  }
  RC_ASSERT(again == text);
}

RC_GTEST_PROP(ReplyReaderProperty, ReadsByteByByte, ()) {
  const Reply written = AnyReply(kDepth);
  ReplyReader reader;
  std::vector<Reply> read;
  for (const char byte : ToResp(written)) {
    RC_ASSERT(read.empty());
    reader.Feed(std::string_view(&byte, 1));
    read = Drain(reader);
  }
  RC_ASSERT(read == std::vector<Reply>{written});
}

RC_GTEST_PROP(ReplyReaderProperty, SurvivesAnyBytes, (const std::string& noise)) {
  ReplyReader reader;
  reader.Feed(noise);
  Drain(reader);
  Reply reply;
  RC_ASSERT(reader.Next(reply) != Outcome::kReply);
}

}  // namespace
}  // namespace redouble::inline v0_1::store
