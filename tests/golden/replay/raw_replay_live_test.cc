// The raw replay on redis-server itself: the comparison must accept what Redis holds.
#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "redouble/sim/cli/replay/live_backend.h"
#include "redouble/tests/golden/golden_for_test.h"
#include "redouble/tests/golden/replay/raw_replay.h"

namespace redouble::inline v0_1::golden {
namespace {

class RawReplayOnRedis : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    absl::StatusOr<std::unique_ptr<sim::SpawnedBackend>> backend = sim::SpawnedBackend::Start();
    ASSERT_TRUE(backend.ok()) << backend.status().message();
    backend_ = backend->release();
  }
  static void TearDownTestSuite() {
    delete backend_;
    backend_ = nullptr;
  }

  // Returns the path of the first difference, or "passed".
  static std::string FailurePath(const std::string& text, System system) {
    const Outcome outcome = ReplayRaw(MustParse(Json::parse(text), system), *backend_);
    return outcome.difference ? outcome.difference->ToString() : "passed";
  }

  static inline sim::SpawnedBackend* backend_ = nullptr;
};

// A golden of a stream with a group that has read one of two entries; `what` is a part of its
// value.
std::string KorvetStream(const std::string& counters, const std::string& deliveries) {
  return R"({"name":"n","ops":[{"op":"o","commands":[
      {"cmd":["XADD","s","1-0","f","a"],"reply":"1-0"},
      {"cmd":["XADD","s","2-0","f","b","f","c"],"reply":"2-0"},
      {"cmd":["XGROUP","CREATE","s","g","0"],"reply":"OK"},
      {"cmd":["XREADGROUP","GROUP","g","c","COUNT","1","STREAMS","s",">"],
       "reply":[["s",[["1-0",["f","a"]]]]]}]}],
      "keyspace":{"s":{"type":"stream","ttl":-1,"value":{
        "entries":[{"id":"1-0","fields":["f","a"]},{"id":"2-0","fields":["f","b","f","c"]}],
        "length":2,"last-generated-id":"2-0",)" +
         counters + R"(,
        "max-deleted-entry-id":"0-0","recorded-first-entry-id":"1-0",
        "groups":[{"name":"g","last-delivered-id":"1-0","entries-read":1,"lag":1,
                   "pending":[["1-0","c",)" +
         deliveries + R"(]]}]}}}})";
}

TEST_F(RawReplayOnRedis, ComparesStreamsAsKorvetRecordsThem) {
  EXPECT_EQ(FailurePath(KorvetStream("\"entries-added\":2", "1"), System::kKorvet), "passed");
  EXPECT_EQ(FailurePath(KorvetStream("\"entries-added\":3", "1"), System::kKorvet),
            "/keyspace/s/value/entries-added: not as recorded: expected 3, got 2");
  EXPECT_EQ(FailurePath(KorvetStream("\"entries-added\":2", "2"), System::kKorvet),
            "/keyspace/s/value/groups/0/pending/0/2: not as recorded: expected 2, got 1");
}

std::string TimelineStream(const std::string& deliveries) {
  return R"({"name":"n","steps":[{"at_ms":0,"commands":[
      ["XADD","s","1-0","f","a"],["XGROUP","CREATE","s","g","0"],
      ["XREADGROUP","GROUP","g","c","STREAMS","s",">"]],
      "replies":["1-0","OK",[["s",[["1-0",["f","a"]]]]]],
      "keyspace":{"s":{"type":"stream","ttl":-1,"value":{"entries":[["1-0",["f","a"]]],
        "groups":[{"name":"g","last_delivered_id":"1-0",
                   "pending":[{"id":"1-0","consumer":"c","deliveries":)" +
         deliveries + R"(}]}]}}}}]})";
}

TEST_F(RawReplayOnRedis, ComparesStreamsAsTheOrchestratorRecordsThem) {
  EXPECT_EQ(FailurePath(TimelineStream("1"), System::kOrchestrator), "passed");
  EXPECT_EQ(FailurePath(TimelineStream("3"), System::kOrchestrator),
            "/steps/0/keyspace/s/value/groups/0/pending/0/deliveries: not as recorded: "
            "expected 3, got 1");
}

// The published messages are those of the PUBLISH commands that the server did not refuse.
TEST_F(RawReplayOnRedis, ComparesPublishedMessages) {
  const auto golden = [](const std::string& published) {
    return R"({"name":"n","ops":[{"op":"o","args":{},"now":"2026-01-01T12:00:00Z","commands":[
        ["PUBLISH","c","one"],["MULTI"],["PUBLISH","c","two"],["SADD","k"],["EXEC"],
        ["MULTI"],["SET","s","v"],["PUBLISH","c","three"],["EXEC"],["PUBLISH","c"]]}],
        "keyspace":{"s":{"type":"string","value":"v","ttl":-1}},"published":)" +
           published + "}";
  };
  EXPECT_EQ(FailurePath(golden(R"([{"channel":"c","message":"one"},
                                   {"channel":"c","message":"three"}])"),
                        System::kRelayna),
            "passed");
  EXPECT_EQ(FailurePath(golden(R"([{"channel":"c","message":"one"}])"), System::kRelayna),
            "/published/1: not as recorded: expected nothing, got "
            R"({"channel":"c","message":"three"})");
}

TEST_F(RawReplayOnRedis, CreatesUnrecordedSortedSets) {
  EXPECT_EQ(FailurePath(R"({"name":"n","steps":[{"at_ms":0,"commands":[["ZCARD","z"]],
      "replies":[2],"keyspace":{"z":{"type":"zset","ttl":9,"value":[["a",1],["b","2.5"]]}}}]})",
                        System::kOrchestrator),
            "passed");
}

}  // namespace
}  // namespace redouble::inline v0_1::golden
