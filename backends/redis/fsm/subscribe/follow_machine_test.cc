#include "redouble/backends/redis/fsm/subscribe/follow_machine.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/backends/redis/fsm/request_for_test.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::redis {
namespace {

using base::IsOkAndHolds;
using base::StatusIs;
using store::ErrorKind;
using store::Reply;

constexpr int64_t kTimeoutUs = 1'000'000;

TcpAddress Server(uint16_t port) { return {"h", port}; }

// What the test says about the homes.
class KnownHomes final : public TopicHomes {
 public:
  std::optional<TcpAddress> HomeOfShard(std::string_view channel) const override {
    const auto found = shards.find(channel);
    return found == shards.end() ? std::nullopt : std::optional(found->second);
  }
  std::vector<TcpAddress> Homes() const override { return all; }

  std::vector<TcpAddress> all;
  std::map<std::string, TcpAddress, std::less<>> shards;
};

class FollowMachineTest : public testing::Test {
 protected:
  // The actions since the last call, such as "open 1 h:7000" and "subscribe 1 news". The number
  // names the connection.
  std::vector<std::string> Actions() {
    std::vector<std::string> texts;
    while (const std::optional<FollowAction> action = machine.NextAction()) {
      texts.push_back(TextOf(*action));
    }
    return texts;
  }

  std::string TextOf(const FollowAction& action) {
    switch (action.kind) {
      case FollowAction::Kind::kOpen:
        return absl::StrCat("open ", action.line, " ", action.address.port);
      case FollowAction::Kind::kClose:
        return absl::StrCat("close ", action.line);
      case FollowAction::Kind::kSubscribe:
        last_id = action.id;
        return absl::StrCat("subscribe ", action.line, " ", action.topic.name);
      case FollowAction::Kind::kUnsubscribe:
        return absl::StrCat("unsubscribe ", action.line, " ", action.topic.name);
      case FollowAction::Kind::kFindHomes:
        return "find";
      case FollowAction::Kind::kWake:
        wake_at_us = action.at_us;
        return "wake";
    }
    return "?";
  }

  // Answers the last kSubscribe.
  void Answer(const absl::StatusOr<Reply>& result) { machine.Answered(last_id, result, now_us); }
  void Confirm() { Answer(Confirmed("")); }
  static Reply Confirmed(std::string_view name, size_t count = 1) {
    return Confirmation(TopicKind::kChannel, true, Reply::Bulk(name), count);
  }
  static PushEvent Message(std::string_view word, std::string_view channel) {
    return {Reply::Array({Reply::Bulk(word), Reply::Bulk(channel), Reply::Bulk("text")})};
  }
  // Subscribes to the channel "news" at h:1 on a line, whose number it returns.
  uint64_t SubscribeToNews() {
    homes.all = {Server(1)};
    machine.Submit(news, now_us);
    const uint64_t line = machine.NextAction().value().line;
    machine.LineOpened(line, now_us);
    Actions();
    Confirm();
    Actions();
    return line;
  }
  // "message news", "gap", ...
  std::vector<std::string> Pushes() {
    std::vector<std::string> texts;
    while (const std::optional<PushEvent> event = machine.TakePush()) {
      texts.push_back(event->is_gap() ? "gap"
                                      : absl::StrCat(event->push->elements()[0].text(), " ",
                                                     event->push->elements()[1].text()));
    }
    return texts;
  }

