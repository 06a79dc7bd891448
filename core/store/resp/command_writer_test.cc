#include "redouble/core/store/resp/command_writer.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "redouble/core/store/batch.h"
#include "redouble/core/store/resp/request_parser.h"

namespace redouble::inline v0_1::store {
namespace {

std::string Written(const Command& command) {
  std::string out;
  AppendCommand(command, out);
  return out;
}

class UnsentRequest final : public Request {
 public:
  UnsentRequest(Kind kind, std::span<const Command> commands) : Request(kind, commands) {}

 private:
  void OnComplete(absl::StatusOr<Reply>&&) override {}
};

std::string Written(const Request& request) {
  std::string out;
  AppendRequest(request, out);
  return out;
}

// RESP's array of bulk strings, written out a second time.
std::string Expected(const std::vector<std::string>& words) {
  std::string out = "*" + std::to_string(words.size()) + "\r\n";
  for (const std::string& word : words) {
    out += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
  }
  return out;
}

TEST(CommandWriter, WritesNameAndArguments) {
  EXPECT_EQ(Written(Command(CommandId::kGet, {"key"})), "*2\r\n$3\r\nget\r\n$3\r\nkey\r\n");
  EXPECT_EQ(Written(Command::Named("PING")), "*1\r\n$4\r\nPING\r\n");
}

TEST(CommandWriter, KeepsAnyBytes) {
  const std::string_view value("\r\n\0$3\r\n", 7);
  EXPECT_EQ(Written(Command(CommandId::kSet, {"", value})),
            "*3\r\n$3\r\nset\r\n$0\r\n\r\n$7\r\n" + std::string(value) + "\r\n");
}

TEST(CommandWriter, AppendsToTheBuffer) {
  std::string out = "before";
  AppendCommand(Command(CommandId::kTime), out);
  EXPECT_EQ(out, "before*1\r\n$4\r\ntime\r\n");
}

TEST(CommandWriter, WritesNumbersThatTheCommandKeeps) {
  Command command(CommandId::kIncrBy, {"n"});
  command.AddInteger(-12);
  EXPECT_EQ(Written(command), "*3\r\n$6\r\nincrby\r\n$1\r\nn\r\n$3\r\n-12\r\n");
}

TEST(CommandWriter, WritesAPipelineAsItsCommands) {
  Batch batch(Batch::Atomicity::kPipeline);
  batch.Add(CommandId::kTime);
  batch.Add(CommandId::kDbSize);
  const UnsentRequest request(Request::Kind::kPipeline, batch.commands());
  EXPECT_EQ(Written(request), "*1\r\n$4\r\ntime\r\n*1\r\n$6\r\ndbsize\r\n");
  EXPECT_EQ(ReplyCount(request), 2u);
}

TEST(CommandWriter, WritesATransactionBetweenMultiAndExec) {
  Batch batch(Batch::Atomicity::kTransaction);
  batch.Add(CommandId::kTime);
  const UnsentRequest request(Request::Kind::kTransaction, batch.commands());
  EXPECT_EQ(Written(request), "*1\r\n$5\r\nMULTI\r\n*1\r\n$4\r\ntime\r\n*1\r\n$4\r\nEXEC\r\n");
  EXPECT_EQ(ReplyCount(request), 3u);
}

RC_GTEST_PROP(CommandWriterProperty, IsReadBackByTheRequestParser,
              (const std::vector<std::string>& arguments)) {
  Command command = Command::Named("ANY");
  command.AddAll(arguments);
  std::vector<std::string> words = {"ANY"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const std::string written = Written(command);
  RC_ASSERT(written == Expected(words));
  RequestParser parser;
  RC_ASSERT(parser.Parse(written, {}) == RequestParser::Progress::kCommand);
  RC_ASSERT(std::vector<std::string>(parser.words().begin(), parser.words().end()) == words);
  RC_ASSERT(parser.consumed() == written.size());
}

}  // namespace
}  // namespace redouble::inline v0_1::store
