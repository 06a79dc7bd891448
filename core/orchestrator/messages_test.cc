#include "redouble/core/orchestrator/messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/time/utc.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using base::StatusIs;
using ::testing::ElementsAre;
using ::testing::Pair;

absl::Time At(std::string_view text) { return base::ParseRfc3339(text).value(); }

template <typename T>
std::string ErrorOf(const absl::StatusOr<T>& result) {
  EXPECT_THAT(result, StatusIs(absl::StatusCode::kInvalidArgument));
  return std::string(result.status().message());
}

constexpr std::string_view kToken =
    R"({"id":"token_001/process","run_id":"run_123","from_node":"fetch","to_node":"process",)"
    R"("payload_ref":"cas://sha256:abc","hop":1,"created_at":"2025-10-15T10:00:00Z"})";

TEST(Token, IsReadAsRecorded) {
  const Token token = ParseToken(kToken).value();
  EXPECT_EQ(token.id, "token_001/process");
  EXPECT_EQ(token.run_id, "run_123");
  EXPECT_EQ(token.from_node, "fetch");
  EXPECT_EQ(token.to_node, "process");
  EXPECT_EQ(token.payload_ref, "cas://sha256:abc");
  EXPECT_EQ(token.hop, 1);
  EXPECT_EQ(token.created_at, At("2025-10-15T10:00:00Z"));
  EXPECT_EQ(token.join_count, 1);
  EXPECT_EQ(token.iteration, 0);
}

