// SORT and SORT_RO.
#include <algorithm>
#include <cctype>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redouble/backends/memory/commands/decimal_number.h"
#include "redouble/backends/memory/commands/keys/partial_sort.h"
#include "redouble/backends/memory/commands/reply_array.h"
#include "redouble/backends/memory/compatibility/feature.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/backends/memory/engine/session_core.h"
#include "redouble/backends/memory/values/hash.h"
#include "redouble/backends/memory/values/list.h"
#include "redouble/backends/memory/values/set.h"
#include "redouble/backends/memory/values/sorted_set.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

struct SortOptions {
  std::optional<std::string_view> by;
  std::vector<std::string_view> get;
  int64_t offset = 0;
  int64_t count = -1;  // Negative: all.
  bool descending = false;
  bool alpha = false;
  std::optional<std::string_view> store;

  // BY with a pattern without "*" means no sorting.
  bool keeps_order() const { return by && by->find('*') == by->npos; }
};

// Reads the options. Returns an error reply, or nil if `options` is filled.
Reply ReadSortOptions(const CommandContext& context, Arguments arguments, bool may_store,
                      SortOptions& options) {
  const bool in_cluster = context.engine().cluster() != nullptr;
  const AclUser& user = context.session().user();
  const bool reads_all =
      user.unrestricted() ||
      user.MayReadAllKeys(may_store ? store::CommandId::kSort : store::CommandId::kSortRo,
                          arguments);
  // After the key.
  for (size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    const size_t left = arguments.size() - i - 1;
    if (IsWord(word, "ASC")) {
      options.descending = false;
    } else if (IsWord(word, "DESC")) {
      options.descending = true;
    } else if (IsWord(word, "ALPHA")) {
      options.alpha = true;
    } else if (IsWord(word, "LIMIT") && left >= 2) {
      const std::optional<int64_t> offset = base::ParseInt64(arguments[++i]);
      const std::optional<int64_t> count = base::ParseInt64(arguments[++i]);
      if (!offset || !count) return Reply::Error(error_text::kNotAnInteger);
      options.offset = *offset;
      options.count = *count;
    } else if (IsWord(word, "STORE") && may_store && left >= 1) {
      options.store = arguments[++i];
    } else if (IsWord(word, "BY") && left >= 1) {
      options.by = arguments[++i];
      if (in_cluster && !options.keeps_order()) {
        return Reply::Error("ERR BY option of SORT denied in Cluster mode.");
      }
      if (!reads_all && !options.keeps_order()) {
        return Reply::Error("ERR BY option of SORT denied due to insufficient ACL permissions.");
      }
    } else if (IsWord(word, "GET") && left >= 1) {
      if (in_cluster) return Reply::Error("ERR GET option of SORT denied in Cluster mode.");
      if (!reads_all) {
        return Reply::Error("ERR GET option of SORT denied due to insufficient ACL permissions.");
      }
      options.get.push_back(arguments[++i]);
    } else {
      return SyntaxError();
    }
  }
  return Reply::Nil();
}

// An element and its sort weight.
struct Item {
  explicit Item(std::string of) : element(std::move(of)) {}

  std::string element;
  double score = 0;
  // nullopt if the BY pattern refers to a missing key.
  std::optional<std::string> text = std::nullopt;
};

void LoadList(const List& list, bool backwards, std::vector<Item>& items) {
  for (List::Cursor at = backwards ? list.Last() : list.First(); at.valid();
       backwards ? at.Previous() : at.Next()) {
    items.push_back(Item(at.value().ToString()));
  }
}

