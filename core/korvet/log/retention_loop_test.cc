#include "redouble/core/korvet/log/retention_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/store/errors.h"
#include "redouble/tests/support/intercepted_store.h"
#include "redouble/tests/support/korvet_topic.h"

namespace redouble::inline v0_1::korvet {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using store::Reply;

template <typename Backend>
class RetentionLoopTest : public TopicTest<Backend> {
 protected:
  // A topic with two old records and one new one, in partition 1.
  void MakeOld() {
    const Topic topic = this->MakeTopic({{"retentionTime", "1000"}});
    const auto now_ms = static_cast<uint64_t>(absl::ToUnixMillis(this->now()));
    this->Write(topic, 0, now_ms - 2000, 1);
    this->Write(topic, 1, now_ms - 2000, 1);
    this->Write(topic, 0, now_ms - 1000, 1);
  }
};
TYPED_TEST_SUITE(RetentionLoopTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(RetentionLoopTest, SweepsAllTopics) {
  this->MakeOld();
  Topics topics(this->store(), this->rng_, this->keys_);
  ASSERT_THAT(this->Run(topics.Create({.name = "idle"})), IsOk());
  RetentionLoop loop(this->store(), this->clock_, this->keys_);
  EXPECT_THAT(this->Run(loop.RunOnce()), IsOkAndHolds(RetentionRound{2, 2, {}}));
  EXPECT_EQ(this->Ask({"XLEN", "korvet:stream:orders:1"}), Reply::Integer(1));
  EXPECT_THAT(this->Run(loop.RunOnce()), IsOkAndHolds(RetentionRound{2, 0, {}})) << "repeated";
}

TYPED_TEST(RetentionLoopTest, PassesOverWhatIsGoneAndReportsWhatFails) {
  this->MakeOld();
  this->Ask({"SADD", "korvet:topics", "gone", "broken"});
  this->Ask({"SET", "korvet:topic:broken", "x"});
  RetentionLoop loop(this->store(), this->clock_, this->keys_);
  const RetentionRound round = this->Run(loop.RunOnce()).value();
  EXPECT_EQ(round.topics, 1);
  EXPECT_EQ(round.removed, 2) << "the others are swept";
  ASSERT_EQ(round.failed.size(), 1u);
  EXPECT_EQ(ErrorCodeOf(round.failed.at("broken")), ErrorCode::kUnknownServerError);
}

TYPED_TEST(RetentionLoopTest, LeavesATopicThatTookTheNameDuringASweep) {
  this->MakeOld();
  tests::InterceptedStore store(this->store());
  store.on_request = [&](size_t index) -> std::optional<absl::StatusOr<Reply>> {
    if (index == 2) this->MakeOld();  // Between the two HGETALLs of the sweep.
    return std::nullopt;
  };
  RetentionLoop loop(store, this->clock_, this->keys_);
  EXPECT_THAT(this->Run(loop.RunOnce()), IsOkAndHolds(RetentionRound()));
  EXPECT_EQ(this->Ask({"XLEN", "korvet:stream:orders:1"}), Reply::Integer(3));
}

TYPED_TEST(RetentionLoopTest, RunsAgainAfterEachInterval) {
  RetentionLoop off(this->store(), this->clock_, this->keys_, std::nullopt);
  EXPECT_THAT(this->Run(off.Run()), IsOk());
  this->MakeOld();
  RetentionLoop loop(this->store(), this->clock_, this->keys_, absl::Seconds(30));
  base::Task<absl::Status> run = loop.Run();
  run.Start();
  EXPECT_EQ(loop.total().removed, 2);
  this->Advance(absl::Seconds(30));
  this->clock_.Advance(absl::Seconds(30));
  EXPECT_EQ(loop.total().removed, 3);
}

TYPED_TEST(RetentionLoopTest, EndsWhenTheTopicsCannotBeListed) {
  tests::InterceptedStore store(this->store());
  store.on_request = [](size_t) { return absl::StatusOr<Reply>(store::NotSentError("down")); };
  RetentionLoop loop(store, this->clock_, this->keys_);
  EXPECT_EQ(ErrorCodeOf(this->Run(loop.Run())), ErrorCode::kKafkaStorageError);
}

}  // namespace
}  // namespace redouble::inline v0_1::korvet
