#include "redouble/core/orchestrator/keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "redouble/core/base/hash/crc.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/text/glob.h"
#include "redouble/core/store/keyspace/key_family_testing.h"
#include "redouble/core/store/keyspace/key_spread_for_test.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using base::IsOkAndHolds;
using base::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Keys kPlain;
const Keys kTagged(store::KeyLayout::kCluster);

// All keys of one run.
std::vector<std::string> KeysOfRun(const Keys& keys, std::string_view run_id) {
  return {keys.Ir(run_id).value(),
          keys.Context(run_id).value(),
          keys.Counter(run_id).value(),
          keys.Applied(run_id).value(),
          keys.PendingApprovals(run_id).value(),
          keys.PendingTokens({run_id, "D"}).value(),
          keys.Loop({run_id, "R"}).value()};
}

TEST(OrchestratorKeys, AreTheOnesOfTheDocument) {
  EXPECT_THAT(KeysOfRun(kPlain, "run_7f3e4a"),
              ElementsAre("ir:run_7f3e4a", "context:run_7f3e4a", "counter:run_7f3e4a",
                          "applied:run_7f3e4a", "pending_approvals:run_7f3e4a",
                          "pending_tokens:run_7f3e4a:D", "loop:run_7f3e4a:R"));
  EXPECT_EQ(kPlain.Approval({"run_7f3e4a", "456"}).value(), "approval:456");
  EXPECT_EQ(kPlain.EventChannel("run_7f3e4a").value(), "run:run_7f3e4a");
  EXPECT_EQ(kPlain.CachedResult({"workflow", "enrich_A:sha256:abc123"}).value(),
            "cache:workflow:enrich_A:sha256:abc123");
  EXPECT_EQ(kPlain.CompletionSignals(), "completion_signals");
  EXPECT_EQ(kPlain.ProcessingSignals("c1").value(), "completion_signals:processing:c1");
}

TEST(OrchestratorKeys, CarryHashTagsWhereACommandTakesSeveral) {
  EXPECT_THAT(
      KeysOfRun(kTagged, "run_123"),
      ElementsAre("ir:{run_123}", "context:{run_123}", "counter:{run_123}", "applied:{run_123}",
                  "pending_approvals:{run_123}", "pending_tokens:{run_123}:D", "loop:{run_123}:R"));
  EXPECT_EQ(kTagged.Approval({"run_123", "456"}).value(), "approval:{run_123}:456");
  EXPECT_EQ(kTagged.CompletionSignals(), "{completion_signals}");
  EXPECT_EQ(kTagged.ProcessingSignals("c1").value(), "{completion_signals}:processing:c1");
}

TEST(OrchestratorKeys, ShareASlotOfTheClusterOnlyWithHashTags) {
  for (const std::string& key : KeysOfRun(kTagged, "run_123")) {
    EXPECT_EQ(base::KeySlot(key), 748) << key;
  }
  EXPECT_EQ(base::KeySlot(kTagged.Approval({"run_123", "456"}).value()), 748);
  EXPECT_EQ(base::KeySlot(kTagged.CompletionSignals()),
            base::KeySlot(kTagged.ProcessingSignals("c1").value()));
  std::set<int> slots;
  for (const std::string& key : KeysOfRun(kPlain, "run_123")) slots.insert(base::KeySlot(key));
  EXPECT_GT(slots.size(), 1u);
}

TEST(OrchestratorKeys, OfManyRunsSpreadOverACluster) {
  std::vector<std::string> keys;
  for (int run = 0; run < 6000; ++run) {
    keys.push_back(kTagged.Counter("run_" + std::to_string(run)).value());
  }
  store::ExpectEvenSpread(keys, /*masters=*/6);
}

