#include "redouble/tests/differential/generators.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::CommandId;

std::string Score(Vocabulary& words) {
  if (words.Chance(0.5)) return words.SmallInteger();
  if (words.Chance(0.2)) {
    return words.Choice({"1e18", "4611686018427387904", "4611686018427387905", "9007199254740993",
                         "-0", "-0.0", "0.0", "5e18", "1e-320", "123456789.123456789"});
  }
  return words.Float();
}

std::string ScoreBound(Vocabulary& words) {
  const std::string exclusive = words.Chance(0.3) ? "(" : "";
  if (words.Chance(0.3)) {
    return exclusive + words.Choice({"-inf", "+inf", "inf", " 1", "1e400", "", "0x2", "1 "});
  }
  return exclusive + Score(words);
}

std::string LexMember(Vocabulary& words) {
  return words.Choice({"", "a", "aa", "b", "B", "c", "0", "1", "10", "2", "-1", "zz"});
}

std::string LexBound(Vocabulary& words) {
  if (words.Chance(0.4)) return words.Choice({"-", "+", "-", "+", "(", "[", "", "x", "-a"});
  // In separate statements, because the operands of a sum may be evaluated in any order.
  const std::string bracket = words.Choice({"[", "("});
  return bracket + LexMember(words);
}

Words ZAddOptions(Vocabulary& words) {
  Words options;
  if (words.Chance(0.2)) options.push_back(words.Choice({"NX", "XX", "nx"}));
  if (words.Chance(0.2)) options.push_back(words.Choice({"GT", "LT", "gt"}));
  if (words.Chance(0.2)) options.push_back("CH");
  return options;
}

Words ZAddArguments(Vocabulary& words) {
  Words arguments = {words.Key()};
  Append(arguments, ZAddOptions(words));
  const bool increment = words.Chance(0.1);
  if (increment) arguments.push_back("INCR");
  const size_t count = increment ? 1 : 1 + words.rng().Below(4);
  for (size_t i = 0; i < count; ++i) {
    Append(arguments, {Score(words), words.Chance(0.85) ? words.Member() : words.Value()});
  }
  return arguments;
}

// Keys for ranges of members. They have few and short members, so that they stay listpacks: in a
// skiplist with different scores, the result of such a range depends on chance.
std::string LexKey(Vocabulary& words) { return words.Choice({"lex", "lex2"}); }

Words ZAddEqualArguments(Vocabulary& words) {
  Words arguments = {LexKey(words)};
  const size_t count = 1 + words.rng().Below(5);
  const std::string score = words.Chance(0.1) ? Score(words) : "0";
  for (size_t i = 0; i < count; ++i) Append(arguments, {score, LexMember(words)});
  return arguments;
}

// Enough members to convert a listpack to a table.
Words ZAddManyArguments(Vocabulary& words) {
  Words arguments = {words.Key()};
  const int64_t count = words.rng().Between(120, 140);
  for (int64_t i = 0; i < count; ++i) {
    Append(arguments, {std::to_string(i % 7), "m" + std::to_string(i)});
  }
  return arguments;
}

Words ZIncrByArguments(Vocabulary& words) { return {words.Key(), Score(words), words.Member()}; }

Words KeyAndMember(Vocabulary& words) { return {words.Key(), words.Member()}; }

Words KeyAndMembers(Vocabulary& words) {
  Words arguments = {words.Key()};
  const size_t count = 1 + words.rng().Below(3);
  for (size_t i = 0; i < count; ++i) arguments.push_back(words.Member());
  return arguments;
}

Words RankBounds(Vocabulary& words) { return {words.SmallInteger(), words.SmallInteger()}; }

Words ScoreBounds(Vocabulary& words) { return {ScoreBound(words), ScoreBound(words)}; }

Words LexBounds(Vocabulary& words) { return {LexBound(words), LexBound(words)}; }

Words Limit(Vocabulary& words) { return {"LIMIT", words.SmallInteger(), words.SmallInteger()}; }

Words WithDirectionAndLimit(Words range, Vocabulary& words) {
  if (words.Chance(0.4)) range.push_back("REV");
  if (words.Chance(0.3)) Append(range, Limit(words));
  return range;
}

