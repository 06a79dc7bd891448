// How good the explorer is: three kinds of bugs are planted in copies of a counter, a lock and a
// queue. Each must be found within 1,000 seeds and shrunk to at most six steps, counting starts of
// actors; the copy without the bug must pass under the same faults.

#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/command.h"
#include "redouble/sim/explore/explore.h"

namespace redouble::inline v0_1::sim {
namespace {

using base::Task;
using store::Reply;
using Words = std::vector<std::string_view>;

// g++ 12 does not accept a braced list within a co_await.
template <typename... Text>
Words Of(const Text&... words) {
  return {std::string_view(words)...};
}

constexpr int64_t kSeeds = 1000;
constexpr int64_t kSteps = 6;

Task<absl::StatusOr<Reply>> Send(store::Store& store, Words words) {
  const auto command = store::Command::Named(words[0], std::span(words).subspan(1));
  co_return co_await store.Execute(command);
}

// Retries until the outcome is known, as an at-least-once client does.
Task<Reply> SendUntilAnswered(store::Store& store, Words words) {
  while (true) {
    absl::StatusOr<Reply> reply = co_await Send(store, words);
    if (reply.ok()) co_return *std::move(reply);
  }
}

// Executes a command outside of the schedule.
Reply Ask(World& world, Words words) {
  const std::unique_ptr<memory::Session> session = world.Connect();
  return base::Run(Send(*session, std::move(words))).value();
}

absl::Status Expect(bool holds, const char* otherwise) {
  return holds ? absl::OkStatus() : absl::InternalError(otherwise);
}

void AddExpires(World& world, std::string_view key) {
  world.AddFinalInvariant("it expires", [&world, key] {
    return Expect(Ask(world, {"PTTL", key}).integer() != -1, "it never does");
  });
}

enum class Bug { kNone, kLostUpdate, kDoubleApply, kMissingTtl };

// A counter of requests. Each request counts once, however often it is sent, and the counter
// expires.
constexpr char kCount[] = "redis.call('INCR', KEYS[1]) redis.call('EXPIRE', KEYS[1], 60)";
constexpr char kCountOnce[] =
    "if redis.call('SADD', KEYS[2], ARGV[1]) == 0 then return end "
    "redis.call('EXPIRE', KEYS[2], 60) redis.call('INCR', KEYS[1]) "
    "redis.call('EXPIRE', KEYS[1], 60)";

Task<void> Count(Actor& actor, Bug bug, int& done) {
  store::Store& store = actor.store();
  if (bug == Bug::kLostUpdate) {
    const Reply before = co_await SendUntilAnswered(store, Of("GET", "n"));
    const std::string next =
        std::to_string(before.is_nil() ? 1 : std::stoi(std::string(before.text())) + 1);
    (void)co_await SendUntilAnswered(store, Of("SET", "n", next, "EX", "60"));
  } else if (bug == Bug::kMissingTtl) {
    (void)co_await SendUntilAnswered(store, Of("INCR", "n"));
    (void)co_await SendUntilAnswered(store, Of("EXPIRE", "n", "60"));
  } else {
    const char* script = bug == Bug::kDoubleApply ? kCount : kCountOnce;
    (void)co_await SendUntilAnswered(store, Of("EVAL", script, "2", "n", "seen", actor.name()));
  }
  ++done;
}

void AddCounter(World& world, Bug bug) {
  const auto done = std::make_shared<int>(0);
  for (const char* name : {"a", "b"}) {
    world.Spawn(name, [=](Actor& actor) { return Count(actor, bug, *done); });
  }
  world.AddFinalInvariant("each counts once", [&world, done] {
    const Reply reply = Ask(world, {"GET", "n"});
    const int count = reply.is_nil() ? 0 : std::stoi(std::string(reply.text()));
    return Expect(count >= *done && count <= 2, "it does not");
  });
  AddExpires(world, "n");
}

// A lock that only one client holds at a time, that only its holder releases, and that expires.
constexpr char kRelease[] =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end";

Task<bool> Acquire(Actor& actor, Bug bug) {
  store::Store& store = actor.store();
  if (bug == Bug::kLostUpdate) {
    const Reply holder = co_await SendUntilAnswered(store, Of("GET", "lock"));
    if (!holder.is_nil()) co_return false;
    (void)co_await SendUntilAnswered(store, Of("SET", "lock", actor.name(), "PX", "60000"));
    co_return true;
  }
  if (bug == Bug::kMissingTtl) {
    const Reply set = co_await SendUntilAnswered(store, Of("SETNX", "lock", actor.name()));
    if (set.integer() == 0) co_return false;
    (void)co_await SendUntilAnswered(store, Of("PEXPIRE", "lock", "60000"));
    co_return true;
  }
  const absl::StatusOr<Reply> set =
      co_await Send(store, Of("SET", "lock", actor.name(), "NX", "PX", "60000"));
  co_return set.ok() && !set->is_nil();
}

Task<void> HoldForAMoment(Actor& actor, Bug bug, std::vector<bool>& holds) {
  const bool acquired = co_await Acquire(actor, bug);
  if (!acquired) co_return;
  holds[actor.index()] = true;
  const Words release = bug == Bug::kDoubleApply
                            ? Words{"DEL", "lock"}
                            : Words{"EVAL", kRelease, "1", "lock", actor.name()};
  const absl::StatusOr<Reply> released = co_await Send(actor.store(), release);
  holds[actor.index()] = false;
  if (!released.ok()) (void)co_await SendUntilAnswered(actor.store(), release);
}

void AddLock(World& world, Bug bug) {
  const auto holds = std::make_shared<std::vector<bool>>(2);
  for (const char* name : {"a", "b"}) {
    world.Spawn(name, [=](Actor& actor) { return HoldForAMoment(actor, bug, *holds); });
  }
  world.AddInvariant("one holds it",
                     [holds] { return Expect(!(*holds)[0] || !(*holds)[1], "two do"); });
  world.AddInvariant("only the holder releases the lock", [holds, &world] {
    const bool is_held = (*holds)[0] || (*holds)[1];
    return Expect(!is_held || Ask(world, {"EXISTS", "lock"}).integer() == 1, "another client did");
  });
  AddExpires(world, "lock");
}

// A queue: jobs by number, the number of the last job, and for a while the ids that were put.
constexpr char kPut[] =
    "local last = redis.call('INCR', KEYS[2]) redis.call('HSET', KEYS[1], last, ARGV[1])";
constexpr char kPutOnce[] =
    "if redis.call('SADD', KEYS[3], ARGV[1]) == 0 then return end "
    "redis.call('EXPIRE', KEYS[3], 60) "
    "local last = redis.call('INCR', KEYS[2]) redis.call('HSET', KEYS[1], last, ARGV[1])";

Task<void> Put(Actor& actor, Bug bug, int& done) {
  store::Store& store = actor.store();
  const std::string& job = actor.name();
  if (bug == Bug::kLostUpdate) {
    const Reply last = co_await SendUntilAnswered(store, Of("HLEN", "jobs"));
    const std::string next = std::to_string(last.integer() + 1);
    (void)co_await SendUntilAnswered(store, Of("HSET", "jobs", next, job));
  } else if (bug == Bug::kMissingTtl) {
    (void)co_await SendUntilAnswered(store, Of("SADD", "put", job));
    (void)co_await SendUntilAnswered(store, Of("EXPIRE", "put", "60"));
    (void)co_await SendUntilAnswered(store, Of("EVAL", kPut, "2", "jobs", "last", job));
  } else {
    const char* script = bug == Bug::kDoubleApply ? kPut : kPutOnce;
    (void)co_await SendUntilAnswered(store, Of("EVAL", script, "3", "jobs", "last", "put", job));
  }
  ++done;
}

void AddQueue(World& world, Bug bug) {
  const auto done = std::make_shared<int>(0);
  for (const char* name : {"a", "b"}) {
    world.Spawn(name, [=](Actor& actor) { return Put(actor, bug, *done); });
  }
  world.AddFinalInvariant("each job is there once", [&world, done] {
    const int64_t jobs = Ask(world, {"HLEN", "jobs"}).integer();
    return Expect(jobs >= *done && jobs <= 2, "it is not");
  });
  AddExpires(world, "put");
}

struct Planted {
  const char* name;
  void (*add)(World& world, Bug bug);
  Bug bug;
  const char* broken;
};

std::vector<FaultRule> FaultsFor(Bug bug) {
  switch (bug) {
    case Bug::kDoubleApply:
      return {{.fault = Fault::kDropReply, .probability = 0.2}};
    case Bug::kMissingTtl:
      return {{.fault = Fault::kCrash, .probability = 0.2, .duration = absl::InfiniteDuration()}};
    default:
      return {};
  }
}

class Mutations : public testing::TestWithParam<Planted> {
 protected:
  static Exploration ExploreWith(Bug bug) {
    ExploreOptions options{.schedules = kSeeds};
    options.world.faults = FaultsFor(GetParam().bug);
    return Explore([bug](World& world) { GetParam().add(world, bug); }, options);
  }
};

TEST_P(Mutations, AreFoundAndShrunk) {
  const Exploration found = ExploreWith(GetParam().bug);
  ASSERT_TRUE(found.violation.has_value());
  EXPECT_EQ(BrokenInvariant(found.violation->status), GetParam().broken);
  EXPECT_LE(found.schedules_to_first, kSeeds);
  EXPECT_LE(found.violation->steps, kSteps);
}

TEST_P(Mutations, AreWhatIsFound) {
  const Exploration clean = ExploreWith(Bug::kNone);
  EXPECT_FALSE(clean.violation.has_value()) << clean.violation->status;
  EXPECT_TRUE(clean.complete || clean.schedules == kSeeds) << clean.schedules;
}

INSTANTIATE_TEST_SUITE_P(
    All, Mutations,
    testing::Values(
        Planted{"CounterLosesAnUpdate", AddCounter, Bug::kLostUpdate, "each counts once"},
        Planted{"CounterAppliesTwice", AddCounter, Bug::kDoubleApply, "each counts once"},
        Planted{"CounterHasNoTtl", AddCounter, Bug::kMissingTtl, "it expires"},
        Planted{"LockLosesAnUpdate", AddLock, Bug::kLostUpdate, "one holds it"},
        Planted{"LockAppliesTwice", AddLock, Bug::kDoubleApply,
                "only the holder releases the lock"},
        Planted{"LockHasNoTtl", AddLock, Bug::kMissingTtl, "it expires"},
        Planted{"QueueLosesAnUpdate", AddQueue, Bug::kLostUpdate, "each job is there once"},
        Planted{"QueueAppliesTwice", AddQueue, Bug::kDoubleApply, "each job is there once"},
        Planted{"QueueHasNoTtl", AddQueue, Bug::kMissingTtl, "it expires"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace redouble::inline v0_1::sim
