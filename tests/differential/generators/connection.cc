#include "redouble/tests/differential/generators.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::CommandId;

Words PingArguments(Vocabulary& words) {
  return words.Chance(0.5) ? Words() : Words{words.Value()};
}

Words EchoArguments(Vocabulary& words) { return {words.Value()}; }

Words SelectArguments(Vocabulary& words) { return {words.Db()}; }

constexpr CommandGenerator kGenerators[] = {
    {CommandId::kPing, 1, PingArguments},
    {CommandId::kEcho, 1, EchoArguments},
    {CommandId::kSelect, 4, SelectArguments},
};

}  // namespace

std::span<const CommandGenerator> ConnectionGenerators() { return kGenerators; }

}  // namespace redouble::inline v0_1::tests