// Bounds and options of ZRANGE and ZRANGESTORE.
Words RankOrScoreRange(Vocabulary& words) {
  Words range = words.Chance(0.5) ? RankBounds(words) : ScoreBounds(words);
  if (words.Chance(0.5)) range.push_back("BYSCORE");
  return WithDirectionAndLimit(range, words);
}

Words LexRange(Vocabulary& words) {
  Words range = LexBounds(words);
  range.push_back("BYLEX");
  return WithDirectionAndLimit(range, words);
}

Words WithKey(Vocabulary& words, const Words& rest) {
  Words arguments = {words.Key()};
  Append(arguments, rest);
  return arguments;
}

Words WithLexKey(Vocabulary& words, const Words& rest) {
  Words arguments = {LexKey(words)};
  Append(arguments, rest);
  return arguments;
}

Words MaybeWithScores(Words arguments, Vocabulary& words) {
  if (words.Chance(0.4)) arguments.push_back("WITHSCORES");
  return arguments;
}

Words MaybeLimit(Words arguments, Vocabulary& words) {
  if (words.Chance(0.3)) Append(arguments, Limit(words));
  return arguments;
}

Words ZRangeArguments(Vocabulary& words) {
  if (words.Chance(0.4)) return {words.Key(), "0", "-1", "WITHSCORES"};
  if (words.Chance(0.3)) return WithLexKey(words, LexRange(words));
  return MaybeWithScores(WithKey(words, RankOrScoreRange(words)), words);
}

Words ZRevRangeArguments(Vocabulary& words) {
  return MaybeWithScores(WithKey(words, RankBounds(words)), words);
}

Words ZRangeByScoreArguments(Vocabulary& words) {
  return MaybeLimit(MaybeWithScores(WithKey(words, ScoreBounds(words)), words), words);
}

Words ZRangeByLexArguments(Vocabulary& words) {
  return MaybeLimit(WithLexKey(words, LexBounds(words)), words);
}

Words ZRangeStoreArguments(Vocabulary& words) {
  if (words.Chance(0.3)) return WithKey(words, WithLexKey(words, LexRange(words)));
  return WithKey(words, WithKey(words, RankOrScoreRange(words)));
}

Words KeyAndRanks(Vocabulary& words) { return WithKey(words, RankBounds(words)); }

Words KeyAndScores(Vocabulary& words) { return WithKey(words, ScoreBounds(words)); }

Words KeyAndLexBounds(Vocabulary& words) { return WithLexKey(words, LexBounds(words)); }

Words ZPopArguments(Vocabulary& words) {
  Words arguments = {words.Key()};
  if (words.Chance(0.5)) arguments.push_back(words.SmallInteger());
  return arguments;
}

Words CountedKeys(Vocabulary& words) {
  const size_t count = 1 + words.rng().Below(3);
  Words arguments = {std::to_string(count)};
  Append(arguments, words.Keys(count));
  return arguments;
}

Words ZMPopArguments(Vocabulary& words) {
  Words arguments = CountedKeys(words);
  arguments.push_back(words.Choice({"MIN", "MAX", "max"}));
  if (words.Chance(0.5)) Append(arguments, {"COUNT", words.SmallInteger()});
  return arguments;
}

// Blocks without a limit, as in lists.cc.
std::string Timeout(Vocabulary& words) {
  if (words.Chance(0.2)) return words.Choice({"-1", "x", "", "1e30", "nan"});
  return "0";
}

Words BlockingPopArguments(Vocabulary& words) {
  Words arguments = words.Keys(1 + words.rng().Below(3));
  arguments.push_back(Timeout(words));
  return arguments;
}

Words BZMPopArguments(Vocabulary& words) {
  Words arguments = {Timeout(words)};
  Append(arguments, ZMPopArguments(words));
  return arguments;
}

Words CombineArguments(Vocabulary& words) {
  Words arguments = CountedKeys(words);
  const size_t key_count = arguments.size() - 1;
  if (words.Chance(0.4)) {
    arguments.push_back("WEIGHTS");
    for (size_t i = 0; i < key_count; ++i) arguments.push_back(Score(words));
  }
  if (words.Chance(0.4)) {
    Append(arguments, {"AGGREGATE", words.Choice({"SUM", "MIN", "MAX", "max", "AVG"})});
  }
  return arguments;
}

