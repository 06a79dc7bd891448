#include "redouble/tests/differential/generators.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::CommandId;

Words HSetArguments(Vocabulary& words) {
  Words arguments = {words.Key()};
  const size_t count = 1 + words.rng().Below(3);
  for (size_t i = 0; i < count; ++i) Append(arguments, {words.Member(), words.Value()});
  return arguments;
}

Words HSetNxArguments(Vocabulary& words) { return {words.Key(), words.Member(), words.Value()}; }

Words KeyAndField(Vocabulary& words) { return {words.Key(), words.Member()}; }

Words KeyAndFields(Vocabulary& words) {
  Words arguments = {words.Key()};
  const size_t count = 1 + words.rng().Below(3);
  for (size_t i = 0; i < count; ++i) arguments.push_back(words.Member());
  return arguments;
}

Words HIncrByArguments(Vocabulary& words) { return {words.Key(), words.Member(), words.Integer()}; }

Words HIncrByFloatArguments(Vocabulary& words) {
  return {words.Key(), words.Member(), words.Float()};
}

Words HRandFieldArguments(Vocabulary& words) {
  Words arguments = {words.Key()};
  if (words.Chance(0.6)) arguments.push_back(std::to_string(words.rng().Between(-6, 6)));
  if (arguments.size() == 2 && words.Chance(0.5)) arguments.push_back("WITHVALUES");
  return arguments;
}

Words HScanArguments(Vocabulary& words) {
  Words arguments = {words.Key(), "0", "COUNT", "1000"};
  if (words.Chance(0.4)) Append(arguments, {"MATCH", words.Pattern()});
  return arguments;
}

constexpr CommandGenerator kGenerators[] = {
    {CommandId::kHSet, 10, HSetArguments},
    {CommandId::kHMSet, 2, HSetArguments},
    {CommandId::kHSetNx, 3, HSetNxArguments},
    {CommandId::kHGet, 3, KeyAndField},
    {CommandId::kHMGet, 3, KeyAndFields},
    {CommandId::kHDel, 4, KeyAndFields},
    {CommandId::kHLen, 2, KeyOnly},
    {CommandId::kHStrLen, 2, KeyAndField},
    {CommandId::kHKeys, 2, KeyOnly},
    {CommandId::kHVals, 2, KeyOnly},
    {CommandId::kHGetAll, 4, KeyOnly},
    {CommandId::kHExists, 2, KeyAndField},
    {CommandId::kHIncrBy, 5, HIncrByArguments},
    {CommandId::kHIncrByFloat, 6, HIncrByFloatArguments},
    {CommandId::kHRandField, 2, HRandFieldArguments},
    {CommandId::kHScan, 2, HScanArguments},
};

}  // namespace

std::span<const CommandGenerator> HashGenerators() { return kGenerators; }

}  // namespace redouble::inline v0_1::tests
