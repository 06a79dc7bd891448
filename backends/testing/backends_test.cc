#include "redouble/backends/testing/backends.h"

#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble::inline v0_1::tests {
namespace {

using base::IsOkAndHolds;
using store::Batch;
using store::CommandId;
using store::Reply;

template <typename Backend>
class BackendsTest : public BackendTest<Backend> {};
TYPED_TEST_SUITE(BackendsTest, Backends, BackendNames);

TYPED_TEST(BackendsTest, BeginsEmptyAtTheTimeOfTheGoldens) {
  EXPECT_EQ(this->now(), DefaultStart());
  EXPECT_EQ(this->KeyCount(), 0);
  EXPECT_EQ(this->Ask({"TIME"}).elements()[0], Reply::Bulk("1778335382"));
}

TYPED_TEST(BackendsTest, ExpiresKeysToTheMillisecond) {
  this->Ask({"SET", "key", "value", "PX", "1000"});
  this->Advance(absl::Milliseconds(1000));
  EXPECT_EQ(this->Value("key"), "value");
  EXPECT_EQ(this->Ttl("key"), 0);
  this->Advance(absl::Milliseconds(1));
  EXPECT_EQ(this->Value("key"), "nil");
  EXPECT_EQ(this->Ttl("key"), -2);
}

TYPED_TEST(BackendsTest, NeverGoesBack) {
  this->AdvanceTo(DefaultStart() - absl::Seconds(1));
  EXPECT_EQ(this->now(), DefaultStart());
}

TYPED_TEST(BackendsTest, RunsTypedCommandsAndBatches) {
  EXPECT_THAT(this->Run(store::Incr(this->store(), "n")), IsOkAndHolds(1));
  for (const auto atomicity : {Batch::Atomicity::kPipeline, Batch::Atomicity::kTransaction}) {
    Batch batch(atomicity);
    batch.Add(CommandId::kIncr, {"n"});
    batch.Add(CommandId::kExpire, {"n", "70"});
    const auto replies = this->Run(store::Execute(this->store(), batch));
    ASSERT_TRUE(replies.ok()) << replies.status();
    EXPECT_EQ(replies->size(), 2u);
  }
  EXPECT_EQ(this->Value("n"), "3");
}

TYPED_TEST(BackendsTest, HasSeveralConnections) {
  const std::unique_ptr<store::Store> other = this->Connect();
  EXPECT_THAT(this->Run(store::Incr(*other, "n")), IsOkAndHolds(1));
  EXPECT_EQ(this->Value("n"), "1");
}

// A backend of a machine without redis-server.
class MissingBackend : public MemoryBackend {
 public:
  static constexpr std::string_view kName = "Missing";

  absl::Status Start(absl::Time) { return absl::UnavailableError("there is no program"); }
};

class OnMissingBackend : public BackendTest<MissingBackend> {
 public:
  using BackendTest::SetUp;
  void TestBody() override {}
};

TEST(Backends, AreSkippedWithTheReasonWhereTheyAreMissing) {
  ::testing::TestPartResultArray results;
  {
    const ::testing::ScopedFakeTestPartResultReporter reporter(&results);
    OnMissingBackend().SetUp();
  }
  ASSERT_EQ(results.size(), 1);
  EXPECT_TRUE(results.GetTestPartResult(0).skipped());
  EXPECT_THAT(results.GetTestPartResult(0).message(),
              ::testing::HasSubstr("Missing cannot be had here: UNAVAILABLE: there is no program"));
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
