// The goal: the parser accepts the same commands and reports the same protocol errors as
// redis-server 7.0.15, no matter how the bytes are divided.
#include "redouble/core/store/resp/request_parser.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace redouble::inline v0_1::store {
namespace {

using Progress = RequestParser::Progress;
using Words = std::vector<std::string>;

// The result of parsing a stream: the commands, and the error that ended it.
struct Outcome {
  std::vector<Words> commands;
  std::optional<std::string> error = std::nullopt;

  bool operator==(const Outcome&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
  return out << outcome.commands.size() << " commands, " << outcome.error.value_or("no error");
}

// Feeds a parser as a connection does: keeps bytes until they are consumed.
class Feeder {
 public:
  explicit Feeder(RequestParser::Limits limits = {}) : limits_(limits) {}

  void Feed(std::string_view bytes) {
    buffer_.append(bytes);
    while (!outcome_.error && !buffer_.empty()) {
      const Progress progress = parser_.Parse(buffer_, limits_);
      if (progress == Progress::kIncomplete) return;
      if (progress == Progress::kError) {
        outcome_.error = parser_.error();
        return;
      }
      if (!parser_.words().empty()) {
        outcome_.commands.emplace_back(parser_.words().begin(), parser_.words().end());
      }
      buffer_.erase(0, parser_.consumed());
    }
  }
  const Outcome& outcome() const { return outcome_; }
  const RequestParser& parser() const { return parser_; }

