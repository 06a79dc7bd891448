#include "redouble/tests/differential/command_generator.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "absl/strings/ascii.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/table/command_table.h"
#include "redouble/tests/differential/groups.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::CommandId;
using store::CommandSpec;

std::string UpperCase(std::string_view name) { return absl::AsciiStrToUpper(base::ToAbsl(name)); }

Words NameOf(const CommandSpec& spec) {
  Words words;
  if (!spec.container().empty()) words.push_back(UpperCase(spec.container()));
  words.push_back(UpperCase(spec.subcommand()));
  return words;
}

// True if the word at `position` (the name is 0) is a key according to the row's key ranges.
bool IsKey(const CommandSpec& spec, int position) {
  return std::any_of(spec.keys().begin(), spec.keys().end(), [&](const store::KeySpec& key) {
    if (key.begin != store::KeySpec::Begin::kIndex || position < key.position) return false;
    if (key.find != store::KeySpec::Find::kRange) return false;
    const int distance = position - key.position;
    return (key.last < 0 || distance <= key.last) && distance % std::max<int>(key.step, 1) == 0;
  });
}

Words ArgumentsByTable(const CommandSpec& spec, Vocabulary& vocabulary) {
  const int names = spec.container().empty() ? 1 : 2;
  int words = std::abs(spec.arity);
  if (spec.arity < 0) words += static_cast<int>(vocabulary.rng().Below(4));
  Words arguments;
  for (int position = names; position < words; ++position) {
    arguments.push_back(IsKey(spec, position) ? vocabulary.Key() : vocabulary.Value());
  }
  return arguments;
}

void ChangeCase(std::string& word, base::Rng& rng) {
  for (char& c : word) {
    const auto byte = static_cast<unsigned char>(c);
    c = static_cast<char>(rng.Chance(0.5) ? std::toupper(byte) : std::tolower(byte));
  }
}

CommandId RowOf(const Words& words) {
  const CommandId id = words.empty() ? CommandId::kUnknown : store::FindCommand(words[0]);
  if (id == CommandId::kUnknown || words.size() < 2 || !store::IsContainer(id)) return id;
  return store::FindSubcommand(id, words[1]);
}

Words CorruptAnyWord(Words words, Vocabulary& vocabulary) {
  base::Rng& rng = vocabulary.rng();
  const size_t position = rng.Below(words.size());
  // A name is rarely corrupted, because the result is usually just an unknown command. It is never
  // replaced by another word of the command, which could name a command that only the server has
  // (SYNC).
  if (position == 0 && rng.Chance(0.8)) {
    ChangeCase(words[0], rng);
    return words;
  }
  switch (rng.Below(5)) {
    case 0:
      if (words.size() > 1) words.pop_back();
      break;
    case 1:
      words.push_back(rng.Chance(0.5) ? vocabulary.Junk() : words[position]);
      break;
    case 2:
      words[position] = vocabulary.Junk();
      break;
    case 3:
      if (position > 0) std::swap(words[position], words[rng.Between(1, words.size() - 1)]);
      break;
    default:
      ChangeCase(words[position], rng);
      break;
  }
  return words;
}

}  // namespace

Words MakeCommand(const CommandGenerator& generator, Vocabulary& vocabulary) {
  const CommandSpec& spec = store::SpecOf(generator.id);
  Words words = NameOf(spec);
  Append(words, generator.arguments == nullptr ? ArgumentsByTable(spec, vocabulary)
                                               : generator.arguments(vocabulary));
  return words;
}

Words Corrupt(Words words, Vocabulary& vocabulary) {
  Words corrupted = CorruptAnyWord(words, vocabulary);
  // A container with another subcommand, or without one, may be an excluded command.
  return ExclusionReason(RowOf(corrupted)).empty() ? corrupted : words;
}

Words KeyOnly(Vocabulary& vocabulary) { return {vocabulary.Key()}; }

Words KeyAndValue(Vocabulary& vocabulary) { return {vocabulary.Key(), vocabulary.Value()}; }

Words SomeKeys(Vocabulary& vocabulary) { return vocabulary.Keys(1 + vocabulary.rng().Below(3)); }

Words Nothing(Vocabulary&) { return {}; }

}  // namespace redouble::inline v0_1::tests
