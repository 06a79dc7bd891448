#include "redouble/tests/differential/generators.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::CommandId;

// An expiry option, for example "PX 1500".
Words ExpireOption(Vocabulary& words) {
  switch (words.rng().Below(4)) {
    case 0:
      return {"EX", words.TtlSeconds()};
    case 1:
      return {"EXAT", words.UnixSeconds()};
    case 2:
      return {"PXAT", words.UnixMillis()};
    default:
      return {"PX", words.TtlMillis()};
  }
}

Words SetArguments(Vocabulary& words) {
  Words arguments = KeyAndValue(words);
  if (words.Chance(0.2)) arguments.push_back(words.Choice({"NX", "XX"}));
  if (words.Chance(0.2)) arguments.push_back("GET");
  if (words.Chance(0.15)) arguments.push_back("KEEPTTL");
  if (words.Chance(0.4)) Append(arguments, ExpireOption(words));
  if (words.Chance(0.03)) Append(arguments, ExpireOption(words));
  return arguments;
}

Words GetExArguments(Vocabulary& words) {
  Words arguments = {words.Key()};
  if (words.Chance(0.3)) arguments.push_back("PERSIST");
  if (words.Chance(0.6)) Append(arguments, ExpireOption(words));
  return arguments;
}

Words Pairs(Vocabulary& words) {
  Words arguments;
  const size_t count = 1 + words.rng().Below(3);
  for (size_t i = 0; i < count; ++i) Append(arguments, KeyAndValue(words));
  return arguments;
}

Words RangeArguments(Vocabulary& words) {
  return {words.Key(), words.SmallInteger(), words.SmallInteger()};
}

// No large offsets, which would create strings of half a gigabyte.
Words SetRangeArguments(Vocabulary& words) {
  const std::string offset =
      words.Chance(0.1) ? words.Choice({"536870911", "536870912", "9223372036854775807", "-1", "x"})
                        : std::to_string(words.rng().Between(0, 70));
  const bool far = offset == "536870911";
  return {words.Key(), offset, far ? "two" : words.Value()};
}

Words SetExArguments(Vocabulary& words) { return {words.Key(), words.TtlSeconds(), words.Value()}; }

Words PSetExArguments(Vocabulary& words) { return {words.Key(), words.TtlMillis(), words.Value()}; }

Words KeyAndInteger(Vocabulary& words) { return {words.Key(), words.Integer()}; }

Words KeyAndFloat(Vocabulary& words) { return {words.Key(), words.Float()}; }

Words LcsArguments(Vocabulary& words) {
  Words arguments = words.Keys(2);
  if (words.Chance(0.5)) arguments.push_back("IDX");
  if (words.Chance(0.2)) arguments.push_back("LEN");
  if (words.Chance(0.4)) Append(arguments, {"MINMATCHLEN", words.SmallInteger()});
  if (words.Chance(0.4)) arguments.push_back("WITHMATCHLEN");
  return arguments;
}

constexpr CommandGenerator kGenerators[] = {
    {CommandId::kGet, 6, KeyOnly},
    {CommandId::kSet, 12, SetArguments},
    {CommandId::kGetEx, 4, GetExArguments},
    {CommandId::kGetDel, 2, KeyOnly},
    {CommandId::kGetSet, 2, KeyAndValue},
    {CommandId::kMGet, 2, SomeKeys},
    {CommandId::kMSet, 2, Pairs},
    {CommandId::kMSetNx, 2, Pairs},
    {CommandId::kAppend, 3, KeyAndValue},
    {CommandId::kStrLen, 2, KeyOnly},
    {CommandId::kGetRange, 3, RangeArguments},
    {CommandId::kSubStr, 1, RangeArguments},
    {CommandId::kSetRange, 3, SetRangeArguments},
    {CommandId::kSetEx, 2, SetExArguments},
    {CommandId::kPSetEx, 2, PSetExArguments},
    {CommandId::kSetNx, 2, KeyAndValue},
    {CommandId::kIncr, 2, KeyOnly},
    {CommandId::kDecr, 2, KeyOnly},
    {CommandId::kIncrBy, 3, KeyAndInteger},
    {CommandId::kDecrBy, 3, KeyAndInteger},
    {CommandId::kIncrByFloat, 4, KeyAndFloat},
    {CommandId::kLcs, 3, LcsArguments},
};

}  // namespace

std::span<const CommandGenerator> StringGenerators() { return kGenerators; }

}  // namespace redouble::inline v0_1::tests