TEST(Token, IsWrittenAsRecorded) {
  for (
      const std::string_view text :
      {kToken,
       std::string_view(
           R"({"id":"join:D:t0/C","run_id":"run_d","from_node":"C","to_node":"D",)"
           R"("payload_ref":"cas://c","hop":2,"created_at":"2025-10-15T10:00:00Z","join_count":2})"),
       std::string_view(
           R"({"id":"t","run_id":"r","from_node":"","to_node":"n","payload_ref":"","hop":0,)"
           R"("created_at":"2025-10-15T10:00:00Z","sent_at":"2025-10-15T10:00:00.000000001Z",)"
           R"("config":{"url":"http://a/ü","n":[1,2.5]},"metadata":{"task":"x"},)"
           R"("workflow_owner":"me","iteration":3})")}) {
    EXPECT_THAT(FormatToken(ParseToken(text).value()), IsOkAndHolds(text));
  }
}

TEST(Token, IgnoresUndocumentedMembers) {
  const std::string more = std::string(kToken.substr(0, kToken.size() - 1)) + R"(,"x":[null]})";
  EXPECT_THAT(FormatToken(ParseToken(more).value()), IsOkAndHolds(kToken));
}

// A token with one additional member. If the member exists already, the first one counts.
std::string TokenWith(std::string_view members) {
  return R"({"id":"t","run_id":"r","to_node":"n","created_at":"2025-10-15T10:00:00Z",)" +
         std::string(members) + "}";
}

TEST(Token, SaysWhatIsWrong) {
  for (const auto& [text, message] : std::initializer_list<std::pair<std::string, std::string>>{
           {"", "token: the text is not JSON"},
           {"{", "token: the text is not JSON"},
           {"\"\xff\"", "token: the text is not JSON"},
           {"[1]", "token: expected an object, got [1]"},
           {"{}", "token: /id: is missing"},
           {R"({"id":""})", "token: /id: is empty"},
           {R"({"id":null})", "token: /id: is missing"},
           {R"({"id":7})", "token: /id: expected a text, got 7"},
           {R"({"id":"t"})", "token: /run_id: is missing"},
           {R"({"id":"t","run_id":"a:b"})",
            "token: /run_id: expected an id of letters, digits, _ and -, got \"a:b\""},
           {R"({"id":"t","run_id":"r"})", "token: /to_node: is missing"},
           {R"({"id":"t","run_id":"r","to_node":"n"})", "token: /created_at: is missing"},
           {R"({"id":"t","run_id":"r","to_node":"n","created_at":"now"})",
            "token: /created_at: expected a time such as \"2025-10-15T10:30:00Z\", got \"now\""},
           {TokenWith(R"("from_node":"a/b")"),
            "token: /from_node: expected an id of letters, digits, _ and -, got \"a/b\""},
           {TokenWith(R"("hop":-1)"), "token: /hop: expected an integer of at least 0, got -1"},
           {TokenWith(R"("hop":1.5)"), "token: /hop: expected an integer of at least 0, got 1.5"},
           {TokenWith(R"("hop":9223372036854775808)"),
            "token: /hop: expected an integer of at least 0, got 9223372036854775808"},
           {TokenWith(R"("join_count":0)"),
            "token: /join_count: expected an integer of at least 1, got 0"},
           {TokenWith(R"("iteration":"1")"),
            "token: /iteration: expected an integer of at least 0, got \"1\""},
           {TokenWith(R"("sent_at":5)"),
            "token: /sent_at: expected a time such as \"2025-10-15T10:30:00Z\", got 5"},
           {TokenWith(R"("metadata":[])"), "token: /metadata: expected an object, got []"},
           {TokenWith(R"("payload_ref":{})"), "token: /payload_ref: expected a text, got {}"}}) {
    EXPECT_EQ(ErrorOf(ParseToken(text)), message) << text;
  }
}

TEST(Token, ShowsTheBeginningOfALongValueOnly) {
  const std::string error = ErrorOf(ParseToken("[\"" + std::string(1000, 'x') + "\"]"));
  EXPECT_EQ(error.size(), std::string("token: expected an object, got ").size() + 83);
  EXPECT_TRUE(error.ends_with("..."));
}

TEST(Token, IsNotNestedWithoutEnd) {
  const auto config_of_depth = [](size_t depth) {
    return TokenWith("\"config\":" + std::string(depth, '[') + std::string(depth, ']'));
  };
  EXPECT_THAT(ParseToken(config_of_depth(400)), IsOk());
  EXPECT_EQ(ErrorOf(ParseToken(config_of_depth(100'000))),
            "token: the text is nested deeper than 500");
  EXPECT_THAT(ParseToken(TokenWith("\"payload_ref\":\"\\\"" + std::string(1000, '[') + "\"")),
              IsOk());
  Token token = ParseToken(kToken).value();
  token.config_json = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_EQ(ErrorOf(FormatToken(token)),
            "/config: expected JSON, got \"" + std::string(80, '[') + "\"");
}

TEST(Token, IsNotWrittenWhenItIsNoJson) {
  Token token = ParseToken(kToken).value();
  token.payload_ref = "\xff";
  EXPECT_EQ(ErrorOf(FormatToken(token)), "a text that is to be written as JSON is not UTF-8");
  token = ParseToken(kToken).value();
  token.config_json = "{";
  EXPECT_EQ(ErrorOf(FormatToken(token)), "/config: expected JSON, got \"{\"");
  token.config_json = "";
  token.metadata_json = "nope";
  EXPECT_EQ(ErrorOf(FormatToken(token)), "/metadata: expected JSON, got \"nope\"");
}

RC_GTEST_PROP(Token, SurvivesTheRoundTrip, ()) {
  const auto id = rc::gen::nonEmpty(
      rc::gen::container<std::string>(rc::gen::elementOf(std::string("azAZ09_-"))));
  const auto text = rc::gen::container<std::string>(rc::gen::inRange(' ', '\x7f'));
  Token token;
  token.id = *rc::gen::nonEmpty(text);
  token.run_id = *id;
  token.from_node = *rc::gen::oneOf(id, rc::gen::just(std::string()));
  token.to_node = *id;
  token.payload_ref = *text;
  token.hop = *rc::gen::inRange<int64_t>(0, 1000);
  token.created_at = absl::FromUnixNanos(*rc::gen::inRange<int64_t>(0, 4'000'000'000'000'000'000));
  token.workflow_owner = *text;
  token.join_count = *rc::gen::inRange<int64_t>(1, 9);
  token.iteration = *rc::gen::inRange<int64_t>(0, 9);
  const std::string written = FormatToken(token).value();
  const Token read = ParseToken(written).value();
  RC_ASSERT(FormatToken(read).value() == written);
  RC_ASSERT(read.id == token.id);
  RC_ASSERT(read.created_at == token.created_at);
  RC_ASSERT(read.workflow_owner == token.workflow_owner);
  RC_ASSERT(read.join_count == token.join_count);
  RC_ASSERT(read.iteration == token.iteration);
}

constexpr std::string_view kSignal =
    R"({"version":"1.0","job_id":"token_001","run_id":"run_123","node_id":"fetch",)"
    R"("status":"completed","result_ref":"cas://sha256:abc"})";

TEST(CompletionSignal, IsWrittenAsRecorded) {
  EXPECT_THAT(FormatSignal(ParseSignal(kSignal).value()), IsOkAndHolds(kSignal));
  for (
      const std::string_view text :
      {R"({"version":"1.0","job_id":"t","run_id":"r","node_id":"n","status":"completed",)"
       R"("result_data":{"b":1,"a":2},"metadata":{"ms":5}})",
       R"({"version":"1.0","job_id":"t","run_id":"r","node_id":"n","status":"failed",)"
       R"("metadata":{"error_type":"timeout","error_message":"took too long","retryable":true}})"}) {
    EXPECT_THAT(FormatSignal(ParseSignal(text).value()), IsOkAndHolds(text));
  }
}

TEST(CompletionSignal, IsReadInTheDocumentsOwnForms) {
  const CompletionSignal with_result =
      ParseSignal(R"({"run_id": "run_7f3e4a", "node_id": "fetch", "result_ref": "cas://..."})")
          .value();
  EXPECT_EQ(with_result.job_id, "node:fetch");
  EXPECT_EQ(with_result.result_ref, "cas://...");
  EXPECT_FALSE(with_result.failure.has_value());
  const CompletionSignal bare = ParseSignal(R"({"run_id": "run_123", "node_id": "fetch"})").value();
  EXPECT_EQ(bare.job_id, "node:fetch");
  EXPECT_EQ(bare.result_ref, "");
}

TEST(CompletionSignal, TellsWhyANodeFailed) {
  const CompletionSignal signal =
      ParseSignal(R"({"job_id":"t","run_id":"r","node_id":"n","status":"failed",
                      "metadata":{"error_type":"io","error_message":"gone"}})")
          .value();
  ASSERT_TRUE(signal.failure.has_value());
  EXPECT_EQ(signal.failure->error_type, "io");
  EXPECT_EQ(signal.failure->error_message, "gone");
  EXPECT_FALSE(signal.failure->retryable);
}

std::string SignalWith(std::string_view members) {
  return R"({"run_id":"r","node_id":"n",)" + std::string(members) + "}";
}

TEST(CompletionSignal, SaysWhatIsWrong) {
  for (
      const auto& [text, message] : std::initializer_list<std::pair<std::string, std::string>>{
          {"nonsense", "completion signal: the text is not JSON"},
          {"7", "completion signal: expected an object, got 7"},
          {"{}", "completion signal: /run_id: is missing"},
          {R"({"run_id":"r"})", "completion signal: /node_id: is missing"},
          {SignalWith(R"("job_id":"")"), "completion signal: /job_id: is empty"},
          {SignalWith(R"("status":"done")"),
           "completion signal: /status: expected one of completed, failed, got \"done\""},
          {SignalWith(R"("status":1)"), "completion signal: /status: expected a text, got 1"},
          {SignalWith(R"("result_data":"x")"),
           "completion signal: /result_data: expected an object, got \"x\""},
          {SignalWith(R"("metadata":1)"),
           "completion signal: /metadata: expected an object, got 1"},
          {SignalWith(R"("status":"failed")"),
           "completion signal: /metadata: is missing, and the status is \"failed\""},
          {SignalWith(R"("status":"failed","metadata":7)"),
           "completion signal: /metadata: expected an object, got 7"},
          {SignalWith(R"("status":"failed","metadata":{})"),
           "completion signal: /metadata/error_type: is missing"},
          {SignalWith(R"("status":"failed","metadata":{"error_type":"x"})"),
           "completion signal: /metadata/error_message: is missing"},
          {SignalWith(
               R"("status":"failed","metadata":{"error_type":"x","error_message":"","retryable":0})"),
           "completion signal: /metadata/retryable: expected true or false, got 0"}}) {
    EXPECT_EQ(ErrorOf(ParseSignal(text)), message) << text;
  }
}

TEST(CompletionSignal, IsNotWrittenWhenItContradictsItself) {
  CompletionSignal signal = ParseSignal(kSignal).value();
  signal.metadata_json = "{}";
  signal.failure = NodeFailure{"io", "gone", true};
  EXPECT_EQ(
      ErrorOf(FormatSignal(signal)),
      "completion signal: /metadata: the metadata of a failed signal holds its failure alone");
  signal.failure.reset();
  signal.result_data_json = "?";
  EXPECT_EQ(ErrorOf(FormatSignal(signal)),
            "completion signal: /result_data: expected JSON, got \"?\"");
}

// A coordinator drops what it cannot read, and the run hangs.
TEST(CompletionSignal, IsNotWrittenWhenItCouldNotBeRead) {
  const CompletionSignal good = ParseSignal(kSignal).value();
  for (const char* data : {"[1,2]", "7", "\"text\"", "true"}) {
    CompletionSignal signal = good;
    signal.result_data_json = data;
    EXPECT_EQ(ErrorOf(FormatSignal(signal)),
              absl::StrCat("completion signal: /result_data: expected an object, got ", data));
    signal = good;
    signal.metadata_json = data;
    EXPECT_EQ(ErrorOf(FormatSignal(signal)),
              absl::StrCat("completion signal: /metadata: expected an object, got ", data));
  }
  CompletionSignal signal = good;
  signal.run_id = "a:b";
  EXPECT_EQ(ErrorOf(FormatSignal(signal)),
            "completion signal: /run_id: is no id of letters, digits, _ and -");
  signal = good;
  signal.node_id.clear();
  EXPECT_EQ(ErrorOf(FormatSignal(signal)),
            "completion signal: /node_id: is no id of letters, digits, _ and -");
  signal = good;
  signal.job_id.clear();
  EXPECT_EQ(ErrorOf(FormatSignal(signal)), "completion signal: /job_id: is empty");
  // 500 levels are read; the signal adds one.
  for (const int depth : {499, 500}) {
    signal = good;
    signal.result_data_json =
        "{\"a\":" + std::string(depth - 1, '[') + std::string(depth - 1, ']') + "}";
    const absl::StatusOr<std::string> text = FormatSignal(signal);
    EXPECT_EQ(text.ok(), depth == 499) << depth;
    if (text.ok()) {
      EXPECT_THAT(ParseSignal(*text), IsOk());
    }
  }
  signal = good;
  signal.result_data_json = "null";
  ASSERT_THAT(FormatSignal(signal), IsOk());
  EXPECT_EQ(ParseSignal(FormatSignal(signal).value()).value().result_data_json, "");
}

const HashFields& RecordedApproval() {
  static const HashFields& fields = *new HashFields{{"run_id", "run_123"},
                                                    {"node_id", "manager_approval"},
                                                    {"status", "pending"},
                                                    {"created_at", "2025-10-15T10:00:15Z"},
                                                    {"timeout_at", "2025-10-15T12:00:15Z"},
                                                    {"approver", "manager@company.com"},
                                                    {"payload_cas_ref", "cas://sha256:def"}};
  return fields;
}

TEST(Approval, IsReadAndWrittenAsRecorded) {
  Approval approval = ParseApproval(RecordedApproval()).value();
  EXPECT_EQ(approval.status, ApprovalStatus::kPending);
  EXPECT_EQ(approval.timeout_at, At("2025-10-15T12:00:15Z"));
  EXPECT_EQ(FormatApproval(approval), RecordedApproval());
  approval.status = ApprovalStatus::kApproved;
  approval.decided_at = At("2025-10-15T10:20:00Z");
  EXPECT_THAT(FormatApproval(approval).back(), Pair("decided_at", "2025-10-15T10:20:00Z"));
}

TEST(Approval, LeavesOutWhatIsNotThere) {
  const Approval approval =
      ParseApproval({{"status", "timeout"}, {"run_id", "r"}, {"x", "y"}}).value();
  EXPECT_THAT(FormatApproval(approval),
              ElementsAre(Pair("run_id", "r"), Pair("status", "timeout")));
}

TEST(Approval, KnowsItsFiveStates) {
  for (const std::string_view name : {"pending", "approved", "rejected", "timeout", "cancelled"}) {
    const Approval approval =
        ParseApproval({{"run_id", "r"}, {"status", std::string(name)}}).value();
    EXPECT_EQ(ApprovalStatusName(approval.status), name);
  }
}

TEST(Approval, SaysWhatIsWrong) {
  EXPECT_EQ(ErrorOf(ParseApproval({})), "approval: /run_id: is missing");
  EXPECT_EQ(ErrorOf(ParseApproval({{"run_id", "r"}})), "approval: /status: is missing");
  EXPECT_EQ(ErrorOf(ParseApproval({{"run_id", "r"}, {"status", "maybe"}})),
            "approval: /status: expected one of pending, approved, rejected, timeout, cancelled, "
            "got \"maybe\"");
  EXPECT_EQ(ErrorOf(ParseApproval({{"run_id", "r"}, {"status", "pending"}, {"timeout_at", "5"}})),
            "approval: /timeout_at: expected a time such as \"2025-10-15T10:30:00Z\", got \"5\"");
}

TEST(Event, IsWrittenAsRecorded) {
  for (const std::string_view text :
       {R"({"type":"workflow_started","run_id":"run_123","timestamp":"2025-10-15T10:00:00Z"})",
        R"({"type":"node_completed","node_id":"fetch","timestamp":"2025-10-15T10:30:00Z"})",
        R"({"type":"node_completed","run_id":"r","node_id":"n","status":"completed","counter":2,)"
        R"("result_ref":"cas://x","timestamp":"2025-10-15T10:30:00.5Z"})",
        R"({"type":"node_failed"})", R"({"type":"workflow_failed"})",
        R"({"type":"workflow_completed","counter":0})", R"({"type":"approval_required"})"}) {
    EXPECT_THAT(FormatEvent(ParseEvent(text).value()), IsOkAndHolds(text));
  }
}

TEST(Event, SaysWhatIsWrong) {
  EXPECT_EQ(ErrorOf(ParseEvent("")), "event: the text is not JSON");
  EXPECT_EQ(ErrorOf(ParseEvent("{}")), "event: /type: is missing");
  EXPECT_EQ(ErrorOf(ParseEvent(R"({"type":"x"})")),
            "event: /type: expected one of workflow_started, node_completed, node_failed, "
            "workflow_failed, workflow_completed, approval_required, got \"x\"");
  EXPECT_EQ(ErrorOf(ParseEvent(R"({"type":"node_failed","timestamp":1})")),
            "event: /timestamp: expected a time such as \"2025-10-15T10:30:00Z\", got 1");
  EXPECT_EQ(ErrorOf(ParseEvent(R"({"type":"node_failed","counter":"1"})")),
            "event: /counter: expected an integer of at least -9223372036854775808, got \"1\"");
}

}  // namespace
}  // namespace redouble::inline v0_1::orchestrator
