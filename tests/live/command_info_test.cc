// Goal: COMMAND returns the same replies as redis-server.
#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "redouble/core/store/table/command_table.h"
#include "redouble/tests/support/target/memory_target.h"
#include "redouble/tests/support/target/ordered_reply.h"
#include "redouble/tests/support/target/resp3_reader.h"
#include "redouble/tests/support/target/server_target.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::CommandSpec;
using store::Reply;

class CommandInfo : public testing::Test {
 protected:
  // A long reply arrives in pieces; this waits for all of it.
  static Reply ReplyOf(Target& target, const Words& words) {
    return target.RunAll(0, std::span(&words, 1)).front();
  }
  std::string OfMemory(const Words& words) { return ShapedText(ReplyOf(memory_, words)); }
  std::string OfServer(const Words& words) { return ShapedText(ReplyOf(server_, words)); }
  void ExpectSame(const Words& words) { EXPECT_EQ(OfMemory(words), OfServer(words)); }
  void ExpectSameInAnyOrder(const Words& words) {
    EXPECT_EQ(ShapedText(Ordered(ReplyOf(memory_, words))),
              ShapedText(Ordered(ReplyOf(server_, words))))
        << JoinWords(words);
  }
  // Compares the elements of a list, or rows.
  void ExpectSameElements(const Words& words) {
    const auto elements = [&](Target& target) {
      const Reply reply = ReplyOf(target, words);
      std::set<std::string> texts;
      for (const Reply& element : reply.elements()) {
        texts.insert(ShapedText(Ordered(element)));
      }
      return texts;
    };
    const std::set<std::string> ours = elements(memory_);
    const std::set<std::string> theirs = elements(server_);
    std::vector<std::string> differing;
    std::set_symmetric_difference(ours.begin(), ours.end(), theirs.begin(), theirs.end(),
                                  std::back_inserter(differing));
    EXPECT_EQ(differing, std::vector<std::string>()) << JoinWords(words);
  }

  // RESP3, whose reader in these tests supports the nesting depth of COMMAND.
  MemoryTarget memory_{{}, /*resp3=*/true};
  ServerTarget server_{{}, /*resp3=*/true};
};

TEST_F(CommandInfo, IsTheServersForEachCommand) {
  for (const CommandSpec& spec : store::AllCommands()) {
    if (!spec.versions.Has(store::Version::kRedis70)) continue;
    ExpectSameInAnyOrder({"COMMAND", "INFO", std::string(spec.name)});
    ExpectSameInAnyOrder({"COMMAND", "DOCS", std::string(spec.name)});
  }
  ExpectSame({"COMMAND", "INFO", "nosuch", "GET"});
  ExpectSame({"COMMAND", "DOCS", "nosuch"});
}

TEST_F(CommandInfo, IsTheServersForAllCommands) {
  ExpectSame({"COMMAND", "COUNT"});
  ExpectSameElements({"COMMAND"});
  ExpectSameElements({"COMMAND", "INFO"});
  ExpectSameInAnyOrder({"COMMAND", "DOCS"});
}

TEST_F(CommandInfo, FindsKeysAsTheServerDoes) {
  const std::vector<Words> kCommands = {
      {"GET", "k"},
      {"GET", "k", "x"},
      {"SET", "k", "v"},
      {"SET", "k", "v", "GET"},
      {"MSET", "a", "1", "b", "2"},
      {"MSET", "a", "1", "b"},
      {"BITFIELD", "k", "GET", "u8", "0"},
      {"BITFIELD", "k", "INCRBY", "u8", "0", "1"},
      {"BITOP", "AND", "d", "a", "b"},
      {"SORT", "k", "BY", "w", "GET", "g", "STORE", "d"},
      {"SORT_RO", "k", "BY", "w"},
      {"EVAL", "return 1", "2", "a", "b", "c"},
      {"EVAL", "return 1", "0", "a"},
      {"EVAL", "return 1", "3", "a"},
      {"EVAL", "return 1", "x", "a"},
      {"ZUNIONSTORE", "d", "2", "a", "b"},
      {"ZUNIONSTORE", "d", "0", "a"},
      {"ZUNIONSTORE", "d", "x", "a"},
      {"LMPOP", "2", "a", "b", "LEFT"},
      {"XREAD", "COUNT", "1", "STREAMS", "a", "b", "0", "0"},
      {"XREADGROUP", "GROUP", "g", "c", "STREAMS", "a", ">"},
      {"XGROUP", "CREATE", "k", "g", "0"},
      {"XGROUP", "NOSUCH", "k"},
      {"OBJECT", "ENCODING", "k"},
      {"GEORADIUS", "k", "0", "0", "1", "m", "STORE", "d"},
      {"BLPOP", "a", "b", "0"},
      {"PING", "x"},
      {"SPUBLISH", "c", "m"},
      {"NOSUCH", "x"},
      {"COMMAND", "GETKEYS"},
      {"RENAME", "a", "b"},
      {"COPY", "a", "b"},
      {"MIGRATE", "h", "1", "k", "0", "10"},
      {"MIGRATE", "h", "1", "", "0", "10", "COPY"},
      {"MIGRATE", "h", "1", "", "0", "10", "KEYS"},
      {"MIGRATE", "h", "1", "k", "0", "10", "KEYS"},
      {"MIGRATE", "h", "1", "", "0", "10", "KEYS", "a", "b"},
      {"MIGRATE", "h", "1", "k", "0", "10", "COPY", "KEYS", "a", "b"},
      {"MIGRATE", "h", "1", "", "0", "10", "AUTH", "keys", "KEYS", "a", "keys", "b"},
      {"MIGRATE", "h", "1", "", "0", "10", "AUTH", "keys", "COPY"},
      {"MIGRATE", "h", "1", "", "0", "10", "AUTH", "keys", "KEYS"},
      {"MIGRATE", "h", "1", "", "0", "10", "AUTH2", "keys", "p", "KEYS", "a"},
      {"MIGRATE", "h", "1", "", "0", "10", "AUTH2", "u", "keys", "KEYS", "a"},
  };
  for (const Words& command : kCommands) {
    for (const char* subcommand : {"GETKEYS", "GETKEYSANDFLAGS"}) {
      Words words = {"COMMAND", subcommand};
      words.insert(words.end(), command.begin(), command.end());
      EXPECT_EQ(OfMemory(words), OfServer(words)) << JoinWords(words);
    }
  }
}

TEST_F(CommandInfo, ListsWhatTheServerLists) {
  for (const Words& words :
       {Words{"COMMAND", "LIST"}, Words{"COMMAND", "LIST", "FILTERBY", "PATTERN", "X*"},
        Words{"COMMAND", "LIST", "FILTERBY", "PATTERN", "*|H*"},
        Words{"COMMAND", "LIST", "FILTERBY", "ACLCAT", "HyperLogLog"},
        Words{"COMMAND", "LIST", "FILTERBY", "ACLCAT", "dangerous"},
        Words{"COMMAND", "LIST", "FILTERBY", "ACLCAT", "nosuch"},
        Words{"COMMAND", "LIST", "FILTERBY", "MODULE", "m"}}) {
    ExpectSameElements(words);
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
