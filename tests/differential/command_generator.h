// CommandGenerator: random arguments for one command.
//
// Each group of commands has a file in generators/ with a table of generators. A row names the
// command, its weight relative to the others of its group, and a function that makes its arguments.
// Without a function, the arguments are derived from the command's row in the command table: as
// many as its arity requires, keys where its key specs have keys, values elsewhere.
//
//   constexpr CommandGenerator kGenerators[] = {
//       {CommandId::kGet, 4, KeyOnly},
//       {CommandId::kSet, 8, SetArguments},
//   };
//
// To add a group: write a file with such a table, a line in generators.h and a row in groups.cc.
//
// Thread-safety: constant data and pure functions.
#ifndef REDOUBLE_TESTS_DIFFERENTIAL_COMMAND_GENERATOR_H_
#define REDOUBLE_TESTS_DIFFERENTIAL_COMMAND_GENERATOR_H_

#include "redouble/core/store/table/command_table.h"
#include "redouble/tests/differential/vocabulary.h"
#include "redouble/tests/support/target/words.h"

namespace redouble::inline v0_1::tests {

struct CommandGenerator {
  store::CommandId id;
  int weight;
  // Makes the words after the command's name (after both names of a subcommand).
  Words (*arguments)(Vocabulary& vocabulary) = nullptr;
};

// The complete, well-formed command.
Words MakeCommand(const CommandGenerator& generator, Vocabulary& vocabulary);

// Corrupts a command: adds or removes a word, replaces or swaps words, or changes the case of one.
// The result is never an excluded command.
Words Corrupt(Words words, Vocabulary& vocabulary);

// Arguments that many commands take.
Words KeyOnly(Vocabulary& vocabulary);
Words KeyAndValue(Vocabulary& vocabulary);
Words SomeKeys(Vocabulary& vocabulary);
Words Nothing(Vocabulary& vocabulary);

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_DIFFERENTIAL_COMMAND_GENERATOR_H_
