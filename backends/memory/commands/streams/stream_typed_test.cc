// The typed stream commands on the engine: what one command writes, another reads.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/streams.h"

namespace redouble::inline v0_1::memory {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using store::GroupConsumer;
using store::StreamId;
using store::StreamRead;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr GroupConsumer kAnn{"g", "ann"};
constexpr GroupConsumer kBob{"g", "bob"};

class StreamCommandsTest : public testing::Test {
 protected:
  void Add(StreamId id) {
    const std::vector<std::pair<std::string_view, std::string_view>> fields = {{"f", "1"}};
    ASSERT_TRUE(base::Run(store::XAdd(*session_, "s", fields, {.id = id})).ok());
  }
  void CreateGroup() {
    ASSERT_TRUE(base::Run(store::XGroupCreate(*session_, "s", "g", {.make_stream = true})).ok());
  }
  std::vector<store::StreamEntry> ReadNew(GroupConsumer consumer, int64_t count = 100) {
    auto streams = base::Run(store::XReadGroup(*session_, consumer, reads_, {.count = count}));
    EXPECT_THAT(streams, IsOk());
    if (!streams.ok() || streams->empty()) return {};
    return (*streams)[0].entries;
  }

  const std::vector<StreamRead> reads_ = {{.key = "s"}};
  base::VirtualClock clock_{absl::FromUnixMillis(1'778'335'382'000)};
  Engine engine_{clock_};
  std::unique_ptr<Session> session_ = engine_.Connect();
  std::unique_ptr<Session> other_ = engine_.Connect();
};

TEST_F(StreamCommandsTest, IdsComeFromTheClock) {
  const std::vector<std::pair<std::string_view, std::string_view>> fields = {{"f", "1"}};
  EXPECT_THAT(base::Run(store::XAdd(*session_, "s", fields)),
              IsOkAndHolds(StreamId{1'778'335'382'000, 0}));
  EXPECT_THAT(base::Run(store::XAdd(*session_, "s", fields)),
              IsOkAndHolds(StreamId{1'778'335'382'000, 1}));
}

TEST_F(StreamCommandsTest, RangesReadWhatWasAdded) {
  Add({1, 1});
  Add({2, 1});
  const auto entries = base::Run(store::XRange(*session_, "s", {.first = *StreamId{1, 1}.Next()}));
  ASSERT_EQ(entries.value().size(), 1U);
  EXPECT_EQ((*entries)[0].Find("f"), "1");
  const auto last = base::Run(store::XRevRange(*session_, "s", {.count = 1}));
  EXPECT_EQ(last.value()[0].id, (StreamId{2, 1}));
}

TEST_F(StreamCommandsTest, AGroupDeliversEachEntryOnceUntilItIsClaimed) {
  CreateGroup();
  Add({1, 1});
  Add({2, 1});
  ASSERT_EQ(ReadNew(kAnn, 1).size(), 1U);
  ASSERT_EQ(ReadNew(kBob).size(), 1U);
  clock_.Advance(absl::Seconds(45));
  const auto claimed =
      base::Run(store::XAutoClaim(*session_, "s", kBob, {.min_idle = absl::Seconds(45)}));
  ASSERT_THAT(claimed, IsOk());
  EXPECT_EQ(claimed->entries.size(), 2U);
  EXPECT_EQ(claimed->next, StreamId::Min());
  const auto pending = base::Run(store::XPendingRange(*session_, "s", "g"));
  ASSERT_EQ(pending.value().size(), 2U);
  EXPECT_EQ((*pending)[0], (store::PendingEntry{{1, 1}, "bob", absl::ZeroDuration(), 2}));
  const auto summary = base::Run(store::XPending(*session_, "s", "g"));
  EXPECT_EQ(summary.value().consumers, (std::vector<std::pair<std::string, int64_t>>{{"bob", 2}}));
}

TEST_F(StreamCommandsTest, XInfoDescribesStreamGroupsAndConsumers) {
  CreateGroup();
  Add({1, 1});
  Add({2, 1});
  ReadNew(kAnn, 1);
  clock_.Advance(absl::Seconds(1));
  const auto stream = base::Run(store::XInfoStream(*session_, "s"));
  EXPECT_EQ(stream.value().length, 2);
  EXPECT_EQ(stream->last_generated_id, (StreamId{2, 1}));
  EXPECT_EQ(stream->groups, 1);
  const auto groups = base::Run(store::XInfoGroups(*session_, "s"));
  ASSERT_EQ(groups.value().size(), 1U);
  EXPECT_EQ((*groups)[0].lag, 1);
  EXPECT_EQ((*groups)[0].pending, 1);
  const auto consumers = base::Run(store::XInfoConsumers(*session_, "s", "g"));
  ASSERT_EQ(consumers.value().size(), 1U);
  EXPECT_EQ((*consumers)[0], (store::StreamConsumerInfo{"ann", 1, absl::Seconds(1)}));
}

TEST_F(StreamCommandsTest, AReaderWaitsForAnEntry) {
  auto read = store::XRead(*other_, reads_, {.block = absl::InfiniteDuration()});
  read.Start();
  EXPECT_TRUE(other_->blocked());
  Add({1, 1});
  EXPECT_FALSE(other_->blocked());
  ASSERT_OK_AND_ASSIGN(const auto streams, read.TakeResult());
  ASSERT_THAT(streams, SizeIs(1));
  ASSERT_THAT(streams[0].entries, SizeIs(1));
  EXPECT_EQ(streams[0].entries[0].id, (StreamId{1, 1}));
}

TEST_F(StreamCommandsTest, ABlockedConsumerIsNotifiedThatTheStreamIsDeleted) {
  CreateGroup();
  auto read = store::XReadGroup(*other_, kAnn, reads_, {.block = absl::Seconds(5)});
  read.Start();
  ASSERT_THAT(base::Run(store::Del(*session_, "s")), IsOkAndHolds(true));
  EXPECT_EQ(read.TakeResult().status().code(), absl::StatusCode::kAborted);
}

TEST_F(StreamCommandsTest, ABlockedReadTimesOut) {
  CreateGroup();
  auto read = store::XReadGroup(*other_, kAnn, reads_, {.block = absl::Milliseconds(100)});
  read.Start();
  clock_.Advance(absl::Milliseconds(100));
  EXPECT_TRUE(other_->blocked());
  clock_.Advance(absl::Milliseconds(1));
  EXPECT_FALSE(other_->blocked());
  EXPECT_THAT(read.TakeResult(), IsOkAndHolds(IsEmpty()));
}

TEST_F(StreamCommandsTest, EventsComeInRedisOrder) {
  std::vector<std::string> events;
  engine_.SetKeyspaceListener(
      [&](const KeyspaceEvent& event) { events.emplace_back(event.event); });
  CreateGroup();
  Add({1, 1});
  ReadNew(kAnn);
  const std::vector<StreamId> ids = {{1, 1}};
  ASSERT_TRUE(base::Run(store::XAck(*session_, "s", "g", ids)).ok());
  const std::vector<std::pair<std::string_view, std::string_view>> fields = {{"f", "1"}};
  store::XAddOptions options;
  options.trimming = {.max_length = 0};
  ASSERT_TRUE(base::Run(store::XAdd(*session_, "s", fields, options)).ok());
  EXPECT_THAT(base::Run(store::XGroupDelConsumer(*session_, "s", kAnn)), IsOkAndHolds(0));
  ASSERT_TRUE(base::Run(store::XGroupSetId(*session_, "s", "g")).ok());
  EXPECT_THAT(base::Run(store::XGroupDestroy(*session_, "s", "g")), IsOkAndHolds(true));
  EXPECT_EQ(events, (std::vector<std::string>{"xgroup-create", "xadd", "xgroup-createconsumer",
                                              "xadd", "xtrim", "xgroup-delconsumer", "xgroup-setid",
                                              "xgroup-destroy"}));
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
