#include "redouble/tests/golden/korvet/korvet_domain.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/text/hex.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/korvet/errors.h"
#include "redouble/core/korvet/log/partitioner.h"
#include "redouble/core/korvet/offset.h"
#include "redouble/core/korvet/topics/topic_id.h"
#include "redouble/core/store/table/command_table.h"
#include "redouble/sim/operations/korvet/korvet_operations.h"
#include "redouble/tests/golden/korvet/korvet_steps.h"

namespace redouble::inline v0_1::golden {
namespace {

using korvet::OffsetCodec;
using store::StreamId;
using MaybeDifference = std::optional<Difference>;

// Returns the words with command and subcommand in upper case and one form of the least id.
Json Normalised(Json words) {
  words[0] = absl::AsciiStrToUpper(words[0].get<std::string>());
  const bool has_subcommand = words[0] == "XGROUP" || words[0] == "XINFO";
  if (has_subcommand && words.size() > 1) {
    words[1] = absl::AsciiStrToUpper(words[1].get<std::string>());
  }
  for (Json& word : words) {
    if (word == "0") word = "0-0";
  }
  return words;
}

bool IsTransactionWord(const Json& words) { return words[0] == "MULTI" || words[0] == "EXEC"; }

bool Writes(const Json& words) {
  const std::string name = words[0].get<std::string>();
  // The row of a container does not have the flags of its subcommands; those of XINFO only read.
  if (name == "XGROUP") return true;
  const store::CommandId id = store::FindCommand(name);
  return id != store::CommandId::kUnknown && store::SpecOf(id).Has(store::command_flag::kWrite);
}

// Returns the writes among the commands, with MULTI and EXEC if they count; appends the others to
// `reads`.
Json WritesOf(const Json& commands, bool with_transactions, Json& reads) {
  Json writes = Json::array();
  for (const Json& command : commands) {
    const Json words = Normalised(command);
    if (IsTransactionWord(words)) {
      if (with_transactions) writes.push_back(words);
    } else {
      (Writes(words) ? writes : reads).push_back(words);
    }
  }
  return writes;
}

MaybeDifference CompareCommands(const Json& recorded, const Json& sent, std::string_view path) {
  const bool transaction = std::any_of(recorded.begin(), recorded.end(),
                                       [](const Json& words) { return IsTransactionWord(words); });
  Json recorded_reads = Json::array();
  Json sent_reads = Json::array();
  const Json expected = WritesOf(recorded, transaction, recorded_reads);
  const Json got = WritesOf(sent, transaction, sent_reads);
  if (MaybeDifference difference = CompareJson(expected, got, path)) return difference;
  for (const Json& read : recorded_reads) {
    if (std::find(sent_reads.begin(), sent_reads.end(), read) != sent_reads.end()) continue;
    return Difference{std::string(path), "a recorded read was not sent", read.dump(),
                      sent_reads.dump()};
  }
  return std::nullopt;
}

// Returns a result as goldens write it: offsets for the records of a read, name and number for an
// error.
Json AsRecorded(const sim::OperationResult& result) {
  if (!result.ok()) {
    const korvet::ErrorCode code = korvet::ErrorCodeOf(result.status());
    return {{"error", std::string(korvet::ErrorName(code))}, {"code", static_cast<int>(code)}};
  }
  Json json = *result;
  if (json.is_array() && (json.empty() || json[0].is_object())) json = {{"records", *result}};
  if (!json.is_object()) return json;
  if (json.contains("records")) {
    json["offsets"] = Json::array();
    for (const Json& record : json["records"]) json["offsets"].push_back(record["offset"]);
  }
  return json;
}

MaybeDifference CompareResult(const Json& recorded, const sim::OperationResult& result,
                              std::string_view path) {
  const Json got = AsRecorded(result);
  if (!recorded.is_object()) return CompareJson(recorded, got, path);
  const bool expects_error = recorded.contains("error") && recorded["error"].is_string();
  if (expects_error != !result.ok()) return CompareJson(recorded, got, path);
  for (const auto& [name, value] : recorded.items()) {
    if (!got.contains(name)) continue;
    const std::string place = absl::StrCat(std::string(path), "/", name);
    if (MaybeDifference difference = CompareJson(value, got[name], place)) return difference;
  }
  return std::nullopt;
}

MaybeDifference NotARow(const std::string& path, const Json& row) {
  return Difference{path, "not a row of the tables known", "key_hex or canonical", row.dump()};
}

// Returns whether a row has all these columns.
bool Has(const Json& row, std::initializer_list<const char*> columns) {
  return row.is_object() && std::all_of(columns.begin(), columns.end(),
                                        [&](const char* name) { return row.contains(name); });
}

std::optional<std::string> BytesOf(const Json& hex) {
  if (!hex.is_string() || hex.get_ref<const std::string&>().size() % 2 != 0) return std::nullopt;
  return base::HexToBytes(hex.get_ref<const std::string&>()).value();
}

MaybeDifference CheckKey(const Json& row, const std::string& path) {
  const std::optional<std::string> key = BytesOf(row["key_hex"]);
  if (!key || !row["partition"].is_object()) return NotARow(path, row);
  Json got = row;
  const int32_t hash = korvet::Murmur2(*key);
  got["murmur2_signed"] = hash;
  got["to_positive"] = hash & 0x7fffffff;
  for (auto& [count, partition] : got["partition"].items()) {
    const auto partitions = base::ParseInt64(count);
    if (!partitions || *partitions < 1) return NotARow(path, row);
    partition = korvet::PartitionOfKey(*key, static_cast<int32_t>(*partitions));
  }
  return CompareJson(row, got, path);
}

MaybeDifference CheckTopicId(const Json& row, const std::string& path) {
  const auto id = row["canonical"].is_string()
                      ? korvet::TopicId::Parse(row["canonical"].get_ref<const std::string&>())
                      : std::nullopt;
  if (!id) return NotARow(path, row);
  const std::string text = id->ToString();
  if (korvet::TopicId::Parse(text) != id) return Difference{path, "the id is not read back"};
  Json got = row;
  got["canonical"] = id->ToUuid();
  got["kafka_base64url"] = text;
  got["wire_hex"] = absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(id->bytes().data()), id->bytes().size()));
  got["reserved"] = id->is_reserved();
  got["starts_with_dash"] = text.starts_with('-');
  return CompareJson(row, got, path);
}

