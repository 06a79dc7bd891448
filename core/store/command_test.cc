#include "redouble/core/store/command.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"
#include "redouble/core/store/command_row.h"

namespace redouble::inline v0_1::store {
namespace {

std::vector<std::string> ArgumentsOf(const Command& command) {
  return {command.arguments().begin(), command.arguments().end()};
}
using Texts = std::vector<std::string>;

TEST(Command, CarriesTheRowsNameAndItsArguments) {
  const Command command(CommandId::kSet, {"key", "value"});
  EXPECT_EQ(command.id(), CommandId::kSet);
  EXPECT_EQ(command.name(), "set");
  EXPECT_EQ(ArgumentsOf(command), (Texts{"key", "value"}));
}

TEST(Command, HasNoArgumentsUntilTheyAreAdded) {
  Command command(CommandId::kMGet);
  EXPECT_TRUE(command.arguments().empty());
  command.Add("a").Add("b");
  EXPECT_EQ(ArgumentsOf(command), (Texts{"a", "b"}));
}

TEST(Command, KeepsViewsOfItsArguments) {
  const std::string key = "key";
  const Command command(CommandId::kGet, {key});
  EXPECT_EQ(command.arguments()[0].data(), key.data());
}

TEST(Command, TakesAnyBytes) {
  const std::string_view bytes("\0\r\n\xff", 4);
  const Command command(CommandId::kGet, {bytes});
  EXPECT_EQ(command.arguments()[0], bytes);
}

TEST(Command, AddsListsOfViewsAndOfStrings) {
  const std::vector<std::string_view> views = {"a", "b"};
  const std::vector<std::string> strings = {"c", "d"};
  Command command(CommandId::kDel);
  command.AddAll(views).AddAll(strings);
  EXPECT_EQ(ArgumentsOf(command), (Texts{"a", "b", "c", "d"}));
}

TEST(Command, WritesNumbersInDecimal) {
  Command command(CommandId::kGetRange, {"key"});
  command.AddInteger(std::numeric_limits<int64_t>::min());
  command.AddInteger(std::numeric_limits<int64_t>::max());
  command.AddInteger(0).AddInteger(-1);
  EXPECT_EQ(ArgumentsOf(command),
            (Texts{"key", "-9223372036854775808", "9223372036854775807", "0", "-1"}));
}

TEST(Command, KeepsOwnedArguments) {
  Command command(CommandId::kGet);
  command.AddOwned(std::string("short")).AddOwned(std::string(100, 'x'));
  EXPECT_EQ(ArgumentsOf(command), (Texts{"short", std::string(100, 'x')}));
}

TEST(Command, IsNamedByARowInAnyCase) {
  for (const std::string_view name : {"GET", "get", "gEt"}) {
    const Command command = Command::Named(name);
    EXPECT_EQ(command.id(), CommandId::kGet);
    EXPECT_EQ(command.name(), name);
  }
}

TEST(Command, IsNamedWithArguments) {
  const std::string_view arguments[] = {"a", "b"};
  const Command command = Command::Named("MGET", arguments);
  EXPECT_EQ(command.id(), CommandId::kMGet);
  EXPECT_EQ(ArgumentsOf(command), (Texts{"a", "b"}));
}

TEST(Command, IsNamedByANameWithoutARow) {
  for (const std::string_view name : {"MY.COMMAND", "", "GET "}) {
    EXPECT_EQ(Command::Named(name).id(), CommandId::kUnknown);
    EXPECT_EQ(Command::Named(name).name(), name);
  }
}

// The goal: a subcommand is sent as an argument; "xgroup|create" is not a command name for Redis.
TEST(Command, IsNotNamedByASubcommandsRow) {
  for (const CommandSpec& spec : AllCommands()) {
    const CommandId expected = spec.is_subcommand() ? CommandId::kUnknown : spec.id;
    EXPECT_EQ(Command::Named(spec.name).id(), expected) << spec.name;
  }
}

TEST(Command, OfASubcommandsRowBeginsWithTheSubcommand) {
  for (const CommandSpec& spec : AllCommands()) {
    const Command command(spec.id, {"argument"});
    if (spec.is_subcommand()) {
      EXPECT_EQ(command.name(), spec.container());
      EXPECT_EQ(ArgumentsOf(command), (Texts{std::string(spec.subcommand()), "argument"}));
    } else {
      EXPECT_EQ(command.name(), spec.name);
      EXPECT_EQ(ArgumentsOf(command), (Texts{"argument"}));
    }
  }
}

Command WithEverything(std::string_view view) {
  Command command(CommandId::kSet, {view});
  command.AddInteger(1234567890123456789)
      .AddOwned("owned")
      .AddInteger(-1)
      .AddOwned(std::string(64, 'y'));
  command.AddInteger(42).AddInteger(std::numeric_limits<int64_t>::min()).AddInteger(7);
  return command;
}
const Texts kEverything = {"view", "1234567890123456789",  "owned", "-1", std::string(64, 'y'),
                           "42",   "-9223372036854775808", "7"};

TEST(Command, KeepsItsArgumentsWhenItIsMoved) {
  Command command = WithEverything("view");
  Command moved = std::move(command);
  EXPECT_EQ(ArgumentsOf(moved), kEverything);
  Command assigned(CommandId::kGet, {"other"});
  assigned.AddInteger(99);
  assigned = std::move(moved);
  EXPECT_EQ(ArgumentsOf(assigned), kEverything);
  EXPECT_EQ(assigned.id(), CommandId::kSet);
  Command& same = assigned;
  assigned = std::move(same);
  EXPECT_EQ(ArgumentsOf(assigned), kEverything);
}

TEST(Command, KeepsItsArgumentsInAVectorThatGrows) {
  std::vector<Command> commands;
  for (int i = 0; i < 50; ++i) commands.push_back(WithEverything("view"));
  for (const Command& command : commands) EXPECT_EQ(ArgumentsOf(command), kEverything);
  commands.erase(commands.begin(), commands.begin() + 20);
  for (const Command& command : commands) EXPECT_EQ(ArgumentsOf(command), kEverything);
}

TEST(Command, KeepsAnArgumentAddedAfterAMove) {
  Command command(CommandId::kGetRange, {"key"});
  command.AddInteger(1);
  Command moved = std::move(command);
  moved.AddInteger(2);
  EXPECT_EQ(ArgumentsOf(moved), (Texts{"key", "1", "2"}));
}

TEST(Command, DescribesItselfInOneLine) {
  const Command command(CommandId::kSet, {"key", "a \"b\"\n"});
  EXPECT_EQ(command.DebugString(), "set \"key\" \"a \\\"b\\\"\\n\"");
}

TEST(RowOf, IsTheRowOfTheSubcommand) {
  EXPECT_EQ(RowOf(Command(CommandId::kXInfo, {"STREAM", "s"})), CommandId::kXInfoStream);
  EXPECT_EQ(RowOf(Command(CommandId::kXInfo, {"NO-SUCH"})), CommandId::kXInfo);
  EXPECT_EQ(RowOf(Command(CommandId::kXInfo)), CommandId::kXInfo);
  EXPECT_EQ(RowOf(Command(CommandId::kGet, {"STREAM"})), CommandId::kGet);
}

RC_GTEST_PROP(Command, SurvivesMovesWithAnyArguments,
              (std::vector<int64_t> numbers, std::vector<std::string> texts)) {
  Texts expected;
  Command command(CommandId::kSet);
  for (size_t i = 0; i < std::max(numbers.size(), texts.size()); ++i) {
    if (i < numbers.size()) {
      command.AddInteger(numbers[i]);
      expected.push_back(std::to_string(numbers[i]));
    }
    if (i < texts.size()) {
      command.AddOwned(texts[i]).Add(texts[i]);
      expected.insert(expected.end(), 2, texts[i]);
    }
    Command moved = std::move(command);
    command = std::move(moved);
  }
  RC_ASSERT(ArgumentsOf(command) == expected);
}

}  // namespace
}  // namespace redouble::inline v0_1::store
