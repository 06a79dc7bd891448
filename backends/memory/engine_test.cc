#include "backends/memory/engine.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/run.h"
#include "core/store/batch.h"
#include "core/store/decode.h"
#include "core/store/errors.h"
#include "core/store/keys.h"
#include "core/store/strings.h"
#include "gtest/gtest.h"

namespace redouble::memory {
namespace {

using store::Batch;
using store::CommandId;
using store::Expiry;

class EngineTest : public testing::Test {
 protected:
  // The reply of a command given by its words.
  static store::Reply Send(Session& session, const std::vector<std::string_view>& words) {
    const auto send = [&]() -> base::Task<store::Reply> {
      const auto command = store::Command::Named(words[0], std::span(words).subspan(1));
      absl::StatusOr<store::Reply> reply = co_await session.Execute(command);
      co_return *std::move(reply);
    };
    return base::Run(send());
  }
  store::Reply Send(const std::vector<std::string_view>& words) { return Send(*session_, words); }

  base::VirtualClock clock_{absl::FromUnixMillis(1'778'335'382'000)};
  Engine engine_{clock_};
  std::unique_ptr<Session> session_ = engine_.Connect();
};

TEST_F(EngineTest, KeepsAKeyUpToItsDeadlineAndNotAMillisecondLonger) {
  ASSERT_TRUE(
      *base::Run(store::Set(*session_, "k", "v", {.expiry = Expiry::In(absl::Seconds(1))})));
  clock_.Advance(absl::Milliseconds(1000));
  EXPECT_EQ(*base::Run(store::Get(*session_, "k")), "v");
  EXPECT_EQ(base::Run(store::TimeToLive(*session_, "k"))->remaining(), absl::ZeroDuration());
  clock_.Advance(absl::Milliseconds(1));
  EXPECT_EQ(*base::Run(store::Get(*session_, "k")), std::nullopt);
  EXPECT_EQ(*base::Run(store::DbSize(*session_)), 0);
}

TEST_F(EngineTest, FiresExpiredEventsInTheOrderOfDeadlines) {
  std::vector<std::string> expired;
  engine_.SetKeyspaceListener([&](const KeyspaceEvent& event) {
    if (event.event_class == EventClass::kExpired) expired.emplace_back(event.key);
  });
  for (const auto& [key, ttl_ms] : {std::pair("c", "300"), std::pair("a", "100"),
                                    std::pair("b2", "200"), std::pair("b1", "200")}) {
    Send({"SET", key, "v", "PX", ttl_ms});
  }
  clock_.Advance(absl::Milliseconds(1000));
  EXPECT_EQ(expired, (std::vector<std::string>{"a", "b2", "b1", "c"}));
  EXPECT_EQ(engine_.expired_keys(), 4);
}

TEST_F(EngineTest, RunsATransactionAndReportsEachReply) {
  Batch batch(Batch::Atomicity::kTransaction);
  batch.Add(CommandId::kIncr, {"n"});
  batch.Add(CommandId::kExpire, {"n"}).AddInteger(70);
  const absl::StatusOr<std::vector<store::Reply>> replies = base::Run(Execute(*session_, batch));
  ASSERT_TRUE(replies.ok()) << replies.status();
  EXPECT_EQ((*replies)[0], store::Reply::Integer(1));
  EXPECT_EQ((*replies)[1], store::Reply::Integer(1));
}

TEST_F(EngineTest, AbortsATransactionWhoseWatchedKeyExpired) {
  Send({"SET", "k", "v", "PX", "10"});
  Send({"WATCH", "k"});
  clock_.Advance(absl::Milliseconds(11));
  Batch batch(Batch::Atomicity::kTransaction);
  batch.Add(CommandId::kPing);
  EXPECT_EQ(base::Run(Execute(*session_, batch)).status().code(), absl::StatusCode::kAborted);
}

TEST_F(EngineTest, RefusesUnknownCommandsWithTheWordsThatCame) {
  EXPECT_EQ(
      Send({"FOO", "bar", "baz"}),
      store::Reply::Error("ERR unknown command 'FOO', with args beginning with: 'bar' 'baz' "));
}

}  // namespace
}  // namespace redouble::memory
