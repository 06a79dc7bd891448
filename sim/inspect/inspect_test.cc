#include "redouble/sim/inspect/inspect.h"

#include <array>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/wrappers/intercepting_store.h"
#include "redouble/sim/inspect/report.h"
#include "redouble/sim/inspect/shop_for_test.h"

namespace redouble::inline v0_1::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Forwards commands; can fail one command, or run a function before it.
class WatchedStore final : public store::InterceptingStore {
 public:
  using InterceptingStore::InterceptingStore;

  std::vector<store::CommandId> sent;
  std::string failing;  // The name of a command in lower case.
  absl::StatusOr<store::Reply> answer = store::Reply::Error("ERR no");
  std::string watched;  // The name of a command in lower case.
  std::function<void()> before;

 private:
  base::Task<absl::StatusOr<store::Reply>> Intercept(const store::Request& request) override {
    for (const store::Command& command : request.commands()) sent.push_back(command.id());
    const std::string_view name = request.commands().front().name();
    if (name == watched && before) std::exchange(before, nullptr)();
    if (name != failing) co_return co_await Forward(request);
    if (!answer.ok() || request.kind() == store::Request::Kind::kCommand) co_return answer;
    co_return store::Reply::Array(std::vector<store::Reply>(request.commands().size(), *answer));
  }
};

class InspectTest : public testing::Test {
 protected:
  void Send(const std::vector<std::string_view>& words) {
    const auto send = [&]() -> base::Task<absl::StatusOr<store::Reply>> {
      const auto command = store::Command::Named(words[0], std::span(words).subspan(1));
      co_return co_await session_->Execute(command);
    };
    const absl::StatusOr<store::Reply> reply = base::Run(send());
    ASSERT_TRUE(reply.ok() && !reply->is_error()) << words[0];
  }

  Inspection Inspect(InspectOptions options = {}) {
    absl::StatusOr<Inspection> found = base::Run(InspectKeys(store_, table_, std::move(options)));
    EXPECT_TRUE(found.ok()) << found.status();
    return found.ok() ? *std::move(found) : Inspection();
  }

  std::vector<std::string> Messages(AnomalyKind kind) {
    std::vector<std::string> messages;
    const Inspection found = Inspect();
    for (const Anomaly& anomaly : found.anomalies) {
      if (anomaly.kind == kind) messages.push_back(anomaly.key + ": " + anomaly.message);
    }
    EXPECT_EQ(static_cast<int64_t>(messages.size()), found.CountOf(kind));
    return messages;
  }

  base::VirtualClock clock_{absl::FromUnixMillis(1'778'335'382'000)};
  memory::Engine engine_{clock_};
  std::unique_ptr<memory::Session> session_ = engine_.Connect();
  WatchedStore store_{*session_};
  const RuleTable table_ = RuleTable::Create(std::array{ShopRules()}).value();
};

TEST_F(InspectTest, CountsTheKeysOfEachFamily) {
  Send({"SET", "s:user:a", "123"});
  Send({"SET", "s:user:b", "12345"});
  Send({"HSET", "s:cart:a:1", "x", "1", "y", "2"});
  Send({"PEXPIRE", "s:cart:a:1", "5000"});
  Send({"HSET", "s:cart:a:2", "x", "1"});
  Send({"PEXPIRE", "s:cart:a:2", "7000"});
  const Inspection found = Inspect();
  EXPECT_EQ(found.keys, 4);
  EXPECT_FALSE(found.has_anomalies());
  ASSERT_EQ(found.families.size(), 2u);
  const FamilyKeys& carts = found.families[0];
  EXPECT_EQ(carts.family->id, "shop.cart");
  EXPECT_EQ(carts.keys, 2);
  EXPECT_EQ(carts.size, 3);
  EXPECT_EQ(carts.largest, 2);
  EXPECT_EQ(carts.largest_key, "s:cart:a:1");
  EXPECT_EQ(carts.without_ttl, 0);
  EXPECT_EQ(carts.shortest_ttl_ms, 5000);
  EXPECT_EQ(carts.longest_ttl_ms, 7000);
  const FamilyKeys& users = found.families[1];
  EXPECT_EQ(users.size, 8);
  EXPECT_EQ(users.largest_key, "s:user:b");
  EXPECT_EQ(users.without_ttl, 2);
  EXPECT_EQ(users.shortest_ttl_ms, std::nullopt);
}

