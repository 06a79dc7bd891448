// Bugs whose shortest schedules are known: from whatever run shows the bug, the shrinker must reach
// the minimum, and the shrunk run must show the same bug.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
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

// How many different runs with the bug are shrunk.
constexpr int kRuns = 20;

// g++ 12 does not accept a braced list within a co_await.
template <typename... Text>
Words Of(const Text&... words) {
  return {std::string_view(words)...};
}

Task<std::string> Send(store::Store& store, Words words) {
  const auto command = store::Command::Named(words[0], std::span(words).subspan(1));
  const absl::StatusOr<Reply> reply = co_await store.Execute(command);
  if (!reply.ok() || reply->is_nil()) co_return "";
  co_return reply->is_integer() ? std::to_string(reply->integer()) : std::string(reply->text());
}

std::string Ask(World& world, Words words) {
  const std::unique_ptr<memory::Session> session = world.Connect();
  return base::Run(Send(*session, std::move(words)));
}

// Commands that conflict with those of the other actors, and have nothing to do with the bug.
Task<void> MakeNoise(Actor& actor) {
  (void)co_await Send(actor.store(), Of("INCR", "noise"));
  (void)co_await Send(actor.store(), Of("GET", "noise"));
}

Task<void> AddOneUnsafely(Actor& actor, std::string_view key) {
  const std::string count = co_await Send(actor.store(), Of("GET", key));
  const std::string next = std::to_string(count.empty() ? 1 : std::stoi(count) + 1);
  (void)co_await Send(actor.store(), Of("SET", key, next));
}

void SpawnNoise(World& world) {
  for (const char* name : {"noise-1", "noise-2"}) world.Spawn(name, MakeNoise);
}

void SpawnAdders(World& world) {
  for (const char* name : {"a", "b"}) {
    world.Spawn(name, [](Actor& actor) -> Task<void> {
      co_await MakeNoise(actor);
      co_await AddOneUnsafely(actor, "x");
      co_await MakeNoise(actor);
    });
  }
}

void AddLostUpdate(World& world) {
  SpawnNoise(world);
  SpawnAdders(world);
  world.AddFinalInvariant("both count", [&world] { return Ask(world, {"GET", "x"}) == "2"; });
}

// Breaks if the actor crashes between the two commands.
void AddMissingTtl(World& world) {
  SpawnNoise(world);
  world.Spawn("a", [](Actor& actor) -> Task<void> {
    co_await MakeNoise(actor);
    (void)co_await Send(actor.store(), Of("INCR", "rate"));
    (void)co_await Send(actor.store(), Of("EXPIRE", "rate", "60"));
    co_await MakeNoise(actor);
  });
  world.AddFinalInvariant("rate expires", [&world] { return Ask(world, {"TTL", "rate"}) != "-1"; });
}

// The reader sees half of what each of two writers did: two preemptions.
Task<void> ReadInPieces(Actor& actor, std::string& seen) {
  for (const char* key : {"p", "q", "r", "s"}) {
    const std::string value = co_await Send(actor.store(), Of("GET", key));
    seen += value.empty() ? "0" : value;
  }
}

void SpawnTornRead(World& world, const std::shared_ptr<std::string>& seen) {
  world.Spawn("reader", [seen](Actor& actor) { return ReadInPieces(actor, *seen); });
  for (const auto& [name, first, second] :
       {std::tuple("writer-1", "p", "q"), std::tuple("writer-2", "r", "s")}) {
    world.Spawn(name, [first = first, second = second](Actor& actor) -> Task<void> {
      (void)co_await Send(actor.store(), Of("INCR", first));
      (void)co_await Send(actor.store(), Of("INCR", second));
    });
  }
}

void AddTornRead(World& world) {
  const auto seen = std::make_shared<std::string>();
  SpawnNoise(world);
  SpawnTornRead(world, seen);
  world.AddFinalInvariant("not torn", [seen] { return *seen != "0101"; });
}

// The clients of a run, one for each event.
std::vector<std::string> ClientsOf(const Experiment& experiment, const ExploreOptions& options,
                                   const Violation& violation) {
  std::vector<std::string> clients;
  Replay(experiment, options, violation.seed, violation.decisions, [&](std::string_view line) {
    constexpr std::string_view kClient = R"("client":")";
    const size_t begin = line.find(kClient) + kClient.size();
    if (line.find("\"fault\"") != std::string_view::npos) return;
    clients.emplace_back(line.substr(begin, line.find('"', begin) - begin));
  });
  return clients;
}

size_t SwitchesOf(const std::vector<std::string>& clients) {
  size_t switches = 0;
  for (size_t i = 1; i < clients.size(); ++i) switches += clients[i] != clients[i - 1] ? 1 : 0;
  return switches;
}

// Violations by uniform schedules, which have many context switches, not shrunk.
std::vector<Violation> FindRuns(const Experiment& experiment, ExploreOptions options) {
  options.strategy = Strategy::kUniform;
  options.shrinking_runs = 0;
  std::vector<Violation> found;
  while (found.size() < kRuns) {
    const Exploration one = Explore(experiment, options);
    if (!one.violation) break;
    found.push_back(*one.violation);
    options.first_seed += static_cast<uint64_t>(one.schedules);
  }
  EXPECT_EQ(found.size(), static_cast<size_t>(kRuns));
  return found;
}

