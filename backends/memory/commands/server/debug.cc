// DEBUG: the subcommands that test suites use.
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "redouble/backends/memory/commands/cluster/cluster_nodes.h"
#include "redouble/backends/memory/commands/help.h"
#include "redouble/backends/memory/commands/keys/shown_encoding.h"
#include "redouble/backends/memory/commands/server/config_rewrite.h"
#include "redouble/backends/memory/commands/server/dataset_digest.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/backends/memory/persistence/dump.h"
#include "redouble/backends/memory/scripting/script_cache.h"
#include "redouble/backends/memory/server/host.h"
#include "redouble/backends/memory/server/kept_parameters.h"
#include "redouble/backends/memory/server/memory_size.h"
#include "redouble/backends/memory/values/list.h"
#include "redouble/backends/memory/values/memory_usage.h"
#include "redouble/core/base/hash/digest.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/text/glob.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

// The bytes of a DUMP payload besides the value: the type before it, version and checksum after it.
constexpr size_t kDumpFrameBytes = 1 + 2 + 8;
constexpr uint32_t kLruClockMax = (1u << 24) - 1;

constexpr HelpLine kHelpLines[] = {
    "AOF-FLUSH-SLEEP <microsec>",
    "    Server will sleep before flushing the AOF, this is used for testing.",
    "CHANGE-REPL-ID",
    "    Change the replication IDs of the instance.",
    "    Dangerous: should be used only for testing the replication subsystem.",
    "CLIENT-EVICTION",
    "    Show low level client eviction pools info (maxmemory-clients).",
    "CLUSTERLINK KILL <to|from|all> <node-id>",
    "    Accepted: the nodes of a simulated cluster have no links.",
    "CONFIG-REWRITE-FORCE-ALL",
    "    Like CONFIG REWRITE but writes all configuration options, including",
    "    keywords not listed in original configuration file or default values.",
    "DIGEST",
    "    Output a hex signature representing the current DB content.",
    "DIGEST-VALUE <key> [<key> ...]",
    "    Output a hex signature of the values of all the specified keys.",
    "DROP-CLUSTER-PACKET-FILTER <packet-type>",
    "    Accepted: the nodes of a simulated cluster send no packets.",
    "ERROR <string>",
    "    Return a Redis protocol error with <string> as message. Useful for clients",
    "    unit tests to simulate Redis errors.",
    "LEAK <string>",
    "    Accepted: nothing is leaked.",
    "LISTPACK <key>",
    "    Check that <key> has the listpack encoding.",
    "LOADAOF",
    "    Flush the AOF buffers on disk and reload the AOF in memory.",
    "LOG <message>",
    "    Write <message> to the server log.",
    "OBJECT <key>",
    "    Show low level info about `key` and associated value.",
    "PAUSE-CRON <0|1>",
    "    Accepted: there is no periodic cron job.",
    "POPULATE <count> [<prefix>] [<size>]",
    "    Create <count> string keys named key:<num>. If <prefix> is specified then",
    "    it is used instead of the 'key' prefix.",
    "PROTOCOL <type>",
    "    Reply with a test value of the specified type. <type> can be: string,",
    "    integer, double, bignum, null, array, set, map, attrib, push, verbatim,",
    "    true, false.",
    "QUICKLIST <key> [<0|1>]",
    "    Check that <key> has the quicklist encoding.",
    "QUICKLIST-PACKED-THRESHOLD <size>",
    "    Accepted: all elements of lists are in packed nodes.",
    "RELOAD [option ...]",
    "    Save the RDB on disk and reload it back to memory. Valid <option> values:",
    "    * MERGE: conflicting keys will be loaded from RDB.",
    "    * NOFLUSH: the existing database will not be removed before load, but",
    "      conflicting keys are an error.",
    "    * NOSAVE: the database will be loaded from an existing RDB file.",
    "REPLICATE <string>",
    "    Replicates the provided string to replicas, allowing data divergence.",
    "REPLYBUFFER PEAK-RESET-TIME <NEVER|RESET|time>",
    "REPLYBUFFER RESIZING <0|1>",
    "    Accepted: reply buffers are not resized by a cron job.",
    "SDSLEN <key>",
    "    Show low level SDS string info representing `key` and value.",
    "SET-ACTIVE-EXPIRE <0|1>",
    "    Setting it to 0 disables expiring keys in background when they are not",
    "    accessed (otherwise the Redis behavior). Setting it to 1 reenables back the",
    "    default.",
    "SET-SKIP-CHECKSUM-VALIDATION <0|1>",
    "    Enables or disables checksum checks for RESTORE's payload.",
    "SLEEP <seconds>",
    "    Stop the server for <seconds>. Decimals allowed.",
    "STRINGMATCH-TEST",
    "    Run a fuzz tester against the function that matches patterns.",
    "STRUCTSIZE",
    "    Return the size of different Redis core C structures.",
};