TEST_F(InspectTest, FindsNothingInAnEmptyDatabase) {
  const Inspection found = Inspect();
  EXPECT_EQ(found.keys, 0);
  EXPECT_THAT(found.families, IsEmpty());
  EXPECT_FALSE(found.has_anomalies());
}

TEST_F(InspectTest, ListsKeysOfNoFamily) {
  Send({"SET", "t:user:a", "1"});
  Send({"ZADD", "z", "1", "m"});
  EXPECT_THAT(Messages(AnomalyKind::kUnknownKey),
              ElementsAre("t:user:a: a string of no family", "z: a zset of no family"));
}

TEST_F(InspectTest, ListsKeysOfTheWrongType) {
  Send({"SADD", "s:user:a", "1"});
  Send({"SET", "s:news", "1"});
  EXPECT_THAT(Messages(AnomalyKind::kWrongType),
              ElementsAre("s:news: a string, shop.news is a channel",
                          "s:user:a: a set, shop.user is a string"));
}

TEST_F(InspectTest, ListsKeysWithoutARequiredTtl) {
  Send({"SET", "s:user:a", "1"});
  Send({"HSET", "s:cart:a:1", "x", "1"});
  Send({"SET", "s:count:day", "1"});
  Send({"SET", "s:count:ever", "1"});
  EXPECT_THAT(Messages(AnomalyKind::kMissingTtl),
              ElementsAre("s:cart:a:1: never expires; shop.cart: an hour",
                          "s:count:day: never expires; shop.count: days: two of them"));
}

TEST_F(InspectTest, ListsOrphans) {
  Send({"HSET", "s:cart:a:1", "x", "1"});
  Send({"SET", "s:user:b", "1"});
  Send({"SET", "s:receipt:a", "1", "EX", "9"});
  Send({"SET", "s:receipt:b", "1", "EX", "9"});
  EXPECT_THAT(Messages(AnomalyKind::kOrphan),
              ElementsAre("s:cart:a:1: shop.cart without shop.user: nobody's cart",
                          "s:receipt:b: shop.receipt without shop.cart: bought without a cart"));
}

TEST_F(InspectTest, IgnoresAnOrphanWhoseRelatedKeyIsCreatedDuringTheScan) {
  Send({"HSET", "s:cart:a:1", "x", "1"});
  Send({"EXPIRE", "s:cart:a:1", "9"});
  store_.watched = "exists";
  store_.before = [this] { Send({"SET", "s:user:a", "1"}); };
  EXPECT_FALSE(Inspect().has_anomalies());
}

TEST_F(InspectTest, IgnoresAnOrphanThatIsDeletedDuringTheScan) {
  Send({"HSET", "s:cart:a:1", "x", "1"});
  Send({"EXPIRE", "s:cart:a:1", "9"});
  store_.watched = "exists";
  store_.before = [this] { Send({"DEL", "s:cart:a:1"}); };
  EXPECT_FALSE(Inspect().has_anomalies());
}

TEST_F(InspectTest, IgnoresAKeyThatIsDeletedAfterTheScan) {
  Send({"SET", "s:user:a", "1"});
  store_.watched = "type";
  store_.before = [this] { Send({"DEL", "s:user:a"}); };
  EXPECT_EQ(Inspect().keys, 0);
}

TEST_F(InspectTest, OmitsTheSizeOfAKeyWhoseTypeChanged) {
  Send({"SET", "s:user:a", "123"});
  store_.watched = "strlen";
  store_.before = [this] {
    Send({"DEL", "s:user:a"});
    Send({"SADD", "s:user:a", "1"});
  };
  const Inspection found = Inspect();
  ASSERT_EQ(found.families.size(), 1u);
  EXPECT_EQ(found.families[0].size, 0);
}

TEST_F(InspectTest, ListsTheFirstOfTooManyAndCountsAll) {
  for (const char* key : {"d", "b", "c", "a"}) Send({"SET", key, "1"});
  InspectOptions options;
  options.listed_anomalies = 2;
  const Inspection found = Inspect(std::move(options));
  EXPECT_EQ(found.CountOf(AnomalyKind::kUnknownKey), 4);
  ASSERT_EQ(found.anomalies.size(), 2u);
  EXPECT_EQ(found.anomalies[0].key, "a");
  EXPECT_EQ(found.anomalies[1].key, "b");
  EXPECT_THAT(InspectionTable(found), HasSubstr("  and 2 more\n"));
}

