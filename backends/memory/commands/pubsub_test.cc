#include "redouble/core/store/pubsub/pubsub.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/session_core.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/message_source.h"
#include "redouble/core/store/typed/keys.h"

namespace redouble::inline v0_1::memory {
namespace {

using base::IsOkAndHolds;
using store::Command;
using store::CommandId;
using store::Reply;

using Names = std::vector<std::string_view>;
using Texts = std::vector<std::string>;

// Records pushes as "name: text" in a log that several listeners share.
class Logger final : public store::PushListener {
 public:
  Logger(std::string name, Texts& log) : name_(std::move(name)), log_(log) {}

  void OnPush(const Reply& push) override {
    const std::optional<store::Message> message = store::ReadMessage(push);
    log_.push_back(name_ + ": " + (message ? message->payload : push.DebugString()));
    if (then) then();
  }
  // Runs inside the delivery.
  std::function<void()> then;

 private:
  const std::string name_;
  Texts& log_;
};

class PubSub : public testing::Test {
 protected:
  PubSub() {
    a_->Listen(&a_logger_);
    b_->Listen(&b_logger_);
  }

  std::string Send(Session& session, Names words) {
    const Command command = Command::Named(words[0], std::span(words).subspan(1));
    return Send(session, command);
  }
  std::string Send(Session& session, const Command& command) {
    const auto run = [](Session& store, const Command& sent) -> base::Task<std::string> {
      const absl::StatusOr<Reply> reply = co_await store.Execute(sent);
      co_return reply.ok() ? reply->DebugString() : std::string(reply.status().message());
    };
    return base::Run(run(session, command));
  }

  base::VirtualClock clock_{absl::UnixEpoch()};
  Engine engine_{clock_};
  Texts log_;
  Logger a_logger_{"a", log_};
  Logger b_logger_{"b", log_};
  std::unique_ptr<Session> a_ = engine_.Connect();
  std::unique_ptr<Session> b_ = engine_.Connect();
  std::unique_ptr<Session> publisher_ = engine_.Connect();
};

TEST_F(PubSub, ReachesSubscribersInTheirOrderAndThenPatterns) {
  Send(*a_, {"PSUBSCRIBE", "n?ws"});
  Send(*b_, {"SUBSCRIBE", "news"});
  Send(*a_, {"SUBSCRIBE", "news"});
  EXPECT_THAT(base::Run(store::Publish(*publisher_, "news", "1")), IsOkAndHolds(3));
  EXPECT_EQ(log_, (Texts{"b: 1", "a: 1", "a: 1"}));
}

TEST_F(PubSub, ConfirmsEachChannelTheFirstByTheReply) {
  EXPECT_EQ(Send(*a_, {"SUBSCRIBE", "x", "y", "x"}), "[\"subscribe\", \"x\", 1]");
  EXPECT_EQ(log_, (Texts{"a: [\"subscribe\", \"y\", 2]", "a: [\"subscribe\", \"x\", 2]"}));
}

TEST_F(PubSub, DeliversWithTypedCommands) {
  const Names channels = {"x", "y"};
  ASSERT_TRUE(base::Run(store::SSubscribe(*a_, channels)).ok());
  log_.clear();
  EXPECT_THAT(base::Run(store::SPublish(*publisher_, "y", "hello")), IsOkAndHolds(1));
  EXPECT_THAT(base::Run(store::Publish(*publisher_, "y", "not this")), IsOkAndHolds(0));
  ASSERT_TRUE(base::Run(store::SUnsubscribe(*a_)).ok());
  EXPECT_THAT(base::Run(store::SPublish(*publisher_, "y", "nor this")), IsOkAndHolds(0));
  EXPECT_EQ(log_, (Texts{"a: hello", "a: [\"sunsubscribe\", \"y\", 0]"}));
}

TEST_F(PubSub, DeliversAfterTheWholeTransaction) {
  Send(*a_, {"SUBSCRIBE", "x"});
  store::Batch batch(store::Batch::Atomicity::kTransaction);
  batch.Add(Command(CommandId::kPublish, {"x", "1"}));
  batch.Add(Command(CommandId::kPublish, {"x", "2"}));
  a_logger_.then = [&] {
    EXPECT_THAT(base::Run(store::Exists(*publisher_, "k")), IsOkAndHolds(true));
  };
  batch.Add(Command(CommandId::kSet, {"k", "v"}));
  const auto run = [](Session& session, const store::Batch& sent) -> base::Task<std::string> {
    co_return (co_await session.ExecuteRaw(sent))->DebugString();
  };
  EXPECT_EQ(base::Run(run(*publisher_, batch)), "[1, 1, OK]");
  EXPECT_EQ(log_, (Texts{"a: 1", "a: 2"}));
}

TEST_F(PubSub, MayPublishFromADelivery) {
  Send(*a_, {"SUBSCRIBE", "x"});
  Send(*b_, {"SUBSCRIBE", "x", "y"});
  log_.clear();
  bool done = false;
  a_logger_.then = [&] {
    if (!std::exchange(done, true)) Send(*publisher_, {"PUBLISH", "y", "second"});
  };
  Send(*publisher_, {"PUBLISH", "x", "first"});
  EXPECT_EQ(log_, (Texts{"a: first", "b: first", "b: second"}));
}

TEST_F(PubSub, MayCloseASubscriberFromItsDelivery) {
  Send(*a_, {"SUBSCRIBE", "x"});
  a_logger_.then = [&] { a_.reset(); };
  Send(*publisher_, {"PUBLISH", "x", "1"});
  EXPECT_EQ(Send(*publisher_, {"PUBLISH", "x", "2"}), "0");
  EXPECT_EQ(log_, (Texts{"a: 1"}));
}

TEST_F(PubSub, DropsMessagesOfAClosedSession) {
  Send(*a_, {"SUBSCRIBE", "x"});
  Send(*b_, {"PSUBSCRIBE", "*"});
  a_logger_.then = [&] { b_.reset(); };
  EXPECT_EQ(Send(*publisher_, {"PUBLISH", "x", "1"}), "2");
  EXPECT_EQ(log_, (Texts{"a: 1"}));
  EXPECT_EQ(Send(*publisher_, {"PUBSUB", "NUMPAT"}), "0");
}

TEST_F(PubSub, DropsMessagesWithoutAListener) {
  Send(*a_, {"SUBSCRIBE", "x"});
  a_->Listen(nullptr);
  EXPECT_EQ(Send(*publisher_, {"PUBLISH", "x", "1"}), "1");
  EXPECT_EQ(log_, Texts{});
}

TEST_F(PubSub, RefusesATransactionOfASubscriber) {
  Send(*a_, {"SUBSCRIBE", "x"});
  store::Batch batch(store::Batch::Atomicity::kTransaction);
  batch.Add(Command(CommandId::kSet, {"k", "v"}));
  const auto run = [](Session& session, const store::Batch& sent) -> base::Task<Reply> {
    co_return *(co_await session.ExecuteRaw(sent));
  };
  EXPECT_TRUE(base::Run(run(*a_, batch)).is_error());
  EXPECT_THAT(base::Run(store::Exists(*publisher_, "k")), IsOkAndHolds(false));
}

// Destroys its session at the first message.
class Leaver final : public store::PushListener {
 public:
  explicit Leaver(std::unique_ptr<Session> opened) : session(std::move(opened)) {
    session->Listen(this);
  }
  void OnPush(const Reply& push) override {
    last = push;
    if (push.elements()[0].text() == "message") session.reset();
  }