// The elements in their stored order. Returns false if the key has the wrong type.
bool Load(CommandContext& context, std::string_view key, bool backwards, std::vector<Item>& items) {
  const Database::Entry* entry = context.FindAny(key);
  context.CountRead(key, entry != nullptr);
  if (entry == nullptr) return true;
  if (const List* list = entry->value.As<List>()) {
    LoadList(*list, backwards, items);
  } else if (const Set* set = entry->value.As<Set>()) {
    set->ForEach([&](std::string_view member) { items.push_back(Item(std::string(member))); });
  } else if (SortedSet* sorted = entry->value.As<SortedSet>()) {
    // In Redis, SORT and SORT_RO convert the encoding of the value that they read.
    sorted->ConvertToTable();
    const size_t first = backwards ? sorted->size() - 1 : 0;
    sorted->ForEach(first, sorted->size(), backwards, [&](std::string_view member, double) {
      items.push_back(Item(std::string(member)));
    });
  } else {
    return false;
  }
  return true;
}

// The value of a BY or GET pattern for an element: the string at the key, or the hash field, that
// the pattern names after its first "*" is replaced by the element.
std::optional<std::string> Follow(CommandContext& context, std::string_view pattern,
                                  std::string_view element) {
  if (pattern == "#") return std::string(element);
  const size_t star = pattern.find('*');
  if (star == pattern.npos) return std::nullopt;
  std::string_view behind = pattern.substr(star + 1);
  std::string_view field;
  const size_t arrow = behind.find("->");
  if (arrow != behind.npos && arrow + 2 < behind.size()) {
    field = behind.substr(arrow + 2);
    behind = behind.substr(0, arrow);
  }
  std::string key(pattern.substr(0, star));
  key.append(element).append(behind);
  const Database::Entry* entry = context.FindAny(key);
  context.CountRead(key, entry != nullptr);
  if (entry == nullptr) return std::nullopt;
  if (!field.empty()) {
    const Hash* hash = entry->value.As<Hash>();
    return hash == nullptr ? std::nullopt : hash->Get(field);
  }
  if (!entry->value.is_string()) return std::nullopt;
  Value::TextBuffer buffer;
  return std::string(entry->value.Text(buffer));
}

// Reads a weight as strtod does: leading spaces and an empty text are valid.
// Later versions take decimal numbers without leading spaces only.
std::optional<double> ReadWeight(std::string_view text, bool decimal) {
  if (decimal && !IsDecimal(text)) return std::nullopt;
  text = text.substr(0, text.find('\0'));
  if (text.empty()) return 0;
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) {
    text.remove_prefix(1);
  }
  return base::ParseDouble(text);
}

// Reads the weight of each element. Returns false if a weight is not a number.
bool Weigh(CommandContext& context, const SortOptions& options, std::vector<Item>& items) {
  const bool decimal = context.engine().Has(Feature::kDecimalNumbers);
  bool all_numbers = true;
  for (Item& item : items) {
    std::optional<std::string> weight =
        options.by ? Follow(context, *options.by, item.element) : item.element;
    if (options.alpha) {
      item.text = std::move(weight);
    } else if (weight) {
      const std::optional<double> score = ReadWeight(*weight, decimal);
      all_numbers = all_numbers && score.has_value();
      item.score = score.value_or(0);
    }
  }
  return all_numbers;
}

// Redis compares with strcoll in the C locale, up to a zero byte, unless it stores the result.
std::string_view Collated(std::string_view text, bool whole) {
  return whole ? text : text.substr(0, text.find('\0'));
}

// As strcmp: negative, zero or positive. A missing weight is before every text.
int CompareByText(const Item& a, const Item& b, bool whole) {
  if (!a.text || !b.text) return static_cast<int>(a.text.has_value()) - b.text.has_value();
  return Collated(*a.text, whole).compare(Collated(*b.text, whole));
}

int CompareByScore(const Item& a, const Item& b) {
  if (a.score != b.score) return a.score < b.score ? -1 : 1;
  return a.element.compare(b.element);
}

// The elements within LIMIT.
std::span<const Item> Limited(const SortOptions& options, const std::vector<Item>& items) {
  const auto size = static_cast<int64_t>(items.size());
  const int64_t first = std::clamp<int64_t>(options.offset, 0, size);
  const int64_t count = options.count < 0 ? size : options.count;
  return std::span(items).subspan(static_cast<size_t>(first),
                                  static_cast<size_t>(std::min(count, size - first)));
}