  KnownHomes homes;
  int64_t now_us = 5000;
  int64_t wake_at_us = 0;
  uint64_t last_id = 0;
  RequestForTest news{"SUBSCRIBE news"};
  FollowMachine machine{{.command_timeout_us = kTimeoutUs}, homes, base::Rng(7)};
};

using Texts = std::vector<std::string>;

TEST_F(FollowMachineTest, SubscribesAtTheHomeOverALine) {
  homes.all = {Server(1)};
  machine.Submit(news, now_us);
  EXPECT_EQ(Actions(), (Texts{"open 2 1", "wake"}));
  machine.LineOpened(2, now_us);
  EXPECT_EQ(Actions(), (Texts{"subscribe 2 news"}));
  EXPECT_FALSE(news.completed());
  Confirm();
  EXPECT_THAT(news.result(), IsOkAndHolds(Confirmed("news")));
  machine.Pushed(2, Message("message", "news"), now_us);
  EXPECT_EQ(Pushes(), (Texts{"message news"}));
}

TEST_F(FollowMachineTest, FollowsANewHomeAndReportsAGap) {
  const uint64_t old = SubscribeToNews();
  homes.all = {Server(2)};
  machine.HomesChanged(now_us);
  EXPECT_EQ(Actions(), (Texts{absl::StrCat("unsubscribe ", old, " news"),
                              absl::StrCat("close ", old), "open 4 2"}));
  machine.Pushed(old, Message("message", "news"), now_us);
  machine.LineOpened(4, now_us);
  Actions();
  EXPECT_EQ(Pushes(), Texts()) << "the former home";
  Confirm();
  machine.Pushed(4, Message("message", "news"), now_us);
  EXPECT_EQ(Pushes(), (Texts{"gap", "message news"}));
}

TEST_F(FollowMachineTest, KeepsTheHomeOfChannelsWhileItIsOneOfTheNodes) {
  SubscribeToNews();
  homes.all = {Server(3), Server(1), Server(2)};
  machine.HomesChanged(now_us);
  EXPECT_EQ(Actions(), Texts());
}

TEST_F(FollowMachineTest, UsesAnotherNodeAfterALoss) {
  const uint64_t old = SubscribeToNews();
  homes.all = {Server(1), Server(2)};
  machine.LineLost(old, now_us);
  EXPECT_EQ(Actions(), (Texts{"find", "open 4 2"}));
}

TEST_F(FollowMachineTest, WaitsForAHomeWhileNoneIsKnown) {
  const uint64_t old = SubscribeToNews();
  homes.all = {};
  machine.LineLost(old, now_us);
  EXPECT_EQ(Actions(), (Texts{"find"}));
  homes.all = {Server(1)};
  machine.HomesChanged(now_us);
  EXPECT_EQ(Actions(), (Texts{"open 4 1"}));
}

TEST_F(FollowMachineTest, FollowsAShardChannelThatMoves) {
  homes.shards = {{"a", Server(1)}};
  RequestForTest subscribe("SSUBSCRIBE a");
  machine.Submit(subscribe, now_us);
  machine.LineOpened(2, now_us);
  Actions();
  Answer(Confirmation(TopicKind::kShardChannel, true, Reply::Bulk("a"), 1));
  Actions();
  // The server ends the subscription, and does not serve the slot any more.
  machine.Pushed(2, {Confirmation(TopicKind::kShardChannel, false, Reply::Bulk("a"), 0)}, now_us);
  EXPECT_EQ(Actions(), (Texts{"close 2", "find", "open 4 1"}));
  machine.LineOpened(4, now_us);
  Actions();
  Answer(Reply::Error("MOVED 15495 h:2"));
  homes.shards = {{"a", Server(2)}};
  machine.HomesChanged(now_us);
  machine.Timer(now_us + kTimeoutUs / 2);
  EXPECT_EQ(Actions(), (Texts{"close 4", "open 6 2"}));
  machine.LineOpened(6, now_us);
  Actions();
  Confirm();
  EXPECT_EQ(Pushes(), (Texts{"gap"}));
}

TEST_F(FollowMachineTest, DropsMessagesOfAFormerHomeThatIsStillUsed) {
  homes.shards = {{"a", Server(1)}, {"b", Server(1)}};
  RequestForTest a("SSUBSCRIBE a"), b("SSUBSCRIBE b");
  machine.Submit(a, now_us);
  machine.LineOpened(2, now_us);
  Actions();
  Confirm();
  machine.Submit(b, now_us);
  Actions();
  Confirm();
  homes.shards.find("a")->second = Server(2);
  machine.HomesChanged(now_us);
  const std::vector<std::string> actions = Actions();
  ASSERT_EQ(actions.size(), 2u);
  EXPECT_EQ(actions[0], "unsubscribe 2 a");
  machine.LineOpened(6, now_us);
  EXPECT_EQ(actions[1], "open 6 2");
  Actions();
  Confirm();
  machine.Pushed(2, Message("smessage", "a"), now_us);
  machine.Pushed(2, Message("smessage", "b"), now_us);
  EXPECT_EQ(Pushes(), (Texts{"gap", "smessage b"}));
}

TEST_F(FollowMachineTest, PassesTheServersRefusalToTheCaller) {
  homes.all = {Server(1)};
  machine.Submit(news, now_us);
  machine.LineOpened(2, now_us);
  Actions();
  Answer(Reply::Error("NOPERM no channel"));
  EXPECT_THAT(news.result(), IsOkAndHolds(Reply::Error("NOPERM no channel")));
  EXPECT_EQ(Actions(), (Texts{"close 2"}));
}

TEST_F(FollowMachineTest, ARequestWithoutAHomeEndsAsNotSent) {
  machine.Submit(news, now_us);
  EXPECT_EQ(Actions(), (Texts{"find", "wake"}));
  EXPECT_EQ(wake_at_us, now_us + kTimeoutUs);
  machine.Timer(wake_at_us);
  EXPECT_THAT(news.result(), StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_EQ(store::ErrorKindOf(news.result().status()), ErrorKind::kNotSent);
  homes.all = {Server(1)};
  machine.HomesChanged(wake_at_us);
  EXPECT_EQ(Actions(), Texts()) << "the subscription was dropped";
}

TEST_F(FollowMachineTest, ALineThatDoesNotAnswerIsReplaced) {
  homes.all = {Server(1)};
  machine.Submit(news, now_us);
  machine.LineOpened(2, now_us);
  Actions();
  Answer(absl::DeadlineExceededError("late"));
  EXPECT_EQ(Actions(), (Texts{"close 2", "find", "open 4 1"}));
  machine.Timer(now_us + kTimeoutUs);
  EXPECT_EQ(store::ErrorKindOf(news.result().status()), ErrorKind::kOutcomeUnknown);
}

TEST_F(FollowMachineTest, UnsubscribeIsConfirmedAtOnceAndNoMessageFollows) {
  const uint64_t line = SubscribeToNews();
  RequestForTest all("UNSUBSCRIBE");
  machine.Submit(all, now_us);
  EXPECT_THAT(all.result(),
              IsOkAndHolds(Confirmation(TopicKind::kChannel, false, Reply::Bulk("news"), 0)));
  machine.Pushed(line, Message("message", "news"), now_us);
  EXPECT_EQ(Pushes(), Texts());
  RequestForTest again("UNSUBSCRIBE");
  machine.Submit(again, now_us);
  EXPECT_THAT(again.result(),
              IsOkAndHolds(Confirmation(TopicKind::kChannel, false, Reply::Nil(), 0)));
}

TEST_F(FollowMachineTest, FurtherConfirmationsArePushes) {
  homes.all = {Server(1)};
  RequestForTest two("SUBSCRIBE a b");
  machine.Submit(two, now_us);
  machine.LineOpened(2, now_us);
  std::vector<uint64_t> ids;
  while (const auto action = machine.NextAction()) {
    if (action->kind == FollowAction::Kind::kSubscribe) ids.push_back(action->id);
  }
  ASSERT_EQ(ids.size(), 2u);
  machine.Answered(ids[1], Confirmed("b"), now_us);
  EXPECT_THAT(two.result(), IsOkAndHolds(Confirmed("b")));
  machine.Answered(ids[0], Confirmed("a"), now_us);
  EXPECT_EQ(Pushes(), (Texts{"subscribe a"}));
}

TEST_F(FollowMachineTest, RefusesOtherCommandsAndRequestsAfterItsEnd) {
  RequestForTest get("GET key");
  machine.Submit(get, now_us);
  EXPECT_THAT(get.result(), StatusIs(absl::StatusCode::kFailedPrecondition));
  const uint64_t line = SubscribeToNews();
  machine.Close("the end");
  EXPECT_EQ(Actions(), (Texts{absl::StrCat("close ", line)}));
  RequestForTest late("SUBSCRIBE b");
  machine.Submit(late, now_us);
  EXPECT_EQ(store::ErrorKindOf(late.result().status()), ErrorKind::kNotSent);
}

TEST_F(FollowMachineTest, ReportsWhereRequestsAreSent) {
  Texts events;
  const auto observer = RequestObserver::Make(
      [&](const CommandEvent& event) {
        static constexpr const char* kNames[] = {"start", "send", "redirect", "end"};
        events.push_back(absl::StrCat(kNames[static_cast<size_t>(event.kind)], " ",
                                      std::string(event.node), " ", event.sends, "/",
                                      event.redirects, " ", std::string(event.cause)));
      },
      "", [] { return int64_t{0}; });
  FollowMachine observed({.command_timeout_us = kTimeoutUs}, homes, base::Rng(7), observer.get());
  const auto id_of_command = [&] {
    uint64_t id = 0;
    while (const auto action = observed.NextAction()) {
      if (action->kind == FollowAction::Kind::kOpen) observed.LineOpened(action->line, now_us);
      if (action->kind == FollowAction::Kind::kSubscribe) id = action->id;
    }
    return id;
  };
  homes.shards.emplace("a", Server(1));
  RequestForTest shard("SSUBSCRIBE a");
  observer->Submit(shard, [&](store::Request& request) { observed.Submit(request, now_us); });
  const uint64_t first = id_of_command();
  homes.shards.find("a")->second = Server(2);
  observed.Answered(first, Reply::Error("MOVED 7 h:2"), now_us);
  observed.HomesChanged(now_us);
  observed.Answered(id_of_command(), Confirmed("a"), now_us);
  ASSERT_TRUE(shard.completed());
  EXPECT_EQ(events, (Texts{"start  0/0 ", "send h:1 1/0 ", "redirect h:1 1/1 MOVED 7 h:2",
                           "send h:2 2/1 ", "end h:2 2/1 "}));
}

TEST_F(FollowMachineTest, RefusesRequestsBeyondItsLimits) {
  for (const QueueLimits& limits : {QueueLimits{.requests = 1}, QueueLimits{.bytes = 10}}) {
    FollowMachine full({.command_timeout_us = kTimeoutUs, .queue = limits}, homes, base::Rng(7));
    RequestForTest first("SUBSCRIBE a"), second("SUBSCRIBE b"), fourth("SUBSCRIBE d");
    std::optional<RequestForTest> third(std::in_place, "SUBSCRIBE c");
    full.Submit(first, now_us);
    EXPECT_FALSE(first.completed());
    full.Submit(second, now_us);
    EXPECT_THAT(second.result(), StatusIs(absl::StatusCode::kResourceExhausted));
    EXPECT_EQ(store::ErrorKindOf(second.result().status()), ErrorKind::kNotSent);
    full.Timer(now_us + kTimeoutUs);
    EXPECT_TRUE(first.completed());
    full.Submit(*third, now_us + kTimeoutUs);
    EXPECT_FALSE(third->completed()) << "there is room again";
    third.reset();
    full.Submit(fourth, now_us + kTimeoutUs);
    EXPECT_THAT(fourth.result(), StatusIs(absl::StatusCode::kResourceExhausted))
        << "what was abandoned may still be sent";
    full.Timer(now_us + 2 * kTimeoutUs);
    RequestForTest fifth("SUBSCRIBE e");
    full.Submit(fifth, now_us + 2 * kTimeoutUs);
    EXPECT_FALSE(fifth.completed()) << "within its time";
  }
}

// The caller may rely on the subscription although it does not wait, but not after its time.
TEST_F(FollowMachineTest, ForgetsAnAbandonedSubscriptionThatIsNotConfirmedInTime) {
  std::optional<RequestForTest> other(std::in_place, "SUBSCRIBE other");
  machine.Submit(*other, now_us);
  other.reset();
  std::optional<RequestForTest> later(std::in_place, "SUBSCRIBE later");
  machine.Submit(*later, now_us + 10);
  later.reset();
  EXPECT_EQ(Actions(), (Texts{"find", "wake"}));
  EXPECT_EQ(wake_at_us, now_us + kTimeoutUs);
  machine.Timer(wake_at_us);
  EXPECT_EQ(machine.queued(), 1u);
  homes.all = {Server(1)};
  machine.HomesChanged(now_us + kTimeoutUs);
  const uint64_t line = machine.NextAction().value().line;
  machine.LineOpened(line, now_us + kTimeoutUs);
  EXPECT_EQ(Actions(), (Texts{absl::StrCat("subscribe ", line, " later"), "wake"}));
  machine.Timer(now_us + kTimeoutUs + 10);
  EXPECT_EQ(Actions(),
            (Texts{absl::StrCat("unsubscribe ", line, " later"), absl::StrCat("close ", line)}));
  EXPECT_EQ(machine.queued(), 0u);
}

TEST_F(FollowMachineTest, AWaiterMayAbandonAndSubmitRequests) {
  homes.all = {Server(1)};
  std::optional<RequestForTest> other(std::in_place, "SUBSCRIBE news");
  RequestForTest third("SUBSCRIBE c");
  news.on_complete = [&] {
    other.reset();
    machine.Submit(third, now_us);
  };
  machine.Submit(news, now_us);
  machine.Submit(*other, now_us);
  machine.LineOpened(2, now_us);
  Actions();
  Confirm();
  EXPECT_TRUE(news.completed());
  EXPECT_EQ(Actions(), (Texts{"subscribe 2 c"}));
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
