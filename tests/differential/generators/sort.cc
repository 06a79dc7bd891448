// SORT and SORT_RO of lists, sets and sorted sets, by weights of which many are equal, and long
// enough for Redis's partial sort to matter. The order of equal elements of a set or a sorted set
// is unspecified in Redis, so these are only sorted by keys that are all different.
#include <string>

#include "redouble/tests/differential/generators.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::CommandId;

constexpr double kListRate = 0.7;

std::string ListKey(Vocabulary& words) { return words.Choice({"list", "list", "list:2"}); }

std::string UnorderedKey(Vocabulary& words) { return words.Choice({"set", "sorted"}); }

std::string Element(Vocabulary& words) {
  if (words.Chance(0.02)) return words.Choice({"a", "B", "ab", "", "nan", "inf", "0x10", " 4"});
  return std::to_string(words.rng().Between(-3, 25));
}

Words Elements(std::string key, Vocabulary& words) {
  Words arguments = {std::move(key)};
  for (int64_t left = words.rng().Between(1, 60); left > 0; --left) {
    arguments.push_back(Element(words));
  }
  return arguments;
}

Words PushArguments(Vocabulary& words) { return Elements(ListKey(words), words); }

Words SAddArguments(Vocabulary& words) { return Elements("set", words); }

Words ZAddArguments(Vocabulary& words) {
  Words arguments = {"sorted"};
  for (int64_t left = words.rng().Between(1, 30); left > 0; --left) {
    Append(arguments, {words.Choice({"1", "2", "-inf"}), Element(words)});
  }
  return arguments;
}

std::string Weight(Vocabulary& words) {
  if (words.Chance(0.03)) return words.Choice({"x", "", "1.5", "nan"});
  return words.Choice({"1", "2", "3"});
}

Words SetWeightArguments(Vocabulary& words) {
  Words arguments = {"w_" + Element(words), Weight(words)};
  if (words.Chance(0.1)) Append(arguments, {"PX", words.Choice({"1", "500"})});
  return arguments;
}

Words MSetWeightArguments(Vocabulary& words) {
  Words arguments;
  for (int64_t left = words.rng().Between(5, 30); left > 0; --left) {
    Append(arguments, {"w_" + Element(words), Weight(words)});
  }
  return arguments;
}

Words HSetWeightArguments(Vocabulary& words) {
  return {"h_" + Element(words), words.Choice({"f", "f", "g"}), Weight(words)};
}

std::string Pattern(Vocabulary& words) {
  return words.Choice({"w_*", "w_*", "w_*", "h_*->f", "h_*->f", "h_*->g", "h_*->", "*", "w_*_"});
}

void AppendResults(Words& arguments, Vocabulary& words) {
  if (words.Chance(0.4)) {
    Append(arguments, {"LIMIT", words.Choice({"0", "0", "1", "5", "12", "100", "-3"}),
                       words.Choice({"0", "1", "3", "10", "30", "-1"})});
  }
  for (; words.Chance(0.2);) {
    Append(arguments, {"GET", words.Chance(0.4) ? "#" : Pattern(words)});
  }
  if (words.Chance(0.3)) arguments.push_back(words.Choice({"DESC", "desc", "ASC"}));
}

Words ListArguments(Vocabulary& words) {
  Words arguments = {ListKey(words)};
  if (words.Chance(0.7)) {
    Append(arguments, {"BY", words.Chance(0.1) ? "nosort" : Pattern(words)});
  }
  if (words.Chance(0.6)) arguments.push_back("ALPHA");
  AppendResults(arguments, words);
  if (words.Chance(0.03)) arguments.push_back(words.Junk());
  return arguments;
}

Words UnorderedArguments(Vocabulary& words) {
  Words arguments = {UnorderedKey(words)};
  if (words.Chance(0.3)) {
    arguments.push_back("ALPHA");
  } else if (words.Chance(0.7)) {
    Append(arguments, {"BY", Pattern(words)});
  }
  AppendResults(arguments, words);
  return arguments;
}

Words SortRoArguments(Vocabulary& words) {
  return words.Chance(kListRate) ? ListArguments(words) : UnorderedArguments(words);
}

Words SortArguments(Vocabulary& words) {
  Words arguments = SortRoArguments(words);
  if (words.Chance(0.4)) Append(arguments, {"STORE", words.Chance(0.1) ? ListKey(words) : "to"});
  return arguments;
}

// In a script or with STORE, Redis sorts even a set that need not be sorted.
Words EvalArguments(Vocabulary& words) {
  Words arguments = {"return redis.call('SORT', unpack(ARGV))", "0"};
  if (words.Chance(0.5)) {
    Append(arguments, SortArguments(words));
  } else {
    Append(arguments, {"set", "BY", "nosort"});
    AppendResults(arguments, words);
  }
  return arguments;
}

Words ToArguments(Vocabulary&) { return {"to", "0", "-1"}; }

constexpr CommandGenerator kGenerators[] = {
    {CommandId::kSort, 20, SortArguments},      {CommandId::kSortRo, 10, SortRoArguments},
    {CommandId::kRPush, 6, PushArguments},      {CommandId::kSAdd, 2, SAddArguments},
    {CommandId::kZAdd, 2, ZAddArguments},       {CommandId::kSet, 4, SetWeightArguments},
    {CommandId::kMSet, 6, MSetWeightArguments}, {CommandId::kHSet, 6, HSetWeightArguments},
    {CommandId::kEval, 4, EvalArguments},       {CommandId::kLRange, 4, ToArguments},
};

}  // namespace

std::span<const CommandGenerator> SortGenerators() { return kGenerators; }

}  // namespace redouble::inline v0_1::tests
