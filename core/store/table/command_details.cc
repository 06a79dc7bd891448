#include "redouble/core/store/table/command_details.h"

#include <cassert>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::store {
namespace {

constexpr CommandDetails Docs(std::string_view summary, std::string_view complexity,
                              std::string_view categories, std::string_view tips) {
  return {summary, complexity, categories, tips};
}

constexpr CommandDetails kDetails[kCommandCount] = {
#define REDOUBLE_COMMAND(id, name, arity, flags, group, since, keys, docs) docs,
#include "redouble/core/store/table/command_table.inc"
#undef REDOUBLE_COMMAND
};

// In the order in which Redis lists them.
constexpr std::string_view kCategories[] = {
    "keyspace", "read",   "write",       "set",       "sortedset",  "list",        "hash",
    "string",   "bitmap", "hyperloglog", "geo",       "stream",     "pubsub",      "admin",
    "fast",     "slow",   "blocking",    "dangerous", "connection", "transaction", "scripting"};

// Indexed by group; empty for a group that is not a category.
std::string_view CategoryOfGroup(CommandGroup group) {
  static constexpr std::string_view kNames[] = {
      "string",      "list", "set",    "sortedset",   "hash",       "stream", "keyspace",  "bitmap",
      "hyperloglog", "geo",  "pubsub", "transaction", "connection", "",       "scripting", ""};
  return kNames[static_cast<size_t>(group)];
}

// The categories that follow from the flags and the group.
std::set<std::string_view> ImpliedCategories(const CommandSpec& spec) {
  using command_flag::kAdmin;
  using command_flag::kBlocking;
  using command_flag::kFast;
  using command_flag::kPubSub;
  using command_flag::kReadOnly;
  using command_flag::kWrite;
  std::set<std::string_view> categories = {CategoryOfGroup(spec.group)};
  categories.insert(spec.Has(kFast) ? "fast" : "slow");
  if (spec.Has(kWrite)) categories.insert("write");
  if (spec.Has(kReadOnly) && spec.group != CommandGroup::kScripting) categories.insert("read");
  if (spec.Has(kAdmin)) categories.insert({"admin", "dangerous"});
  if (spec.Has(kPubSub)) categories.insert("pubsub");
  if (spec.Has(kBlocking)) categories.insert("blocking");
  return categories;
}

}  // namespace

const CommandDetails& DetailsOf(CommandId id) {
  assert(id < CommandId::kUnknown);
  return kDetails[static_cast<size_t>(id)];
}

std::vector<std::string_view> CategoriesOf(CommandId id) { return CategoriesOf(SpecOf(id)); }

std::vector<std::string_view> CategoriesOf(const CommandSpec& spec) {
  std::set<std::string_view> found = ImpliedCategories(spec);
  for (const absl::string_view change :
       absl::StrSplit(base::ToAbsl(DetailsOf(spec.id).categories), ' ', absl::SkipEmpty())) {
    const std::string_view name = base::ToStd(change.substr(1));
    change[0] == '+' ? void(found.insert(name)) : void(found.erase(name));
  }
  std::vector<std::string_view> categories;
  for (const std::string_view name : kCategories) {
    if (found.contains(name)) categories.push_back(name);
  }
  return categories;
}

std::span<const std::string_view> AllCategories() { return kCategories; }

bool IsCategory(std::string_view name) {
  for (const std::string_view category : kCategories) {
    if (absl::EqualsIgnoreCase(base::ToAbsl(name), base::ToAbsl(category))) return true;
  }
  return false;
}

}  // namespace redouble::inline v0_1::store