TEST(OrchestratorKeys, OfAQueueWithShardsSpreadOverACluster) {
  const Keys keys(store::KeyLayout::kCluster, kMaxQueueShards);
  std::set<int> slots;
  std::set<int64_t> shards;
  for (int run = 0; run < 6000; ++run) {
    const int64_t shard = keys.ShardOf("run_" + std::to_string(run));
    shards.insert(shard);
    const std::string queue = keys.CompletionSignals(shard);
    slots.insert(base::KeySlot(queue));
    EXPECT_EQ(base::KeySlot(queue), base::KeySlot(keys.ProcessingSignals("c", shard).value()));
  }
  EXPECT_EQ(shards.size(), static_cast<size_t>(kMaxQueueShards));
  EXPECT_EQ(slots.size(), static_cast<size_t>(kMaxQueueShards));
}

// Each master of 2, 3, 4 or 6 has as many shards of each queue.
TEST(OrchestratorKeys, OfTwelveShardsAreEvenOnMastersThatDivideTwelve) {
  const Keys keys(store::KeyLayout::kCluster, 12);
  for (const int masters : {2, 3, 4, 6}) {
    for (const std::string_view type : {"http", "agent", "a|{b}", "hitl"}) {
      std::map<int, int> signals;
      std::map<int, int> streams;
      for (int64_t shard = 0; shard < 12; ++shard) {
        const auto master_of = [&](const std::string& key) {
          return base::KeySlot(key) * masters / base::kClusterSlots;
        };
        ++signals[master_of(keys.CompletionSignals(shard))];
        ++streams[master_of(*keys.TaskStream(type, shard))];
      }
      for (int master = 0; master < masters; ++master) {
        EXPECT_EQ(signals[master], 12 / masters) << masters;
        EXPECT_EQ(streams[master], 12 / masters) << masters << " " << type;
      }
    }
  }
}

// A key of every shard leads back to it, and to a list of the coordinator that took from it.
TEST(OrchestratorKeys, OfAShardLeadBackToIt) {
  for (int64_t shards = 1; shards <= kMaxQueueShards; ++shards) {
    const Keys keys(store::KeyLayout::kCluster, shards);
    for (int64_t shard = 0; shard < shards; ++shard) {
      const std::string list = *keys.ProcessingSignals("c", shard);
      EXPECT_EQ(keys.ShardOfQueue(*keys.Parse(list)), shard);
      EXPECT_TRUE(IsProcessingList(*keys.Parse(list)));
      EXPECT_TRUE(base::GlobMatch(keys.ProcessingPattern(), list)) << list;
      const std::string stream = *keys.TaskStream("http", shard);
      EXPECT_EQ(keys.ShardOfQueue(*keys.Parse(stream)), shard);
      EXPECT_TRUE(base::GlobMatch(keys.TaskStreamPattern(), stream)) << stream;
    }
  }
}

TEST(OrchestratorKeys, OfTheFirstShardAreTheDocumentedOnes) {
  for (const store::KeyLayout layout :
       {store::KeyLayout::kDocumented, store::KeyLayout::kCluster}) {
    const Keys one(layout);
    const Keys four(layout, 4);
    EXPECT_EQ(one.ShardOf("run_1"), 0);
    EXPECT_EQ(four.TaskStream("http", 0).value(), "wf.tasks.http");
    // wf.tasks.http is in slot 9623, completion_signals in 6581, and shard 3 is 12288 slots later.
    EXPECT_EQ(four.TaskStream("http", 3).value(), "wf.tasks:{11417}:http");
    EXPECT_EQ(four.CompletionSignals(3), "completion_signals:{2906}");
    EXPECT_EQ(four.ProcessingSignals("c", 3).value(), "completion_signals:{2906}:processing:c");
    EXPECT_EQ(four.CompletionSignals(0), one.CompletionSignals());
    EXPECT_EQ(four.ProcessingSignals("c").value(), one.ProcessingSignals("c").value());
    for (const std::string& key : {*four.TaskStream("video:encode", 3), four.CompletionSignals(3),
                                   *four.ProcessingSignals("c", 3)}) {
      const auto match = four.Parse(key);
      ASSERT_TRUE(match) << key;
      EXPECT_EQ(four.ShardOfQueue(*match), 3) << key;
      EXPECT_EQ(Keys(layout, 8).ShardOfQueue(*match), 6) << "a multiple moves no shard";
      EXPECT_EQ(Keys(layout, 3).ShardOfQueue(*match), std::nullopt) << key;
    }
    EXPECT_EQ(four.ShardOfQueue(*four.Parse(four.CompletionSignals())), 0);
  }
  EXPECT_EQ(Keys(store::KeyLayout::kDocumented, 0).queue_shards(), 1);
}

