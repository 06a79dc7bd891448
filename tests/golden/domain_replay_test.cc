#include "redouble/tests/golden/domain_replay.h"

#include <string>

#include "gtest/gtest.h"
#include "redouble/core/base/task/task.h"
#include "redouble/sim/scenario/memory_backend.h"
#include "redouble/tests/golden/domains.h"
#include "redouble/tests/golden/gateway/gateway_domain.h"
#include "redouble/tests/golden/golden_for_test.h"

namespace redouble::inline v0_1::golden {
namespace {

using Verdict = Outcome::Verdict;
using Pointer = Json::json_pointer;

Outcome Replay(const Json& json, const Domain& domain = GatewayDomain(),
               std::string_view file = "x.json") {
  sim::MemoryBackend backend;
  return ReplayDomain(MustParse(json, System::kGateway, file), domain, backend);
}

std::string FailurePath(const Json& json) {
  const Outcome outcome = Replay(json);
  return outcome.difference ? outcome.difference->path : "passed";
}

TEST(ReplayDomain, PassesARecordingOfTheSystem) {
  EXPECT_EQ(FailurePath(ReadGatewayGolden("reserve_basic")), "passed");
  EXPECT_EQ(FailurePath(ReadGatewayGolden("add_spend_partial_failure")), "passed");
}

TEST(ReplayDomain, FailsADoctoredGoldenAtTheChangedPlace) {
  const std::string key = "/keyspace/rl:req:018f8d31-86a7-7c48-8f36-4d1fa4d99101:202605091403";
  struct Doctoring {
    std::string place;
    Json value;
    std::string path;
  };
  const Doctoring doctorings[] = {
      {"/ops/1/result/count", 3, "/ops/1/result/count"},
      {"/ops/1/result/decision", "Exceeded", "/ops/1/result/decision"},
      {"/ops/2/result", {{"error", "ControlStateUnavailable"}}, "/ops/2/result/error"},
      {"/ops/2/result/retry_after_seconds", 69, "/ops/2/result/retry_after_seconds"},
      {"/ops/1/args/limit", 1, "/ops/1/commands/4"},
      {"/ops/0/commands/2/cmd/2", "71", "/ops/0/commands/2/2"},
      {"/ops/0/args/limits", 1, "/ops/0"},
      {key + "/value", "4", key + "/value"},
      {key + "/ttl", 72, key + "/ttl"},
      {"/keyspace/missing", {{"type", "string"}, {"value", "v"}, {"ttl", -1}}, "/keyspace/missing"},
      {"/keyspace", Json::object(), key},
  };
  for (const Doctoring& doctoring : doctorings) {
    Json json = ReadGatewayGolden("rate_limit_basic");
    json[Pointer(doctoring.place)] = doctoring.value;
    EXPECT_EQ(FailurePath(json), doctoring.path) << doctoring.place;
  }
}

TEST(ReplayDomain, FailsARawCommandWithAnotherReply) {
  Json json = ReadGatewayGolden("rate_limit_wrong_type");
  json["/ops/0/commands/0/reply"_json_pointer] = 2;
  EXPECT_EQ(FailurePath(json), "/ops/0/commands/0/reply");
}

// Both reconciliations read before either writes, so only an interleaved replay has the recorded
// result.
TEST(ReplayDomain, InterleavesOperationsWhoseFirstCommandsWereRecordedSeparately) {
  EXPECT_EQ(FailurePath(ReadGatewayGolden("race_concurrent_reconcile")), "passed");
  Json one_after_the_other = ReadGatewayGolden("race_concurrent_reconcile");
  one_after_the_other["ops"].erase(1);
  EXPECT_NE(FailurePath(one_after_the_other), "passed");
}

TEST(ReplayDomain, FailsAnOperationThatDoesNotExistUnlessItIsNewerThanTheSeed) {
  Json json = ReadGatewayGolden("rate_limit_basic");
  json["/ops/1/op"_json_pointer] = "check_token_rate_limit";
  const Outcome failed = Replay(json);
  ASSERT_TRUE(failed.difference);
  EXPECT_EQ(failed.difference->path, "/ops/1/op");
  EXPECT_NE(failed.difference->message.find("there are raw, "), std::string::npos);
  const Outcome skipped = Replay(json, GatewayDomain(), "/data/ext_token_limit.json");
  EXPECT_EQ(skipped.verdict, Verdict::kSkipped);
  EXPECT_EQ(skipped.note, "there is no operation \"check_token_rate_limit\", newer than the seed");
}

// A domain for this test: "wait" never ends, "fail" fails with the error of its arguments.
Domain MadeUpDomain() {
  Domain domain;
  domain.operations.Add(
      "wait", [](sim::OperationContext context, const Json&) -> base::Task<sim::OperationResult> {
        co_await context.clock.SleepUntil(absl::InfiniteFuture());
        co_return Json("late");
      });
  domain.operations.Add("fail",
                        [](sim::OperationContext, const Json&) -> base::Task<sim::OperationResult> {
                          co_return absl::NotFoundError("gone");
                        });
  domain.record_error = [](const absl::Status& status) {
    return Json{{"type", std::string(status.message())}};
  };
  return domain;
}

Json OneOperation(const std::string& members) {
  return Json::parse(R"({"name":"n","keyspace":{},"ops":[{"commands":[],)" + members + "}]}");
}

TEST(ReplayDomain, FailsAnOperationThatDoesNotEnd) {
  const Outcome outcome = Replay(OneOperation(R"("op":"wait")"), MadeUpDomain());
  ASSERT_TRUE(outcome.difference);
  EXPECT_EQ(outcome.difference->path, "/ops/0");
}

TEST(ReplayDomain, WritesErrorsAsTheSystemsGoldensDo) {
  const Outcome passed =
      Replay(OneOperation(R"("op":"fail","result":{"type":"gone"})"), MadeUpDomain());
  EXPECT_EQ(passed.verdict, Verdict::kPassed);
  // No result was recorded, so the operation must succeed.
  const Outcome failed = Replay(OneOperation(R"("op":"fail")"), MadeUpDomain());
  ASSERT_TRUE(failed.difference);
  EXPECT_EQ(failed.difference->path, "/ops/0/result");
}

TEST(ReplayDomain, SkipsATableOfASystemWithoutTables) {
  const Outcome outcome = Replay(ReadGatewayGolden("float_format_client"), MadeUpDomain());
  EXPECT_EQ(outcome.verdict, Verdict::kSkipped);
}

// Tables.

TEST(GatewayTables, CheckEveryRowOfTheClientsTexts) {
  EXPECT_EQ(FailurePath(ReadGatewayGolden("float_format_client")), "passed");
  for (const std::string column : {"arg_text", "reservation_text"}) {
    Json json = ReadGatewayGolden("float_format_client");
    json["rows"][19][column] = "100.00";
    EXPECT_EQ(FailurePath(json), "/rows/19/" + column);
  }
  Json json = ReadGatewayGolden("float_format_client");
  json["rows"][3]["value"] = "a quarter";
  EXPECT_EQ(FailurePath(json), "/rows/3/value");
}

Json Table(const std::string& rows) {
  return Json::parse(R"({"name":"n","ops":[],"keyspace":{},"rows":)" + rows + "}");
}

// The answers are those of redis-server 7.0.15.
TEST(GatewayTables, CheckEveryRowOfTheServersSums) {
  EXPECT_EQ(FailurePath(Table(R"([
      {"before":"0.1","increment":"0.2","after":"0.3"},
      {"before":null,"increment":"5","after":"5"},
      {"increments":["0.1","0.1","0.1","0.1","0.1","0.1","0.1","0.1","0.1","0.1"],"after":"1"},
      {"before":"1e16","increment":0.1,"after":"10000000000000000.099609375","note":"80 bits"},
      {"before":"0","increment":"NaN","after":{"error":"ERR value is not a valid float"}}])")),
            "passed");
  EXPECT_EQ(FailurePath(Table(R"([{"increment":"1","after":"1"},{"increment":"1","after":"2"}])")),
            "/rows/1");
}

TEST(GatewayTables, RefuseUnknownRowsAndTables) {
  const Outcome row = Replay(Table(R"([{"a":"1","b":"1","c":"2","d":"3"}])"));
  ASSERT_TRUE(row.difference);
  EXPECT_EQ(row.difference->message, "not a row of the tables known");
  EXPECT_EQ(FailurePath(Table(R"([7])")), "/rows/0");
  EXPECT_EQ(FailurePath(Table(R"({})")), "/rows");
  Json json = Table("[]");
  json["columns"] = 3;
  EXPECT_EQ(FailurePath(json), "/columns");
}

TEST(DomainOf, HasTheOperationsOfTheSystem) {
  EXPECT_EQ(DomainOf(System::kGateway).operations.Names(), GatewayDomain().operations.Names());
}

}  // namespace
}  // namespace redouble::inline v0_1::golden
