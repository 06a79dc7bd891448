#include "redouble/tests/differential/generators.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::CommandId;

Words TwoKeys(Vocabulary& words) { return words.Keys(2); }

Words CopyArguments(Vocabulary& words) {
  Words arguments = words.Keys(2);
  if (words.Chance(0.3)) Append(arguments, {"DB", words.Db()});
  if (words.Chance(0.4)) arguments.push_back("REPLACE");
  return arguments;
}

Words MoveArguments(Vocabulary& words) { return {words.Key(), words.Db()}; }

Words KeysArguments(Vocabulary& words) { return {words.Pattern()}; }

// Mostly a scan that lists all keys in one step, because its result is well defined.
Words ScanArguments(Vocabulary& words) {
  Words arguments = {words.Chance(0.9) ? "0" : words.Integer()};
  if (words.Chance(0.5)) Append(arguments, {"MATCH", words.Pattern()});
  if (words.Chance(0.3)) {
    Append(arguments, {"TYPE", words.Choice({"string", "list", "hash", "set", "zset", "stream",
                                             "STRING", "other", ""})});
  }
  Append(arguments, {"COUNT", arguments[0] == "0" ? "1000" : words.Count()});
  return arguments;
}

constexpr CommandGenerator kGenerators[] = {
    {CommandId::kDel, 5, SomeKeys},       {CommandId::kUnlink, 2, SomeKeys},
    {CommandId::kExists, 2, SomeKeys},    {CommandId::kType, 2, KeyOnly},
    {CommandId::kRename, 4, TwoKeys},     {CommandId::kRenameNx, 3, TwoKeys},
    {CommandId::kCopy, 5, CopyArguments}, {CommandId::kMove, 3, MoveArguments},
    {CommandId::kTouch, 1, SomeKeys},     {CommandId::kKeys, 3, KeysArguments},
    {CommandId::kRandomKey, 1, Nothing},  {CommandId::kScan, 3, ScanArguments},
};

}  // namespace

std::span<const CommandGenerator> KeyGenerators() { return kGenerators; }

}  // namespace redouble::inline v0_1::tests
