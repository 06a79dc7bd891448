#include "redouble/tests/differential/groups.h"

#include <algorithm>
#include <optional>
#include <span>

#include "redouble/tests/differential/generators.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::CommandGroup;
using store::CommandId;

struct Group {
  std::string_view name;
  std::span<const CommandGenerator> (*generators)();  // Null: derived from the command table only.
  std::optional<CommandGroup> part;                   // Part of the command table.
};

constexpr Group kGroups[] = {
    {"strings", StringGenerators, CommandGroup::kString},
    {"keys", KeyGenerators, CommandGroup::kGeneric},
    {"expiry", ExpiryGenerators, std::nullopt},
    {"server", ServerGenerators, CommandGroup::kServer},
    {"connection", ConnectionGenerators, CommandGroup::kConnection},
    {"transactions", TransactionGenerators, CommandGroup::kTransactions},
    {"lists", ListGenerators, CommandGroup::kList},
    {"hashes", HashGenerators, CommandGroup::kHash},
    {"sets", SetGenerators, CommandGroup::kSet},
    {"sorted_sets", SortedSetGenerators, CommandGroup::kSortedSet},
    {"streams", StreamGenerators, CommandGroup::kStream},
    {"sort", SortGenerators, std::nullopt},
    {"blocking", BlockingGenerators, std::nullopt},
    {"bitmaps", BitmapGenerators, CommandGroup::kBitmap},
    {"hyperloglog", HyperLogLogGenerators, CommandGroup::kHyperLogLog},
    {"geo", GeoGenerators, CommandGroup::kGeo},
    {"scripting", ScriptGenerators, CommandGroup::kScripting},
    {"libraries", LibraryGenerators, std::nullopt},
    {"pubsub", nullptr, CommandGroup::kPubSub},
    {"cluster", nullptr, CommandGroup::kCluster},
};

struct LeftOut {
  std::string_view command;
  std::string_view why;
  store::VersionSet versions = store::Since("1.0.0");  // Where it is left out.
};

constexpr store::VersionSet kLaterVersions = store::Since("7.2.0");

constexpr std::string_view kPushes =
    "is answered by pushes, which the conformance cases and keyspace_events_test compare";

constexpr std::string_view kCommands = "tells of commands in no order; tests/live compares it";

constexpr std::string_view kModules =
    "depends on the modules of a judge; tests/judges/named_differences.inc has them";

constexpr std::string_view kProcess = "tells of the process, its clients or its measurements";

constexpr std::string_view kSteers =
    "changes what other connections may do; the conformance cases and tests/serve have it";

constexpr std::string_view kSaves = "a server has a file to write";

constexpr std::string_view kOldRegisters =
    "takes corrupted registers on Valkey 8.0.1, which lacks the mend of CVE-2025-32023";

constexpr std::string_view kReplicates = "would make of the server, or of the client, a replica";

constexpr LeftOut kLeftOut[] = {
    {"object|idletime", "counts real seconds on a server that was just started"},
    {"object|refcount", "tells how Redis shares objects"},
    {"script|kill", "needs a script that runs"},
    {"script|debug", "would turn on a debugger that takes over the connection"},
    {"config|get", "tells of many more parameters on a server"},
    {"config|rewrite", kSaves},
    {"function|dump", "compresses on a server; dump_test carries libraries both ways"},
    {"memory|usage", "depends on what the allocator did before"},
    {"pfselftest", "takes seconds on a server"},
    {"dump", "tells the order of hash tables; dump_property_test carries payloads both ways"},
    {"wait", "needs replicas"},
    {"waitaof", "needs a log or replicas"},
    {"commandlog|get", kProcess},
    {"commandlog|len", kProcess},
    {"commandlog|reset", kProcess},
    {"command", kCommands},
    {"command|docs", kCommands},
    {"command|info", kCommands},
    {"command|count", kModules, kLaterVersions},
    {"command|list", kModules, store::Since("8.0.0")},
    {"lolwut", "prints a poem that a server draws by chance", store::Since("8.0.0")},
    {"pfcount", kOldRegisters, store::Version::kValkey80},
    {"pfdebug", kOldRegisters, store::Version::kValkey80},
    {"pfmerge", kOldRegisters, store::Version::kValkey80},
    {"function|list", "quotes an argument with its line ends in an error",
     store::Version::kValkey80},
    {"module|list", kModules, kLaterVersions},
    {"hello", "may begin RESP3, which resp3_test compares"},
    {"reset", "ends what the harness keeps account of: transactions and subscriptions"},
    {"info", kProcess},
    {"client|id", kProcess},
    {"client|info", kProcess},
    {"client|list", kProcess},
    {"slowlog|get", kProcess},
    {"slowlog|len", kProcess},
    {"lastsave", kProcess},
    {"auth", kSteers},
    {"quit", kSteers},
    {"client|kill", kSteers},
    {"client|pause", kSteers},
    {"client|reply", kSteers},
    {"client|unblock", kSteers},
    {"client|unpause", kSteers},
    {"monitor", kSteers},
    {"debug", kSteers},
    {"shutdown", kSteers},
    {"slowlog|reset", kSteers},
    {"acl|setuser", kSteers},
    {"client|tracking", kPushes},
    {"acl|genpass", "draws by chance"},
    {"acl|cat", kCommands},
    {"acl|log", kProcess},
    {"latency|doctor", kProcess},
    {"latency|graph", kProcess},
    {"latency|histogram", kProcess},
    {"latency|history", kProcess},
    {"latency|latest", kProcess},
    {"latency|reset", kProcess},
    {"memory|doctor", kProcess},
    {"memory|malloc-stats", kProcess},
    {"memory|stats", kProcess},
    {"save", kSaves},
    {"bgsave", kSaves},
    {"bgrewriteaof", kSaves},
    {"replicaof", kReplicates},
    {"slaveof", kReplicates},
    {"sync", kReplicates},
    {"psync", kReplicates},
    {"migrate", "a server would call another one"},
    {"subscribe", kPushes},
    {"unsubscribe", kPushes},
    {"psubscribe", kPushes},
    {"punsubscribe", kPushes},
    {"ssubscribe", kPushes},
    {"sunsubscribe", kPushes},
};