 private:
  const RequestParser::Limits limits_;
  RequestParser parser_;
  std::string buffer_;
  Outcome outcome_;
};

Outcome Read(std::string_view bytes, RequestParser::Limits limits = {}) {
  Feeder feeder(limits);
  feeder.Feed(bytes);
  return feeder.outcome();
}

std::vector<Words> Commands(std::string_view bytes) {
  const Outcome outcome = Read(bytes);
  EXPECT_EQ(outcome.error, std::nullopt);
  return outcome.commands;
}

std::string ErrorOf(std::string_view bytes, RequestParser::Limits limits = {}) {
  return Read(bytes, limits).error.value_or("");
}

std::string Encode(const Words& words) {
  std::string bytes = "*" + std::to_string(words.size()) + "\r\n";
  for (const std::string& word : words) {
    bytes += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
  }
  return bytes;
}

// Numbers with one or two digits take a faster path than longer ones if the command is complete.
TEST(RequestParser, ReadsNumbersOfAnyLengthAlike) {
  for (const size_t size : {0, 1, 9, 10, 99, 100, 12'345}) {
    for (const size_t count : {1, 9, 10, 99, 100}) {
      const Words words(count, std::string(size, 'x'));
      const std::string bytes = Encode(words);
      EXPECT_EQ(Commands(bytes + bytes), (std::vector<Words>{words, words}))
          << size << " " << count;
      Feeder feeder;
      feeder.Feed(bytes.substr(0, bytes.size() - 1));
      EXPECT_TRUE(feeder.outcome().commands.empty()) << size << " " << count;
      feeder.Feed(bytes.substr(bytes.size() - 1));
      EXPECT_EQ(feeder.outcome().commands, std::vector<Words>{words}) << size << " " << count;
    }
  }
}

// Skim returns the same as Parse.
RC_GTEST_PROP(RequestParser, SkimsShortCommandsAsItReadsThem,
              (const std::vector<Words>& commands)) {
  std::string stream;
  for (const Words& words : commands) {
    if (!words.empty()) stream += Encode(words);
  }
  RequestParser parser;
  std::string_view rest = stream;
  while (!rest.empty()) {
    size_t size = 0;
    std::string_view second;
    const bool skimmed = RequestParser::Skim(rest, size, second);
    RC_ASSERT(parser.Parse(rest, {}) == Progress::kCommand);
    const auto& words = parser.words();
    const auto is_long = [](std::string_view word) { return word.size() > 99; };
    const bool is_short = words.size() <= 99 && std::none_of(words.begin(), words.end(), is_long);
    RC_ASSERT(skimmed == is_short);
    if (skimmed) {
      RC_ASSERT(size == parser.consumed());
      RC_ASSERT(second == (words.size() > 1 ? words[1] : std::string_view()));
      RC_ASSERT(!RequestParser::Skim(rest.substr(0, size - 1), size, second));
    }
    rest.remove_prefix(parser.consumed());
  }
}

TEST(RequestParser, RefusesNumbersThatBeginWithZero) {
  EXPECT_EQ(Read("*01\r\n$4\r\nPING\r\n").error, "Protocol error: invalid multibulk length");
  EXPECT_EQ(Read("*1\r\n$04\r\nPING\r\n").error, "Protocol error: invalid bulk length");
}

TEST(RequestParser, ReadsAnArrayOfBulkStrings) {
  EXPECT_EQ(Commands("*2\r\n$3\r\nGET\r\n$1\r\nk\r\n"), std::vector<Words>({{"GET", "k"}}));
}

TEST(RequestParser, ReadsAPipeline) {
  EXPECT_EQ(Commands("*1\r\n$4\r\nPING\r\nPING\r\n*2\r\n$4\r\nECHO\r\n$2\r\n\r\n\r\n"),
            std::vector<Words>({{"PING"}, {"PING"}, {"ECHO", "\r\n"}}));
}

TEST(RequestParser, KeepsEmptyAndBinaryWords) {
  const Words words = {"SET", "", std::string("\0\xff\r\n", 4)};
  EXPECT_EQ(Commands(Encode(words)), std::vector<Words>({words}));
}

TEST(RequestParser, PassesOverEmptyLinesAndArrays) {
  EXPECT_EQ(Commands("\r\n\n*0\r\n*-1\r\n   \r\nPING\r\n"), std::vector<Words>({{"PING"}}));
}

TEST(RequestParser, ReadsInlineCommandsWithQuotes) {
  EXPECT_EQ(Commands("set  key\t\"a b\\x41\\n\\\"\\q\" 'it\\'s \\n'\n"),
            std::vector<Words>({{"set", "key", "a bA\n\"q", "it's \\n"}}));
  EXPECT_EQ(Commands("set k ''\r\n"), std::vector<Words>({{"set", "k", ""}}));
  EXPECT_EQ(Commands("echo a\"b c\"\r\n"), std::vector<Words>({{"echo", "ab c"}}));
}

TEST(RequestParser, EndsAnInlineWordNotAtAVerticalTab) {
  EXPECT_EQ(Commands("echo \v\fa\vb\fc\r\n"), std::vector<Words>({{"echo", "a\vb\fc"}}));
  EXPECT_EQ(Commands("echo a\vb \"c\"\r\n"), std::vector<Words>({{"echo", "a\vb", "c"}}));
}

TEST(RequestParser, SeesNoLineEndAfterAZeroByte) {
  const std::string_view hidden("echo a\r\necho\0b\r\necho c\r\n", 24);
  EXPECT_EQ(Commands(hidden), std::vector<Words>({{"echo", "a"}}));
  RequestParser parser;
  std::string input(hidden.substr(8));
  EXPECT_EQ(parser.Parse(input, {}), RequestParser::Progress::kIncomplete);
  input.append(70'000, '\n');
  EXPECT_EQ(parser.Parse(input, {}), RequestParser::Progress::kError);
}

TEST(RequestParser, SeesNoEndOfALengthAfterAZeroByte) {
  for (const std::string_view hidden :
       {std::string_view("*1\0\r\n", 5), std::string_view("*1\r\n\0$4\r\nPING\r\n", 15),
        std::string_view("*1\r\n$4\0\r\nPING\r\n", 15)}) {
    RequestParser parser;
    std::string input(hidden);
    EXPECT_EQ(parser.Parse(input, {}), RequestParser::Progress::kIncomplete) << hidden;
    input.append(70'000, 'x');
    EXPECT_EQ(parser.Parse(input, {}), RequestParser::Progress::kError) << hidden;
  }
}

TEST(RequestParser, SkipsVerticalTabsAndFormFeedsOnlyBetweenInlineWords) {
  EXPECT_EQ(Commands("\vecho\v \fa\fb \v\f\r\n"), std::vector<Words>({{"echo\v", "a\fb"}}));
  EXPECT_EQ(Commands("echo \v'a' \"b\"\vc\v\"d e\"\r\n"),
            std::vector<Words>({{"echo", "a", "b", "c\vd e"}}));
}

TEST(RequestParser, RefusesUnbalancedQuotes) {
  for (const char* line :
       {"set k \"a\r\n", "set k 'a\r\n", "set k \"a\"b\r\n", "set k 'a'b\r\n", "set k \"a\\\r\n"}) {
    EXPECT_EQ(ErrorOf(line), "Protocol error: unbalanced quotes in request") << line;
  }
}

TEST(RequestParser, RefusesALineWithoutEnd) {
  EXPECT_EQ(ErrorOf(std::string(64 * 1024, 'a')), "");
  EXPECT_EQ(ErrorOf(std::string(64 * 1024 + 1, 'a')), "Protocol error: too big inline request");
}

TEST(RequestParser, RefusesMalformedCounts) {
  for (const char* count :
       {"*x\r\n", "*\r\n", "*+1\r\n", "*1 \r\n", "*01\r\n", "*2147483648\r\n"}) {
    EXPECT_EQ(ErrorOf(count), "Protocol error: invalid multibulk length") << count;
  }
  EXPECT_EQ(ErrorOf("*" + std::string(64 * 1024, '1')),
            "Protocol error: too big mbulk count string");
}

TEST(RequestParser, RefusesMalformedSizes) {
  for (const char* size : {"$x\r\n", "$\r\n", "$-1\r\n", "$536870913\r\n"}) {
    EXPECT_EQ(ErrorOf(std::string("*1\r\n") + size), "Protocol error: invalid bulk length") << size;
  }
  EXPECT_EQ(ErrorOf("*1\r\n$" + std::string(64 * 1024, '1')),
            "Protocol error: too big bulk count string");
}

TEST(RequestParser, NamesTheByteInsteadOfASize) {
  EXPECT_EQ(ErrorOf("*1\r\nPING\r\n"), "Protocol error: expected '$', got 'P'");
  EXPECT_EQ(ErrorOf("*2\r\n$4\r\nECHO\r\n:1\r\n"), "Protocol error: expected '$', got ':'");
}

TEST(RequestParser, LimitsWhatUnauthenticatedClientsMaySend) {
  const RequestParser::Limits limits{.unauthenticated = true};
  EXPECT_EQ(ErrorOf("*10\r\n$16384\r\n", limits), "");
  EXPECT_EQ(ErrorOf("*11\r\n", limits), "Protocol error: unauthenticated multibulk length");
  EXPECT_EQ(ErrorOf("*1\r\n$16385\r\n", limits), "Protocol error: unauthenticated bulk length");
}

TEST(RequestParser, HasALimitForWords) {
  const RequestParser::Limits limits{.longest_bulk_bytes = 3};
  EXPECT_EQ(ErrorOf("*1\r\n$3\r\n", limits), "");
  EXPECT_EQ(ErrorOf("*1\r\n$4\r\n", limits), "Protocol error: invalid bulk length");
}

TEST(RequestParser, KeepsCommandsBeforeAnError) {
  const Outcome outcome = Read("PING\r\n*1\r\n$4\r\nPING\r\n*1\r\n!\r\n");
  EXPECT_EQ(outcome.commands.size(), 2u);
  EXPECT_EQ(outcome.error, "Protocol error: expected '$', got '!'");
}

TEST(RequestParser, ReportsTheSizeOfALargeWord) {
  Feeder feeder;
  feeder.Feed("*2\r\n$4\r\nECHO\r\n$100000\r\nabc");
  EXPECT_EQ(feeder.parser().bytes_wanted(), 14u + 9u + 100'000u + 2u);
}

// Commands of all forms, sometimes with bytes in between that are not a command.
rc::Gen<std::string> AnyStream() {
  const auto word = rc::gen::container<std::string>(rc::gen::arbitrary<char>());
  const auto array = rc::gen::map(rc::gen::container<Words>(word), Encode);
  const auto line = rc::gen::map(
      rc::gen::container<std::string>(rc::gen::element<char>('a', ' ', '"', '\'', '\\', 'x', '1')),
      [](const std::string& text) { return text + "\r\n"; });
  const auto junk = rc::gen::container<std::string>(
      rc::gen::element<char>('*', '$', '1', '2', '-', '\r', '\n', 'a'));
  return rc::gen::map(
      rc::gen::container<std::vector<std::string>>(rc::gen::oneOf(array, array, line, junk)),
      [](const std::vector<std::string>& parts) {
        std::string stream;
        for (const std::string& part : parts) stream += part;
        return stream;
      });
}

RC_GTEST_PROP(RequestParser, ReadsTheSameHoweverTheBytesAreSplit, ()) {
  const std::string stream = *AnyStream();
  const Outcome whole = Read(stream);
  Feeder feeder;
  for (size_t at = 0; at < stream.size();) {
    const size_t size = *rc::gen::inRange<size_t>(1, 9);
    feeder.Feed(std::string_view(stream).substr(at, size));
    at += size;
  }
  RC_ASSERT(feeder.outcome() == whole);
}

RC_GTEST_PROP(RequestParser, ReadsWhatAClientWrites, (const std::vector<Words>& commands)) {
  std::string stream;
  std::vector<Words> expected;
  for (const Words& words : commands) {
    stream += Encode(words);
    if (!words.empty()) expected.push_back(words);
  }
  RC_ASSERT(Read(stream) == Outcome{expected});
}

}  // namespace
}  // namespace redouble::inline v0_1::store
