// The goal: COMMAND says of the engine's commands what redis-server says of them.
#include <algorithm>
#include <string>
#include <vector>

#include "core/store/command_table.h"
#include "gtest/gtest.h"
#include "tests/support/memory_target.h"
#include "tests/support/resp3_reader.h"
#include "tests/support/server_target.h"

namespace redouble::tests {
namespace {

using store::CommandSpec;
using store::Reply;

class CommandInfo : public testing::Test {
 protected:
  std::string OfMemory(const Words& words) { return ShapedText(*memory_.Run(0, words)); }
  std::string OfServer(const Words& words) { return ShapedText(*server_.Run(0, words)); }
  void ExpectSame(const Words& words) { EXPECT_EQ(OfMemory(words), OfServer(words)); }

  // RESP3, whose reader here nests as deep as COMMAND does.
  MemoryTarget memory_{{}, /*resp3=*/true};
  ServerTarget server_{{}, /*resp3=*/true};
};

TEST_F(CommandInfo, IsTheServers) {
  for (const CommandSpec& spec : store::AllCommands()) {
    // The server lists subcommands in no order, and more of them.
    if (store::IsContainer(spec.id)) continue;
    ExpectSame({"COMMAND", "INFO", std::string(spec.name)});
  }
  ExpectSame({"COMMAND", "INFO", "nosuch", "GET"});
}

TEST_F(CommandInfo, OfContainersIsTheServersButForTheirSubcommands) {
  for (const CommandSpec& spec : store::AllCommands()) {
    if (!store::IsContainer(spec.id)) continue;
    const Words words = {"COMMAND", "INFO", std::string(spec.name)};
    const Reply ours = memory_.Run(0, words)->elements()[0];
    const Reply theirs = server_.Run(0, words)->elements()[0];
    for (size_t i = 0; i + 1 < theirs.elements().size(); ++i) {
      EXPECT_EQ(ShapedText(ours.elements()[i]), ShapedText(theirs.elements()[i])) << spec.name;
    }
    EXPECT_FALSE(ours.elements().back().elements().empty()) << spec.name;
  }
}

// The value that stands behind a name in a map; nil when there is none.
Reply FieldOf(const Reply& map, const std::string& name) {
  for (size_t i = 0; i + 1 < map.elements().size(); i += 2) {
    if (map.elements()[i].text() == name) return map.elements()[i + 1];
  }
  return Reply::Nil();
}

TEST_F(CommandInfo, DocsAreTheServersAsFarAsTheyGo) {
  for (const CommandSpec& spec : store::AllCommands()) {
    const Words words = {"COMMAND", "DOCS", std::string(spec.name)};
    const Reply ours = memory_.Run(0, words)->elements()[1];
    const Reply theirs = server_.Run(0, words)->elements()[1];
    for (const char* name : {"summary", "since", "group", "complexity"}) {
      EXPECT_EQ(FieldOf(ours, name), FieldOf(theirs, name)) << spec.name;
    }
  }
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
  };
  for (const Words& command : kCommands) {
    for (const char* subcommand : {"GETKEYS", "GETKEYSANDFLAGS"}) {
      Words words = {"COMMAND", subcommand};
      words.insert(words.end(), command.begin(), command.end());
      EXPECT_EQ(OfMemory(words), OfServer(words)) << JoinWords(words);
    }
  }
}

TEST_F(CommandInfo, ListsWhatTheServerListsAsFarAsItHasIt) {
  for (const Words& words :
       {Words{"COMMAND", "LIST"}, Words{"COMMAND", "LIST", "FILTERBY", "PATTERN", "X*|C*"},
        Words{"COMMAND", "LIST", "FILTERBY", "ACLCAT", "HyperLogLog"},
        Words{"COMMAND", "LIST", "FILTERBY", "ACLCAT", "nosuch"},
        Words{"COMMAND", "LIST", "FILTERBY", "MODULE", "m"}}) {
    const std::vector<Reply> ours = memory_.Run(0, words)->elements();
    const std::vector<Reply> theirs = server_.Run(0, words)->elements();
    for (const Reply& name : ours) {
      EXPECT_NE(std::find(theirs.begin(), theirs.end(), name), theirs.end()) << name;
    }
    EXPECT_EQ(ours.empty(), theirs.empty()) << JoinWords(words);
  }
}

TEST_F(CommandInfo, CountsWhatItLists) {
  EXPECT_EQ(memory_.Run(0, {"COMMAND", "COUNT"})->integer(),
            static_cast<int64_t>(memory_.Run(0, {"COMMAND", "LIST"})->elements().size()));
  EXPECT_EQ(memory_.Run(0, {"COMMAND"})->elements().size(),
            memory_.Run(0, {"COMMAND", "LIST"})->elements().size());
}

}  // namespace
}  // namespace redouble::tests
