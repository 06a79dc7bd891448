#include "redouble/core/orchestrator/run/monitor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/orchestrator/testing/orchestrator_for_test.h"
#include "redouble/core/store/errors.h"
#include "redouble/tests/support/intercepted_store.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using base::StatusIs;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

template <typename Backend>
class MonitorTest : public OrchestratorTest<Backend> {};
TYPED_TEST_SUITE(MonitorTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(MonitorTest, MeasuresQueuesAndGroups) {
  this->Ask({"XADD", "wf.tasks.http", "1-1", "token", "x"});
  this->Ask({"XADD", "wf.tasks.http", "1-2", "token", "y"});
  this->Ask({"XADD", "wf.tasks.video.encode", "1-1", "token", "z"});
  this->Ask({"XGROUP", "CREATE", "wf.tasks.http", "workers", "0"});
  this->Ask({"XGROUP", "CREATE", "wf.tasks.agent", "workers", "0", "MKSTREAM"});
  this->Ask(
      {"XREADGROUP", "GROUP", "workers", "w1", "COUNT", "1", "STREAMS", "wf.tasks.http", ">"});
  this->Ask({"RPUSH", "completion_signals", "a", "b"});
  this->Ask({"RPUSH", "completion_signals:processing:c2", "c"});
  this->Ask({"RPUSH", "completion_signals:processing:c1", "d", "e"});
  Monitor monitor(this->store(), this->keys());
  const auto depths = this->Run(monitor.Depths());
  ASSERT_THAT(depths, IsOk());
  ASSERT_THAT(depths->streams, SizeIs(3));
  EXPECT_EQ(depths->streams[2].type, "video.encode");
  EXPECT_EQ(depths->streams[0].type, "agent");
  EXPECT_EQ(depths->streams[0].length, 0);
  EXPECT_EQ(depths->streams[1].length, 2);
  ASSERT_THAT(depths->streams[1].groups, SizeIs(1));
  EXPECT_EQ(depths->streams[1].groups[0].info.pending, 1);
  EXPECT_EQ(depths->streams[1].groups[0].info.lag, 1);
  ASSERT_THAT(depths->streams[1].groups[0].consumers, SizeIs(1));
  EXPECT_EQ(depths->streams[1].groups[0].consumers[0].name, "w1");
  EXPECT_EQ(depths->streams[1].groups[0].consumers[0].pending, 1);
  EXPECT_THAT(depths->streams[0].groups[0].consumers, IsEmpty());
  EXPECT_EQ(depths->signals, 2);
  ASSERT_THAT(depths->processing, SizeIs(2));
  EXPECT_EQ(depths->processing[0].consumer, "c1");
  EXPECT_EQ(depths->processing[0].length, 2);
}

TYPED_TEST(MonitorTest, FindsTheKeysOfOneRunOnly) {
  this->Ask({"SET", "ir:run_1", R"({"nodes":{"R":{"id":"R","type":"http"}}})", "EX", "100"});
  this->Ask({"SET", "counter:run_1", "1", "EX", "100"});
  this->Ask({"SET", "counter:run_12", "1"});
  this->Ask({"HSET", "loop:run_1:R", "current_iteration", "1"});
  this->Ask({"SADD", "pending_approvals:run_1", "approval_456", "other"});
  this->Ask({"HSET", this->ApprovalKey("456"), "status", "pending"});
  this->Ask({"SADD", "applied:run_1", "resume:approval_455", "resume:approval_456"});
  this->Ask({"HSET", this->ApprovalKey("455"), "status", "approved"});
  Monitor monitor(this->store(), this->keys());
  const auto keys = this->Run(monitor.KeysOf("run_1"));
  ASSERT_THAT(keys, IsOk());
  std::vector<std::string> names;
  for (const RunKey& key : *keys) names.push_back(this->AsDocumented(key.key));
  EXPECT_THAT(names,
              ElementsAre("ir:run_1", "counter:run_1", "applied:run_1", "pending_approvals:run_1",
                          "approval:455", "approval:456", "loop:run_1:R"));
  EXPECT_EQ((*keys)[0].type, store::KeyType::kString);
  EXPECT_EQ((*keys)[0].ttl.remaining(), absl::Seconds(100));
  EXPECT_FALSE((*keys)[6].ttl.expires());
}

TYPED_TEST(MonitorTest, FindsNothingOfARunThatIsGone) {
  Monitor monitor(this->store(), this->keys());
  EXPECT_THAT(this->Run(monitor.KeysOf("run_1")), IsOkAndHolds(IsEmpty()));
  EXPECT_THAT(this->Run(monitor.KeysOf("*")), StatusIs(absl::StatusCode::kInvalidArgument));
  const auto depths = this->Run(monitor.Depths());
  EXPECT_THAT(depths.value().streams, IsEmpty());
  EXPECT_EQ(depths->signals, 0);
}

TYPED_TEST(MonitorTest, PassesTheStoresErrorsOn) {
  this->Ask({"XADD", "wf.tasks.http", "1-1", "token", "x"});
  this->Ask({"RPUSH", "completion_signals:processing:c1", "d"});
  this->Ask({"SET", "ir:run_1", R"({"nodes":{"R":{"id":"R","type":"http"}}})"});
  // Each request of the operation fails in turn.
  const auto fails_each_time = [&](const std::function<absl::Status(Monitor&)>& operation) {
    for (size_t fail = 0; fail < 40; ++fail) {
      tests::InterceptedStore store(this->store());
      store.on_request = [&](size_t index) -> std::optional<absl::StatusOr<store::Reply>> {
        if (index == fail) return store::NotSentError("gone");
        return std::nullopt;
      };
      Monitor monitor(store, this->keys());
      const absl::Status status = operation(monitor);
      if (store.requests() <= fail) {
        EXPECT_THAT(status, IsOk());
        EXPECT_GT(fail, 3u);
        return;
      }
      EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable)) << fail;
    }
    FAIL() << "it never succeeds";
  };
  fails_each_time([&](Monitor& monitor) { return this->Run(monitor.Depths()).status(); });
  fails_each_time([&](Monitor& monitor) { return this->Run(monitor.KeysOf("run_1")).status(); });
}

}  // namespace
}  // namespace redouble::inline v0_1::orchestrator