struct Bug {
  const char* name;
  void (*experiment)(World&);
  std::vector<FaultRule> faults;
  // The minimum.
  size_t switches;
  size_t decisions;                 // That are not the default.
  std::set<std::string> conflicts;  // Among those of the cause.
};

const std::vector<FaultRule> kCrashesAndLostReplies = {
    {.fault = Fault::kCrash, .probability = 0.2, .duration = absl::InfiniteDuration()},
    {.fault = Fault::kDropReply, .probability = 0.2}};

const Bug kBugs[] = {
    // noise-1 | noise-2 | a | b | a.
    {"LostUpdate", AddLostUpdate, {}, 4, 1, {"x"}},
    // noise-1 | noise-2 | reader | writer-1 | reader | writer-2 | reader.
    {"TornRead", AddTornRead, {}, 6, 2, {"p/q", "r/s"}},
    // noise-1 | noise-2 | a.
    {"MissingTtl", AddMissingTtl, kCrashesAndLostReplies, 2, 1, {}},
};

class EveryBug : public testing::TestWithParam<Bug> {};

TEST_P(EveryBug, IsShrunkToTheMinimum) {
  const Bug& bug = GetParam();
  const ExploreOptions options{.world = {.faults = bug.faults}};
  for (const Violation& run : FindRuns(bug.experiment, options)) {
    const Violation shrunk = Shrink(bug.experiment, options, run);
    const auto quiet = std::count(shrunk.decisions.begin(), shrunk.decisions.end(), 0u);
    EXPECT_EQ(shrunk.status, run.status);
    EXPECT_EQ(SwitchesOf(ClientsOf(bug.experiment, options, shrunk)), bug.switches)
        << testing::PrintToString(ClientsOf(bug.experiment, options, shrunk));
    EXPECT_EQ(shrunk.decisions.size() - static_cast<size_t>(quiet), bug.decisions)
        << testing::PrintToString(shrunk.decisions);
    for (const std::string& conflict : bug.conflicts) {
      EXPECT_TRUE(shrunk.cause.conflicts.contains(conflict)) << shrunk.cause.ToString();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Bugs, EveryBug, testing::ValuesIn(kBugs),
                         [](const auto& info) { return std::string(info.param.name); });

// One invariant breaks by a lost update, with one preemption, and by a torn read, with two.
TEST(Shrink, StaysAtTheBugThatWasFound) {
  const auto lost = std::make_shared<bool>(false);
  const Experiment experiment = [lost](World& world) {
    const auto seen = std::make_shared<std::string>();
    SpawnAdders(world);
    SpawnTornRead(world, seen);
    world.AddFinalInvariant("consistent", [&world, seen, lost] {
      *lost = Ask(world, {"GET", "x"}) != "2";
      return !*lost && *seen != "0101";
    });
  };
  int shrunk_runs = 0;
  for (uint64_t seed = 1; shrunk_runs < kRuns; ++seed) {
    RandomDecisions decisions(seed);
    const RunOutcome outcome = RunOnce(experiment, {}, seed, decisions);
    if (outcome.violation.ok() || *lost) continue;
    ++shrunk_runs;
    const Violation shrunk =
        Shrink(experiment, {}, MakeViolation(seed, outcome.decisions, outcome));
    (void)Replay(experiment, {}, seed, shrunk.decisions);
    EXPECT_FALSE(*lost) << "seed " << seed << ", " << shrunk.cause.ToString();
  }
}

TEST(Shrink, KeepsTheFaultThatTheBugNeeds) {
  const ExploreOptions options{.world = {.faults = kCrashesAndLostReplies}};
  for (const Violation& run : FindRuns(AddMissingTtl, options)) {
    EXPECT_EQ(Shrink(AddMissingTtl, options, run).cause.faults, std::set<std::string>{"crash"});
  }
}

TEST(Cause, IsWithinOneWithMoreFaultsAndConflicts) {
  const Cause all{.invariant = "i", .faults = {"crash", "delay"}, .conflicts = {"a", "b"}};
  EXPECT_TRUE((Cause{.invariant = "i", .faults = {"crash"}, .conflicts = {"b"}}.IsWithin(all)));
  EXPECT_FALSE((Cause{.invariant = "j", .faults = {}, .conflicts = {}}.IsWithin(all)));
  EXPECT_FALSE((Cause{.invariant = "i", .faults = {"evict"}, .conflicts = {}}.IsWithin(all)));
  EXPECT_FALSE((Cause{.invariant = "i", .faults = {}, .conflicts = {"c"}}.IsWithin(all)));
  EXPECT_EQ(all.ToString(), "i; faults: crash, delay; conflicts: a, b");
  EXPECT_EQ((Cause{.invariant = "i", .faults = {}, .conflicts = {}}.ToString()), "i");
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
