#include "redouble/backends/redis/fsm/cluster/command_split.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "redouble/core/base/hash/crc.h"

namespace redouble::inline v0_1::redis {
namespace {

using store::Command;
using store::Reply;
using Words = std::vector<std::string_view>;

Command Of(const Words& words) { return Command::Named(words[0], std::span(words).subspan(1)); }

// The commands of the parts: "MGET a {a}1", ...
std::vector<std::string> Parts(const Words& words) {
  const Command command = Of(words);
  const std::optional<CommandSplit> split = CommandSplit::Of(command);
  std::vector<std::string> parts;
  for (size_t i = 0; split && i < split->size(); ++i) {
    const Command part = split->CommandOf(i);
    std::string text(part.name());
    for (const std::string_view word : part.arguments()) text += " " + std::string(word);
    parts.push_back(text);
  }
  return parts;
}

Reply Merged(const Words& words, std::vector<Reply> replies) {
  const Command command = Of(words);
  const std::optional<CommandSplit> split = CommandSplit::Of(command);
  EXPECT_TRUE(split.has_value());
  return split ? split->Merge(std::move(replies)) : Reply::Nil();
}

TEST(CommandSplit, HasAPartForEachSlot) {
  EXPECT_EQ(Parts({"MGET", "a", "b", "{a}1"}), (std::vector<std::string>{"MGET a {a}1", "MGET b"}));
  EXPECT_EQ(Parts({"mset", "a", "1", "b", "2", "{a}1", "3"}),
            (std::vector<std::string>{"mset a 1 {a}1 3", "mset b 2"}));
  for (const std::string name : {"DEL", "UNLINK", "EXISTS", "TOUCH"}) {
    EXPECT_EQ(Parts({name, "a", "b"}), (std::vector<std::string>{name + " a", name + " b"}));
  }
}

TEST(CommandSplit, KnowsTheSlots) {
  const Command command = Of({"DEL", "a", "b"});
  const std::optional<CommandSplit> split = CommandSplit::Of(command);
  ASSERT_TRUE(split.has_value());
  EXPECT_EQ(split->slot(0), base::KeySlot("a"));
  EXPECT_EQ(split->slot(1), base::KeySlot("b"));
}

TEST(CommandSplit, LeavesOtherCommandsWhole) {
  for (const Words& words : std::vector<Words>{{"MGET", "a", "{a}1"},
                                               {"MGET"},
                                               {"MSET", "a", "1", "b"},
                                               {"MSETNX", "a", "1", "b", "2"},
                                               {"SUNION", "a", "b"},
                                               {"NOSUCH", "a", "b"},
                                               {"PING"}}) {
    EXPECT_EQ(Parts(words), std::vector<std::string>()) << words[0];
  }
}

TEST(CommandSplit, PutsValuesIntoTheOrderOfTheKeys) {
  const Reply one = Reply::Bulk("1");
  const Reply two = Reply::Bulk("2");
  EXPECT_EQ(
      Merged({"MGET", "a", "b", "{a}1"}, {Reply::Array({one, Reply::Nil()}), Reply::Array({two})}),
      Reply::Array({one, two, Reply::Nil()}));
}

TEST(CommandSplit, AddsNumbers) {
  EXPECT_EQ(Merged({"DEL", "a", "b"}, {Reply::Integer(1), Reply::Integer(2)}), Reply::Integer(3));
  EXPECT_EQ(Merged({"MSET", "a", "1", "b", "2"}, {Reply::Ok(), Reply::Ok()}), Reply::Ok());
}

TEST(CommandSplit, ReturnsTheFirstError) {
  EXPECT_EQ(Merged({"MGET", "a", "b"}, {Reply::Array({Reply::Nil()}), Reply::Error("NOPERM no")}),
            Reply::Error("NOPERM no"));
  EXPECT_EQ(Merged({"MGET", "a", "b"}, {Reply::Array({Reply::Nil()}), Reply::EmptyArray()}),
            Reply::Error("ERR a node returned another number of values than it has keys"));
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
