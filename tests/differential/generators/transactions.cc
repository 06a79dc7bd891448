#include "redouble/tests/differential/generators.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::CommandId;

constexpr CommandGenerator kGenerators[] = {
    {CommandId::kMulti, 4, Nothing},   {CommandId::kExec, 4, Nothing},
    {CommandId::kDiscard, 1, Nothing}, {CommandId::kWatch, 3, SomeKeys},
    {CommandId::kUnwatch, 1, Nothing},
};

}  // namespace

std::span<const CommandGenerator> TransactionGenerators() { return kGenerators; }

}  // namespace redouble::inline v0_1::tests