Reply Help(CommandContext& context, Arguments) { return HelpReply(context, kHelpLines); }

Reply Sleep(CommandContext& context, Arguments arguments) {
  const std::string_view text = arguments[0];
  double seconds = 0;
  // As strtod: invalid text is 0.
  if (!absl::SimpleAtod(base::ToAbsl(text), &seconds) || !std::isfinite(seconds)) seconds = 0;
  Host* host = context.engine().administration().host();
  if (host != nullptr && seconds > 0) host->Sleep(static_cast<int64_t>(seconds * 1e6));
  return Reply::Ok();
}

// Additional fields of a list.
std::string NodesText(const List& list, const EncodingLimits& limits) {
  size_t bytes = 0;
  for (const Listpack& node : list.nodes()) bytes += node.size_bytes();
  const size_t nodes = list.nodes().size();
  return absl::StrFormat(
      " ql_nodes:%u ql_avg_node:%.2f ql_listpack_max:%d ql_compressed:%d ql_uncompressed_size:%u",
      nodes, static_cast<double>(list.size()) / static_cast<double>(nodes),
      limits.list_max_listpack_size, limits.list_compress_depth != 0 ? 1 : 0, bytes);
}

// The address is fixed, because a real one differs in every process.
Reply Object(CommandContext& context, Arguments arguments) {
  const Database::Entry* entry = context.db().FindStored(arguments[0]);
  if (entry == nullptr) return Reply::Error(error_text::kNoSuchKey);
  const Value& value = entry->value;
  const List* list = value.As<List>();
  return Reply::Status(base::ToStd(absl::StrCat(
      "Value at:0x0 refcount:", ShownReferences(context, *entry),
      " encoding:", base::ToAbsl(ShownEncoding(context, *entry)), " serializedlength:",
      DumpValue(value).size() - kDumpFrameBytes, " lru:", entry->eviction.used_s & kLruClockMax,
      " lru_seconds_idle:", entry->eviction.IdleSeconds(context.now_s()),
      list == nullptr ? "" : NodesText(*list, context.limits()))));
}

constexpr std::string_view kNotReloaded = "ERR Error trying to load the RDB dump";

Reply NotReloaded(std::string_view why) {
  return Reply::Error(
      base::ToStd(absl::StrCat(base::ToAbsl(kNotReloaded), ": ", base::ToAbsl(why))));
}

// The error if `options` says that a key exists which must not; nullopt otherwise.
std::optional<Reply> RefuseExistingKeys(EngineCore& engine, const ReloadOptions& options) {
  if (options.flushes || options.merges) return std::nullopt;
  for (int index = 0; index < engine.database_count(); ++index) {
    const Database& db = engine.database(index);
    if (db.size() == 0) continue;
    return NotReloaded(base::ToStd(absl::StrCat("the key ", store::QuoteBytes(db.at(0).key()),
                                                " exists in database ", index)));
  }
  return std::nullopt;
}

