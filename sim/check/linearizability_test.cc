#include "redouble/sim/check/linearizability.h"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/command.h"
#include "redouble/sim/check/history.h"
#include "redouble/sim/world/world.h"

namespace redouble::inline v0_1::sim {
namespace {

using base::Task;
using store::Reply;
using Words = std::vector<std::string>;

// Builds a history: each call begins or ends an operation.
class Timeline {
 public:
  Timeline& Begin(const std::string& client, Words words) {
    open_[client] = history_.Begin(client, "k", std::move(words));
    return *this;
  }
  Timeline& End(const std::string& client, Reply reply) {
    history_.End(open_.at(client), std::move(reply));
    return *this;
  }
  // An operation that overlaps with no other.
  Timeline& Do(const std::string& client, Words words, Reply reply) {
    return Begin(client, std::move(words)).End(client, std::move(reply));
  }
  bool Fits(const SequentialModel& model) const {
    return !CheckLinearizable(history_, model).has_value();
  }
  const History& history() const { return history_; }

 private:
  History history_;
  std::map<std::string, size_t> open_;
};

TEST(Linearizability, OfOneClientIsTheOrderOfItsOperations) {
  EXPECT_TRUE(Timeline()
                  .Do("a", {"SET", "1"}, Reply::Ok())
                  .Do("a", {"GET"}, Reply::Bulk("1"))
                  .Fits(RegisterModel()));
  EXPECT_FALSE(Timeline()
                   .Do("a", {"SET", "1"}, Reply::Ok())
                   .Do("a", {"GET"}, Reply::Nil())
                   .Fits(RegisterModel()));
}

TEST(Linearizability, LetsWhatOverlapsHappenInEitherOrder) {
  const auto read = [](Reply reply) {
    return Timeline()
        .Begin("a", {"SET", "1"})
        .Begin("b", {"GET"})
        .End("b", std::move(reply))
        .End("a", Reply::Ok())
        .Fits(RegisterModel());
  };
  EXPECT_TRUE(read(Reply::Nil()));
  EXPECT_TRUE(read(Reply::Bulk("1")));
  EXPECT_FALSE(read(Reply::Bulk("2")));
}

TEST(Linearizability, KeepsTheOrderOfWhatDoesNotOverlap) {
  // c reads the old value after b has read the new one.
  EXPECT_FALSE(Timeline()
                   .Begin("a", {"SET", "1"})
                   .Do("b", {"GET"}, Reply::Bulk("1"))
                   .Do("c", {"GET"}, Reply::Nil())
                   .End("a", Reply::Ok())
                   .Fits(RegisterModel()));
}

TEST(Linearizability, LetsAnUnansweredOperationHappenLateOrNever) {
  const auto reads = [](std::vector<Reply> replies) {
    Timeline timeline;
    timeline.Begin("a", {"SET", "1"});
    for (Reply& reply : replies) timeline.Do("b", {"GET"}, std::move(reply));
    return timeline.Fits(RegisterModel());
  };
  EXPECT_TRUE(reads({Reply::Nil(), Reply::Nil()}));
  EXPECT_TRUE(reads({Reply::Nil(), Reply::Bulk("1")}));
  EXPECT_FALSE(reads({Reply::Bulk("1"), Reply::Nil()}));
}

TEST(Linearizability, FindsACounterAppliedTwice) {
  EXPECT_FALSE(Timeline()
                   .Do("a", {"INCR"}, Reply::Integer(1))
                   .Do("b", {"INCR"}, Reply::Integer(3))
                   .Fits(CounterModel()));
}

TEST(Linearizability, OfALockHasOneHolder) {
  const auto locks = [](Words release, Reply reply) {
    return Timeline()
        .Do("a", {"SET", "a", "NX", "PX", "1000"}, Reply::Ok())
        .Do("b", {"SET", "b", "nx"}, Reply::Nil())
        .Do("b", std::move(release), std::move(reply))
        .Do("b", {"SETNX", "b"}, Reply::Integer(1))
        .Fits(LockModel());
  };
  EXPECT_FALSE(locks({"UNLOCK", "b"}, Reply::Integer(0)));
  EXPECT_TRUE(locks({"UNLOCK", "a"}, Reply::Integer(1)));
  EXPECT_TRUE(locks({"DEL"}, Reply::Integer(1)));
  EXPECT_FALSE(locks({"GET"}, Reply::Bulk("b")));
  EXPECT_FALSE(Timeline().Do("a", {"SET", "a"}, Reply::Ok()).Fits(LockModel()));
}

TEST(Linearizability, ChecksTheKeysThatMatch) {
  History history;
  history.End(history.Begin("a", "wrong:1", {"GET"}), Reply::Bulk("7"));
  EXPECT_TRUE(CheckLinearizable(history, RegisterModel()).has_value());
  EXPECT_FALSE(CheckLinearizable(history, RegisterModel(), "right:*").has_value());
}

TEST(Linearizability, SaysWhatTheHistoryWas) {
  Timeline timeline;
  timeline.Do("a", {"INCR"}, Reply::Integer(1)).Do("b", {"GET"}, Reply::Nil());
  timeline.Begin("c", {"INCRBY", "5"});
  const auto violation = CheckLinearizable(timeline.history(), CounterModel());
  ASSERT_TRUE(violation.has_value());
  EXPECT_EQ(violation->key, "k");
  EXPECT_EQ(violation->history, "[0, 1] a: INCR -> " + Reply::Integer(1).DebugString() +
                                    "\n[2, 3] b: GET -> " + Reply::Nil().DebugString() +
                                    "\n[4, never] c: INCRBY 5 -> unknown\n");
}

TEST(Linearizability, TakesAnUnknownOperationForAViolation) {
  EXPECT_FALSE(Timeline().Do("a", {"GETEX"}, Reply::Nil()).Fits(RegisterModel()));
}

// The models return the same replies as the engine.
struct ModelCase {
  const char* name;
  const SequentialModel& (*model)();
  std::vector<Words> commands;  // With the key "k".
};

const ModelCase kModels[] = {
    {"register",
     RegisterModel,
     {{"GET"},
      {"EXISTS"},
      {"STRLEN"},
      {"SETNX", "a"},
      {"SETNX", "b"},
      {"APPEND", "c"},
      {"GET"},
      {"STRLEN"},
      {"SET", ""},
      {"GET"},
      {"EXISTS"},
      {"SET", "x"},
      {"GETDEL"},
      {"GETDEL"},
      {"DEL"},
      {"SET", "y"},
      {"DEL"},
      {"APPEND", "z"},
      {"GET"}}},
    {"counter",
     CounterModel,
     {{"GET"},
      {"INCR"},
      {"INCRBY", "41"},
      {"DECR"},
      {"DECRBY", "50"},
      {"GET"},
      {"DEL"},
      {"DEL"},
      {"DECR"}}},
    {"set",
     SetModel,
     {{"SCARD"},
      {"SADD", "b", "a", "b"},
      {"SADD", "a", "c"},
      {"SISMEMBER", "a"},
      {"SISMEMBER", "x"},
      {"SREM", "a", "x"},
      {"SCARD"},
      {"SMEMBERS"},
      {"SREM", "b", "c"},
      {"SMEMBERS"}}},
    {"list",
     ListModel,
     {{"LLEN"},
      {"LPOP"},
      {"RPUSH", "a", "b"},
      {"LPUSH", "c", "d"},
      {"LRANGE", "0", "-1"},
      {"RPOP"},
      {"LPOP"},
      {"LLEN"},
      {"LPOP"},
      {"RPOP"},
      {"RPOP"}}},
    {"stream",
     StreamModel,
     {{"XLEN"},
      {"XADD", "1-1", "f", "v"},
      {"XADD", "1-2", "f", "v", "g", "w"},
      {"XLEN"},
      {"XRANGE", "-", "+"}}},
};

Task<void> SendAll(store::Store& store, const std::vector<Words>& commands) {
  for (const Words& words : commands) {
    store::Command command = store::Command::Named(words[0]);
    command.Add("k").AddAll(std::span(words).subspan(1));
    (void)co_await store.Execute(command);
  }
}

TEST(SequentialModel, SaysWhatTheEngineSays) {
  for (const ModelCase& one : kModels) {
    World world;
    const std::unique_ptr<memory::Session> session = world.Connect();
    History history;
    HistoryStore store(*session, history, "a");
    base::Run(SendAll(store, one.commands));
    ASSERT_EQ(history.operations().size(), one.commands.size()) << one.name;
    const auto violation = CheckLinearizable(history, one.model());
    EXPECT_FALSE(violation.has_value()) << one.name << "\n" << violation->history;
  }
}

TEST(SequentialModel, KnowsWhatItDoesNotKnow) {
  const Words flush = {"FLUSHALL"};
  for (const ModelCase& one : kModels) {
    EXPECT_FALSE(one.model().Apply("", flush).has_value()) << one.name;
  }
  EXPECT_FALSE(CounterModel().Apply("", Words{"INCRBY", "much"}).has_value());
  EXPECT_FALSE(CounterModel().Apply("text", Words{"INCR"}).has_value());
  EXPECT_FALSE(ListModel().Apply("", Words{"LRANGE", "1", "2"}).has_value());
  EXPECT_FALSE(StreamModel().Apply("", Words{"XADD", "*", "f", "v"}).has_value());
}

// Three clients increment a counter under these faults. Returns the key of a violation, or an empty
// string.
std::string CountUnder(std::vector<FaultRule> faults, uint64_t seed) {
  History history;
  World world({.seed = seed, .faults = std::move(faults)});
  for (const char* name : {"a", "b", "c"}) {
    world.Spawn(name, [&](Actor& actor) -> Task<void> {
      HistoryStore store(actor.store(), history, actor.name());
      const std::vector<Words> commands = {{"INCR"}, {"GET"}, {"INCR"}, {"GET"}};
      co_await SendAll(store, commands);
    });
  }
  world.Run();
  const auto violation = CheckLinearizable(history, CounterModel());
  return violation ? violation->key : "";
}

TEST(Linearizability, HoldsUnderLostRepliesAndRequests) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    EXPECT_EQ(
        CountUnder({{.fault = Fault::kDropReply, .probability = 0.2},
                    {.fault = Fault::kDropRequest, .probability = 0.2},
                    {.fault = Fault::kDelay, .probability = 0.2, .duration = absl::Seconds(1)}},
                   seed),
        "");
  }
}

TEST(Linearizability, BreaksWhenAFailoverLosesAcknowledgedWrites) {
  int broken = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    broken += CountUnder({{.fault = Fault::kFailover, .nth = 6, .count = 2}}, seed).empty() ? 0 : 1;
  }
  EXPECT_GT(broken, 25);
}

TEST(Linearizability, BreaksWhenACommandIsDoneTwice) {
  EXPECT_EQ(CountUnder({{.fault = Fault::kDuplicate, .command = "INCR", .nth = 2}}, 1), "k");
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
