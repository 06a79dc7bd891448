// The parts of COMMAND DOCS and COMMAND INFO that are not needed to run a command: summary,
// complexity, ACL categories, and tips for clients and proxies.
//
// They are the arguments of Docs in the rows of command_table.inc.
//
//   DetailsOf(CommandId::kGet).summary;  // "Get the value of a key"
//
// Thread-safety: constant data.
// Source: Redis 7.0 COMMAND DOCS, COMMAND INFO.
#ifndef REDOUBLE_CORE_STORE_TABLE_COMMAND_DETAILS_H_
#define REDOUBLE_CORE_STORE_TABLE_COMMAND_DETAILS_H_

#include <span>
#include <string_view>
#include <vector>

#include "redouble/core/store/table/command_table.h"

namespace redouble::inline v0_1::store {

// The second line of a row.
struct CommandDetails {
  std::string_view summary;
  std::string_view complexity;
  // Differences from the categories that the flags and the group imply: "+dangerous", "-keyspace".
  std::string_view categories;
  std::string_view tips;  // Separated by spaces.
};

// Returns the details of `id`, which must not be kUnknown. O(1).
const CommandDetails& DetailsOf(CommandId id);

// Returns the ACL categories of the command, without the leading "@", in Redis's order.
std::vector<std::string_view> CategoriesOf(CommandId id);
// As above, for the row of a version (SpecsOf).
std::vector<std::string_view> CategoriesOf(const CommandSpec& spec);

// Returns all ACL categories, without the leading "@", in Redis's order.
std::span<const std::string_view> AllCategories();

// Returns whether `name`, in any case and without "@", is an ACL category.
bool IsCategory(std::string_view name);

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_TABLE_COMMAND_DETAILS_H_