// Removes the expired keys, and dumps and restores the others, as saving to a file and loading it
// would.
Reply ReloadWithoutFile(EngineCore& engine, const ReloadOptions& options) {
  if (!options.saves) return Reply::Error(kNotReloaded);
  if (std::optional<Reply> error = RefuseExistingKeys(engine, options)) return *std::move(error);
  for (int index = 0; index < engine.database_count(); ++index) {
    Database& db = engine.database(index);
    for (size_t i = db.size(); i-- > 0;) {
      Database::Entry& entry = db.at(i);
      if (db.IsExpired(entry, engine.clock().NowMillis())) {
        db.RemoveExpiring(entry);
        continue;
      }
      std::optional<Value> copy = LoadDump(DumpValue(entry.value), engine.encoding_limits());
      if (!copy) return Reply::Error(kNotReloaded);
      db.WillChange(entry.key());
      entry.value = *std::move(copy);
    }
  }
  return Reply::Ok();
}

// Redis exits if the file is damaged, or has a key that exists and may not.
Reply ReloadFromFile(EngineCore& engine, KeyFile& file, const ReloadOptions& options) {
  const absl::Status status = file.Reload(options);
  if (status.ok()) return Reply::Ok();
  if (absl::IsAborted(status)) return Reply::Error("ERR");
  if (!absl::IsNotFound(status)) return NotReloaded(base::ToStd(status.message()));
  for (int index = 0; options.flushes && index < engine.database_count(); ++index) {
    engine.FlushDatabase(index);
  }
  return Reply::Error(kNotReloaded);
}

Reply Reload(CommandContext& context, Arguments arguments) {
  ReloadOptions options;
  for (const std::string_view word : arguments) {
    if (IsWord(word, "MERGE")) {
      options.merges = true;
    } else if (IsWord(word, "NOFLUSH")) {
      options.flushes = false;
    } else if (IsWord(word, "NOSAVE")) {
      options.saves = false;
    } else {
      return Reply::Error("ERR DEBUG RELOAD only supports the MERGE, NOFLUSH and NOSAVE options.");
    }
  }
  EngineCore& engine = context.engine();
  KeyFile* file = engine.administration().key_file();
  return file == nullptr ? ReloadWithoutFile(engine, options)
                         : ReloadFromFile(engine, *file, options);
}

// Redis exits if there is no log or it is damaged.
Reply LoadLog(CommandContext& context, Arguments) {
  Administration& administration = context.engine().administration();
  Host* host = administration.host();
  AppendLog* log = host == nullptr ? nullptr : host->append_log();
  absl::Status status = absl::NotFoundError("there is no append only file");
  if (log != nullptr) status = log->Reload();
  if (!status.ok()) {
    return Reply::Error(
        absl::StrCat("ERR Error trying to load the append only file: ", status.message()));
  }
  if (KeyFile* file = administration.key_file()) file->ForgetChanges();
  return Reply::Ok();
}

// As atoi: invalid text is 0.
int ReadLeniently(std::string_view text) {
  int number = 0;
  return absl::SimpleAtoi(base::ToAbsl(text), &number) ? number : 0;
}

bool IsOn(std::string_view text) { return ReadLeniently(text) != 0; }

Reply SetFlushDelay(CommandContext& context, Arguments arguments) {
  AppendLog* log = context.engine().administration().append_log();
  if (log != nullptr) log->SetFlushDelay(ReadLeniently(arguments[0]));
  return Reply::Ok();
}

Reply ChangeReplicationId(CommandContext& context, Arguments) {
  Replication* replication = context.engine().administration().replication();
  if (replication != nullptr && replication->control() != nullptr) {
    replication->control()->ChangeId();
  }
  return Reply::Ok();
}

Reply WriteToLog(CommandContext& context, Arguments arguments) {
  Host* host = context.engine().administration().host();
  if (host != nullptr) host->LogWarning(absl::StrCat("DEBUG LOG: ", base::ToAbsl(arguments[0])));
  return Reply::Ok();
}

