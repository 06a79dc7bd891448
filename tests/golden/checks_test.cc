#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/command.h"
#include "redouble/sim/scenario/memory_backend.h"
#include "redouble/tests/golden/replay/keyspace_check.h"
#include "redouble/tests/golden/replay/reply_check.h"

namespace redouble::inline v0_1::golden {
namespace {

using store::Reply;

RecordedCommand Recorded(std::vector<std::string> words, Json reply) {
  return RecordedCommand{"/ops/0/commands/0", "", std::move(words), std::move(reply),
                         "/ops/0/commands/0/reply"};
}

bool Agree(std::vector<std::string> words, const Json& recorded, const Reply& got,
           System system = System::kGateway) {
  return !CompareReply(Recorded(std::move(words), recorded), got, system).has_value();
}

TEST(CompareReply, AcceptsOnlyTheRecordedKindOfReply) {
  EXPECT_TRUE(Agree({"GET", "k"}, nullptr, Reply::Nil()));
  EXPECT_TRUE(Agree({"INCR", "k"}, 2, Reply::Integer(2)));
  EXPECT_TRUE(Agree({"PING"}, "PONG", Reply::Status("PONG")));
  EXPECT_TRUE(Agree({"GET", "k"}, "v", Reply::Bulk("v")));
  EXPECT_TRUE(Agree({"GET", "k"}, Json{{"error", "ERR no"}}, Reply::Error("ERR no")));
  EXPECT_TRUE(Agree({"LRANGE"}, Json::array({"a", 1, nullptr}),
                    Reply::Array({Reply::Bulk("a"), Reply::Integer(1), Reply::Nil()})));

  EXPECT_FALSE(Agree({"GET", "k"}, nullptr, Reply::Bulk("")));
  EXPECT_FALSE(Agree({"INCR", "k"}, 2, Reply::Integer(3)));
  EXPECT_FALSE(Agree({"INCR", "k"}, "2", Reply::Integer(2)));
  EXPECT_FALSE(Agree({"GET", "k"}, "ERR no", Reply::Error("ERR no")));
  EXPECT_FALSE(Agree({"GET", "k"}, Json{{"error", "ERR no"}}, Reply::Error("ERR not")));
  EXPECT_FALSE(Agree({"LRANGE"}, Json::array({"a", "b"}),
                     Reply::Array({Reply::Bulk("b"), Reply::Bulk("a")})));
  EXPECT_FALSE(Agree({"LRANGE"}, Json::array({"a"}), Reply::EmptyArray()));
}

TEST(CompareReply, NamesPlaceCommandExpectedAndActualValue) {
  const std::optional<Difference> difference =
      CompareReply(Recorded({"EXEC"}, Json::array({1, 2})),
                   Reply::Array({Reply::Integer(1), Reply::Integer(3)}), System::kGateway);
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->ToString(),
            R"(/ops/0/commands/0/reply/1: not as recorded (["EXEC"]): expected 2, got 3)");
}

TEST(CompareReply, ReadsRecordedTextsAsBytes) {
  EXPECT_TRUE(Agree({"GET", "k"}, "bytes:1", Reply::Bulk("bytes:1")));
  EXPECT_FALSE(Agree({"GET", "k"}, "bytes:\\x01", Reply::Bulk("\x01")));
}

TEST(CompareReply, ToleratesOneSecondOfTtl) {
  EXPECT_TRUE(Agree({"TTL", "k"}, 70, Reply::Integer(69)));
  EXPECT_FALSE(Agree({"TTL", "k"}, 70, Reply::Integer(68)));
  EXPECT_TRUE(Agree({"PTTL", "k"}, 70000, Reply::Integer(69000)));
  EXPECT_FALSE(Agree({"PTTL", "k"}, 70000, Reply::Integer(68999)));
  // A difference of one second is allowed only between two TTLs.
  EXPECT_FALSE(Agree({"TTL", "k"}, -1, Reply::Integer(-2)));
  EXPECT_FALSE(Agree({"TTL", "k"}, 1, Reply::Integer(0)));
  EXPECT_FALSE(Agree({"INCR", "k"}, 70, Reply::Integer(69)));
}

TEST(CompareReply, IgnoresWhatOnlyTheClockOrTheAllocatorDecides) {
  const auto row = [](Reply idle) {
    return Reply::Array(
        {Reply::Array({Reply::Bulk("1-0"), Reply::Bulk("c"), std::move(idle), Reply::Integer(2)})});
  };
  const Json recorded = Json::parse(R"([["1-0","c","<idle-ms>",2]])");
  const std::vector<std::string> pending = {"XPENDING", "k", "g", "-", "+", "10"};
  EXPECT_TRUE(Agree(pending, recorded, row(Reply::Integer(17))));
  EXPECT_TRUE(Agree(pending, Json::parse(R"([["1-0","c",3,2]])"), row(Reply::Integer(17))));
  EXPECT_FALSE(Agree(pending, recorded, row(Reply::Integer(-1))));
  EXPECT_FALSE(Agree(pending, recorded, row(Reply::Bulk("17"))));
  EXPECT_FALSE(Agree(pending, Json::parse(R"([["1-0","c",3,1]])"), row(Reply::Integer(3))));

  const Reply info = Reply::Map({Reply::Bulk("length"), Reply::Integer(1),
                                 Reply::Bulk("radix-tree-keys"), Reply::Integer(1)});
  EXPECT_TRUE(
      Agree({"XINFO", "STREAM", "k"}, Json::parse(R"(["length",1,"radix-tree-keys",9])"), info));
  EXPECT_FALSE(
      Agree({"XINFO", "STREAM", "k"}, Json::parse(R"(["length",2,"radix-tree-keys",1])"), info));
  const Reply consumers = Reply::Array({Reply::Map(
      {Reply::Bulk("pending"), Reply::Integer(1), Reply::Bulk("idle"), Reply::Integer(5)})});
  EXPECT_TRUE(Agree({"XINFO", "CONSUMERS", "k", "g"}, Json::parse(R"([["pending",1,"idle",0]])"),
                    consumers));
  EXPECT_FALSE(Agree({"XINFO", "CONSUMERS", "k", "g"}, Json::parse(R"([["pending",2,"idle",0]])"),
                     consumers));
}

TEST(CompareReply, AcceptsSetsAndKeysInAnyOrder) {
  const std::vector<Reply> elements = {Reply::Bulk("b"), Reply::Bulk("a")};
  const Json recorded = Json::array({"a", "b"});
  EXPECT_TRUE(Agree({"SMEMBERS", "k"}, recorded, Reply::Set(elements)));
  EXPECT_TRUE(Agree({"KEYS", "*"}, recorded, Reply::Array(elements)));
  EXPECT_FALSE(Agree({"SMEMBERS", "k"}, Json::array({"a", "c"}), Reply::Set(elements)));
  EXPECT_FALSE(Agree({"SMEMBERS", "k"}, nullptr, Reply::Set(elements)));
}

TEST(CompareReply, ComparesErrorsOfTheOrchestratorsScriptsUpToTheScript) {
  const Json recorded = {{"error", "ERR boom script: 12ab, on @user_script:1."}};
  const Reply got = Reply::Error("ERR boom script: 99ff, on @user_script:2.");
  EXPECT_TRUE(Agree({"EVAL"}, recorded, got, System::kOrchestrator));
  EXPECT_FALSE(Agree({"EVAL"}, recorded, got, System::kKorvet));
  EXPECT_FALSE(Agree({"EVAL"}, Json{{"error", "ERR bang script: 1"}}, got, System::kOrchestrator));
}

// Keyspaces.

sim::Keyspace Got(const std::string& type, const Json& value, std::optional<int64_t> ttl_ms) {
  return {{"k", sim::KeyspaceEntry{type, value, ttl_ms}}};
}

bool Agree(const RecordedKey& recorded, const sim::Keyspace& got) {
  return !CompareKeyspaces({{"k", recorded}}, got, "/keyspace").has_value();
}

TEST(CompareKeyspaces, ComparesTypesAndValues) {
  EXPECT_TRUE(Agree({"string", "v", -1}, Got("string", "v", std::nullopt)));
  EXPECT_TRUE(Agree({"set", {"b", "a"}, -1}, Got("set", {"a", "b"}, std::nullopt)));
  const Json scores = Json::parse(R"([["a",1],["b","2.5"]])");
  const Json got_scores = Json::parse(R"([["a","1"],["b","2.5"]])");
  EXPECT_TRUE(Agree({"zset", scores, -1}, Got("zset", got_scores, std::nullopt)));

  EXPECT_FALSE(Agree({"string", "v", -1}, Got("string", "w", std::nullopt)));
  EXPECT_FALSE(Agree({"string", "v", -1}, Got("list", "v", std::nullopt)));
  EXPECT_FALSE(Agree({"list", {"b", "a"}, -1}, Got("list", {"a", "b"}, std::nullopt)));
  EXPECT_FALSE(Agree({"zset", Json::parse(R"([["a",2]])"), -1},
                     Got("zset", Json::parse(R"([["a","1"]])"), std::nullopt)));
}

TEST(CompareKeyspaces, RoundsTtlsAsRedisAndToleratesOneSecond) {
  const auto with_ttl = [](int64_t ttl) { return RecordedKey{"string", "v", ttl}; };
  EXPECT_TRUE(Agree(with_ttl(70), Got("string", "v", 70499)));
  EXPECT_TRUE(Agree(with_ttl(70), Got("string", "v", 71499)));
  EXPECT_FALSE(Agree(with_ttl(70), Got("string", "v", 71500)));
  EXPECT_TRUE(Agree(with_ttl(70), Got("string", "v", 68500)));
  EXPECT_FALSE(Agree(with_ttl(70), Got("string", "v", 68499)));
  EXPECT_FALSE(Agree(with_ttl(0), Got("string", "v", std::nullopt)));
  EXPECT_FALSE(Agree(with_ttl(-1), Got("string", "v", 0)));
}

TEST(CompareKeyspaces, FindsMissingAndExtraKeys) {
  const std::optional<Difference> missing =
      CompareKeyspaces({{"a/b", {"string", "v", -1}}}, {}, "/keyspace");
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->path, "/keyspace/a~1b");
  EXPECT_EQ(missing->got, "nothing");
  const std::optional<Difference> extra =
      CompareKeyspaces({}, Got("string", "v", std::nullopt), "/keyspace");
  ASSERT_TRUE(extra);
  EXPECT_EQ(extra->path, "/keyspace/k");
  EXPECT_EQ(extra->expected, "nothing");
}

TEST(ReadServer, ReadsTheKeyspaceOfAServer) {
  sim::MemoryBackend backend;
  ASSERT_TRUE(backend.Begin({.start = absl::UnixEpoch()}).ok());
  const std::unique_ptr<store::Store> store = *backend.Connect();
  const auto send = [&](const store::Command& command) -> base::Task<bool> {
    const absl::StatusOr<Reply> reply = co_await store->Execute(command);
    co_return reply.ok() && !reply->is_error();
  };
  const store::Command set(store::CommandId::kSet, {"k", "v", "EX", "7"});
  ASSERT_TRUE(base::Run(send(set)));
  const absl::StatusOr<sim::Keyspace> keyspace = base::Run(ReadServer(*store, System::kGateway));
  ASSERT_TRUE(keyspace.ok());
  EXPECT_FALSE(CompareKeyspaces({{"k", {"string", "v", 7}}}, *keyspace, "/keyspace"));
}

}  // namespace
}  // namespace redouble::inline v0_1::golden
