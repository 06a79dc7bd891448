#include "redouble/tests/judges/server_tables.h"

#include <cstddef>
#include <iterator>
#include <set>
#include <string_view>
#include <vector>

#include "redouble/core/store/reply.h"
#include "redouble/tests/support/target/ordered_reply.h"
#include "redouble/tests/support/target/resp3_reader.h"
#include "redouble/tests/support/target/words.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::Reply;

constexpr std::string_view kCommand = "command ";
constexpr std::string_view kDocs = "docs ";
constexpr std::string_view kParameter = "parameter ";
constexpr std::string_view kMissing = "(missing)";

// A row of COMMAND begins with its name and ends with the rows of its subcommands.
constexpr std::string_view kColumns[] = {"name", "arity",      "flags", "first key", "last key",
                                         "step", "categories", "tips",  "keys",      "subcommands"};
constexpr size_t kSubcommands = std::size(kColumns) - 1;

std::string Join(std::string_view kind, const std::string& name, std::string_view field) {
  std::string joined(kind);
  joined.append(name).append(" ").append(field);
  return joined;
}

void AddCommands(const std::vector<Reply>& rows, ServerTables& tables) {
  for (const Reply& row : rows) {
    const std::vector<Reply>& columns = row.elements();
    const std::string& name = columns[0].text();
    tables[std::string(kCommand) + name] = "there";
    for (size_t i = 1; i < kSubcommands; ++i) {
      tables[Join(kCommand, name, kColumns[i])] = ShapedText(Ordered(columns[i]));
    }
    AddCommands(columns[kSubcommands].elements(), tables);
  }
}

void AddDocuments(const std::vector<Reply>& documents, ServerTables& tables) {
  for (size_t i = 0; i < documents.size(); i += 2) {
    const std::string& name = documents[i].text();
    const std::vector<Reply>& fields = documents[i + 1].elements();
    for (size_t j = 0; j < fields.size(); j += 2) {
      if (fields[j].text() == "subcommands") {
        AddDocuments(fields[j + 1].elements(), tables);
      } else {
        tables[Join(kDocs, name, fields[j].text())] = ShapedText(Ordered(fields[j + 1]));
      }
    }
  }
}

// The command that a fact is about; empty for a parameter.
std::string CommandOf(std::string_view fact) {
  for (const std::string_view kind : {kCommand, kDocs}) {
    if (!fact.starts_with(kind)) continue;
    fact.remove_prefix(kind.size());
    return std::string(fact.substr(0, fact.find(' ')));
  }
  return "";
}

}  // namespace

ServerTables TablesOf(Target& target) {
  const std::vector<Words> questions = {{"COMMAND"}, {"COMMAND", "DOCS"}, {"CONFIG", "GET", "*"}};
  const std::vector<Reply> replies = target.RunAll(0, questions);
  ServerTables tables;
  AddCommands(replies[0].elements(), tables);
  AddDocuments(replies[1].elements(), tables);
  const std::vector<Reply>& parameters = replies[2].elements();
  for (size_t i = 0; i < parameters.size(); i += 2) {
    tables[std::string(kParameter) + parameters[i].text()] = parameters[i + 1].text();
  }
  return tables;
}

std::map<std::string, FactDifference> DifferencesBetween(const ServerTables& theirs,
                                                         const ServerTables& ours) {
  std::set<std::string> names;
  for (const auto& [name, value] : theirs) names.insert(name);
  for (const auto& [name, value] : ours) names.insert(name);
  const auto value_of = [](const ServerTables& tables, const std::string& name) {
    const auto found = tables.find(name);
    return found == tables.end() ? std::string(kMissing) : found->second;
  };
  std::map<std::string, FactDifference> differences;
  for (const std::string& name : names) {
    const FactDifference one = {value_of(theirs, name), value_of(ours, name)};
    if (one.theirs == one.ours) continue;
    const std::string command = std::string(kCommand) + CommandOf(name);
    const bool is_parameter = name.starts_with(kParameter);
    const bool is_of_both = theirs.contains(command) && ours.contains(command);
    if (!is_parameter && name != command && !is_of_both) continue;
    differences.emplace(name, one);
  }
  return differences;
}

}  // namespace redouble::inline v0_1::tests