// Replicas execute the words; this server does not.
Reply Replicate(CommandContext& context, Arguments arguments) {
  context.PropagateAs(std::vector<std::string>(arguments.begin(), arguments.end()));
  context.PropagateAlways(EffectTargets::kReplicas);
  return Reply::Ok();
}

// Nothing is leaked.
Reply Leak(CommandContext&, Arguments) { return Reply::Ok(); }

// The nodes of a simulated cluster send no packets.
Reply DropPackets(CommandContext&, Arguments arguments) {
  return base::ParseInt64(arguments[0]) ? Reply::Ok() : Reply::Error(error_text::kNotAnInteger);
}

Reply KillLink(CommandContext& context, Arguments arguments) {
  if (!IsWord(arguments[0], "KILL")) return WrongSubcommandUse(context);
  const ClusterView* view = context.engine().cluster();
  if (view == nullptr) {
    return Reply::Error("ERR Debug option only available for cluster mode enabled setup!");
  }
  if (!FindNode(*view, arguments[2])) return UnknownNode(arguments[2]);
  for (const std::string_view direction : {"FROM", "TO", "ALL"}) {
    if (IsWord(arguments[1], direction)) return Reply::Ok();
  }
  return Reply::Error("ERR Unknown direction " + WordInError(arguments[1]));
}

Reply ShowClientSizes(CommandContext& context, Arguments) {
  EngineCore& engine = context.engine();
  if (KeptValue("maxmemory-clients", engine.options()) == "0") {
    return Reply::Error("ERR maxmemory-clients is disabled.");
  }
  std::string text;
  uint64_t least = 0;
  uint64_t next = uint64_t{1} << Administration::kSmallClientBits;
  for (const auto& [bytes, clients] : engine.administration().client_sizes()) {
    const bool is_last = least == uint64_t{1} << 32;
    const std::string most = is_last ? "+            " : absl::StrFormat(" - %10u", next - 1);
    absl::StrAppendFormat(&text, "bucket %10u%s: tot-mem: %10u, clients: %u\n", least, most, bytes,
                          clients);
    least = std::exchange(next, 2 * next);
  }
  return Reply::Verbatim(text);
}

Reply ShowStrings(CommandContext& context, Arguments arguments) {
  const Database::Entry* entry = context.db().FindStored(arguments[0]);
  if (entry == nullptr) return Reply::Error(error_text::kNoSuchKey);
  const Value& value = entry->value;
  if (!value.is_string() || value.is_integer()) {
    return Reply::Error("ERR Not an sds encoded string.");
  }
  const size_t key_length = entry->key().size();
  const StringRoom key = RoomOfKey(key_length);
  const size_t length = value.TextSize();
  const StringRoom text = RoomOfValue(length, ShownEncoding(context, *entry));
  return Reply::Status(
      absl::StrFormat("key_sds_len:%u, key_sds_avail:%u, key_zmalloc: %u, "
                      "val_sds_len:%u, val_sds_avail:%u, val_zmalloc: %u",
                      key_length, key.spare_bytes, key.allocated_bytes, length, text.spare_bytes,
                      text.allocated_bytes));
}

// The structures that MEMORY USAGE counts.
Reply ShowStructureSizes(CommandContext&, Arguments) {
  return Reply::Bulk(
      "bits:64 robj:16 dictentry:24 sdshdr5:1 sdshdr8:3 sdshdr16:5 sdshdr32:9 sdshdr64:17 ");
}

Reply SetActiveExpire(CommandContext& context, Arguments arguments) {
  context.engine().set_active_expire(IsOn(arguments[0]));
  return Reply::Ok();
}

Reply SetSkipChecksumValidation(CommandContext& context, Arguments arguments) {
  context.engine().set_checksum_policy(IsOn(arguments[0]) ? ChecksumPolicy::kIgnore
                                                          : ChecksumPolicy::kVerify);
  return Reply::Ok();
}

