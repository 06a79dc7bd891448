// What COMMAND says of a command beside its row in the command table: texts for people, the
// categories of access control, and tips for clients and proxies.
//
// They are in a table of their own (command_details.inc), since nothing that runs a command needs
// them.
//
//   DetailsOf(CommandId::kGet).summary;  // "Get the value of a key"
//
// Thread-safety: constant data.
// Source: Redis 7.0 COMMAND DOCS, COMMAND INFO.
#ifndef REDOUBLE_CORE_STORE_COMMAND_DETAILS_H_
#define REDOUBLE_CORE_STORE_COMMAND_DETAILS_H_

#include <span>
#include <string_view>
#include <vector>

#include "core/store/command_table.h"

namespace redouble::store {

struct CommandDetails {
  CommandId id;
  std::string_view summary;
  std::string_view complexity;
  // Categories that the row does not imply ("+dangerous") or implies wrongly ("-keyspace").
  std::string_view categories;
  std::string_view tips;  // With blanks between them.
};

// The details of `id`, which must not be kUnknown. O(1).
const CommandDetails& DetailsOf(CommandId id);

// The categories of the command, without their "@", in Redis's order.
std::vector<std::string_view> CategoriesOf(CommandId id);

// All categories, without their "@", in Redis's order.
std::span<const std::string_view> AllCategories();

// True when there is a category of that name, in any case.
bool IsCategory(std::string_view name);

}  // namespace redouble::store

#endif  // REDOUBLE_CORE_STORE_COMMAND_DETAILS_H_
