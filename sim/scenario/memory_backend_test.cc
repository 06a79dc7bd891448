#include "sim/scenario/memory_backend.h"

#include <string>

#include "core/base/run.h"
#include "core/store/keys.h"
#include "core/store/strings.h"
#include "gtest/gtest.h"

namespace redouble::sim {
namespace {

class MemoryBackendTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(backend_.Begin(kStart, 1).ok()); }

  int64_t KeyCount() {
    const std::unique_ptr<store::Store> connection = *backend_.Connect();
    return base::Run(store::DbSize(*connection)).value();
  }
  void Write(std::string_view key, absl::Duration ttl) {
    const std::unique_ptr<store::Store> connection = *backend_.Connect();
    store::SetOptions options;
    options.expiry = store::Expiry::In(ttl);
    ASSERT_TRUE(base::Run(store::Set(*connection, key, "v", options)).ok());
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
  ASSERT_TRUE(backend_.AdvanceTo(kStart + absl::Milliseconds(1000)).ok());
  EXPECT_EQ(KeyCount(), 1);
  ASSERT_TRUE(backend_.AdvanceTo(kStart + absl::Milliseconds(1001)).ok());
  EXPECT_EQ(KeyCount(), 0);
}

TEST_F(MemoryBackendTest, FlushesAllDatabases) {
  Write("k", absl::Hours(1));
  ASSERT_TRUE(backend_.Flush().ok());
  EXPECT_EQ(KeyCount(), 0);
}

TEST_F(MemoryBackendTest, RestartsEmptyAtTheSameTime) {
  Write("k", absl::Hours(1));
  ASSERT_TRUE(backend_.AdvanceTo(kStart + absl::Seconds(1)).ok());
  ASSERT_TRUE(backend_.Restart().ok());
  EXPECT_EQ(KeyCount(), 0);
  EXPECT_EQ(backend_.clock().Now(), kStart + absl::Seconds(1));
}

TEST_F(MemoryBackendTest, BeginsAgainInThePast) {
  Write("k", absl::Hours(1));
  ASSERT_TRUE(backend_.Begin(absl::UnixEpoch(), 2).ok());
  EXPECT_EQ(backend_.clock().Now(), absl::UnixEpoch());
  EXPECT_EQ(KeyCount(), 0);
}

}  // namespace
}  // namespace redouble::sim