bool HasRow(std::span<const CommandGenerator> generators, CommandId id) {
  return std::any_of(generators.begin(), generators.end(),
                     [&](const CommandGenerator& row) { return row.id == id; });
}

// As HasRow, in the table of later versions, of which Redis 7.0 has none.
bool HasLaterRow(CommandId id, store::Version version) {
  const auto rows = LaterGenerators();
  return std::any_of(rows.begin(), rows.end(), [&](const LaterGenerator& row) {
    return row.generator.id == id && row.versions.Has(version);
  });
}

bool HasRowInAnyTable(CommandId id) {
  return std::any_of(std::begin(kGroups), std::end(kGroups), [&](const Group& group) {
    return group.generators != nullptr && HasRow(group.generators(), id);
  });
}

void AppendGenerators(const Group& group, store::Version version,
                      std::vector<CommandGenerator>& generators) {
  if (group.generators != nullptr) {
    for (const CommandGenerator& row : group.generators()) {
      if (ExclusionReason(row.id, version).empty()) generators.push_back(row);
    }
  }
  for (const LaterGenerator& row : LaterGenerators()) {
    const bool is_of_group = store::SpecOf(row.generator.id).group == group.part;
    if (is_of_group && row.versions.Has(version)) generators.push_back(row.generator);
  }
  for (const store::CommandSpec& spec : store::AllCommands()) {
    if (!spec.versions.Has(version)) continue;
    if (spec.group != group.part || store::IsContainer(spec.id)) continue;
    if (!ExclusionReason(spec.id, version).empty()) continue;
    if (HasLaterRow(spec.id, version)) continue;
    if (!HasRowInAnyTable(spec.id)) generators.push_back({spec.id, 1});
  }
}

Words OneElement(Vocabulary& words) { return {words.Key(), words.Member()}; }

Words FieldAndValue(Vocabulary& words) { return {words.Key(), words.Member(), words.Value()}; }

Words ScoreAndMember(Vocabulary& words) {
  return {words.Key(), words.SmallInteger(), words.Member()};
}

Words StreamEntry(Vocabulary& words) { return {words.Key(), "*", words.Member(), words.Value()}; }

Words ShortExpiry(Vocabulary& words) { return {words.Key(), words.TtlMillis()}; }

constexpr CommandGenerator kCompanions[] = {
    {CommandId::kSet, 4, KeyAndValue},
    {CommandId::kRPush, 2, OneElement},
    {CommandId::kHSet, 2, FieldAndValue},
    {CommandId::kSAdd, 2, OneElement},
    {CommandId::kZAdd, 2, ScoreAndMember},
    {CommandId::kXAdd, 2, StreamEntry},
    {CommandId::kPExpire, 3, ShortExpiry},
    {CommandId::kPersist, 1, KeyOnly},
    {CommandId::kDel, 2, SomeKeys},
    {CommandId::kRename, 1},
    {CommandId::kCopy, 1},
    {CommandId::kType, 1, KeyOnly},
    {CommandId::kPTtl, 1, KeyOnly},
    {CommandId::kExists, 1, SomeKeys},
};

}  // namespace

std::vector<std::string_view> GroupNames() {
  std::vector<std::string_view> names;
  for (const Group& group : kGroups) names.push_back(group.name);
  return names;
}

std::vector<CommandGenerator> GeneratorsOf(std::string_view name, store::Version version) {
  std::vector<CommandGenerator> generators;
  for (const Group& group : kGroups) {
    if (name == group.name || name == "all") AppendGenerators(group, version, generators);
  }
  return generators;
}

std::vector<CommandGenerator> CompanionGenerators() {
  return {std::begin(kCompanions), std::end(kCompanions)};
}

std::string_view ExclusionReason(CommandId id, store::Version version) {
  if (id == CommandId::kUnknown) return {};
  const store::CommandSpec& spec = store::SpecOf(id);
  if (spec.subcommand() == "help" && kLaterVersions.Has(version)) {
    return "has other texts in later versions; the conformance cases have them";
  }
  for (const LeftOut& row : kLeftOut) {
    if (spec.name == row.command && row.versions.Has(version)) return row.why;
  }
  return {};
}

}  // namespace redouble::inline v0_1::tests
