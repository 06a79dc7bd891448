#include "redouble/core/base/settings/variables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "absl/strings/cord.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::base {
namespace {

using Pairs = std::vector<std::pair<std::string_view, std::string_view>>;

struct Settings {
  std::string text = "default";
  int64_t count = 5;
  int64_t offset = 7;
  bool flag = true;
  absl::Duration pause = absl::Seconds(1);
  std::optional<absl::Duration> interval = absl::Seconds(30);
  std::optional<int64_t> limit = 9;
  int64_t balance = 0;
};

constexpr std::array kRows = {
    VariableRow<Settings>{"TEXT", ReadText<&Settings::text>},
    VariableRow<Settings>{"COUNT", ReadInteger<&Settings::count>},
    VariableRow<Settings>{"OFFSET", ReadInteger<&Settings::offset, 0>},
    VariableRow<Settings>{"FLAG", ReadFlag<&Settings::flag>},
    VariableRow<Settings>{"PAUSE", ReadSeconds<&Settings::pause>},
    VariableRow<Settings>{"INTERVAL", ReadOptionalSeconds<&Settings::interval>},
    VariableRow<Settings>{"LIMIT", ReadOptionalInteger<&Settings::limit>},
    VariableRow<Settings>{"BALANCE", ReadInteger<&Settings::balance, kAnyInteger>},
};

absl::StatusOr<Settings> Read(const Pairs& variables) {
  return ReadVariables<Settings>(kRows, variables);
}

TEST(Variables, FillAStructure) {
  const Settings settings = Read({{"TEXT", " a b "},
                                  {"COUNT", "\t12\n"},
                                  {"OFFSET", "0"},
                                  {"FLAG", "No"},
                                  {"PAUSE", "0.25"},
                                  {"INTERVAL", "90"},
                                  {"LIMIT", "3"},
                                  {"BALANCE", "-4"},
                                  {"OTHER", "x"}})
                                .value();
  EXPECT_EQ(settings.text, "a b");
  EXPECT_EQ(settings.count, 12);
  EXPECT_EQ(settings.offset, 0);
  EXPECT_FALSE(settings.flag);
  EXPECT_EQ(settings.pause, absl::Milliseconds(250));
  EXPECT_EQ(settings.interval, absl::Seconds(90));
  EXPECT_EQ(settings.limit, 3);
  EXPECT_EQ(settings.balance, -4);
}

TEST(Variables, KeepTheDefaultOfABlankValue) {
  const Settings settings =
      Read({{"TEXT", ""}, {"COUNT", " "}, {"FLAG", ""}, {"PAUSE", "  "}}).value();
  EXPECT_EQ(settings.text, "default");
  EXPECT_EQ(settings.count, 5);
  EXPECT_TRUE(settings.flag);
  EXPECT_EQ(settings.pause, absl::Seconds(1));
}

TEST(Variables, TurnAnOptionalMemberOff) {
  for (const char* off : {"", " ", "none", "NULL", "Off"}) {
    const Settings settings = Read({{"INTERVAL", off}, {"LIMIT", off}}).value();
    EXPECT_EQ(settings.interval, std::nullopt) << off;
    EXPECT_EQ(settings.limit, std::nullopt) << off;
  }
}

TEST(Variables, TakeTheLastValueOfAName) {
  EXPECT_EQ(Read({{"COUNT", "1"}, {"COUNT", "2"}})->count, 2);
}

TEST(Variables, SayWhichValueIsWrong) {
  const std::pair<Pairs, const char*> rows[] = {
      {{{"COUNT", "0"}}, "COUNT: expected an integer of at least 1, got '0'"},
      {{{"COUNT", "1.5"}}, "COUNT: expected an integer of at least 1, got '1.5'"},
      {{{"OFFSET", "-1"}}, "OFFSET: expected an integer of at least 0, got '-1'"},
      {{{"LIMIT", "x"}}, "LIMIT: expected an integer of at least 1, got 'x'"},
      {{{"BALANCE", "x"}}, "BALANCE: expected an integer, got 'x'"},
      {{{"PAUSE", "0"}}, "PAUSE: expected a positive number of seconds, got '0'"},
      {{{"PAUSE", "inf"}}, "PAUSE: expected a positive number of seconds, got 'inf'"},
      {{{"INTERVAL", "nan"}}, "INTERVAL: expected a positive number of seconds, got 'nan'"},
      {{{"FLAG", "maybe"}}, "FLAG: expected true or false, got 'maybe'"},
  };
  for (const auto& [variables, message] : rows) {
    EXPECT_THAT(Read(variables).status(), StatusIs(absl::StatusCode::kInvalidArgument, message));
  }
}

constexpr std::string_view kPayload = "test/kind";

TEST(Variables, KeepThePayloadOfAnError) {
  const std::array rows = {
      VariableRow<Settings>{"KIND", [](std::string_view, Settings&) {
                              absl::Status status = absl::OutOfRangeError("no such kind");
                              status.SetPayload(ToAbsl(kPayload), absl::Cord("payload"));
                              return status;
                            }}};
  const Pairs variables = {{"KIND", "x"}};
  const absl::Status status = ReadVariables<Settings>(rows, variables).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kOutOfRange, "KIND: no such kind"));
  EXPECT_EQ(status.GetPayload(ToAbsl(kPayload)), absl::Cord("payload"));
}

}  // namespace
}  // namespace redouble::inline v0_1::base