MaybeDifference CheckRow(const Json& row, const std::string& path) {
  if (Has(row, {"key_hex", "murmur2_signed", "to_positive", "partition"})) {
    return CheckKey(row, path);
  }
  if (Has(row, {"canonical", "kafka_base64url"})) return CheckTopicId(row, path);
  return NotARow(path, row);
}

// Returns the encoded id as the table has it: a number, or the part of the id that does not fit.
Json EncodedOf(const OffsetCodec& codec, StreamId id) {
  const auto offset = codec.Encode(id);
  if (offset.ok()) return *offset;
  return id.seq > codec.max_sequence() ? "ERR_SEQUENCE_OVERFLOW" : "ERR_TIMESTAMP_OVERFLOW";
}

std::optional<StreamId> IdOf(const Json& text) {
  return text.is_string() ? StreamId::Parse(text.get<std::string>()) : std::nullopt;
}

std::optional<OffsetCodec> CodecOf(std::string_view bits) {
  const auto codec = OffsetCodec::Create(base::ParseInt64(bits).value_or(0));
  return codec.ok() ? std::optional(*codec) : std::nullopt;
}

// Checks a row of encode (by "id") or decode (by "offset"), which has a column for each number of
// bits.
MaybeDifference CheckOffsetRow(const Json& row, bool encode, const std::string& path) {
  const char* const given = encode ? "id" : "offset";
  if (!Has(row, {given})) return NotARow(path, row);
  Json got = row;
  for (auto& [column, value] : got.items()) {
    if (column == given) continue;
    const std::optional<OffsetCodec> codec = CodecOf(column);
    if (!codec) return NotARow(path, row);
    if (encode) {
      const auto id = IdOf(row[given]);
      if (!id) return NotARow(path, row);
      value = EncodedOf(*codec, *id);
    } else {
      if (!row[given].is_number_integer()) return NotARow(path, row);
      const auto id = codec->Decode(row[given].get<int64_t>());
      if (!id.ok()) return DifferenceOf(path, id.status());
      value = id->ToString();
    }
  }
  return CompareJson(row, got, path);
}

MaybeDifference CheckSeedExample(const Json& row, const std::string& path) {
  if (!Has(row, {"id", "bits", "seed_claims", "correct", "seed_value_decodes_to"})) {
    return NotARow(path, row);
  }
  if (!row["bits"].is_number_integer() || !row["seed_claims"].is_number_integer()) {
    return NotARow(path, row);
  }
  const auto codec = OffsetCodec::Create(row["bits"].get<int64_t>());
  const auto id = IdOf(row["id"]);
  const int64_t claimed = row["seed_claims"].get<int64_t>();
  if (!codec.ok() || !id || claimed < 0) return NotARow(path, row);
  Json got = row;
  got["correct"] = EncodedOf(*codec, *id);
  got["seed_value_decodes_to"] = codec->Decode(claimed)->ToString();
  return CompareJson(row, got, path);
}

MaybeDifference CheckLimits(const Json& limits, bool of_ms, const std::string& path) {
  if (!limits.is_object()) return NotARow(path, limits);
  Json got = limits;
  for (auto& [column, value] : got.items()) {
    const std::optional<OffsetCodec> codec = CodecOf(column);
    if (!codec) return NotARow(path, limits);
    value = of_ms ? codec->max_ms() : codec->max_sequence();
  }
  return CompareJson(limits, got, path);
}

MaybeDifference CheckTable(const std::string& name, const Json& table) {
  const std::string path = absl::StrCat("/", name);
  if (name == "seed_example") return CheckSeedExample(table, path);
  if (name == "max_ms" || name == "max_seq") return CheckLimits(table, name == "max_ms", path);
  const bool offsets = name == "encode" || name == "decode";
  if ((name != "rows" && !offsets) || !table.is_array()) {
    return Difference{path, "not a table of korvet",
                      "rows, encode, decode, seed_example, max_ms or max_seq", table.dump()};
  }
  for (size_t i = 0; i < table.size(); ++i) {
    const std::string place = absl::StrCat(path, "/", i);
    MaybeDifference difference =
        offsets ? CheckOffsetRow(table[i], name == "encode", place) : CheckRow(table[i], place);
    if (difference) return difference;
  }
  return std::nullopt;
}

MaybeDifference CheckTables(const Golden& golden, sim::ScenarioBackend&) {
  for (const auto& [name, table] : golden.tables) {
    if (MaybeDifference difference = CheckTable(name, table)) return difference;
  }
  return std::nullopt;
}

}  // namespace

Domain KorvetDomain() {
  Domain domain;
  domain.operations = scenarios::KorvetOperations();
  domain.record_error = [](const absl::Status& status) { return AsRecorded(status); };
  domain.check_tables = CheckTables;
  domain.translate = KorvetSteps;
  domain.compare_commands = CompareCommands;
  domain.compare_result = CompareResult;
  return domain;
}

}  // namespace redouble::inline v0_1::golden
