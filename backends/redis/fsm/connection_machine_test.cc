#include "redouble/backends/redis/fsm/connection_machine.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "redouble/backends/redis/fsm/request_for_test.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/resp/command_writer.h"

namespace redouble::inline v0_1::redis {
namespace {

using store::ErrorKind;
using store::Reply;
using Event = ConnectionEvent;

constexpr int64_t kTimeoutUs = 1000;
constexpr int64_t kNowUs = 5000;
constexpr std::string_view kGet = "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n";

// The smallest derived machine: each command has one reply, and no request is kept after a loss.
class LeastMachine final : public ConnectionMachine {
 public:
  explicit LeastMachine(ConnectionSettings settings) : ConnectionMachine(std::move(settings)) {}
  ~LeastMachine() { Disconnect("the test is over", true); }

  void Submit(store::Request& request) override {
    if (!Accept(request)) return;
    queue_.push_back({&request});
    request.SetKeeper(this);
  }
  void Ping() override {}
  void Abandon(store::Request& request) override {
    ForgetAbandoned(request);
    for (Entry& entry : queue_) {
      if (entry.request == &request) entry.request = nullptr;
    }
  }
  size_t queued() const override { return queue_.size(); }

  int connects = 0;
  std::string protocol_error;

 private:
  struct Entry {
    store::Request* request;
    int64_t deadline_us = kNoTimeout;
    uint64_t first_byte = 0;
  };

  void StampDeadlines(int64_t now_us) override {
    for (Entry& entry : queue_) {
      if (entry.deadline_us == kNoTimeout) entry.deadline_us = now_us + kTimeoutUs;
    }
  }
  void Encode(std::string& out) override {
    for (; encoded_ < queue_.size(); ++encoded_) {
      queue_[encoded_].first_byte = bytes_encoded() + out.size();
      AppendRequest(*queue_[encoded_].request, out);
    }
  }
  bool TakeReply(Reply reply, int64_t) override {
    if (encoded_ == 0) return false;
    store::Request* const request = queue_.front().request;
    queue_.pop_front();
    --encoded_;
    if (request != nullptr) request->Complete(std::move(reply));
    return connected();
  }
  void ExpireRequests(int64_t now_us) override {
    for (Entry& entry : queue_) {
      if (entry.deadline_us > now_us) continue;
      if (store::Request* const request = std::exchange(entry.request, nullptr)) {
        Fail(*request, RequestError(true, "too late", absl::StatusCode::kDeadlineExceeded));
      }
    }
  }
  int64_t NextDeadline() const override {
    return queue_.empty() ? kNoTimeout : queue_.front().deadline_us;
  }
  void OnConnected(const ConnectionEvent&) override { ++connects; }
  void OnProtocolError(const absl::Status& status) override {
    protocol_error = std::string(status.message());
  }
  void OnLost() override {
    for (const Entry& entry : std::exchange(queue_, {})) {
      if (entry.request == nullptr) continue;
      FailLater(*entry.request, LostError(entry.first_byte < bytes_written(), "GET"));
    }
    encoded_ = 0;
  }

