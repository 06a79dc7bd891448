#include "redouble/backends/redis/observe/request_observer.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "redouble/backends/redis/fsm/request_for_test.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::redis {
namespace {

using store::Reply;
using store::Request;
using Kind = CommandEvent::Kind;

// An event in one line: "end 1 GET node 2 sends 1 redirects 5 us 6/7 bytes WRONGTYPE".
std::string Line(const CommandEvent& event) {
  static constexpr const char* kNames[] = {"start", "send", "redirect", "end"};
  std::string line = absl::StrCat(kNames[static_cast<size_t>(event.kind)], " ", event.id, " ",
                                  RequestName(*event.request));
  if (event.kind == Kind::kStart) return line;
  absl::StrAppend(&line, " ", std::string(event.node), " ", event.sends, "/", event.redirects);
  if (event.kind == Kind::kRedirect) absl::StrAppend(&line, " ", std::string(event.cause));
  if (event.kind == Kind::kEnd) {
    absl::StrAppend(&line, " ", event.duration_us, "us ", event.request_bytes, "+",
                    event.reply_bytes, " ", ErrorOf(event));
  }
  return line;
}

class RequestObserverTest : public testing::Test {
 protected:
  using Lines = std::vector<std::string>;

  // A client that keeps one observed request.
  void Submit(Request& request) {
    observer->Submit(request, [this](Request& observed) {
      observed.SetKeeper(&keeper);
      submitted = &observed;
    });
  }

  struct Keeper : store::RequestKeeper {
    void Abandon(Request&) override { ++abandoned; }
    int abandoned = 0;
  };

  Lines lines;
  int64_t now_us = 100;
  Keeper keeper;
  Request* submitted = nullptr;
  std::shared_ptr<RequestObserver> observer =
      RequestObserver::Make([this](const CommandEvent& event) { lines.push_back(Line(event)); },
                            "here:1", [this] { return now_us; });
};

TEST_F(RequestObserverTest, ReportsARequestFromItsStartToItsEnd) {
  RequestForTest get("GET key");
  Submit(get);
  observer->Sent(*submitted);
  now_us += 25;
  submitted->Complete(Reply::Bulk("value"));
  EXPECT_EQ(get.result().value(), Reply::Bulk("value"));
  EXPECT_EQ(lines,
            (Lines{"start 1 GET", "send 1 GET here:1 1/0", "end 1 GET here:1 1/0 25us 6+5 "}));
}

TEST_F(RequestObserverTest, ReportsWhereARequestWasRedirected) {
  RequestForTest incr("incr key");
  Submit(incr);
  observer->Sent(*submitted, "a:1");
  observer->Redirected(*submitted, "a:1", "MOVED 7 b:2");
  observer->Sent(*submitted, "b:2");
  observer->Redirected(*submitted, std::nullopt, "READONLY");
  submitted->Complete(Reply::Error("WRONGTYPE no number"));
  EXPECT_EQ(lines,
            (Lines{"start 1 INCR", "send 1 INCR a:1 1/0", "redirect 1 INCR a:1 1/1 MOVED 7 b:2",
                   "send 1 INCR b:2 2/1", "redirect 1 INCR b:2 2/2 READONLY",
                   "end 1 INCR b:2 2/2 0us 7+19 WRONGTYPE"}));
}

TEST_F(RequestObserverTest, EndsARequestThatWasRefused) {
  RequestForTest get("GET key");
  observer->Submit(get, [](Request& observed) {
    observed.Complete(store::NotSentError("full", absl::StatusCode::kResourceExhausted));
  });
  EXPECT_EQ(lines, (Lines{"start 1 GET", "end 1 GET  0/0 0us 6+0 RESOURCE_EXHAUSTED"}));
}

TEST_F(RequestObserverTest, EndsARequestThatIsAbandoned) {
  {
    RequestForTest get("GET key");
    Submit(get);
    observer->Sent(*submitted);
  }
  EXPECT_EQ(keeper.abandoned, 1) << "the client abandons it, too";
  EXPECT_EQ(lines.back(), "end 1 GET here:1 1/0 0us 6+0 ABANDONED");
  EXPECT_EQ(lines.size(), 3u);
}

TEST_F(RequestObserverTest, CountsEachRequestAndNamesBatches) {
  RequestForTest mixed(Request::Kind::kPipeline, {"GET a", "SET a 1"});
  RequestForTest equal(Request::Kind::kTransaction, {"incr a", "INCR b"});
  for (Request* request : {static_cast<Request*>(&mixed), static_cast<Request*>(&equal)}) {
    Submit(*request);
    submitted->Complete(Reply::Array({Reply::Integer(1), Reply::Bulk("ab")}));
  }
  EXPECT_EQ(lines, (Lines{"start 1 PIPELINE", "end 1 PIPELINE  0/0 0us 9+2 ", "start 2 MULTI INCR",
                          "end 2 MULTI INCR  0/0 0us 10+2 "}));
}

TEST_F(RequestObserverTest, IgnoresRequestsThatItDoesNotKnow) {
  RequestForTest ping("PING");
  observer->Sent(ping);
  observer->Redirected(ping, "a:1", "MOVED 1 b:2");
  EXPECT_TRUE(lines.empty());
}

TEST_F(RequestObserverTest, LivesUntilItsRequestsHaveEnded) {
  RequestForTest get("GET key");
  Submit(get);
  observer.reset();
  submitted->Complete(Reply::Nil());
  EXPECT_EQ(lines.size(), 2u);
}

TEST(RequestObserver, IsNotMadeWithoutAHook) {
  EXPECT_EQ(RequestObserver::Make(nullptr, "", [] { return int64_t{0}; }), nullptr);
}

TEST(NodeNames, AreThoseOfTheServer) {
  EXPECT_EQ(NodeName(Options::Parse("redis://example.com:1").value()), "example.com:1");
  EXPECT_EQ(NodeName(Options::Parse("redis://[::1]:2").value()), "[::1]:2");
  EXPECT_EQ(NodeName(Options::Parse("unix:///run/redis.sock").value()), "/run/redis.sock");
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