TEST_F(InspectTest, ReadsInPagesAndReportsProgress) {
  for (int i = 0; i < 50; ++i) Send({"SET", "s:user:u" + std::to_string(i), "1"});
  std::vector<std::pair<int64_t, int64_t>> told;
  InspectOptions options;
  options.page_keys = 10;
  options.progress = [&](int64_t read, int64_t total) { told.emplace_back(read, total); };
  EXPECT_EQ(Inspect(std::move(options)).keys, 50);
  EXPECT_GT(told.size(), 2u);
  EXPECT_EQ(told.back(), (std::pair<int64_t, int64_t>{50, 50}));
}

TEST_F(InspectTest, SendsOnlyCommandsThatRead) {
  Send({"HSET", "s:cart:a:1", "x", "1"});
  Send({"XADD", "x", "*", "f", "v"});
  Send({"RPUSH", "l", "1"});
  Inspect();
  EXPECT_GT(store_.sent.size(), 8u);
  for (const store::CommandId id : store_.sent) {
    EXPECT_TRUE(store::SpecOf(id).Has(store::command_flag::kReadOnly)) << store::SpecOf(id).name;
  }
}

TEST_F(InspectTest, ReturnsTheErrorsOfTheStore) {
  Send({"HSET", "s:cart:a:1", "x", "1"});
  for (const char* command : {"dbsize", "scan", "type", "hlen", "exists"}) {
    store_.failing = command;
    store_.answer = store::NotSentError("gone");
    EXPECT_EQ(base::Run(InspectKeys(store_, table_, InspectOptions())).status(),
              store::NotSentError("gone"))
        << command;
  }
  // An unknown length is not an error.
  for (const char* command : {"dbsize", "scan", "type", "exists"}) {
    store_.failing = command;
    store_.answer = store::Reply::Error("ERR no");
    EXPECT_THAT(base::Run(InspectKeys(store_, table_, InspectOptions())).status().message(),
                HasSubstr("ERR no"))
        << command;
  }
}

TEST_F(InspectTest, WritesATable) {
  Send({"SET", "s:user:a", "123"});
  Send({"SET", "\xff", "1"});
  EXPECT_EQ(InspectionTable(Inspect()),
            "FAMILY     TYPE    KEYS  SIZE  LARGEST  TTL  NO TTL\n"
            "shop.user  string  1     3 B   3 B      -    1\n"
            "2 keys, 1 anomaly\n"
            "unknown_key (1)\n"
            "  \"bytes:\\\\xff\"  a string of no family\n");
}

TEST_F(InspectTest, WritesTheRangeOfTtls) {
  Send({"SET", "s:user:a", "1"});
  for (const auto& [key, seconds] : {std::pair("s:cart:a:1", "10"), {"s:cart:a:2", "70"}}) {
    Send({"HSET", key, "x", "1"});
    Send({"EXPIRE", key, seconds});
  }
  EXPECT_THAT(InspectionTable(Inspect()), HasSubstr("  10s .. 1m10s  0\n"));
  Send({"EXPIRE", "s:cart:a:1", "70"});
  EXPECT_THAT(InspectionTable(Inspect()), HasSubstr("  1m10s  0\n"));
}

TEST_F(InspectTest, WritesJson) {
  Send({"SET", "s:user:a", "123", "PX", "1500"});
  Send({"SET", "z", "1"});
  const std::string json = InspectionJson(Inspect());
  EXPECT_THAT(json, HasSubstr("\"keys\": 2,"));
  EXPECT_THAT(json, HasSubstr("\"family\": \"shop.user\",\n      \"system\": \"shop\",\n"
                              "      \"type\": \"string\",\n      \"keys\": 1,\n"
                              "      \"size\": 3,\n      \"unit\": \"bytes\","));
  EXPECT_THAT(json, HasSubstr("\"shortest\": 1500,"));
  EXPECT_THAT(json, HasSubstr("\"unknown_key\": {\n      \"count\": 1,\n      \"listed\": [\n"
                              "        {\n          \"key\": \"z\","));
  EXPECT_THAT(json, HasSubstr("\"orphan\": {\n      \"count\": 0,"));
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
