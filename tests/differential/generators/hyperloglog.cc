#include "redouble/tests/differential/generators.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::CommandId;

// A few elements, or enough to convert a sparse HyperLogLog to a dense one within a few commands.
Words Elements(Vocabulary& words) {
  Words elements;
  const int64_t most = words.Chance(0.15) ? 700 : 4;
  for (int64_t left = words.rng().Between(0, most); left > 0; --left) {
    elements.push_back(words.Chance(0.1) ? words.Value()
                                         : std::to_string(words.rng().Between(0, 5000)));
  }
  return elements;
}

Words PfAddArguments(Vocabulary& words) {
  Words arguments = {words.Key()};
  Append(arguments, Elements(words));
  return arguments;
}

// GETREG returns 16384 numbers, so it is rare.
Words PfDebugArguments(Vocabulary& words) {
  if (words.Chance(0.02)) return {"GETREG", words.Key()};
  return {words.Choice({"DECODE", "ENCODING", "TODENSE", "decode", "other"}), words.Key()};
}

// A header and runs, each valid or not. A long run of zeros is never cut off at the end, because
// Redis then reads and writes one byte after the string.
Words DamagedArguments(Vocabulary& words) {
  std::string text = words.Chance(0.9) ? "HYLL" : "HYLl";
  text.push_back(words.Chance(0.8) ? '\x01' : static_cast<char>(words.rng().Between(0, 2)));
  text.append(10, words.Chance(0.8) ? '\0' : '\x05');
  text.push_back(words.Chance(0.5) ? '\0' : '\x80');
  for (size_t left = words.rng().Below(5); left > 0; --left) {
    text.push_back(static_cast<char>(words.rng().Below(256) & 0xbf));
  }
  if (words.Chance(0.5)) text += "\x7f\xff";
  return {words.Key(), text};
}

// Overwrites a byte in the header of an existing key.
Words DamagingArguments(Vocabulary& words) {
  return {words.Key(), std::to_string(words.rng().Between(0, 15)),
          std::string(1, static_cast<char>(words.rng().Below(256)))};
}

// Appends runs after the last register.
Words AppendedArguments(Vocabulary& words) {
  return {words.Key(), std::string(1, static_cast<char>(words.rng().Below(256) & 0xbf))};
}

constexpr CommandGenerator kGenerators[] = {
    {CommandId::kPfAdd, 12, PfAddArguments},    {CommandId::kPfCount, 6, SomeKeys},
    {CommandId::kPfMerge, 4, SomeKeys},         {CommandId::kPfDebug, 4, PfDebugArguments},
    {CommandId::kSet, 1, DamagedArguments},     {CommandId::kSetRange, 1, DamagingArguments},
    {CommandId::kAppend, 1, AppendedArguments}, {CommandId::kPfCount, 3, KeyOnly},
};

}  // namespace

std::span<const CommandGenerator> HyperLogLogGenerators() { return kGenerators; }

}  // namespace redouble::inline v0_1::tests
