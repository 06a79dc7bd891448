#include "redouble/tests/differential/generators.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::CommandId;

std::string SetMember(Vocabulary& words) {
  if (words.Chance(0.5)) return words.SmallInteger();
  return words.Chance(0.8) ? words.Member() : words.Value();
}

Words KeyAndMember(Vocabulary& words) { return {words.Key(), SetMember(words)}; }

Words KeyAndMembers(Vocabulary& words) {
  Words arguments = {words.Key()};
  const size_t count = 1 + words.rng().Below(4);
  for (size_t i = 0; i < count; ++i) arguments.push_back(SetMember(words));
  return arguments;
}

// Only integers: an intset until another member is added.
Words KeyAndIntegers(Vocabulary& words) {
  Words arguments = {words.Key()};
  const size_t count = 1 + words.rng().Below(5);
  for (size_t i = 0; i < count; ++i) arguments.push_back(words.Integer());
  return arguments;
}

Words SMoveArguments(Vocabulary& words) { return {words.Key(), words.Key(), SetMember(words)}; }

Words SRandMemberArguments(Vocabulary& words) {
  Words arguments = {words.Key()};
  if (words.Chance(0.2)) return Append(arguments, {"1000"}), arguments;
  if (words.Chance(0.6)) arguments.push_back(std::to_string(words.rng().Between(-6, 6)));
  return arguments;
}

// All members or none, so that there is no random choice and both sides continue with the same set.
Words SPopArguments(Vocabulary& words) {
  return {words.Key(), words.Choice({"1000", "1000", "1000", "123456789", "0", "-1", "x"})};
}

Words StoreArguments(Vocabulary& words) { return words.Keys(2 + words.rng().Below(3)); }

Words SInterCardArguments(Vocabulary& words) {
  const size_t count = 1 + words.rng().Below(3);
  Words arguments = {std::to_string(count)};
  Append(arguments, words.Keys(count));
  if (words.Chance(0.5)) Append(arguments, {"LIMIT", words.SmallInteger()});
  return arguments;
}

Words SScanArguments(Vocabulary& words) {
  Words arguments = {words.Key(), "0", "COUNT", "1000"};
  if (words.Chance(0.4)) Append(arguments, {"MATCH", words.Pattern()});
  return arguments;
}

constexpr CommandGenerator kGenerators[] = {
    {CommandId::kSAdd, 8, KeyAndMembers},
    {CommandId::kSAdd, 5, KeyAndIntegers},
    {CommandId::kSRem, 5, KeyAndMembers},
    {CommandId::kSMove, 4, SMoveArguments},
    {CommandId::kSIsMember, 2, KeyAndMember},
    {CommandId::kSMIsMember, 2, KeyAndMembers},
    {CommandId::kSCard, 2, KeyOnly},
    {CommandId::kSRandMember, 2, SRandMemberArguments},
    {CommandId::kSPop, 2, SPopArguments},
    {CommandId::kSMembers, 4, KeyOnly},
    {CommandId::kSInter, 3, SomeKeys},
    {CommandId::kSInterCard, 3, SInterCardArguments},
    {CommandId::kSInterStore, 4, StoreArguments},
    {CommandId::kSUnion, 3, SomeKeys},
    {CommandId::kSUnionStore, 4, StoreArguments},
    {CommandId::kSDiff, 3, SomeKeys},
    {CommandId::kSDiffStore, 4, StoreArguments},
    {CommandId::kSScan, 2, SScanArguments},
};

}  // namespace

std::span<const CommandGenerator> SetGenerators() { return kGenerators; }

}  // namespace redouble::inline v0_1::tests
