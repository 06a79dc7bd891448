#include "redouble/sim/scenario/memory_backend.h"

#include <string>

#include "gtest/gtest.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/typed/hashes.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble::inline v0_1::sim {
namespace {

using base::IsOk;

class MemoryBackendTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_THAT(backend_.Begin({.start = kStart, .seed = 1}), IsOk()); }

  int64_t KeyCount() {
    const std::unique_ptr<store::Store> connection = backend_.Connect().value();
    return base::Run(store::DbSize(*connection)).value();
  }
  void Write(std::string_view key, absl::Duration ttl) {
    const std::unique_ptr<store::Store> connection = backend_.Connect().value();
    store::SetOptions options;
    options.expiry = store::Expiry::In(ttl);
    ASSERT_THAT(base::Run(store::Set(*connection, key, "v", options)), IsOk());
  }

  const absl::Time kStart = absl::FromUnixSeconds(1'000'000);
  MemoryBackend backend_;
};

TEST_F(MemoryBackendTest, BeginsEmptyAtTheStart) {
  EXPECT_EQ(backend_.clock().Now(), kStart);
  EXPECT_EQ(KeyCount(), 0);
  EXPECT_EQ(backend_.Drift(), absl::ZeroDuration());
}

TEST_F(MemoryBackendTest, MovesTimeAndExpiresWithIt) {
  Write("k", absl::Seconds(1));
  ASSERT_THAT(backend_.AdvanceTo(kStart + absl::Milliseconds(1000)), IsOk());
  EXPECT_EQ(KeyCount(), 1);
  ASSERT_THAT(backend_.AdvanceTo(kStart + absl::Milliseconds(1001)), IsOk());
  EXPECT_EQ(KeyCount(), 0);
}

TEST_F(MemoryBackendTest, FlushesAllDatabases) {
  Write("k", absl::Hours(1));
  ASSERT_THAT(backend_.Flush(), IsOk());
  EXPECT_EQ(KeyCount(), 0);
}

TEST_F(MemoryBackendTest, RestartsEmptyAtTheSameTime) {
  Write("k", absl::Hours(1));
  ASSERT_THAT(backend_.AdvanceTo(kStart + absl::Seconds(1)), IsOk());
  ASSERT_THAT(backend_.Restart(), IsOk());
  EXPECT_EQ(KeyCount(), 0);
  EXPECT_EQ(backend_.clock().Now(), kStart + absl::Seconds(1));
}

TEST_F(MemoryBackendTest, BeginsAgainInThePast) {
  Write("k", absl::Hours(1));
  ASSERT_THAT(backend_.Begin({.start = absl::UnixEpoch(), .seed = 2}), IsOk());
  EXPECT_EQ(backend_.clock().Now(), absl::UnixEpoch());
  EXPECT_EQ(KeyCount(), 0);
}

TEST_F(MemoryBackendTest, HasTheVersionThatIsNeeded) {
  const std::string_view fields[] = {"f"};
  const auto times_to_live = [&] {
    const std::unique_ptr<store::Store> connection = backend_.Connect().value();
    return base::Run(store::HTimeToLive(*connection, "h", fields)).status();
  };
  EXPECT_TRUE(absl::IsUnimplemented(times_to_live()));
  ASSERT_THAT(backend_.Begin({.start = kStart, .version = store::Version::kRedis74}), IsOk());
  EXPECT_THAT(times_to_live(), IsOk());
  ASSERT_THAT(backend_.Restart(), IsOk());
  EXPECT_THAT(times_to_live(), IsOk());
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