TEST(OrchestratorKeys, SpellWhatStandsAloneAlikeInBothForms) {
  EXPECT_EQ(kTagged.EventChannel("run_123").value(), kPlain.EventChannel("run_123").value());
  EXPECT_EQ(kTagged.EventShardChannel("run_123").value(), "run:{run_123}");
  EXPECT_EQ(kPlain.EventShardChannel("run_123").value(), "run:{run_123}");
  EXPECT_EQ(kTagged.TaskStream("http").value(), kPlain.TaskStream("http").value());
  EXPECT_EQ(kTagged.CachedResult({"s", "k"}).value(), kPlain.CachedResult({"s", "k"}).value());
}

// docs/systems/orchestrator.md 1.1: types are open, so unlike workers do not take each other's
// tokens.
TEST(OrchestratorKeys, GiveEachTaskTypeItsOwnStream) {
  for (const std::string_view type : TaskTypes()) {
    EXPECT_THAT(kPlain.TaskStream(type), IsOkAndHolds("wf.tasks." + std::string(type)));
  }
  for (const std::string_view type : {"HTTP", "task", "hitl.responses", "a|b"}) {
    EXPECT_THAT(kPlain.TaskStream(type), IsOkAndHolds("wf.tasks." + std::string(type)));
    EXPECT_THAT(kPlain.Parse("wf.tasks." + std::string(type)).value().values, ElementsAre(type));
  }
  EXPECT_THAT(kPlain.TaskStream(""), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(kPlain.TaskStreamPattern(), "wf.tasks.*");
}

TEST(OrchestratorKeys, HaveTheDocumentedTimesToLive) {
  EXPECT_EQ(RunTtl(), absl::Seconds(86400));
  EXPECT_EQ(CachedResultTtl(), absl::Seconds(3600));
  EXPECT_EQ(ServiceLeaseTtl(), absl::Seconds(90));
  for (const store::KeyFamily& family : KeyFamilies()) {
    if (family.id == "orchestrator.cache") {
      EXPECT_EQ(family.ttl, CachedResultTtl());
    } else if (family.id == "orchestrator.service_lease") {
      EXPECT_EQ(family.ttl, ServiceLeaseTtl());
    } else if (family.ttl) {
      EXPECT_EQ(family.ttl, RunTtl()) << family.id;
    }
  }
}

TEST(OrchestratorKeys, RefuseAnIdThatCouldReachAnotherRun) {
  for (const std::string_view id : {"", "a:b", "run*", "{run}", "a b", "r\xc3\xa9", "a/b"}) {
    for (const Keys& keys : {kPlain, kTagged}) {
      const std::vector<absl::StatusOr<std::string>> built = {keys.Ir(id),
                                                              keys.Context(id),
                                                              keys.Counter(id),
                                                              keys.Applied(id),
                                                              keys.PendingApprovals(id),
                                                              keys.Approval({id, "1"}),
                                                              keys.Approval({"run", id}),
                                                              keys.EventChannel(id),
                                                              keys.EventShardChannel(id),
                                                              keys.PendingTokens({id, "D"}),
                                                              keys.PendingTokens({"run", id}),
                                                              keys.Loop({id, "R"}),
                                                              keys.Loop({"run", id}),
                                                              keys.ProcessingSignals(id)};
      for (const auto& key : built)
        EXPECT_THAT(key, StatusIs(absl::StatusCode::kInvalidArgument)) << id;
    }
  }
  EXPECT_THAT(std::string(kPlain.Ir("a:b").status().message()),
              HasSubstr("key family orchestrator.ir: run_id of \"ir:{run_id:id}\" must be of "
                        "letters, digits, _ and -, got \"a:b\""));
}

TEST(OrchestratorKeys, RefuseACacheScopeThatIsNotOneWord) {
  EXPECT_THAT(kPlain.CachedResult({"a:b", "k"}), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(kPlain.CachedResult({"", "k"}), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(kPlain.CachedResult({"a", ""}), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(OrchestratorKeys, TakeAKeyApart) {
  const auto loop = kPlain.Parse("loop:run_1:R");
  ASSERT_TRUE(loop.has_value());
  EXPECT_EQ(loop->family->id, "orchestrator.loop");
  EXPECT_THAT(loop->values, ElementsAre("run_1", "R"));
  const auto approval = kTagged.Parse("approval:{run_1}:456");
  ASSERT_TRUE(approval.has_value());
  EXPECT_EQ(approval->family->id, "orchestrator.approval");
  EXPECT_THAT(approval->values, ElementsAre("run_1", "456"));
}

TEST(OrchestratorKeys, KnowNoKeyOfTheOtherFormOrOfNoForm) {
  EXPECT_FALSE(kPlain.Parse("ir:{run_1}").has_value());
  EXPECT_FALSE(kTagged.Parse("ir:run_1").has_value());
  for (const std::string_view key :
       {"", "ir:", "ir:{}run_1", "ir:{{run_1}}", "completion_signals:x", "wf.tasks.", "run_1",
        "loop:run_1", "loop:run_1:R:x"}) {
    EXPECT_FALSE(kPlain.Parse(key).has_value()) << key;
    EXPECT_FALSE(kTagged.Parse(key).has_value()) << key;
  }
}

TEST(OrchestratorKeys, KeepIdsThatBeginAlikeApart) {
  EXPECT_THAT(kPlain.Parse("ir:run_12").value().values, ElementsAre("run_12"));
  EXPECT_THAT(kPlain.Parse("ir:run_123").value().values, ElementsAre("run_123"));
}

TEST(OrchestratorKeys, MapApprovalIdsToMembersAndBack) {
  EXPECT_EQ(ApprovalMember("456"), "approval_456");
  EXPECT_EQ(ParseApprovalMember("approval_456"), "456");
  EXPECT_EQ(ParseApprovalMember("approval_"), std::nullopt);
  EXPECT_EQ(ParseApprovalMember("456"), std::nullopt);
}

TEST(OrchestratorKeys, NameTheChangesOfTheCounter) {
  EXPECT_EQ(ConsumeOp("token_456"), "consume:token_456");
  EXPECT_EQ(EmitOp("token_789"), "emit:token_789");
  EXPECT_EQ(ResumeOp("456"), "resume:approval_456");
  EXPECT_EQ(ArriveOp({"D", "t0/C"}), "arrive:D:t0/C");
  EXPECT_EQ(FireOp({"D", "t0/C"}), "fire:D:t0/C");
  EXPECT_EQ(QuiesceOp("D"), "fire:D:quiesce");
}

TEST(OrchestratorKeys, FillEveryColumnOfTheInventory) {
  for (const store::KeyLayout form : {store::KeyLayout::kDocumented, store::KeyLayout::kCluster}) {
    ASSERT_EQ(KeyFamilies(form).size(), 18u);
    for (const store::KeyFamily& family : KeyFamilies(form)) {
      EXPECT_EQ(family.system, "orchestrator");
      for (const std::string_view text :
           {family.ttl_rule, family.lifecycle, family.purpose, family.source}) {
        EXPECT_FALSE(text.empty()) << family.id;
      }
    }
  }
}

TEST(OrchestratorKeys, ListTheTaskTypesOfTheDocumentInOrder) {
  const std::span<const std::string_view> types = TaskTypes();
  EXPECT_TRUE(std::is_sorted(types.begin(), types.end()));
  EXPECT_THAT(types, ::testing::Contains(kDefaultTaskType));
}

TEST(OrchestratorKeys, RoundTripPlain) { store::ExpectKeyFamiliesRoundTrip(KeyFamilies()); }

TEST(OrchestratorKeys, RoundTripTagged) {
  store::ExpectKeyFamiliesRoundTrip(KeyFamilies(store::KeyLayout::kCluster));
}

}  // namespace
}  // namespace redouble::inline v0_1::orchestrator
