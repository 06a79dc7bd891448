// The generators of each group of commands: one function for each file of generators/.
//
// groups.cc has the table that connects a group's name to its function.
//
// Thread-safety: constant data.
#ifndef REDOUBLE_TESTS_DIFFERENTIAL_GENERATORS_H_
#define REDOUBLE_TESTS_DIFFERENTIAL_GENERATORS_H_

#include <span>

#include "redouble/tests/differential/command_generator.h"

namespace redouble::inline v0_1::tests {

// A generator for the versions that have the command, or the option that it draws.
struct LaterGenerator {
  store::VersionSet versions;
  CommandGenerator generator;
};

std::span<const LaterGenerator> LaterGenerators();

std::span<const CommandGenerator> BitmapGenerators();
std::span<const CommandGenerator> BlockingGenerators();
std::span<const CommandGenerator> ConnectionGenerators();
std::span<const CommandGenerator> ExpiryGenerators();
std::span<const CommandGenerator> GeoGenerators();
std::span<const CommandGenerator> HashGenerators();
std::span<const CommandGenerator> HyperLogLogGenerators();
std::span<const CommandGenerator> KeyGenerators();
std::span<const CommandGenerator> ListGenerators();
std::span<const CommandGenerator> ScriptGenerators();
std::span<const CommandGenerator> LibraryGenerators();
std::span<const CommandGenerator> ServerGenerators();
std::span<const CommandGenerator> SetGenerators();
std::span<const CommandGenerator> SortGenerators();
std::span<const CommandGenerator> SortedSetGenerators();
std::span<const CommandGenerator> StreamGenerators();
std::span<const CommandGenerator> StringGenerators();
std::span<const CommandGenerator> TransactionGenerators();

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_DIFFERENTIAL_GENERATORS_H_
