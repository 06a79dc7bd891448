// Blocking calls, and everything that may unblock them: pushes, moves that serve the next client,
// keys that are replaced by another type, transactions and scripts. There are three keys, so that
// several clients block on the same one.
#include <string>

#include "redouble/tests/differential/generators.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::CommandId;

std::string Key(Vocabulary& words) { return words.Choice({"a", "a", "b", "c"}); }

std::string Seconds(Vocabulary& words) {
  return words.Choice({"0", "0", "0", "0.001", "0.01", "0.5", "1", "64", "-1", "x"});
}

std::string Millis(Vocabulary& words) {
  return words.Choice({"0", "0", "0", "1", "10", "500", "64000", "-1", "x"});
}

std::string End(Vocabulary& words) { return words.Choice({"LEFT", "RIGHT"}); }

std::string Extreme(Vocabulary& words) { return words.Choice({"MIN", "MAX"}); }

Words Keys(Vocabulary& words) {
  Words keys = {Key(words)};
  while (words.Chance(0.4) && keys.size() < 3) keys.push_back(Key(words));
  return keys;
}

Words KeysAndSeconds(Vocabulary& words) {
  Words arguments = Keys(words);
  arguments.push_back(Seconds(words));
  return arguments;
}

Words BLMoveArguments(Vocabulary& words) {
  return {Key(words), Key(words), End(words), End(words), Seconds(words)};
}

Words BRPopLPushArguments(Vocabulary& words) { return {Key(words), Key(words), Seconds(words)}; }

Words PopSeveral(Vocabulary& words, const std::string& where) {
  const Words keys = Keys(words);
  Words arguments = {Seconds(words), std::to_string(keys.size())};
  Append(arguments, keys);
  arguments.push_back(where);
  if (words.Chance(0.5)) Append(arguments, {"COUNT", words.Choice({"1", "2", "9"})});
  return arguments;
}

Words BLMPopArguments(Vocabulary& words) { return PopSeveral(words, End(words)); }

Words BZMPopArguments(Vocabulary& words) { return PopSeveral(words, Extreme(words)); }

void AppendStreams(Words& arguments, Vocabulary& words, std::string_view newest) {
  const Words keys = Keys(words);
  arguments.push_back("STREAMS");
  Append(arguments, keys);
  for (size_t i = 0; i < keys.size(); ++i) {
    arguments.push_back(words.Chance(0.8) ? std::string(newest) : words.Choice({"0", "5-0"}));
  }
}

Words XReadArguments(Vocabulary& words) {
  Words arguments = {"BLOCK", Millis(words)};
  if (words.Chance(0.3)) Append(arguments, {"COUNT", "1"});
  AppendStreams(arguments, words, "$");
  return arguments;
}

Words XReadGroupArguments(Vocabulary& words) {
  Words arguments = {"GROUP", words.Choice({"g", "g", "h"}), words.Choice({"x", "y"}), "BLOCK",
                     Millis(words)};
  if (words.Chance(0.3)) Append(arguments, {"COUNT", "1"});
  if (words.Chance(0.2)) arguments.push_back("NOACK");
  AppendStreams(arguments, words, ">");
  return arguments;
}

Words PushArguments(Vocabulary& words) {
  Words arguments = {Key(words), words.Member()};
  while (words.Chance(0.4)) arguments.push_back(words.Member());
  return arguments;
}

Words LMoveArguments(Vocabulary& words) { return {Key(words), Key(words), End(words), End(words)}; }

Words ZAddArguments(Vocabulary& words) {
  return {Key(words), words.Choice({"1", "2"}), words.Member(), "3", words.Member()};
}

Words XAddArguments(Vocabulary& words) { return {Key(words), "*", "f", words.Member()}; }

Words XGroupCreateArguments(Vocabulary& words) {
  return {Key(words), words.Choice({"g", "g", "h"}), words.Choice({"0", "$"}), "MKSTREAM"};
}

Words XGroupDestroyArguments(Vocabulary& words) {
  return {Key(words), words.Choice({"g", "g", "h"})};
}

Words TwoKeys(Vocabulary& words) { return {Key(words), Key(words)}; }

Words CopyArguments(Vocabulary& words) { return {Key(words), Key(words), "REPLACE"}; }

Words SetArguments(Vocabulary& words) { return {Key(words), "v"}; }

Words ExpiryArguments(Vocabulary& words) { return {Key(words), words.Choice({"0", "1", "500"})}; }

Words SortArguments(Vocabulary& words) { return {Key(words), "ALPHA", "STORE", Key(words)}; }

Words UnionArguments(Vocabulary& words) { return {Key(words), "1", Key(words)}; }

// Scripts change several keys before any blocked client is served.
Words EvalArguments(Vocabulary& words) {
  return {words.Choice({
              "redis.call('RPUSH', KEYS[1], '1', '2') return redis.call('LLEN', KEYS[1])",
              "redis.call('RPUSH', KEYS[1], '1') return redis.call('DEL', KEYS[1])",
              "redis.call('DEL', KEYS[1]) return redis.call('ZADD', KEYS[1], 1, 'm')",
              "redis.call('DEL', KEYS[1]) redis.call('LPUSH', KEYS[2], 'x') return "
              "redis.call('LPUSH', KEYS[1], 'y')",
              "redis.call('DEL', KEYS[1]) return redis.call('XADD', KEYS[1], '*', 'f', 'v')",
              "return redis.call('BLPOP', KEYS[1], 0)",
          }),
          "2", Key(words), Key(words)};
}

constexpr CommandGenerator kGenerators[] = {
    {CommandId::kBLPop, 9, KeysAndSeconds},
    {CommandId::kBRPop, 4, KeysAndSeconds},
    {CommandId::kBLMove, 10, BLMoveArguments},
    {CommandId::kBRPopLPush, 3, BRPopLPushArguments},
    {CommandId::kBLMPop, 6, BLMPopArguments},
    {CommandId::kBZPopMin, 4, KeysAndSeconds},
    {CommandId::kBZPopMax, 3, KeysAndSeconds},
    {CommandId::kBZMPop, 5, BZMPopArguments},
    {CommandId::kXRead, 5, XReadArguments},
    {CommandId::kXReadGroup, 7, XReadGroupArguments},
    {CommandId::kRPush, 10, PushArguments},
    {CommandId::kLPush, 5, PushArguments},
    {CommandId::kLMove, 3, LMoveArguments},
    {CommandId::kZAdd, 7, ZAddArguments},
    {CommandId::kXAdd, 7, XAddArguments},
    {CommandId::kXGroupCreate, 5, XGroupCreateArguments},
    {CommandId::kXGroupDestroy, 3, XGroupDestroyArguments},
    {CommandId::kDel, 5, Keys},
    {CommandId::kSet, 2, SetArguments},
    {CommandId::kRename, 3, TwoKeys},
    {CommandId::kCopy, 1, CopyArguments},
    {CommandId::kPExpire, 3, ExpiryArguments},
    {CommandId::kSort, 2, SortArguments},
    {CommandId::kZUnionStore, 1, UnionArguments},
    {CommandId::kFlushDb, 1, Nothing},
    {CommandId::kEval, 8, EvalArguments},
};

}  // namespace

std::span<const CommandGenerator> BlockingGenerators() { return kGenerators; }

}  // namespace redouble::inline v0_1::tests