// Every element of a list is in a listpack, however large.
Reply SetPackedThreshold(CommandContext&, Arguments arguments) {
  constexpr uint64_t kMaxBytes = (uint64_t{1} << 32) - (uint64_t{1} << 20);
  const std::optional<uint64_t> bytes = ReadMemory(arguments[0]);
  if (bytes && *bytes <= kMaxBytes) return Reply::Ok();
  return Reply::Error("ERR argument must be a memory value bigger than 1 and smaller than 4gb");
}

// Without a host there is no job that a pause would stop: timers follow the clock.
Reply PauseCron(CommandContext& context, Arguments arguments) {
  if (Host* host = context.engine().administration().host()) host->PauseUpkeep(IsOn(arguments[0]));
  return Reply::Ok();
}

// The host's buffers follow it.
Reply ReplyBuffer(CommandContext& context, Arguments arguments) {
  ReplyBufferOptions& options = context.engine().administration().reply_buffers();
  const std::string_view value = arguments[1];
  if (IsWord(arguments[0], "RESIZING")) {
    options.resizes = IsOn(value);
    return Reply::Ok();
  }
  if (!IsWord(arguments[0], "PEAK-RESET-TIME")) return WrongSubcommandUse(context);
  std::optional<int64_t> reset_ms = base::ParseInt64(value);
  if (IsWord(value, "NEVER")) reset_ms = -1;
  if (IsWord(value, "RESET")) reset_ms = ReplyBufferOptions::kDefaultPeakResetMillis;
  if (!reset_ms) return Reply::Error(error_text::kNotAnInteger);
  options.peak_reset_ms = *reset_ms;
  return Reply::Ok();
}

// Redis prints the structure and replies that it did. The engine replies only.
Reply ShowListpack(CommandContext& context, Arguments arguments) {
  const Database::Entry* entry = context.db().FindStored(arguments[0]);
  if (entry == nullptr) return Reply::Error(error_text::kNoSuchKey);
  if (ShownEncoding(context, *entry) != "listpack") {
    return Reply::Error("ERR Not a listpack encoded object.");
  }
  return Reply::Status("Listpack structure printed on stdout");
}

Reply ShowQuicklist(CommandContext& context, Arguments arguments) {
  const Database::Entry* entry = context.db().FindStored(arguments[0]);
  if (entry == nullptr) return Reply::Error(error_text::kNoSuchKey);
  if (ShownEncoding(context, *entry) != "quicklist") {
    return Reply::Error("ERR Not a quicklist encoded object.");
  }
  return Reply::Status("Quicklist structure printed on stdout");
}

// Like Redis, HELP does not list it.
Reply SetDisableDenyScripts(CommandContext& context, Arguments arguments) {
  context.engine().scripts().set_allows_denied_commands(IsOn(arguments[0]));
  return Reply::Ok();
}

Reply DigestOfAll(CommandContext& context, Arguments) {
  return Reply::Status(DatasetDigest(context.engine()));
}

Reply DigestsOfValues(CommandContext& context, Arguments keys) {
  std::vector<Reply> digests;
  for (const std::string_view key : keys) {
    const Database::Entry* entry = context.db().FindStored(key);
    digests.push_back(Reply::Status(entry == nullptr
                                        ? std::string(2 * sizeof(base::Sha1Bytes), '0')
                                        : ValueDigest(context.engine(), context.db(), *entry)));
  }
  return Reply::Array(std::move(digests));
}

// As in Redis, no statistics count this error.
Reply Error(CommandContext& context, Arguments arguments) {
  context.engine().administration().statistics().LeaveNextErrorOut();
  return Reply::Error(WordInError(arguments[0]));
}

// Reads a non-negative number; nullopt if it is invalid.
std::optional<int64_t> ReadPositive(std::string_view text) {
  const std::optional<int64_t> number = base::ParseInt64(text);
  return number && *number >= 0 ? number : std::nullopt;
}

