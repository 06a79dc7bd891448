#include "core/store/command_table.h"

#include <array>
#include <cassert>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "core/base/redis_number.h"
#include "core/base/string_bridge.h"

namespace redouble::store {
namespace {

using command_flag::kAdmin;
using command_flag::kAllowBusy;
using command_flag::kAsking;
using command_flag::kBlocking;
using command_flag::kDenyOom;
using command_flag::kFast;
using command_flag::kLoading;
using command_flag::kMovableKeys;
using command_flag::kNoAsyncLoading;
using command_flag::kNoAuth;
using command_flag::kNoFlags;
using command_flag::kNoMandatoryKeys;
using command_flag::kNoMulti;
using command_flag::kNoScript;
using command_flag::kPubSub;
using command_flag::kReadOnly;
using command_flag::kSkipMonitor;
using command_flag::kSkipSlowLog;
using command_flag::kStale;
using command_flag::kWrite;

// The words that rows use for their keys.
constexpr auto kRO = KeySpec::kRO;
constexpr auto kRW = KeySpec::kRW;
constexpr auto kOW = KeySpec::kOW;
constexpr auto kRM = KeySpec::kRM;
constexpr auto kAccess = KeySpec::kAccess;
constexpr auto kUpdate = KeySpec::kUpdate;
constexpr auto kInsert = KeySpec::kInsert;
constexpr auto kDelete = KeySpec::kDelete;
constexpr auto kNotKey = KeySpec::kNotKey;
constexpr auto kIncomplete = KeySpec::kIncomplete;
constexpr auto kVariableFlags = KeySpec::kVariableFlags;

// Keys from `position` to `last`, `step` apart.
constexpr KeySpec Range(int16_t position, int16_t last, int16_t step, int flags) {
  return {.begin = KeySpec::Begin::kIndex,
          .find = KeySpec::Find::kRange,
          .flags = static_cast<uint16_t>(flags),
          .position = position,
          .last = last,
          .step = step};
}
// One key.
constexpr KeySpec At(int16_t position, int flags) { return Range(position, 0, 1, flags); }
// A count at `position`, then so many keys.
constexpr KeySpec Counted(int16_t position, int flags) {
  return {.begin = KeySpec::Begin::kIndex,
          .find = KeySpec::Find::kKeyNum,
          .flags = static_cast<uint16_t>(flags),
          .position = position};
}
// Keys behind a word that is looked for from position `start` on.
constexpr KeySpec After(std::string_view keyword, int16_t start, int16_t last, int16_t limit,
                        int flags) {
  return {.begin = KeySpec::Begin::kKeyword,
          .find = KeySpec::Find::kRange,
          .flags = static_cast<uint16_t>(flags),
          .position = start,
          .keyword = keyword,
          .last = last,
          .limit = limit};
}
// Keys that no rule finds.
constexpr KeySpec Unknown(int flags) { return {.flags = static_cast<uint16_t>(flags)}; }

template <typename... Specs>
constexpr CommandSpec Row(CommandId id, std::string_view name, int16_t arity, uint32_t flags,
                          CommandGroup group, std::string_view since, Specs... specs) {
  static_assert(sizeof...(specs) <= CommandSpec::kMaxKeySpecs);
  return {.id = id,
          .name = name,
          .arity = arity,
          .flags = flags,
          .group = group,
          .since = since,
          .key_spec_count = sizeof...(specs),
          .key_specs = {specs...}};
}

constexpr std::array<CommandSpec, kCommandCount> kTable = {
#define REDOUBLE_COMMAND(id, name, arity, flags, group, since, ...) \
  Row(CommandId::k##id, name, arity, flags, CommandGroup::group, since __VA_OPT__(, ) __VA_ARGS__),
#include "core/store/command_table.inc"
#undef REDOUBLE_COMMAND
};

struct CaseInsensitiveHash {
  using is_transparent = void;
  size_t operator()(std::string_view name) const {
    size_t hash = 0xcbf29ce484222325;
    for (const char c : name) {
      hash = (hash ^ static_cast<unsigned char>(absl::ascii_tolower(c))) * 0x100000001b3;
    }
    return hash;
  }
};
struct CaseInsensitiveEqual {
  using is_transparent = void;
  bool operator()(std::string_view a, std::string_view b) const {
    return absl::EqualsIgnoreCase(base::ToAbsl(a), base::ToAbsl(b));
  }
};

using NameIndex =
    absl::flat_hash_map<std::string_view, CommandId, CaseInsensitiveHash, CaseInsensitiveEqual>;

struct Index {
  NameIndex by_name;
  std::array<bool, kCommandCount> is_container = {};

  Index() {
    by_name.reserve(kCommandCount);
    for (const CommandSpec& spec : kTable) by_name.emplace(spec.name, spec.id);
    for (const CommandSpec& spec : kTable) {
      if (spec.container().empty()) continue;
      const auto container = by_name.find(spec.container());
      assert(container != by_name.end() && "a subcommand's row needs a row for its container");
      is_container[static_cast<size_t>(container->second)] = true;
    }
  }
};

const Index& TheIndex() {
  static const Index* index = new Index;
  return *index;
}

// Where the keys of one spec begin in argv (0: the name). No value: the spec does not apply.
std::optional<size_t> BeginOf(const KeySpec& key, std::span<const std::string_view> arguments) {
  const auto argc = static_cast<int64_t>(arguments.size()) + 1;
  if (key.begin == KeySpec::Begin::kIndex) {
    if (key.position >= argc) return std::nullopt;
    return static_cast<size_t>(key.position);
  }
  const bool forward = key.position > 0;
  int64_t at = forward ? key.position : argc + key.position;
  const int64_t end = forward ? argc - 1 : 0;
  for (; forward ? at < end : at > end; at += forward ? 1 : -1) {
    if (at >= 1 && at < argc && CaseInsensitiveEqual()(arguments[at - 1], key.keyword)) {
      return static_cast<size_t>(at + 1);
    }
  }
  return std::nullopt;
}

// Appends the indexes of one spec's keys; false when the arguments contradict it.
bool AppendKeys(const KeySpec& key, std::span<const std::string_view> arguments,
                std::vector<size_t>& indexes) {
  const std::optional<size_t> begin = BeginOf(key, arguments);
  if (!begin) return true;
  const auto argc = static_cast<int64_t>(arguments.size()) + 1;
  auto first = static_cast<int64_t>(*begin);
  int64_t last = 0;
  if (key.find == KeySpec::Find::kKeyNum) {
    const std::optional<int64_t> count = base::ParseInt64(arguments[first - 1]);
    if (!count || *count < 0 || *count > argc - first - 1) return false;
    ++first;
    last = first + *count - 1;
  } else if (key.last >= 0) {
    last = first + key.last;
  } else if (key.limit == 0) {
    last = argc + key.last;
  } else {
    last = first + (argc - first) / key.limit + key.last;
  }
  if (last >= argc) return false;
  for (int64_t at = first; at <= last; at += key.step) {
    indexes.push_back(static_cast<size_t>(at - 1));
  }
  return true;
}

}  // namespace

std::string_view GroupName(CommandGroup group) {
  static constexpr std::string_view kNames[] = {
      "string",     "list",   "set",         "sorted-set", "hash",   "stream",
      "generic",    "bitmap", "hyperloglog", "geo",        "pubsub", "transactions",
      "connection", "server", "scripting",   "cluster"};
  return kNames[static_cast<size_t>(group)];
}

std::string_view CommandSpec::container() const {
  const size_t bar = name.find('|');
  return bar == std::string_view::npos ? std::string_view() : name.substr(0, bar);
}

std::string_view CommandSpec::subcommand() const { return name.substr(name.find('|') + 1); }

const CommandSpec& SpecOf(CommandId id) {
  assert(id < CommandId::kUnknown);
  return kTable[static_cast<size_t>(id)];
}

std::span<const CommandSpec> AllCommands() { return kTable; }

CommandId FindCommand(std::string_view name) {
  const NameIndex& names = TheIndex().by_name;
  const auto found = names.find(name);
  return found == names.end() ? CommandId::kUnknown : found->second;
}

CommandId FindSubcommand(CommandId container, std::string_view subcommand) {
  std::string name(SpecOf(container).name);
  name.push_back('|');
  name.append(subcommand);
  return FindCommand(name);
}

bool IsContainer(CommandId id) {
  return id != CommandId::kUnknown && TheIndex().is_container[static_cast<size_t>(id)];
}

std::optional<std::vector<size_t>> KeyIndexes(const CommandSpec& spec,
                                              std::span<const std::string_view> arguments) {
  std::vector<size_t> indexes;
  for (const KeySpec& key : spec.keys()) {
    if (key.begin == KeySpec::Begin::kUnknown || (key.flags & KeySpec::kNotKey) != 0) continue;
    if (!AppendKeys(key, arguments, indexes)) return std::nullopt;
  }
  return indexes;
}

}  // namespace redouble::store
