#include "redouble/tests/differential/make_program.h"

#include <array>
#include <cassert>
#include <utility>
#include <vector>

#include "redouble/backends/memory/compatibility/compatibility.h"
#include "redouble/backends/memory/compatibility/feature.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/store/table/command_table.h"
#include "redouble/tests/differential/generators.h"
#include "redouble/tests/differential/groups.h"

namespace redouble::inline v0_1::tests {
namespace {

using Kind = ProgramStep::Kind;
using Generators = std::vector<CommandGenerator>;

// Connections from this number on run calls that may block.
constexpr int kFirstBlockingConnection = 9;

template <size_t n>
double OneOf(base::Rng& rng, const std::array<double, n>& values) {
  return values[rng.Below(n)];
}

// The configuration that a program draws once.
struct Character {
  Generators own;
  Generators companions;
  int connections = 1;
  bool separate_blocking = false;  // Each call that may block has its own connection.
  double companion_rate;
  double transaction_rate;
  double database_rate;
  double clock_rate;
  double corruption_rate;
};

// A non-empty subset of the generators.
Generators SomeOf(const Generators& all, base::Rng& rng) {
  const double keep = OneOf(rng, std::array{1.0, 0.5, 0.2});
  Generators some;
  for (const CommandGenerator& generator : all) {
    if (rng.Chance(keep)) some.push_back(generator);
  }
  if (some.empty() && !all.empty()) some.push_back(all[rng.Below(all.size())]);
  return some;
}

Character Draw(std::string_view group, store::Version version, base::Rng& rng) {
  Character character;
  character.own = SomeOf(GeneratorsOf(group, version), rng);
  character.companions = SomeOf(CompanionGenerators(), rng);
  character.separate_blocking = group == "blocking";
  // Consumer groups and transactions interact only if there are several connections.
  const double several = group == "streams" || group == "transactions" ? 0.7 : 0.3;
  character.connections = rng.Chance(several) ? static_cast<int>(rng.Between(2, 3)) : 1;
  character.companion_rate = OneOf(rng, std::array{0.1, 0.25, 0.4});
  character.transaction_rate = OneOf(rng, std::array{0.0, 0.0, 0.15, 0.3});
  character.database_rate = OneOf(rng, std::array{0.0, 0.0, 0.02, 0.08});
  character.clock_rate = OneOf(rng, std::array{0.0, 0.03, 0.1, 0.25});
  character.corruption_rate = OneOf(rng, std::array{0.0, 0.02, 0.1});
  // The members of sets must differ in strcoll, which stops at a zero byte.
  if (group == "sort") character.corruption_rate = 0;
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
  // A corrupted SPOP would choose members at random, so that both sides would continue with
  // different sets; a corrupted SORT may have no defined order.
  const bool may_corrupt = words[0] != "SPOP" && !words[0].starts_with("SORT");
  const bool corrupts = rng.Chance(character.corruption_rate);
  return may_corrupt && corrupts ? Corrupt(std::move(words), vocabulary) : words;
}

bool MayBlock(const Words& words) {
  const store::CommandId id = store::FindCommand(words[0]);
  return id != store::CommandId::kUnknown && store::SpecOf(id).Has(store::command_flag::kBlocking);
}

// A time in the year 2026, sometimes between two milliseconds.
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
  // A command still finds a key at its deadline. If active expiry removes it then, the server's
  // timer would decide which of the two comes first.
  const memory::Compatibility compatibility(options.version);
  program.active_expiry = !compatibility.Has(memory::Feature::kExpiryAtDeadline);
  Vocabulary vocabulary(rng, program.start);
  const Character character = Draw(options.group, options.version, rng);
  assert(!character.own.empty());
  const int64_t commands = rng.Between(1 + options.max_commands / 3, options.max_commands);
  int connection = 0;
  int blocking_calls = 0;
  for (int64_t made = 0; made < commands;) {
    if (rng.Chance(character.clock_rate)) program.steps.push_back(ClockStep(rng));
    if (rng.Chance(0.25)) connection = static_cast<int>(rng.Below(character.connections));
    ProgramStep step;
    step.connection = connection;
    step.words = MakeWords(character, vocabulary);
    // If two calls block on one connection, a server starts the second one only after the clock
    // step that ended the first.
    if (character.separate_blocking && MayBlock(step.words)) {
      step.connection = kFirstBlockingConnection + ++blocking_calls;
    }
    program.steps.push_back(std::move(step));
    ++made;
  }
  return program;
}

}  // namespace redouble::inline v0_1::tests
