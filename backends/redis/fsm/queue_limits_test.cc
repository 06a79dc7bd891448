#include "redouble/backends/redis/fsm/queue_limits.h"

#include <gtest/gtest.h>

#include "redouble/backends/redis/fsm/request_for_test.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::redis {
namespace {

TEST(QueueLimits, AcceptRequestsBelowBothLimits) {
  const QueueLimits limits{3, 100};
  EXPECT_EQ(limits.Refuse(2, 99, "redis://h:1"), std::nullopt);
}

TEST(QueueLimits, RefuseARequestTooMany) {
  const std::optional<absl::Status> refusal = QueueLimits{3, 100}.Refuse(3, 0, "redis://h:1");
  ASSERT_TRUE(refusal.has_value());
  EXPECT_EQ(refusal->code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(store::ErrorKindOf(*refusal), store::ErrorKind::kNotSent);
  EXPECT_EQ(refusal->message(), "3 requests wait for redis://h:1 already");
}

TEST(QueueLimits, RefuseARequestBehindTooManyBytes) {
  const std::optional<absl::Status> refusal = QueueLimits{3, 100}.Refuse(1, 100, "redis://h:1");
  ASSERT_TRUE(refusal.has_value());
  EXPECT_EQ(refusal->code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(refusal->message(), "requests of 100 bytes wait for redis://h:1 already");
}

TEST(QueueLimits, CountTheBytesOfAllCommands) {
  EXPECT_EQ(BytesOf(RequestForTest(store::Request::Kind::kPipeline, {"SET key v", "PING"})), 11u);
}

TEST(QueueLimits, TakeTheOptions) {
  Options options;
  options.queue_limit = 7;
  options.queue_bytes = 8;
  EXPECT_EQ(QueueLimits::From(options).requests, 7u);
  EXPECT_EQ(QueueLimits::From(options).bytes, 8u);
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
