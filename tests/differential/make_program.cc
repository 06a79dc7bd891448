#include "tests/differential/make_program.h"

#include <array>
#include <cassert>
#include <utility>
#include <vector>

#include "core/base/rng.h"
#include "core/store/command_table.h"
#include "tests/differential/generators.h"
#include "tests/differential/groups.h"

namespace redouble::tests {
namespace {

using Kind = ProgramStep::Kind;
using Generators = std::vector<CommandGenerator>;

// The connections from there on are those of calls that may wait.
constexpr int kFirstWaiter = 9;

template <size_t n>
double OneOf(base::Rng& rng, const std::array<double, n>& values) {
  return values[rng.Below(n)];
}

// What the program draws once and keeps.
struct Character {
  Generators own;
  Generators companions;
  int connections = 1;
  bool waits_alone = false;  // Calls that may wait have a connection for each.
  double companion_rate;
  double transaction_rate;
  double database_rate;
  double clock_rate;
  double spoil_rate;
};

// Some of the generators, one at least.
Generators SomeOf(const Generators& all, base::Rng& rng) {
  const double keep = OneOf(rng, std::array{1.0, 0.5, 0.2});
  Generators some;
  for (const CommandGenerator& generator : all) {
    if (rng.Chance(keep)) some.push_back(generator);
  }
  if (some.empty() && !all.empty()) some.push_back(all[rng.Below(all.size())]);
  return some;
}

Character Draw(std::string_view group, base::Rng& rng) {
  Character character;
  character.own = SomeOf(GeneratorsOf(group), rng);
  character.companions = SomeOf(CompanionGenerators(), rng);
  character.waits_alone = group == "blocking";
  // What groups of consumers and transactions do to one another shows with several of them.
  const double several = group == "streams" || group == "transactions" ? 0.7 : 0.3;
  character.connections = rng.Chance(several) ? static_cast<int>(rng.Between(2, 3)) : 1;
  character.companion_rate = OneOf(rng, std::array{0.1, 0.25, 0.4});
  character.transaction_rate = OneOf(rng, std::array{0.0, 0.0, 0.15, 0.3});
  character.database_rate = OneOf(rng, std::array{0.0, 0.0, 0.02, 0.08});
  character.clock_rate = OneOf(rng, std::array{0.0, 0.03, 0.1, 0.25});
  character.spoil_rate = OneOf(rng, std::array{0.0, 0.02, 0.1});
  // What sets hold has to differ for strcoll, which stops at a zero byte.
  if (group == "sort") character.spoil_rate = 0;
  return character;
}

const CommandGenerator& PickByWeight(std::span<const CommandGenerator> generators, base::Rng& rng) {
  int64_t total = 0;
  for (const CommandGenerator& generator : generators) total += generator.weight;
  assert(total > 0);
  auto left = static_cast<int64_t>(rng.Below(static_cast<uint64_t>(total)));
  for (const CommandGenerator& generator : generators) {
    left -= generator.weight;
    if (left < 0) return generator;
  }
  return generators.back();
}

ProgramStep ClockStep(base::Rng& rng) {
  constexpr auto kMillis =
      std::to_array<int64_t>({0, 1, 1, 2, 3, 10, 64, 500, 1000, 4096, 100'000});
  ProgramStep step;
  if (rng.Chance(0.6)) {
    step.kind = Kind::kAdvanceToDeadline;
    step.amount_us = rng.Between(-1, 1) * 1000;
    if (rng.Chance(0.1)) step.amount_us += rng.Between(-1, 999);
  } else {
    step.kind = Kind::kAdvance;
    step.amount_us = kMillis[rng.Below(kMillis.size())] * 1000;
    if (rng.Chance(0.1)) step.amount_us += rng.Between(0, 999);
  }
  return step;
}

Words MakeWords(const Character& character, Vocabulary& vocabulary) {
  base::Rng& rng = vocabulary.rng();
  const auto pick = [&](std::span<const CommandGenerator> generators) {
    return MakeCommand(PickByWeight(generators, rng), vocabulary);
  };
  Words words;
  if (rng.Chance(character.transaction_rate)) {
    words = pick(TransactionGenerators());
  } else if (rng.Chance(character.database_rate)) {
    words = {"SELECT", vocabulary.Db()};
  } else if (rng.Chance(character.companion_rate)) {
    words = pick(character.companions);
  } else {
    words = pick(character.own);
  }
  // A spoilt SPOP would draw by chance, and both sides go on with different sets; a spoilt SORT may
  // sort by nothing.
  const bool may_spoil = words[0] != "SPOP" && !words[0].starts_with("SORT");
  const bool spoils = rng.Chance(character.spoil_rate);
  return may_spoil && spoils ? Spoil(std::move(words), vocabulary) : words;
}

bool MayWait(const Words& words) {
  const store::CommandId id = store::FindCommand(words[0]);
  return id != store::CommandId::kUnknown && store::SpecOf(id).Has(store::command_flag::kBlocking);
}

// Somewhere in the year 2026, sometimes between two milliseconds.
absl::Time DrawStart(base::Rng& rng) {
  constexpr int64_t kYearBegin = 1'767'225'600'000'000;
  constexpr int64_t kYear = 365ll * 24 * 3600 * 1'000'000;
  int64_t start_us = kYearBegin + rng.Between(0, kYear);
  if (rng.Chance(0.5)) start_us -= start_us % 1000;
  return absl::FromUnixMicros(start_us);
}

}  // namespace

Program MakeProgram(const ProgramOptions& options) {
  base::Rng rng(options.seed);
  Program program;
  program.start = DrawStart(rng);
  Vocabulary vocabulary(rng, program.start);
  const Character character = Draw(options.group, rng);
  assert(!character.own.empty());
  const int64_t commands = rng.Between(1 + options.max_commands / 3, options.max_commands);
  int connection = 0;
  int waiters = 0;
  for (int64_t made = 0; made < commands;) {
    if (rng.Chance(character.clock_rate)) program.steps.push_back(ClockStep(rng));
    if (rng.Chance(0.25)) connection = static_cast<int>(rng.Below(character.connections));
    ProgramStep step;
    step.connection = connection;
    step.words = MakeWords(character, vocabulary);
    // Of two calls that wait one behind the other on a connection, a server starts the second only
    // after the step of the clock that ended the first.
    if (character.waits_alone && MayWait(step.words)) step.connection = kFirstWaiter + ++waiters;
    program.steps.push_back(std::move(step));
    ++made;
  }
  return program;
}

}  // namespace redouble::tests