Words ZUnionArguments(Vocabulary& words) { return MaybeWithScores(CombineArguments(words), words); }

Words ZDiffArguments(Vocabulary& words) { return MaybeWithScores(CountedKeys(words), words); }

Words CombineStoreArguments(Vocabulary& words) { return WithKey(words, CombineArguments(words)); }

Words ZDiffStoreArguments(Vocabulary& words) { return WithKey(words, CountedKeys(words)); }

Words ZInterCardArguments(Vocabulary& words) {
  Words arguments = CountedKeys(words);
  if (words.Chance(0.5)) Append(arguments, {"LIMIT", words.SmallInteger()});
  return arguments;
}

Words ZRandMemberArguments(Vocabulary& words) {
  Words arguments = {words.Key()};
  if (words.Chance(0.6)) arguments.push_back(std::to_string(words.rng().Between(-6, 6)));
  return arguments.size() == 2 ? MaybeWithScores(arguments, words) : arguments;
}

Words ZScanArguments(Vocabulary& words) {
  Words arguments = {words.Key(), "0", "COUNT", "1000"};
  if (words.Chance(0.4)) Append(arguments, {"MATCH", words.Pattern()});
  return arguments;
}

// Sets, which unions, intersections and differences accept as inputs.
Words SAddArguments(Vocabulary& words) { return KeyAndMembers(words); }

constexpr CommandGenerator kGenerators[] = {
    {CommandId::kZAdd, 14, ZAddArguments},
    {CommandId::kZAdd, 8, ZAddEqualArguments},
    {CommandId::kZAdd, 2, ZAddManyArguments},
    {CommandId::kZIncrBy, 4, ZIncrByArguments},
    {CommandId::kZCard, 2, KeyOnly},
    {CommandId::kZScore, 2, KeyAndMember},
    {CommandId::kZMScore, 2, KeyAndMembers},
    {CommandId::kZRank, 2, KeyAndMember},
    {CommandId::kZRevRank, 2, KeyAndMember},
    {CommandId::kZRem, 3, KeyAndMembers},
    {CommandId::kZRange, 8, ZRangeArguments},
    {CommandId::kZRevRange, 2, ZRevRangeArguments},
    {CommandId::kZRangeByScore, 3, ZRangeByScoreArguments},
    {CommandId::kZRevRangeByScore, 3, ZRangeByScoreArguments},
    {CommandId::kZRangeByLex, 3, ZRangeByLexArguments},
    {CommandId::kZRevRangeByLex, 3, ZRangeByLexArguments},
    {CommandId::kZRangeStore, 3, ZRangeStoreArguments},
    {CommandId::kZCount, 2, KeyAndScores},
    {CommandId::kZLexCount, 2, KeyAndLexBounds},
    {CommandId::kZRemRangeByRank, 1, KeyAndRanks},
    {CommandId::kZRemRangeByScore, 1, KeyAndScores},
    {CommandId::kZRemRangeByLex, 1, KeyAndLexBounds},
    {CommandId::kZPopMin, 2, ZPopArguments},
    {CommandId::kZPopMax, 2, ZPopArguments},
    {CommandId::kZMPop, 2, ZMPopArguments},
    {CommandId::kBZPopMin, 1, BlockingPopArguments},
    {CommandId::kBZPopMax, 1, BlockingPopArguments},
    {CommandId::kBZMPop, 1, BZMPopArguments},
    {CommandId::kZUnion, 3, ZUnionArguments},
    {CommandId::kZInter, 3, ZUnionArguments},
    {CommandId::kZDiff, 2, ZDiffArguments},
    {CommandId::kZUnionStore, 3, CombineStoreArguments},
    {CommandId::kZInterStore, 3, CombineStoreArguments},
    {CommandId::kZDiffStore, 2, ZDiffStoreArguments},
    {CommandId::kZInterCard, 2, ZInterCardArguments},
    {CommandId::kZRandMember, 2, ZRandMemberArguments},
    {CommandId::kZScan, 2, ZScanArguments},
    {CommandId::kSAdd, 2, SAddArguments},
};

}  // namespace

std::span<const CommandGenerator> SortedSetGenerators() { return kGenerators; }

}  // namespace redouble::inline v0_1::tests