  std::unique_ptr<Session> session;
  Reply last;
};

absl::StatusOr<Reply> Send(Session& session, store::CommandId id,
                           std::initializer_list<std::string_view> arguments) {
  const store::Command command(id, arguments);
  const auto send = [&]() -> base::Task<absl::StatusOr<Reply>> {
    co_return co_await session.Execute(command);
  };
  return base::Run(send());
}

TEST(Resp3PubSub, LetsASubscriberSendOtherCommands) {
  base::VirtualClock clock(absl::UnixEpoch());
  Engine engine(clock);
  const std::unique_ptr<SessionCore> session = engine.core().Connect();
  EXPECT_TRUE(Send(*session, store::CommandId::kHello, {"3"}).ok());
  EXPECT_EQ(session->protocol(), 3);
  EXPECT_TRUE(Send(*session, store::CommandId::kSubscribe, {"news"}).ok());
  EXPECT_THAT(Send(*session, store::CommandId::kPing, {}), IsOkAndHolds(Reply::Status("PONG")));
  EXPECT_THAT(Send(*session, store::CommandId::kReset, {}), IsOkAndHolds(Reply::Status("RESET")));
  EXPECT_EQ(session->protocol(), 2);
  EXPECT_FALSE(session->is_subscribed());
}

TEST(Resp3PubSub, LetsASubscriberEndItsSessionInTheMiddleOfItsOwnPublish) {
  base::VirtualClock clock(absl::UnixEpoch());
  Engine engine(clock);
  Leaver leaver(engine.Connect());
  EXPECT_TRUE(Send(*leaver.session, store::CommandId::kHello, {"3"}).ok());
  EXPECT_TRUE(Send(*leaver.session, store::CommandId::kSubscribe, {"news"}).ok());
  EXPECT_FALSE(Send(*leaver.session, store::CommandId::kPublish, {"news", "bye"}).ok());
  EXPECT_EQ(leaver.last.elements()[2], Reply::Bulk("bye"));
  EXPECT_EQ(leaver.session, nullptr);
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