  std::deque<Entry> queue_;
  size_t encoded_ = 0;
};

ConnectionSettings Connected() { return {.address = "redis://h:6379", .connected = true}; }
ConnectionSettings Reconnecting() {
  return {.address = "redis://h:6379", .connected = true, .reconnects = true};
}

void ExpectFailure(const RequestForTest& request, ErrorKind kind, const std::string& message) {
  ASSERT_TRUE(request.completed());
  EXPECT_EQ(store::ErrorKindOf(request.result().status()), kind);
  EXPECT_EQ(request.result().status().message(), message);
}

TEST(ConnectionMachine, WritesAtTheEndOfTheTurn) {
  LeastMachine machine(Connected());
  RequestForTest a("GET k"), b("GET k");
  machine.Submit(a);
  machine.Submit(b);
  const ConnectionAction action = machine.Resume(Event::TurnEnded(kNowUs));
  EXPECT_EQ(action.write, std::string(kGet) + std::string(kGet));
  EXPECT_EQ(action.wake_at_us, kNowUs + kTimeoutUs);
  EXPECT_FALSE(action.close);
}

TEST(ConnectionMachine, AsksForOneWriteAtATime) {
  LeastMachine machine(Connected());
  RequestForTest a("GET k"), b("GET k");
  machine.Submit(a);
  machine.Resume(Event::TurnEnded(kNowUs));
  machine.Submit(b);
  EXPECT_EQ(machine.Resume(Event::TurnEnded(kNowUs)).write, "") << "the first write is under way";
  EXPECT_EQ(machine.Resume(Event::Written(5)).write, kGet.substr(5));
  EXPECT_EQ(machine.Resume(Event::Written(kGet.size() - 5)).write, kGet) << "the second request";
  EXPECT_EQ(machine.Resume(Event::Written(kGet.size())).write, "");
}

TEST(ConnectionMachine, ArmsTheTimerOnceForTheEarliestDeadline) {
  LeastMachine machine(Connected());
  RequestForTest a("GET k"), b("GET k");
  machine.Submit(a);
  EXPECT_EQ(machine.Resume(Event::TurnEnded(kNowUs)).wake_at_us, kNowUs + kTimeoutUs);
  machine.Submit(b);
  EXPECT_EQ(machine.Resume(Event::TurnEnded(kNowUs + 1)).wake_at_us, std::nullopt);
  machine.Resume(Event::Timer(kNowUs + kTimeoutUs));
  ExpectFailure(a, ErrorKind::kOutcomeUnknown, "too late");
  EXPECT_FALSE(b.completed());
}

TEST(ConnectionMachine, CompletesRequestsWithReceivedReplies) {
  LeastMachine machine(Connected());
  RequestForTest get("GET k");
  machine.Submit(get);
  machine.Resume(Event::TurnEnded(kNowUs));
  machine.Resume(Event::Written(kGet.size()));
  EXPECT_FALSE(machine.Resume(Event::Received("$1\r\nv", kNowUs)).close);
  EXPECT_FALSE(get.completed());
  EXPECT_FALSE(machine.Resume(Event::Received("\r\n", kNowUs)).close);
  ASSERT_TRUE(get.completed());
  EXPECT_EQ(get.result().value(), Reply::Bulk("v"));
}

TEST(ConnectionMachine, DistinguishesWrittenFromUnwrittenRequestsAfterALoss) {
  LeastMachine machine(Reconnecting());
  RequestForTest written("GET k"), unwritten("GET k");
  machine.Submit(written);
  machine.Submit(unwritten);
  machine.Resume(Event::TurnEnded(kNowUs));
  machine.Resume(Event::Written(1));
  EXPECT_TRUE(machine.Resume(Event::Lost("reset")).close);
  ExpectFailure(written, ErrorKind::kOutcomeUnknown,
                "the connection to redis://h:6379 was lost (reset) before GET was answered");
  EXPECT_EQ(machine.queued(), 0u);
  EXPECT_FALSE(machine.connected());
  EXPECT_FALSE(machine.closed());
}

TEST(ConnectionMachine, WritesToTheNextConnectionOnlyWhatWasSubmittedSince) {
  LeastMachine machine(Reconnecting());
  RequestForTest lost("GET k"), waiting("GET k");
  machine.Submit(lost);
  machine.Resume(Event::TurnEnded(kNowUs));
  machine.Resume(Event::Lost("reset"));
  machine.Submit(waiting);
  EXPECT_EQ(machine.Resume(Event::TurnEnded(kNowUs)).write, "") << "there is no connection";
  EXPECT_TRUE(machine.Resume(Event::Lost("refused")).close);
  EXPECT_FALSE(waiting.completed()) << "a failed attempt to connect fails no request";
  EXPECT_EQ(machine.Resume(Event::Connected(kNowUs)).write, kGet);
  EXPECT_EQ(machine.connects, 1);
  EXPECT_TRUE(machine.connected());
}

TEST(ConnectionMachine, ForgetsHalfAReplyWhenTheConnectionIsLost) {
  LeastMachine machine(Reconnecting());
  RequestForTest get("GET k");
  machine.Resume(Event::Received("$5\r\nhal", kNowUs));
  machine.Resume(Event::Lost("reset"));
  machine.Submit(get);
  machine.Resume(Event::Connected(kNowUs));
  machine.Resume(Event::Received("$1\r\nv\r\n", kNowUs));
  ASSERT_TRUE(get.completed());
  EXPECT_EQ(get.result().value(), Reply::Bulk("v"));
}

TEST(ConnectionMachine, IsClosedByALossIfItDoesNotReconnect) {
  LeastMachine machine(Connected());
  EXPECT_TRUE(machine.Resume(Event::Lost("reset")).close);
  EXPECT_TRUE(machine.closed());
  RequestForTest late("GET k");
  machine.Submit(late);
  ExpectFailure(late, ErrorKind::kNotSent, "not connected to redis://h:6379: reset");
  EXPECT_TRUE(machine.Resume(Event::Connected(kNowUs)).close) << "it stays closed";
}

TEST(ConnectionMachine, IsClosedForGoodByTheOwner) {
  LeastMachine machine(Reconnecting());
  RequestForTest get("GET k");
  machine.Submit(get);
  EXPECT_TRUE(machine.Resume(Event::Closed("the client was closed")).close);
  EXPECT_TRUE(machine.closed());
  EXPECT_TRUE(get.completed());
}

TEST(ConnectionMachine, ClosesTheConnectionAfterBytesThatAreNoReply) {
  LeastMachine machine(Connected());
  EXPECT_TRUE(machine.Resume(Event::Received("HTTP/1.1 400\r\n", kNowUs)).close);
  EXPECT_NE(machine.protocol_error, "");
  EXPECT_FALSE(machine.connected());
}

TEST(ConnectionMachine, ClosesTheConnectionAfterAReplyThatNothingAskedFor) {
  LeastMachine machine(Connected());
  EXPECT_TRUE(machine.Resume(Event::Received("+OK\r\n", kNowUs)).close);
  EXPECT_EQ(machine.protocol_error, "Redis sent a reply that nothing had asked for");
}

TEST(ConnectionMachine, LetsAWaiterAbandonAnotherFailedRequest) {
  Counters counters;
  ConnectionSettings settings = Connected();
  settings.counters = &counters;
  LeastMachine machine(settings);
  RequestForTest first("GET k");
  auto second = std::make_unique<RequestForTest>("GET k");
  first.on_complete = [&] { second.reset(); };
  machine.Submit(first);
  machine.Submit(*second);
  machine.Resume(Event::Lost("reset"));
  EXPECT_TRUE(first.completed());
  EXPECT_EQ(counters.requests, 2u);
  EXPECT_EQ(counters.abandoned, 1u);
  EXPECT_EQ(counters.in_flight, 0u);
}

TEST(ConnectionMachine, LetsAWaiterSubmitDuringALoss) {
  LeastMachine machine(Connected());
  RequestForTest first("GET k"), second("GET k");
  first.on_complete = [&] { machine.Submit(second); };
  machine.Submit(first);
  machine.Resume(Event::Lost("reset"));
  ExpectFailure(second, ErrorKind::kNotSent, "not connected to redis://h:6379: reset");
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
