// COMMAND: the command table.
#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "redouble/backends/memory/acl/key_access.h"
#include "redouble/backends/memory/commands/help.h"
#include "redouble/backends/memory/commands/server/command_documents.h"
#include "redouble/backends/memory/compatibility/feature.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/core/base/text/glob.h"
#include "redouble/core/store/table/command_details.h"

namespace redouble::inline v0_1::memory {
namespace {

using store::CommandId;
using store::CommandSpec;
using store::KeySpec;

Reply NamesOf(uint32_t flags, std::span<const store::FlagName> rows) {
  std::vector<Reply> names;
  for (const store::FlagName& row : rows) {
    if ((flags & row.flag) != 0) names.push_back(Reply::Status(row.name));
  }
  return Reply::Set(std::move(names));
}

// The flags of a command. Valkey 8.1 names one of them otherwise.
Reply CommandFlags(const Compatibility& compatibility, uint32_t flags) {
  constexpr uint32_t kNotLogged = store::command_flag::kSkipSlowLog;
  if ((flags & kNotLogged) == 0 || !compatibility.Has(Feature::kCommandLogs)) {
    return NamesOf(flags, store::CommandFlagNames());
  }
  std::vector<Reply> names = NamesOf(flags & ~kNotLogged, store::CommandFlagNames()).elements();
  names.push_back(Reply::Status("skip_commandlog"));
  return Reply::Set(std::move(names));
}

// The legacy triple of first key, last key and step.
std::array<int, 3> LegacyRange(const CommandSpec& spec) {
  constexpr std::array<int, 3> kNone = {0, 0, 0};
  const auto is_range = [](const KeySpec& key) {
    return key.begin == KeySpec::Begin::kIndex && key.find == KeySpec::Find::kRange;
  };
  const auto last_of = [](const KeySpec& key) {
    return key.last < 0 ? int{key.last} : key.position + key.last;
  };
  if (spec.keys().size() == 1 && is_range(spec.keys()[0])) {
    const KeySpec& key = spec.keys()[0];
    return {key.position, last_of(key), key.step};
  }
  int first = 0;
  int last = 0;
  for (const KeySpec& key : spec.keys()) {
    if (!is_range(key)) continue;
    if (key.step != 1 || (last != 0 && last != key.position - 1)) return kNone;
    if (first == 0) first = key.position;
    // A position relative to the end is after all others.
    last = last < 0 ? last : last_of(key);
  }
  return first == 0 ? kNone : std::array<int, 3>{first, last, 1};
}

Reply BeginReply(const KeySpec& key) {
  std::string_view type = "unknown";
  std::vector<Reply> spec;
  if (key.begin == KeySpec::Begin::kIndex) {
    type = "index";
    spec = {Reply::Bulk("index"), Reply::Integer(key.position)};
  } else if (key.begin == KeySpec::Begin::kKeyword) {
    type = "keyword";
    spec = {Reply::Bulk("keyword"), Reply::Bulk(key.keyword), Reply::Bulk("startfrom"),
            Reply::Integer(key.position)};
  }
  return Reply::Map(
      {Reply::Bulk("type"), Reply::Bulk(type), Reply::Bulk("spec"), Reply::Map(std::move(spec))});
}

Reply FindReply(const KeySpec& key) {
  std::string_view type = "unknown";
  std::vector<Reply> spec;
  if (key.find == KeySpec::Find::kRange) {
    type = "range";
    spec = {Reply::Bulk("lastkey"),   Reply::Integer(key.last), Reply::Bulk("keystep"),
            Reply::Integer(key.step), Reply::Bulk("limit"),     Reply::Integer(key.limit)};
  } else if (key.find == KeySpec::Find::kKeyNum) {
    type = "keynum";
    spec = {Reply::Bulk("keynumidx"), Reply::Integer(0),      Reply::Bulk("firstkey"),
            Reply::Integer(1),        Reply::Bulk("keystep"), Reply::Integer(key.step)};
  }
  return Reply::Map(
      {Reply::Bulk("type"), Reply::Bulk(type), Reply::Bulk("spec"), Reply::Map(std::move(spec))});
}

Reply KeySpecsReply(const CommandSpec& spec, store::Version version) {
  std::vector<Reply> keys;
  for (const KeySpec& key : spec.keys()) {
    std::vector<Reply> pairs;
    if (const std::string_view note = KeyNote(spec.name, keys.size(), version); !note.empty()) {
      pairs = {Reply::Bulk("notes"), Reply::Bulk(note)};
    }
    for (Reply reply :
         {Reply::Bulk("flags"), NamesOf(key.flags, store::KeyFlagNames()),
          Reply::Bulk("begin_search"), BeginReply(key), Reply::Bulk("find_keys"), FindReply(key)}) {
      pairs.push_back(std::move(reply));
    }
    keys.push_back(Reply::Map(std::move(pairs)));
  }
  return Reply::Set(std::move(keys));
}

std::vector<CommandId> SubcommandsOf(const Compatibility& compatibility, CommandId container) {
  std::vector<CommandId> subcommands;
  for (const CommandSpec& spec : store::AllCommands()) {
    if (!compatibility.HasCommand(spec.id)) continue;
    if (spec.is_subcommand() && spec.container() == store::SpecOf(container).name) {
      subcommands.push_back(spec.id);
    }
  }
  return subcommands;
}

Reply InfoReply(const Compatibility& compatibility, CommandId id) {
  const CommandSpec& spec = compatibility.SpecOf(id);
  std::vector<Reply> categories;
  for (const std::string_view category : store::CategoriesOf(spec)) {
    categories.push_back(Reply::Status("@" + std::string(category)));
  }
  const std::string_view tip_words =
      store::ChangedTips(id, compatibility.version()).value_or(store::DetailsOf(id).tips);
  std::vector<Reply> tips;
  for (const absl::string_view tip :
       absl::StrSplit(base::ToAbsl(tip_words), ' ', absl::SkipEmpty())) {
    tips.push_back(Reply::Bulk(base::ToStd(tip)));
  }
  std::vector<Reply> subcommands;
  for (const CommandId subcommand : SubcommandsOf(compatibility, id)) {
    subcommands.push_back(InfoReply(compatibility, subcommand));
  }
  // In RESP3 an empty list is a set, as in Redis.
  Reply list = subcommands.empty() ? Reply::Set({}) : Reply::Array(std::move(subcommands));
  const auto [first, last, step] = LegacyRange(spec);
  return Reply::Array({Reply::Bulk(spec.name), Reply::Integer(spec.arity),
                       CommandFlags(compatibility, spec.flags), Reply::Integer(first),
                       Reply::Integer(last), Reply::Integer(step),
                       Reply::Set(std::move(categories)), Reply::Set(std::move(tips)),
                       KeySpecsReply(spec, compatibility.version()), std::move(list)});
}

// Valkey's own versions have no name of the product here.
std::string_view SinceText(const CommandSpec& spec) {
  return spec.since.substr(spec.since.find(' ') + 1);
}

// The name, followed by the map that describes it.
void AppendDocs(const Compatibility& compatibility, CommandId id, std::vector<Reply>& out) {
  const CommandSpec& spec = compatibility.SpecOf(id);
  const store::CommandDetails& details = store::DetailsOf(id);
  std::vector<Reply> docs = {Reply::Bulk("summary"), Reply::Bulk(details.summary),
                             Reply::Bulk("since"),   Reply::Bulk(SinceText(spec)),
                             Reply::Bulk("group"),   Reply::Bulk(store::GroupName(spec.group))};
  if (!details.complexity.empty()) {
    docs.push_back(Reply::Bulk("complexity"));
    docs.push_back(Reply::Bulk(details.complexity));
  }
  AppendDocument(spec.name, compatibility.version(), docs);
  if (const std::vector<CommandId> rows = SubcommandsOf(compatibility, id); !rows.empty()) {
    std::vector<Reply> subcommands;
    for (const CommandId subcommand : rows) AppendDocs(compatibility, subcommand, subcommands);
    docs.push_back(Reply::Bulk("subcommands"));
    docs.push_back(Reply::Map(std::move(subcommands)));
  }
  out.push_back(Reply::Bulk(spec.name));
  out.push_back(Reply::Map(std::move(docs)));
}

std::vector<CommandId> TopLevelCommands(const Compatibility& compatibility) {
  std::vector<CommandId> ids;
  for (const CommandSpec& spec : store::AllCommands()) {
    if (!spec.is_subcommand() && compatibility.HasCommand(spec.id)) ids.push_back(spec.id);
  }
  return ids;
}

bool CanHaveKeys(const CommandSpec& spec) {
  return std::any_of(spec.keys().begin(), spec.keys().end(),
                     [](const KeySpec& key) { return (key.flags & KeySpec::kNotKey) == 0; });
}

// GETKEYS and GETKEYSANDFLAGS: the command `name argument...` to examine.
Reply KeysReply(CommandContext& context, Arguments words, bool with_flags) {
  const Compatibility& compatibility = context.engine().compatibility();
  CommandId id = compatibility.FindCommand(words[0]);
  const Arguments arguments = words.subspan(1);
  const EngineCore::Resolution resolution = context.engine().Resolve(id, arguments);
  const bool is_full_name = words[0].find('|') != std::string_view::npos;
  if (is_full_name || resolution == EngineCore::Resolution::kUnknownCommand ||
      resolution == EngineCore::Resolution::kUnknownSubcommand) {
    return Reply::Error("ERR Invalid command specified");
  }
  const CommandSpec& spec = compatibility.SpecOf(id);
  if (!CanHaveKeys(spec)) return Reply::Error("ERR The command has no key arguments");
  if (resolution == EngineCore::Resolution::kWrongArity) {
    return Reply::Error("ERR Invalid number of arguments specified for command");
  }
  const std::optional<std::vector<KeyAccess>> uses = KeyAccesses(spec, arguments);
  if (!uses || uses->empty()) {
    if (spec.Has(store::command_flag::kNoMandatoryKeys)) return Reply::EmptyArray();
    return Reply::Error("ERR Invalid arguments specified for command");
  }
  std::vector<Reply> keys;
  for (const KeyAccess& use : *uses) {
    Reply key = Reply::Bulk(arguments[use.index]);
    keys.push_back(with_flags
                       ? Reply::Array({std::move(key), NamesOf(use.flags, store::KeyFlagNames())})
                       : std::move(key));
  }
  return Reply::Array(std::move(keys));
}

bool HasCategory(const CommandSpec& spec, std::string_view category) {
  const std::vector<std::string_view> categories = store::CategoriesOf(spec);
  return std::any_of(categories.begin(), categories.end(),
                     [&](std::string_view name) { return IsWord(category, name); });
}

}  // namespace

Reply HandleCommand(CommandContext& context, Arguments) {
  const Compatibility& compatibility = context.engine().compatibility();
  std::vector<Reply> commands;
  for (const CommandId id : TopLevelCommands(compatibility)) {
    commands.push_back(InfoReply(compatibility, id));
  }
  return Reply::Array(std::move(commands));
}

Reply HandleCommandCount(CommandContext& context, Arguments) {
  const Compatibility& compatibility = context.engine().compatibility();
  return Reply::Integer(static_cast<int64_t>(TopLevelCommands(compatibility).size()));
}

Reply HandleCommandInfo(CommandContext& context, Arguments arguments) {
  if (arguments.empty()) return HandleCommand(context, arguments);
  const Compatibility& compatibility = context.engine().compatibility();
  std::vector<Reply> commands;
  for (const std::string_view name : arguments) {
    const CommandId id = compatibility.FindCommand(name);
    commands.push_back(id == CommandId::kUnknown ? Reply::Nil() : InfoReply(compatibility, id));
  }
  return Reply::Array(std::move(commands));
}

Reply HandleCommandDocs(CommandContext& context, Arguments arguments) {
  const Compatibility& compatibility = context.engine().compatibility();
  std::vector<Reply> docs;
  if (arguments.empty()) {
    for (const CommandId id : TopLevelCommands(compatibility)) AppendDocs(compatibility, id, docs);
  }
  for (const std::string_view name : arguments) {
    const CommandId id = compatibility.FindCommand(name);
    if (id != CommandId::kUnknown) AppendDocs(compatibility, id, docs);
  }
  return Reply::Map(std::move(docs));
}

// LIST [FILTERBY MODULE name | ACLCAT category | PATTERN pattern]. There are no modules.
Reply HandleCommandList(CommandContext& context, Arguments arguments) {
  const Compatibility& compatibility = context.engine().compatibility();
  const bool filters = arguments.size() == 3 && IsWord(arguments[0], "FILTERBY");
  const bool by_module = filters && IsWord(arguments[1], "MODULE");
  const bool by_category = filters && IsWord(arguments[1], "ACLCAT");
  const bool by_pattern = filters && IsWord(arguments[1], "PATTERN");
  if (!arguments.empty() && !by_module && !by_category && !by_pattern) return SyntaxError();
  std::vector<Reply> names;
  for (const CommandSpec& row : store::AllCommands()) {
    if (!compatibility.HasCommand(row.id)) continue;
    const CommandSpec& spec = compatibility.SpecOf(row.id);
    const bool is_listed =
        by_category  ? HasCategory(spec, arguments[2])
        : by_pattern ? base::GlobMatch(arguments[2], spec.name, base::GlobCase::kInsensitive)
                     : !by_module;
    if (is_listed) names.push_back(Reply::Bulk(spec.name));
  }
  return Reply::Array(std::move(names));
}

Reply HandleCommandGetKeys(CommandContext& context, Arguments arguments) {
  return KeysReply(context, arguments, false);
}

Reply HandleCommandGetKeysAndFlags(CommandContext& context, Arguments arguments) {
  return KeysReply(context, arguments, true);
}

Reply HandleCommandHelp(CommandContext& context, Arguments) {
  static constexpr HelpLine kHelp[] = {
      "(no subcommand)",
      "    Return details about all Redis commands.",
      "COUNT",
      "    Return the total number of commands in this Redis server.",
      "LIST",
      "    Return a list of all commands in this Redis server.",
      "INFO [<command-name> ...]",
      "    Return details about multiple Redis commands.",
      "    If no command names are given, documentation details for all",
      "    commands are returned.",
      "DOCS [<command-name> ...]",
      "    Return documentation details about multiple Redis commands.",
      "    If no command names are given, documentation details for all",
      "    commands are returned.",
      "GETKEYS <full-command>",
      "    Return the keys from a full Redis command.",
      "GETKEYSANDFLAGS <full-command>",
      "    Return the keys and the access flags from a full Redis command.",
  };
  return HelpReply(context, kHelp);
}

}  // namespace redouble::inline v0_1::memory