void SortItems(const SortOptions& options, std::vector<Item>& items) {
  const auto compare = [&](const Item& a, const Item& b) {
    const int order =
        options.alpha ? CompareByText(a, b, options.store.has_value()) : CompareByScore(a, b);
    return options.descending ? -order : order;
  };
  const std::span<const Item> wanted = Limited(options, items);
  if (!options.by || wanted.size() == items.size()) {
    std::stable_sort(items.begin(), items.end(),
                     [&](const Item& a, const Item& b) { return compare(a, b) < 0; });
  } else if (!wanted.empty()) {
    const auto first = static_cast<size_t>(wanted.data() - items.data());
    PartialSort(std::span(items), first, first + wanted.size() - 1, compare);
  }
}

// The result of the GET patterns: one value for each element and pattern, or the elements
// themselves.
std::vector<std::optional<std::string>> Results(CommandContext& context, const SortOptions& options,
                                                std::span<const Item> items) {
  std::vector<std::optional<std::string>> results;
  for (const Item& item : items) {
    if (options.get.empty()) results.emplace_back(item.element);
    for (const std::string_view pattern : options.get) {
      results.push_back(Follow(context, pattern, item.element));
    }
  }
  return results;
}

Reply StoreResults(CommandContext& context, std::string_view key,
                   const std::vector<std::optional<std::string>>& results) {
  if (results.empty()) {
    if (context.Remove(key)) context.Changed(key, EventClass::kGeneric, "del");
    return Reply::Integer(0);
  }
  // Redis 7.0 makes this list with the default limit of nodes.
  const EncodingLimits& limits = context.limits();
  auto list = std::make_unique<List>(limits.packed_lists ? limits : EncodingLimits());
  for (const std::optional<std::string>& result : results) {
    list->Push(List::End::kBack, result.value_or(""));
  }
  list->ChooseEncoding(limits);
  context.Put(key, Value::Of(std::move(list)));
  context.Changed(key, EventClass::kList, "sortstore");
  return Reply::Integer(static_cast<int64_t>(results.size()));
}

Reply SortGeneric(CommandContext& context, Arguments arguments, bool may_store) {
  SortOptions options;
  if (Reply error = ReadSortOptions(context, arguments, may_store, options); error.is_error()) {
    return error;
  }
  const std::string_view key = arguments[0];
  std::vector<Item> items;
  const bool backwards = options.keeps_order() && options.descending;
  if (!Load(context, key, backwards, items)) return WrongType();
  // The members of a set have no order. Where the result must be deterministic, in STORE or in a
  // script, Redis sorts them.
  const Database::Entry* entry = context.db().Find(key);
  const bool is_set = entry != nullptr && entry->value.As<Set>() != nullptr;
  if (is_set && options.keeps_order() && (options.store || !context.may_block())) {
    options.by.reset();
    options.alpha = true;
  }
  if (!options.keeps_order()) {
    if (!Weigh(context, options, items)) {
      return Reply::Error("ERR One or more scores can't be converted into double");
    }
    SortItems(options, items);
  }
  std::vector<std::optional<std::string>> results =
      Results(context, options, Limited(options, items));
  if (options.store) return StoreResults(context, *options.store, results);
  ReplyArray replies(context, Reply::Shape::kPlain, results.size());
  for (std::optional<std::string>& result : results) {
    replies.Add(result ? Reply::Bulk(*std::move(result)) : Reply::Nil());
  }
  return std::move(replies).Finish();
}

}  // namespace

Reply HandleSort(CommandContext& context, Arguments arguments) {
  return SortGeneric(context, arguments, /*may_store=*/true);
}

Reply HandleSortRo(CommandContext& context, Arguments arguments) {
  return SortGeneric(context, arguments, /*may_store=*/false);
}

}  // namespace redouble::inline v0_1::memory
