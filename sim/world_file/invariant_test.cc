#include "redouble/sim/world_file/invariant.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/sim/json/strict_json.h"

namespace redouble::inline v0_1::sim {
namespace {

class InvariantTest : public testing::Test {
 protected:
  void Send(const std::vector<std::string_view>& words) {
    const store::Command command = store::Command::Named(words[0], std::span(words).subspan(1));
    const std::unique_ptr<memory::Session> session = world_.Connect();
    base::Run(Execute(*session, command));
  }

  // Returns the invariant's verdict on the world.
  absl::Status Check(std::string_view text) {
    REDOUBLE_ASSIGN_OR_RETURN(const auto invariant,
                              ParseInvariant(ParseStrictJson(text).value(), "/invariants/0"));
    return invariant->Check(WorldView{world_, observed_, serial_states_});
  }
  bool Holds(std::string_view text) { return Check(text).ok(); }

  World world_;
  Observations observed_;
  std::vector<Json> serial_states_;

 private:
  static base::Task<void> Execute(memory::Session& session, const store::Command& command) {
    (void)co_await session.Execute(command);
  }
};

TEST_F(InvariantTest, ReplyIsAsExpected) {
  Send({"SET", "n", "5"});
  EXPECT_TRUE(Holds(R"({"kind": "reply", "command": ["GET", "n"], "expect": "5"})"));
  EXPECT_TRUE(Holds(R"({"kind": "reply", "command": ["GET", "x"], "expect": null})"));
  EXPECT_EQ(Check(R"({"kind": "reply", "command": ["GET", "n"], "expect": "6"})"),
            absl::FailedPreconditionError("GET gives \"5\""));
  EXPECT_TRUE(Holds(R"({"kind": "reply", "command": ["GET", "n"], "one_of": ["4", "5"]})"));
  EXPECT_FALSE(Holds(R"({"kind": "reply", "command": ["GET", "n"], "one_of": ["4", "6"]})"));
}

TEST_F(InvariantTest, ReplyIsWithinBounds) {
  Send({"SET", "n", "5.5"});
  EXPECT_TRUE(Holds(R"({"kind": "reply", "command": ["GET", "n"], "at_most": 5.5})"));
  EXPECT_EQ(Check(R"({"kind": "reply", "command": ["GET", "n"], "at_most": 5})"),
            absl::FailedPreconditionError("GET gives 5.5, at most 5 expected"));
  EXPECT_EQ(Check(R"({"kind": "reply", "command": ["GET", "n"], "at_least": 6})"),
            absl::FailedPreconditionError("GET gives 5.5, at least 6 expected"));
  EXPECT_TRUE(Holds(R"({"kind": "reply", "command": ["STRLEN", "n"], "at_least": 3})"));
  EXPECT_TRUE(Holds(R"({"kind": "reply", "command": ["GET", "none"], "at_most": 0})"));
  Send({"SET", "n", "much"});
  EXPECT_EQ(Check(R"({"kind": "reply", "command": ["GET", "n"], "at_most": 5})"),
            absl::FailedPreconditionError("no number: \"much\""));
}

TEST_F(InvariantTest, RepliesAreEqual) {
  Send({"SET", "a", "1"});
  Send({"SET", "b", "1"});
  const std::string_view text = R"({"kind": "equal", "commands": [["GET", "a"], ["GET", "b"]]})";
  EXPECT_TRUE(Holds(text));
  Send({"SET", "b", "2"});
  EXPECT_EQ(Check(text), absl::FailedPreconditionError("\"1\" and \"2\" are not equal"));
}

TEST_F(InvariantTest, KeysExpire) {
  Send({"SET", "rate:a", "1", "EX", "60"});
  Send({"SET", "other", "1"});
  EXPECT_TRUE(Holds(R"({"kind": "expires", "keys": "rate:*"})"));
  Send({"SET", "rate:b", "1"});
  EXPECT_EQ(Check(R"({"kind": "expires", "keys": "rate:*"})"),
            absl::FailedPreconditionError("rate:b never expires"));
}

TEST_F(InvariantTest, ReferencesHaveTheirKeys) {
  const std::string_view text =
      R"({"kind": "references", "command": ["SMEMBERS", "index"], "key": "doc:{}"})";
  EXPECT_TRUE(Holds(text));
  Send({"SADD", "index", "7"});
  EXPECT_EQ(Check(text), absl::FailedPreconditionError("doc:7 does not exist"));
  Send({"SET", "doc:7", "x"});
  EXPECT_TRUE(Holds(text));
  EXPECT_TRUE(Holds(R"({"kind": "references", "command": ["GET", "none"], "key": "{}"})"));
}

TEST_F(InvariantTest, ResultsAreCounted) {
  observed_.results = {{"a", 0, "reserve", Json{{"decision", "Allowed"}, {"spend", 9.5}}},
                       {"b", 0, "reserve", Json{{"decision", "Allowed"}, {"spend", 9.5}}},
                       {"b", 1, "release", Json{{"error", "OOM no memory"}}}};
  const std::string where = R"("operation": "reserve", "where": {"decision": "Allowed"})";
  EXPECT_TRUE(Holds(R"({"kind": "results", )" + where + R"(, "at_most": 2})"));
  EXPECT_EQ(Check(R"({"kind": "results", )" + where + R"(, "at_most": 1})"),
            absl::FailedPreconditionError("calls of reserve: 2, at most 1 expected"));
  EXPECT_TRUE(Holds(R"({"kind": "results", "operation": "reserve", "at_least": 2})"));
  EXPECT_FALSE(Holds(
      R"({"kind": "results", "operation": "release", "where": {"error": "OOM"}, "at_most": 0})"));
  EXPECT_TRUE(Holds(
      R"({"kind": "results", "operation": "release", "where": {"error": "BUSY"}, "at_most": 0})"));
}

TEST_F(InvariantTest, StateIsASerialOne) {
  Send({"SET", "n", "2"});
  observed_.results = {{"b", 0, "add", 2}, {"a", 0, "add", 1}};
  const std::vector<CallResult> in_other_order = {{"a", 0, "add", 1}, {"b", 0, "add", 2}};
  serial_states_ = {SerialState(world_, in_other_order)};
  EXPECT_TRUE(Holds(R"({"kind": "serializable"})"));
  Send({"SET", "n", "1"});
  EXPECT_FALSE(Holds(R"({"kind": "serializable"})"));
  EXPECT_TRUE(Holds(R"({"kind": "serializable", "keys": "m*"})"));
  observed_.results[0].result = 1;
  EXPECT_FALSE(Holds(R"({"kind": "serializable", "keys": "m*"})"));
  EXPECT_TRUE(Holds(R"({"kind": "serializable", "keys": "m*", "results": false})"));
}

TEST_F(InvariantTest, HaveANameAndATime) {
  ASSERT_OK_AND_ASSIGN(const Json short_form,
                       ParseStrictJson(R"({"kind": "expires", "keys": "*"})"));
  ASSERT_OK_AND_ASSIGN(const auto plain, ParseInvariant(short_form, ""));
  EXPECT_EQ(plain->name(), "expires");
  EXPECT_FALSE(plain->always());
  ASSERT_OK_AND_ASSIGN(
      const Json long_form,
      ParseStrictJson(R"({"kind": "expires", "name": "ttl", "when": "always", "keys": "*"})"));
  ASSERT_OK_AND_ASSIGN(const auto named, ParseInvariant(long_form, ""));
  EXPECT_EQ(named->name(), "ttl");
  EXPECT_TRUE(named->always());
}

TEST_F(InvariantTest, SayWhatIsWrongWithThem) {
  const std::pair<std::string_view, std::string_view> mistakes[] = {
      {R"({"kind": "luck"})", "/invariants/0/kind: unknown kind \"luck\"; known: reply, equal"},
      {R"({"kind": "reply", "command": []})", "/invariants/0/command: a command has"},
      {R"({"kind": "reply", "command": ["GET", "n"]})", "expected one of expect, one_of"},
      {R"({"kind": "reply", "command": ["GET", "n"], "expect": 1, "at_most": 1})",
       "expected one of expect, one_of"},
      {R"({"kind": "equal", "commands": [["GET", "n"]]})", "/commands: expected two commands"},
      {R"({"kind": "equal", "commands": [["GET", "n"], 7]})", "/commands: expected arrays"},
      {R"({"kind": "references", "command": ["KEYS", "*"], "key": "doc"})", "/key: expected {}"},
      {R"({"kind": "results", "operation": "add"})", "expected at_least or at_most"},
      {R"({"kind": "results", "operation": "add", "at_most": 1, "when": "always"})",
       "/when: this kind is asked at the end"},
      {R"({"kind": "expires", "keys": "*", "when": "often"})", "/when: expected \"end\""},
      {R"({"kind": "expires", "keys": "*", "name": "a: b"})", "/name: a name has no colon"},
      {R"({"kind": "expires", "keys": "*", "mood": 1})", "mood"},
  };
  for (const auto& [text, message] : mistakes) {
    const absl::Status status = Check(text);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_NE(status.ToString().find(message), std::string::npos) << status;
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
