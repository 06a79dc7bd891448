// Prints the SHA-256 over the traces of explored worlds: actors that draw their commands, under
// every kind of fault, with atomic requests and with split events, with uniform and PCT schedules;
// and over a race that was found and shrunk. The output is one line, equal for equal seeds in every
// process, at every optimization level and with every compiler.
//
//   world_hash [SEEDS [FIRST_SEED]]
#include <cstdlib>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/core/base/hash/digest.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/sim/explore/explore.h"
#include "redouble/sim/explore/strategies.h"

namespace redouble::inline v0_1::tests {
namespace {

using base::Task;
using sim::Actor;
using sim::Fault;
using sim::World;
using Words = std::vector<std::string_view>;

constexpr int kCommands = 12;
constexpr sim::Events kEvents[] = {sim::Events::kAtomic, sim::Events::kSplit};

// The commands of an actor: they depend on the clock, on chance, on other actors, or on an
// unspecified order.
const std::vector<Words>& Menu() {
  static const auto* const menu = new std::vector<Words>{
      {"INCR", "n"},
      {"SET", "k", "v", "PX", "1500"},
      {"EXPIRE", "n", "2"},
      {"XADD", "log", "*", "f", "v"},
      {"XREAD", "COUNT", "2", "STREAMS", "log", "0"},
      {"SADD", "set", "a", "b", "c", "d", "e"},
      {"SPOP", "set"},
      {"SMEMBERS", "set"},
      {"RPUSH", "queue", "job"},
      {"BLPOP", "queue", "1"},
      {"HSET", "hash", "x", "1", "y", "2", "z", "3"},
      {"HRANDFIELD", "hash", "2", "WITHVALUES"},
      {"ZADD", "board", "0.1", "a", "0.7", "b", "-3e-7", "c"},
      {"ZINCRBY", "board", "0.2", "a"},
      {"EVAL", "return {redis.call('TIME'), redis.call('INCR', KEYS[1])}", "1", "n"},
      {"RANDOMKEY"},
      {"SCAN", "0"},
      {"PTTL", "k"},
      {"TIME"},
      {"DEL", "n"},
  };
  return *menu;
}

Task<void> DoThings(Actor& actor) {
  for (int i = 0; i < kCommands; ++i) {
    const Words& words = Menu()[actor.rng().Below(Menu().size())];
    const auto command = store::Command::Named(words[0], std::span(words).subspan(1));
    (void)co_await actor.store().Execute(command);
    if (actor.rng().Chance(0.3)) {
      co_await actor.clock().Sleep(absl::Milliseconds(actor.rng().Between(1, 900)));
    }
  }
}

void AddActors(World& world) {
  for (const char* name : {"a", "b", "c"}) world.Spawn(name, DoThings);
}

// Each kind of fault that these events allow, with a low probability.
sim::ExploreOptions Faulty(sim::Events events) {
  sim::ExploreOptions options{.swarm = true};
  options.world.events = events;
  for (const sim::FaultSpec& spec : sim::AllFaults()) {
    // The server of these worlds has no replica.
    if (spec.fault == sim::Fault::kPromote) continue;
    if (spec.needs_split_events && events != sim::Events::kSplit) continue;
    sim::FaultRule rule{.fault = spec.fault, .probability = 0.05};
    rule.duration = absl::Milliseconds(700);
    rule.snapshot = options.world.start + absl::Milliseconds(500);
    options.world.faults.push_back(rule);
  }
  return options;
}

Task<void> AddOneUnsafely(Actor& actor) {
  const store::Command get(store::CommandId::kGet, {"n"});
  const auto count = co_await actor.store().Execute(get);
  const bool is_new = !count.ok() || count->is_nil();
  const store::Command set(store::CommandId::kSet, {"n", is_new ? "1" : "2"});
  (void)co_await actor.store().Execute(set);
}

void AddRace(World& world) {
  for (const char* name : {"a", "b"}) world.Spawn(name, AddOneUnsafely);
  world.AddFinalInvariant("both count", [&world] {
    const std::unique_ptr<memory::Session> session = world.Connect();
    return base::Run(store::Get(*session, "n"))->value_or("") == "2"
               ? absl::OkStatus()
               : absl::InternalError("one is lost");
  });
}

std::string WorldHash(uint64_t seeds, uint64_t first_seed) {
  base::Sha256 hash;
  for (const sim::Events events : kEvents) {
    const sim::ExploreOptions options = Faulty(events);
    for (uint64_t seed = first_seed; seed < first_seed + seeds; ++seed) {
      sim::RandomDecisions uniform(seed);
      hash.Update(RunOnce(AddActors, options, seed, uniform).trace_hash);
      sim::PctDecisions few(seed, /*preemptions=*/2, /*expected_turns=*/3 * kCommands);
      hash.Update(RunOnce(AddActors, options, seed, few).trace_hash);
    }
  }
  const sim::Exploration found = Explore(AddRace, {.first_seed = first_seed});
  hash.Update(found.violation->trace_hash);
  hash.Update(std::to_string(found.violation->seed));
  for (const uint32_t decision : found.violation->decisions) hash.Update(std::to_string(decision));
  return hash.HexDigest();
}

}  // namespace
}  // namespace redouble::inline v0_1::tests

int main(int argc, char** argv) {
  const uint64_t seeds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100;
  const uint64_t first_seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  std::cout << redouble::tests::WorldHash(seeds, first_seed) << "\n";
}