// DEBUG POPULATE: the number of keys, their prefix, and the size of their values.
Reply Populate(CommandContext& context, Arguments arguments) {
  const std::optional<int64_t> count = ReadPositive(arguments[0]);
  const std::optional<int64_t> size =
      arguments.size() == 3 ? ReadPositive(arguments[2]) : std::optional<int64_t>(0);
  if (!count || !size) return Reply::Error(error_text::kMustBePositive);
  // As in Redis, replicas do not learn of these keys.
  context.PropagateOnlyOthers();
  // Redis allocates a table of that size and dies.
  constexpr int64_t kMaxKeys = int64_t{1} << 24;
  if (*count > kMaxKeys) return Reply::Error(error_text::kOutOfRange);
  if (static_cast<uint64_t>(*size) > context.max_string_bytes()) {
    return Reply::Error("ERR string exceeds maximum allowed size (proto-max-bulk-len)");
  }
  const std::string_view prefix = arguments.size() > 1 ? arguments[1] : "key";
  for (int64_t i = 0; i < *count; ++i) {
    const std::string key = absl::StrCat(base::ToAbsl(prefix), ":", i);
    if (context.FindAny(key) != nullptr) continue;
    std::string text = absl::StrCat("value:", i);
    if (*size > 0) text.resize(static_cast<size_t>(*size));
    context.Add(key, Value::TextString(text));
    context.Touched(key);
  }
  return Reply::Ok();
}

// DEBUG PROTOCOL: a reply of each type. RESP2 has no attributes and no pushes.
Reply Protocol(CommandContext& context, Arguments arguments) {
  const auto is = [&](std::string_view word) { return IsWord(arguments[0], word); };
  const auto number = [](int64_t value) { return Reply::Integer(value); };
  if (is("string")) return Reply::Bulk("Hello World");
  if (is("integer")) return number(12345);
  if (is("double")) return Reply::Double("3.141");
  if (is("bignum")) return Reply::BigNumber("1234567999999999999999999999999999999");
  if (is("null")) return Reply::Nil();
  if (is("array")) return Reply::Array({number(0), number(1), number(2)});
  if (is("set")) return Reply::Set({number(0), number(1), number(2)});
  if (is("map")) {
    return Reply::Map({number(0), Reply::Bool(false), number(1), Reply::Bool(true), number(2),
                       Reply::Bool(false)});
  }
  const SessionCore& session = context.session();
  // The replies of a script's commands have no attributes and no pushes either.
  const bool resp3 = session.protocol() == 3 && !session.runs_script();
  if (is("attrib")) {
    Reply described = Reply::Bulk("Some real reply following the attribute");
    if (!resp3) return described;
    return Reply::WithAttributes(
        {Reply::Bulk("key-popularity"), Reply::Array({Reply::Bulk("key:123"), number(90)})},
        std::move(described));
  }
  if (is("push")) {
    if (!resp3) return Reply::Error("ERR RESP2 is not supported by this command");
    return Reply::WithPush({Reply::Bulk("server-cpu-usage"), number(42)},
                           Reply::Bulk("Some real reply following the push reply"));
  }
  if (is("verbatim")) return Reply::Verbatim("This is a verbatim\nstring");
  if (is("true")) return Reply::Bool(true);
  if (is("false")) return Reply::Bool(false);
  return Reply::Error(
      "ERR Wrong protocol type name. Please use one of the following: "
      "string|integer|double|bignum|null|array|set|map|attrib|push|verbatim|true|false");
}

// DEBUG STRINGMATCH-LEN: random patterns and texts of few letters, from a generator of its own, so
// that the engine's random sequence does not change.
Reply TestStringMatch(CommandContext&, Arguments) {
  constexpr int kRounds = 100'000;
  static constexpr std::string_view kLetters = "ab*?[]^-\\";
  base::Rng rng(0);
  const auto draw = [&rng] {
    std::string text(rng.Below(33), ' ');
    for (char& letter : text) letter = kLetters[rng.Below(kLetters.size())];
    return text;
  };
  for (int round = 0; round < kRounds; ++round) {
    const std::string pattern = draw();
    // The result is ignored: the test is that matching terminates.
    static_cast<void>(base::GlobMatch(pattern, draw()));
  }
  return Reply::Status("Apparently Redis did not crash: test passed");
}

