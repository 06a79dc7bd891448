// Goal: the check of the chaos tests finds what it is for.
#include "redouble/tests/chaos/counted_key.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

#include "redouble/core/base/task/run.h"
#include "redouble/core/base/time/virtual_clock.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::Reply;

// A server whose counter is changed by the test before each increment.
class FaultyStore final : public store::Store {
 public:
  explicit FaultyStore(std::function<Reply(int64_t&)> increment)
      : increment_(std::move(increment)) {}

  void Submit(store::Request& request) override {
    std::vector<Reply> replies;
    for (const store::Command& command : request.commands()) {
      const bool echo = command.id() == store::CommandId::kEcho;
      replies.push_back(echo ? Reply::Bulk(command.arguments()[0]) : increment_(value_));
    }
    const bool one = request.kind() == store::Request::Kind::kCommand;
    request.Complete(one ? replies[0] : Reply::Array(std::move(replies)));
  }

 private:
  const std::function<Reply(int64_t&)> increment_;
  int64_t value_ = 0;
};

size_t ProblemsWith(std::function<Reply(int64_t&)> increment, bool may_lose = false) {
  FaultyStore store(std::move(increment));
  base::VirtualClock clock(absl::UnixEpoch());
  CountedKey counter("n", base::Rng(7), may_lose);
  for (int i = 0; i < 20; ++i) {
    base::RunUntilDone(counter.Increment(store, clock), [&] {
      clock.Advance(absl::Milliseconds(1));
      return true;
    });
  }
  return counter.problems().size();
}

TEST(CountedKey, AcceptsWhatIsCorrect) {
  EXPECT_EQ(ProblemsWith([](int64_t& value) { return Reply::Integer(++value); }), 0u);
}

TEST(CountedKey, FindsADoubledIncrement) {
  EXPECT_GT(ProblemsWith([](int64_t& value) { return Reply::Integer(value += 1 + (value == 9)); }),
            0u);
}

TEST(CountedKey, FindsALostIncrement) {
  EXPECT_GT(ProblemsWith([](int64_t& value) {
              if (value == 9) value = 8;
              return Reply::Integer(++value);
            }),
            0u);
}

// The value falls to 5 in a failover, and rises to that before in the next one.
Reply FailOverTwice(int64_t& value, bool& is_first) {
  if (value == 9 && std::exchange(is_first, false)) value = 5;
  if (value == 7 && !is_first) value = 9;
  return Reply::Integer(++value);
}

TEST(CountedKey, AcceptsAServerThatHasLostLess) {
  bool is_first = true;
  const auto increment = [&](int64_t& value) { return FailOverTwice(value, is_first); };
  EXPECT_EQ(ProblemsWith(increment, /*may_lose=*/true), 0u);
}

TEST(CountedKey, FindsADoubledIncrementAfterAFailover) {
  bool is_first = true;
  const auto increment = [&](int64_t& value) {
    if (value == 12) ++value;
    return FailOverTwice(value, is_first);
  };
  EXPECT_GT(ProblemsWith(increment, /*may_lose=*/true), 0u);
}

TEST(CountedKey, FindsTheReplyOfAnotherRequest) {
  EXPECT_GT(ProblemsWith([](int64_t& value) {
              ++value;
              return value == 9 ? Reply::Bulk("other") : Reply::Integer(value);
            }),
            0u);
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
