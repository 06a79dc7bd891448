#include "redouble/tests/differential/generators.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::CommandId;

Words FlushArguments(Vocabulary& words) {
  if (words.Chance(0.6)) return {};
  return {words.Choice({"ASYNC", "SYNC", "async", "other"})};
}

Words SwapDbArguments(Vocabulary& words) { return {words.Db(), words.Db()}; }

constexpr CommandGenerator kGenerators[] = {
    {CommandId::kDbSize, 4, Nothing},          {CommandId::kFlushDb, 1, FlushArguments},
    {CommandId::kFlushAll, 1, FlushArguments}, {CommandId::kTime, 1, Nothing},
    {CommandId::kSwapDb, 2, SwapDbArguments},
};

}  // namespace

std::span<const CommandGenerator> ServerGenerators() { return kGenerators; }

}  // namespace redouble::inline v0_1::tests