Reply RewriteWholeConfig(CommandContext& context, Arguments) {
  Host* host = context.engine().administration().host();
  // Redis opens a null path.
  absl::Status status = absl::UnavailableError("Bad address");
  if (host != nullptr && !host->ConfigFile().empty()) {
    status = RewriteConfig(context.engine(), RewriteScope::kAll);
  }
  if (status.ok()) return Reply::Ok();
  return Reply::Error(absl::StrCat("ERR CONFIG-REWRITE-FORCE-ALL failed: ", status.message()));
}

constexpr size_t kAnyNumber = SIZE_MAX;

struct Subcommand {
  std::string_view name;
  size_t fewest;  // The fewest arguments.
  size_t most;
  Reply (*run)(CommandContext& context, Arguments arguments);
};
constexpr Subcommand kSubcommands[] = {
    {"AOF-FLUSH-SLEEP", 1, 1, SetFlushDelay},
    {"CHANGE-REPL-ID", 0, 0, ChangeReplicationId},
    {"CLIENT-EVICTION", 0, 0, ShowClientSizes},
    {"CLUSTERLINK", 3, 3, KillLink},
    {"CONFIG-REWRITE-FORCE-ALL", 0, 0, RewriteWholeConfig},
    {"DIGEST", 0, 0, DigestOfAll},
    {"DIGEST-VALUE", 0, kAnyNumber, DigestsOfValues},
    {"DROP-CLUSTER-PACKET-FILTER", 1, 1, DropPackets},
    {"ERROR", 1, 1, Error},
    {"HELP", 0, 0, Help},
    {"LEAK", 1, 1, Leak},
    {"LISTPACK", 1, 1, ShowListpack},
    {"LOADAOF", 0, kAnyNumber, LoadLog},
    {"LOG", 1, 1, WriteToLog},
    {"OBJECT", 1, 1, Object},
    {"PAUSE-CRON", 1, 1, PauseCron},
    {"POPULATE", 1, 3, Populate},
    {"PROTOCOL", 1, 1, Protocol},
    {"QUICKLIST", 1, 2, ShowQuicklist},
    {"QUICKLIST-PACKED-THRESHOLD", 1, 1, SetPackedThreshold},
    {"RELOAD", 0, kAnyNumber, Reload},
    {"REPLICATE", 1, kAnyNumber, Replicate},
    {"REPLYBUFFER", 2, 2, ReplyBuffer},
    {"SDSLEN", 1, 1, ShowStrings},
    {"SET-ACTIVE-EXPIRE", 1, 1, SetActiveExpire},
    {"SET-DISABLE-DENY-SCRIPTS", 1, 1, SetDisableDenyScripts},
    {"SET-SKIP-CHECKSUM-VALIDATION", 1, 1, SetSkipChecksumValidation},
    {"SLEEP", 1, 1, Sleep},
    {"STRINGMATCH-TEST", 0, 0, TestStringMatch},
    {"STRUCTSIZE", 0, 0, ShowStructureSizes},
};

}  // namespace

Reply HandleDebug(CommandContext& context, Arguments arguments) {
  context.set_subcommand(arguments[0]);
  const Arguments rest = arguments.subspan(1);
  for (const Subcommand& subcommand : kSubcommands) {
    if (!IsWord(arguments[0], subcommand.name)) continue;
    if (rest.size() < subcommand.fewest || rest.size() > subcommand.most) break;
    return subcommand.run(context, rest);
  }
  return WrongSubcommandUse(context);
}

}  // namespace redouble::inline v0_1::memory
