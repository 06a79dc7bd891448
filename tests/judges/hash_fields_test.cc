// The typed commands of expiring hash fields, on the engine that answers as Redis 8.0 and on that
// server.

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/redis/spawn/spawned_server.h"
#include "redouble/backends/testing/backends.h"
#include "redouble/backends/testing/live_server.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/store/typed/hashes.h"
#include "redouble/tests/judges/judges.h"

namespace redouble::inline v0_1::tests {
namespace {

using base::IsOkAndHolds;
using store::FieldExpiryResult;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

class EngineAsRedis8 {
 public:
  static constexpr std::string_view kName = "Engine";

  absl::Status Start(absl::Time start) {
    clock_ = std::make_unique<base::VirtualClock>(start);
    memory::EngineOptions options;
    options.compatibility = store::Version::kRedis80;
    engine_ = std::make_unique<memory::Engine>(*clock_, options);
    return absl::OkStatus();
  }
  std::unique_ptr<store::Store> Connect() { return engine_->Connect(); }
  absl::Time Now() const { return clock_->Now(); }
  void AdvanceTo(absl::Time time) { clock_->AdvanceTo(time); }

 private:
  std::unique_ptr<base::VirtualClock> clock_;
  std::unique_ptr<memory::Engine> engine_;
};

class JudgeRedis8 {
 public:
  static constexpr std::string_view kName = "Judge";

  absl::Status Start(absl::Time start) {
    const std::optional<std::string> program = JudgeProgram("redis-8.0");
    if (!program) return absl::NotFoundError("redis-8.0 is not there: run tools/judges");
    redis::SpawnedServerOptions options;
    options.executable = *program;
    options.held_time = start;
    options.config = JudgeConfig();
    REDOUBLE_ASSIGN_OR_RETURN(server_, redis::SpawnedServer::Start(options));
    return absl::OkStatus();
  }
  std::unique_ptr<store::Store> Connect() { return *ConnectToLive(*server_); }
  absl::Time Now() const { return *server_->held_time(); }
  void AdvanceTo(absl::Time time) {
    EXPECT_TRUE(server_->SetTime(time).ok());
    EXPECT_TRUE(server_->Settle().ok());
  }

 private:
  std::unique_ptr<redis::SpawnedServer> server_;
};

constexpr std::array<std::string_view, 2> kFields = {"token", "missing"};
constexpr std::array<std::string_view, 1> kToken = {"token"};
constexpr std::array<store::FieldView, 1> kNewToken = {store::FieldView("token", "t2")};

template <typename Backend>
class HashFieldsTest : public BackendTest<Backend> {
 protected:
  void SetUp() override {
    BackendTest<Backend>::SetUp();
    if (this->IsSkipped()) return;
    this->Ask({"HSET", "user", "token", "t1", "name", "alice"});
  }
  std::optional<absl::Duration> Left() {
    const auto ttls = this->Run(store::HTimeToLive(this->store(), "user", kToken));
    EXPECT_TRUE(ttls.ok()) << ttls.status();
    if (!ttls.ok() || !(*ttls)[0].expires()) return std::nullopt;
    return (*ttls)[0].remaining();
  }
};

using Versions = ::testing::Types<EngineAsRedis8, JudgeRedis8>;
TYPED_TEST_SUITE(HashFieldsTest, Versions, BackendNames);

TYPED_TEST(HashFieldsTest, ExpireOneByOne) {
  EXPECT_THAT(this->Run(store::HExpireIn(this->store(), "user", kFields, absl::Milliseconds(1500))),
              IsOkAndHolds(ElementsAre(FieldExpiryResult::kSet, FieldExpiryResult::kNoField)));
  EXPECT_EQ(this->Left(), absl::Milliseconds(1500));
  this->Advance(absl::Milliseconds(1499));
  EXPECT_THAT(this->Run(store::HGet(this->store(), "user", "token")), IsOkAndHolds("t1"));
  this->Advance(absl::Milliseconds(2));
  EXPECT_THAT(this->Run(store::HKeys(this->store(), "user")),
              IsOkAndHolds(UnorderedElementsAre("name")));
}

TYPED_TEST(HashFieldsTest, ExpireUnderConditions) {
  store::Store& redis = this->store();
  const auto at = [&](absl::Duration ttl, store::ExpireCondition condition) {
    return this->Run(store::HExpireAt(redis, "user", kToken, this->now() + ttl, condition));
  };
  EXPECT_THAT(at(absl::Hours(1), store::ExpireCondition::kIfAny),
              IsOkAndHolds(ElementsAre(FieldExpiryResult::kConditionNotMet)));
  EXPECT_THAT(at(absl::Hours(1), store::ExpireCondition::kIfNone),
              IsOkAndHolds(ElementsAre(FieldExpiryResult::kSet)));
  EXPECT_THAT(at(absl::Minutes(1), store::ExpireCondition::kIfLater),
              IsOkAndHolds(ElementsAre(FieldExpiryResult::kConditionNotMet)));
  EXPECT_THAT(at(absl::Minutes(1), store::ExpireCondition::kIfEarlier),
              IsOkAndHolds(ElementsAre(FieldExpiryResult::kSet)));
  EXPECT_EQ(this->Left(), absl::Minutes(1));
  const auto deadlines = this->Run(store::HExpiryTimesOf(redis, "user", kToken));
  ASSERT_TRUE(deadlines.ok()) << deadlines.status();
  EXPECT_EQ((*deadlines)[0].deadline(), this->now() + absl::Minutes(1));
  EXPECT_THAT(this->Run(store::HPersist(redis, "user", kFields)),
              IsOkAndHolds(ElementsAre(true, false)));
  EXPECT_THAT(at(-absl::Seconds(1), store::ExpireCondition::kAlways),
              IsOkAndHolds(ElementsAre(FieldExpiryResult::kDeleted)));
}

TYPED_TEST(HashFieldsTest, AreReadSetAndRemovedWithTheirExpiry) {
  store::Store& redis = this->store();
  const store::Expiry a_minute = store::Expiry::In(absl::Minutes(1));
  EXPECT_THAT(this->Run(store::HGetEx(redis, "user", kFields, a_minute)),
              IsOkAndHolds(ElementsAre("t1", std::nullopt)));
  EXPECT_EQ(this->Left(), absl::Minutes(1));

  store::HSetExOptions options;
  options.condition = store::HSetCondition::kIfNoneExists;
  EXPECT_THAT(this->Run(store::HSetEx(redis, "user", kNewToken, options)), IsOkAndHolds(false));
  options.condition = store::HSetCondition::kIfAllExist;
  options.keep_ttl = true;
  EXPECT_THAT(this->Run(store::HSetEx(redis, "user", kNewToken, options)), IsOkAndHolds(true));
  EXPECT_EQ(this->Left(), absl::Minutes(1));
  EXPECT_THAT(this->Run(store::HSetEx(redis, "user", kNewToken)), IsOkAndHolds(true));
  EXPECT_EQ(this->Left(), std::nullopt);
  EXPECT_THAT(this->Run(store::HGetDel(redis, "user", kFields)),
              IsOkAndHolds(ElementsAre("t2", std::nullopt)));
  EXPECT_THAT(this->Run(store::HLen(redis, "user")), IsOkAndHolds(1));
}

TYPED_TEST(HashFieldsTest, AreMissingInAMissingKey) {
  EXPECT_THAT(this->Run(store::HExpireIn(this->store(), "nobody", kFields, absl::Seconds(1))),
              IsOkAndHolds(ElementsAre(FieldExpiryResult::kNoField, FieldExpiryResult::kNoField)));
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
