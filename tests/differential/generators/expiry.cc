#include "redouble/tests/differential/generators.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::CommandId;

Words WithConditions(Words arguments, Vocabulary& words) {
  if (words.Chance(0.35)) arguments.push_back(words.Choice({"NX", "XX", "GT", "LT", "gt"}));
  if (words.Chance(0.1)) arguments.push_back(words.Choice({"NX", "XX", "GT", "LT"}));
  return arguments;
}

Words ExpireArguments(Vocabulary& words) {
  return WithConditions({words.Key(), words.TtlSeconds()}, words);
}

Words PExpireArguments(Vocabulary& words) {
  return WithConditions({words.Key(), words.TtlMillis()}, words);
}

Words ExpireAtArguments(Vocabulary& words) {
  return WithConditions({words.Key(), words.UnixSeconds()}, words);
}

Words PExpireAtArguments(Vocabulary& words) {
  return WithConditions({words.Key(), words.UnixMillis()}, words);
}

constexpr CommandGenerator kGenerators[] = {
    {CommandId::kExpire, 3, ExpireArguments},
    {CommandId::kPExpire, 6, PExpireArguments},
    {CommandId::kExpireAt, 3, ExpireAtArguments},
    {CommandId::kPExpireAt, 4, PExpireAtArguments},
    {CommandId::kTtl, 2, KeyOnly},
    {CommandId::kPTtl, 3, KeyOnly},
    {CommandId::kExpireTime, 1, KeyOnly},
    {CommandId::kPExpireTime, 2, KeyOnly},
    {CommandId::kPersist, 2, KeyOnly},
};

}  // namespace

std::span<const CommandGenerator> ExpiryGenerators() { return kGenerators; }

}  // namespace redouble::inline v0_1::tests
