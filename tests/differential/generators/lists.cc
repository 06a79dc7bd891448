#include "redouble/tests/differential/generators.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::CommandId;

// Blocks without a limit. A command queued after a blocked one begins when that ends; on a server
// whose clock jumps past the timeout, that is the time after the jump. The conformance cases cover
// timeouts.
std::string Timeout(Vocabulary& words) {
  if (words.Chance(0.2)) return words.Choice({"-1", "x", "", "1e30", "nan", "-0.0001", "inf"});
  return "0";
}

std::string End(Vocabulary& words) { return words.Choice({"LEFT", "RIGHT", "left"}); }

Words PushArguments(Vocabulary& words) {
  Words arguments = {words.Key()};
  const size_t count = 1 + words.rng().Below(4);
  for (size_t i = 0; i < count; ++i) {
    arguments.push_back(words.Chance(0.8) ? words.Member() : words.Value());
  }
  return arguments;
}

// Enough elements to fill nodes.
Words LongPushArguments(Vocabulary& words) {
  Words arguments = {words.Key()};
  const std::string element = std::string(words.rng().Below(600), 'e');
  for (int i = 0; i < 20; ++i) arguments.push_back(std::to_string(i) + element);
  return arguments;
}

Words PopArguments(Vocabulary& words) {
  Words arguments = {words.Key()};
  if (words.Chance(0.5)) arguments.push_back(words.SmallInteger());
  return arguments;
}

Words KeyAndPosition(Vocabulary& words) { return {words.Key(), words.SmallInteger()}; }

Words LSetArguments(Vocabulary& words) {
  return {words.Key(), words.SmallInteger(), words.Member()};
}

Words LInsertArguments(Vocabulary& words) {
  return {words.Key(), words.Choice({"BEFORE", "AFTER", "after"}), words.Member(), words.Member()};
}

Words RangeArguments(Vocabulary& words) {
  return {words.Key(), words.SmallInteger(), words.SmallInteger()};
}

// Mostly the whole list.
Words LRangeArguments(Vocabulary& words) {
  if (words.Chance(0.5)) return {words.Key(), "0", "-1"};
  return RangeArguments(words);
}

Words LPosArguments(Vocabulary& words) {
  Words arguments = {words.Key(), words.Member()};
  if (words.Chance(0.4)) Append(arguments, {"RANK", words.SmallInteger()});
  if (words.Chance(0.4)) Append(arguments, {"COUNT", words.SmallInteger()});
  if (words.Chance(0.3)) Append(arguments, {"MAXLEN", words.SmallInteger()});
  return arguments;
}

Words RPopLPushArguments(Vocabulary& words) { return words.Keys(2); }

Words LMoveArguments(Vocabulary& words) {
  return {words.Key(), words.Key(), End(words), End(words)};
}

Words LMPopArguments(Vocabulary& words) {
  const size_t count = 1 + words.rng().Below(3);
  Words arguments = {std::to_string(count)};
  Append(arguments, words.Keys(count));
  arguments.push_back(End(words));
  if (words.Chance(0.5)) Append(arguments, {"COUNT", words.SmallInteger()});
  return arguments;
}

Words BlockingPopArguments(Vocabulary& words) {
  Words arguments = words.Keys(1 + words.rng().Below(3));
  arguments.push_back(Timeout(words));
  return arguments;
}

Words BRPopLPushArguments(Vocabulary& words) { return {words.Key(), words.Key(), Timeout(words)}; }

Words BLMoveArguments(Vocabulary& words) {
  return {words.Key(), words.Key(), End(words), End(words), Timeout(words)};
}

Words BLMPopArguments(Vocabulary& words) {
  Words arguments = {Timeout(words)};
  Append(arguments, LMPopArguments(words));
  return arguments;
}

constexpr CommandGenerator kGenerators[] = {
    {CommandId::kLPush, 8, PushArguments},
    {CommandId::kRPush, 8, PushArguments},
    {CommandId::kRPush, 1, LongPushArguments},
    {CommandId::kLPushX, 2, PushArguments},
    {CommandId::kRPushX, 2, PushArguments},
    {CommandId::kLPop, 3, PopArguments},
    {CommandId::kRPop, 3, PopArguments},
    {CommandId::kLLen, 2, KeyOnly},
    {CommandId::kLIndex, 3, KeyAndPosition},
    {CommandId::kLSet, 3, LSetArguments},
    {CommandId::kLInsert, 4, LInsertArguments},
    {CommandId::kLRange, 5, LRangeArguments},
    {CommandId::kLTrim, 2, RangeArguments},
    {CommandId::kLRem, 3, LSetArguments},
    {CommandId::kLPos, 4, LPosArguments},
    {CommandId::kRPopLPush, 2, RPopLPushArguments},
    {CommandId::kLMove, 3, LMoveArguments},
    {CommandId::kLMPop, 3, LMPopArguments},
    {CommandId::kBLPop, 2, BlockingPopArguments},
    {CommandId::kBRPop, 2, BlockingPopArguments},
    {CommandId::kBRPopLPush, 1, BRPopLPushArguments},
    {CommandId::kBLMove, 2, BLMoveArguments},
    {CommandId::kBLMPop, 2, BLMPopArguments},
};

}  // namespace

std::span<const CommandGenerator> ListGenerators() { return kGenerators; }

}  // namespace redouble::inline v0_1::tests
