// CommandGenerator: how to make up random uses of one command.
//
// Each group of commands has a file in generators/ with a table of these. A row names the command,
// how often it comes beside the others of its group, and a function that makes its arguments;
// without a function they are made up from the command's row in the command table: as many as its
// arity wants, keys where its key specs have keys, values elsewhere.
//
//   constexpr CommandGenerator kGenerators[] = {
//       {CommandId::kGet, 4, KeyOnly},
//       {CommandId::kSet, 8, SetArguments},
//   };
//
// Adding a group: a file of such a table, a line in generators.h, a row in groups.cc.
#ifndef REDOUBLE_TESTS_DIFFERENTIAL_COMMAND_GENERATOR_H_
#define REDOUBLE_TESTS_DIFFERENTIAL_COMMAND_GENERATOR_H_

#include "core/store/command_table.h"
#include "tests/differential/vocabulary.h"
#include "tests/support/words.h"

namespace redouble::tests {

struct CommandGenerator {
  store::CommandId id;
  int weight;
  // Makes what follows the command's name (of a subcommand: both its names).
  Words (*arguments)(Vocabulary& vocabulary) = nullptr;
};

// The whole command, well formed.
Words MakeCommand(const CommandGenerator& generator, Vocabulary& vocabulary);

// Spoils a command: a word too few or too many, a word replaced, exchanged or in another case. What
// comes out is no command that is left out.
Words Spoil(Words words, Vocabulary& vocabulary);

// Arguments that many commands take.
Words KeyOnly(Vocabulary& vocabulary);
Words KeyAndValue(Vocabulary& vocabulary);
Words SomeKeys(Vocabulary& vocabulary);
Words Nothing(Vocabulary& vocabulary);

}  // namespace redouble::tests

#endif  // REDOUBLE_TESTS_DIFFERENTIAL_COMMAND_GENERATOR_H_
