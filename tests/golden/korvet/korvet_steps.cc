#include "redouble/tests/golden/korvet/korvet_steps.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/korvet/keys.h"
#include "redouble/core/korvet/log/record.h"
#include "redouble/core/korvet/log/retention.h"
#include "redouble/core/korvet/topics/topic_config.h"
#include "redouble/core/store/typed/stream_id.h"

namespace redouble::inline v0_1::golden {
namespace {

using korvet::Keys;
using korvet::TopicConfig;
using store::StreamId;
using Words = std::vector<std::string>;
using Commands = std::span<const RecordedCommand>;

constexpr std::string_view kRaw = "raw";
constexpr std::string_view kContinued = "(cont)";

// Returns whether a command begins with these words; "*" matches any word.
bool BeginsWith(const RecordedCommand& command, std::initializer_list<std::string_view> words) {
  if (command.words.size() < words.size()) return false;
  size_t i = 0;
  for (const std::string_view word : words) {
    const std::string& got = command.words[i++];
    if (word != "*" && !absl::EqualsIgnoreCase(got, std::string(word))) return false;
  }
  return true;
}

bool Is(const RecordedCommand& command, std::initializer_list<std::string_view> words) {
  return command.words.size() == words.size() && BeginsWith(command, words);
}

// Returns an element of an array, or null.
const Json& ElementOf(const Json& array, size_t index) {
  static const Json& null = *new Json();
  return array.is_array() && index < array.size() ? array[index] : null;
}

std::string TextOf(const Json& json) { return json.is_string() ? json.get<std::string>() : ""; }

bool Failed(const RecordedCommand& command) {
  return command.reply && command.reply->is_object() && command.reply->contains("error");
}

// What is known about a topic before a step.
struct KnownTopic {
  int32_t partitions = 1;
  TopicConfig config;
};

// A recognized operation, and the number of its commands.
struct Match {
  size_t commands;
  std::string op;
  Json arguments;
  std::optional<Json> result = std::nullopt;  // The result that the replies show.
};
using MaybeMatch = std::optional<Match>;

class Recogniser {
 public:
  explicit Recogniser(const RecordedStep& step, std::map<std::string, KnownTopic>& topics)
      : step_(step), topics_(topics) {}

  std::vector<RecordedStep> Run() {
    if (step_.commands.empty()) AddRefused();
    Commands rest = step_.commands;
    while (!rest.empty()) {
      MaybeMatch match = Recognise(rest);
      if (!match) {
        AddRaw(rest.front());
        rest = rest.subspan(1);
        continue;
      }
      Add(*std::move(match), rest);
      rest = rest.subspan(result_.back().commands.size());
    }
    return std::move(result_);
  }

 private:
  // Adds a request that was refused before anything was sent.
  void AddRefused() {
    if (!ExpectsError() || !step_.arguments.is_object()) return;
    RecordedStep step = step_;
    if (step_.op.find("partitions") != std::string::npos && step_.arguments.contains("total")) {
      step.op = "add_partitions";
    } else if (step_.op.find("create") == std::string::npos) {
      return;
    } else {
      step.op = "create_topic";
    }
    result_.push_back(std::move(step));
  }

  void AddRaw(const RecordedCommand& command) {
    if (result_.empty() || result_.back().op != kRaw) {
      RecordedStep& raw = result_.emplace_back();
      raw.path = step_.path;
      raw.op = kRaw;
    }
    result_.back().commands.push_back(command);
  }

  void Add(Match match, Commands rest) {
    // committed and lag both read one pair of commands.
    if (match.op == "committed") {
      RecordedStep lag = StepOf(match, rest);
      lag.op = "lag";
      result_.push_back(std::move(lag));
    }
    result_.push_back(StepOf(match, rest));
  }

  RecordedStep StepOf(const Match& match, Commands rest) const {
    RecordedStep step;
    step.path = step_.path;
    step.op = match.op;
    step.arguments = match.arguments;
    step.result = step_.result ? step_.result : match.result;
    step.commands.assign(rest.begin(), rest.begin() + match.commands);
    return step;
  }

  bool ExpectsError() const { return step_.result && step_.result->contains("error"); }

  MaybeMatch Recognise(Commands commands) {
    using Form = MaybeMatch (Recogniser::*)(Commands);
    constexpr std::array<Form, 18> kForms = {
        &Recogniser::CreateTopic,  &Recogniser::DeleteTopic, &Recogniser::ChangeTopic,
        &Recogniser::ListGroups,   &Recogniser::LookAtTopic, &Recogniser::Produce,
        &Recogniser::Sweep,        &Recogniser::Fetch,       &Recogniser::ListOffsets,
        &Recogniser::CreateGroup,  &Recogniser::Poll,        &Recogniser::Commit,
        &Recogniser::Acknowledge,  &Recogniser::Committed,   &Recogniser::Claim,
        &Recogniser::RemoveMember, &Recogniser::Seek,        &Recogniser::DeleteGroup};
    for (const Form form : kForms) {
      if (MaybeMatch match = (this->*form)(commands)) return match;
    }
    return std::nullopt;
  }

  // Topics.

  MaybeMatch CreateTopic(Commands commands) {
    const RecordedCommand& guard = commands[0];
    if (!Is(guard, {"HSETNX", "*", "id", "*"})) return std::nullopt;
    const auto name = keys_.ParseTopic(guard.words[1]);
    if (!name) return std::nullopt;
    Json arguments = {{"name", *name}, {"id", guard.words[3]}};
    if (guard.reply == Json(0)) return Match{1, "create_topic", arguments};
    if (commands.size() < 6 || !Is(commands[1], {"MULTI"}) || !Is(commands[5], {"EXEC"}) ||
        !BeginsWith(commands[2], {"HSET", guard.words[1], "id", "*", "name", "*", "partitions"})) {
      return std::nullopt;
    }
    KnownTopic topic;
    std::vector<korvet::ConfigEntry> entries;
    const Words& fields = commands[2].words;
    for (size_t i = 2; i + 1 < fields.size(); i += 2) {
      if (fields[i] == "id" || fields[i] == "name") continue;
      if (fields[i] == "partitions") {
        topic.partitions = static_cast<int32_t>(base::ParseInt64(fields[i + 1]).value_or(1));
        continue;
      }
      entries.push_back({fields[i], fields[i + 1]});
      arguments["config"][fields[i]] = fields[i + 1];
    }
    arguments["partitions"] = topic.partitions;
    const auto config = korvet::ParseTopicConfig(entries);
    if (!config.ok()) return std::nullopt;
    topic.config = *config;
    topics_[std::string(*name)] = topic;
    return Match{6, "create_topic", arguments};
  }

  MaybeMatch DeleteTopic(Commands commands) {
    if (commands.size() < 6 || !Is(commands[0], {"MULTI"}) || !BeginsWith(commands[1], {"DEL"}) ||
        !Is(commands[2], {"DEL", "*"}) || !Is(commands[3], {"SREM", keys_.Topics(), "*"}) ||
        !Is(commands[4], {"HDEL", keys_.TopicIds(), "*"}) || !Is(commands[5], {"EXEC"})) {
      return std::nullopt;
    }
    topics_.erase(commands[3].words[2]);
    return Match{6, "delete_topic", {{"name", commands[3].words[2]}}};
  }

  MaybeMatch ChangeTopic(Commands commands) {
    const RecordedCommand& set = commands[0];
    if (!BeginsWith(set, {"HSET", "*"}) || set.words.size() % 2 != 0) return std::nullopt;
    const auto name = keys_.ParseTopic(set.words[1]);
    if (!name || !topics_.contains(std::string(*name))) return std::nullopt;
    KnownTopic& topic = topics_[std::string(*name)];
    if (Is(set, {"HSET", "*", "partitions", "*"})) {
      const auto total = base::ParseInt64(set.words[3]);
      if (!total || *total <= topic.partitions) return std::nullopt;
      topic.partitions = static_cast<int32_t>(*total);
      return Match{1, "add_partitions", {{"name", *name}, {"total", *total}}};
    }
    Json config = Json::object();
    std::vector<korvet::ConfigEntry> changes;
    for (size_t i = 2; i < set.words.size(); i += 2) {
      changes.push_back({set.words[i], set.words[i + 1]});
      config[set.words[i]] = set.words[i + 1];
    }
    if (!korvet::ParseConfigChanges(changes).ok()) return std::nullopt;
    std::vector<korvet::ConfigField> fields = korvet::FormatTopicConfig(topic.config);
    for (const korvet::ConfigEntry& change : changes)
      fields.emplace_back(change.name, change.value);
    topic.config = korvet::ReadTopicConfig(fields).value_or(topic.config);
    return Match{1, "alter_topic_config", {{"name", *name}, {"config", config}}};
  }

  MaybeMatch LookAtTopic(Commands commands) {
    const RecordedCommand& look = commands[0];
    if (Failed(look)) return std::nullopt;
    if (Is(look, {"SMEMBERS", keys_.Topics()})) {
      std::optional<Json> names = look.reply;
      if (names && names->is_array()) std::sort(names->begin(), names->end());
      return Match{1, "list_topics", Json::object(), names};
    }
    if (Is(look, {"HGET", keys_.TopicIds(), "*"})) {
      if (look.reply == Json() && !ExpectsError()) return std::nullopt;
      return Match{1,
                   "describe_topic_by_id",
                   {{"id", look.words[2]}},
                   Json{{"name", look.reply.value_or(Json())}}};
    }
    if (!Is(look, {"HGETALL", "*"})) return std::nullopt;
    const auto name = keys_.ParseTopic(look.words[1]);
    if (!name || (look.reply == Json::array() && !ExpectsError())) return std::nullopt;
    return Match{1, "describe_topic", {{"name", *name}}, Json{{"name", *name}}};
  }

  // Logs.

  // Returns the partition of a known topic whose stream the word names.
  std::optional<korvet::TopicPartition> PartitionOf(const std::string& key) const {
    const auto partition = keys_.ParseStream(key);
    if (!partition) return std::nullopt;
    const auto topic = topics_.find(std::string(partition->topic));
    if (topic == topics_.end() || partition->partition >= topic->second.partitions) {
      return std::nullopt;
    }
    return partition;
  }
  const TopicConfig& ConfigOf(const korvet::TopicPartition& partition) const {
    return topics_.at(std::string(partition.topic)).config;
  }
  std::optional<int64_t> OffsetOf(const korvet::TopicPartition& partition,
                                  const std::string& id_text) const {
    const std::optional<StreamId> id = StreamId::Parse(id_text);
    if (!id) return std::nullopt;
    const auto offset = ConfigOf(partition).offsets.Encode(*id);
    return offset.ok() ? std::optional<int64_t>(*offset) : std::nullopt;
  }
  // Returns the offset after an id that is given as an inclusive end.
  std::optional<int64_t> OffsetBehind(const korvet::TopicPartition& partition,
                                      const std::string& id_text) const {
    const std::optional<StreamId> id = StreamId::Parse(id_text);
    const std::optional<StreamId> next = id ? id->Next() : std::nullopt;
    return next ? OffsetOf(partition, next->ToString()) : std::nullopt;
  }
  static Json At(const korvet::TopicPartition& partition) {
    return {{"topic", partition.topic}, {"partition", partition.partition}};
  }
  // Returns the offsets of entries in a reply of XRANGE; nullopt if one has no offset.
  std::optional<Json> OffsetsOf(const korvet::TopicPartition& partition,
                                const Json& entries) const {
    Json offsets = Json::array();
    if (!entries.is_array()) return std::nullopt;
    for (const Json& entry : entries) {
      const auto offset = OffsetOf(partition, TextOf(ElementOf(entry, 0)));
      if (!offset || !ElementOf(entry, 1).is_array()) return std::nullopt;
      offsets.push_back(*offset);
    }
    return offsets;
  }

  static std::optional<std::string_view> TrimmingName(std::string_view sign) {
    if (sign == "=") return "exact";
    if (sign == "~") return "approximate";
    return std::nullopt;
  }

  MaybeMatch Produce(Commands commands) {
    const RecordedCommand& add = commands[0];
    if (!BeginsWith(add, {"XADD", "*"})) return std::nullopt;
    const auto partition = PartitionOf(add.words[1]);
    if (!partition || Failed(add) || (add.reply == Json() && !ExpectsError())) return std::nullopt;
    Json arguments = At(*partition);
    std::span<const std::string> words = std::span(add.words).subspan(2);
    if (!words.empty() && words[0] == "NOMKSTREAM") {
      arguments["stream_exists"] = true;
      words = words.subspan(1);
    }
    size_t used = 1;
    if (!ReadTrimming(*partition, commands, words, arguments, used)) return std::nullopt;
    if (words.empty()) return std::nullopt;
    const auto offset = OffsetOf(*partition, words[0]);
    const std::optional<Json> record = RecordOf(words);
    if (!offset || !record) return std::nullopt;
    arguments["records"] = Json::array({*record});
    return Match{used, "produce", arguments, Json{{"base_offset", *offset}}};
  }

  // Reads the trimming words of XADD and XTRIM. Returns whether they are those of the topic's
  // retention, or absent.
  bool ReadTrimming(const korvet::TopicPartition& partition, Commands commands,
                    std::span<const std::string>& words, Json& arguments, size_t& used) const {
    const TopicConfig& config = ConfigOf(partition);
    std::optional<int64_t> min_id_ms;
    std::optional<int64_t> max_length;
    std::string_view sign = "=";
    if (words.size() > 3 && words[0] == "MINID") {
      sign = words[1];
      min_id_ms = base::ParseInt64(words[2]);
      words = words.subspan(3);
    }
    if (commands.size() > 1 &&
        BeginsWith(commands[1], {"XTRIM", commands[0].words[1], "MAXLEN", "*", "*"})) {
      sign = commands[1].words[3];
      max_length = base::ParseInt64(commands[1].words[4]);
      used = 2;
    }
    if (!min_id_ms && !max_length) {
      arguments["trimming"] = "none";
      return true;
    }
    const auto trimming = TrimmingName(sign);
    const int64_t now_ms = min_id_ms.value_or(0) + std::max<int64_t>(config.retention_time_ms, 0);
    if (!trimming ||
        korvet::RetentionOf(config, now_ms) != korvet::RetentionBounds{min_id_ms, max_length}) {
      return false;
    }
    arguments["trimming"] = *trimming;
    arguments["now"] = now_ms;
    return true;
  }

  // Returns the record of an entry in the format of Korvet's producer.
  static std::optional<Json> RecordOf(std::span<const std::string> words) {
    korvet::RecordFields fields;
    for (size_t i = 1; i + 1 < words.size(); i += 2) fields.emplace_back(words[i], words[i + 1]);
    const auto record = korvet::DecodeRecord(fields, StreamId::Min());
    if (!record.ok() || korvet::EncodeRecord(*record) != fields || record->timestamp_ms == -1) {
      return std::nullopt;
    }
    Json json = {{"id", words[0]}, {"timestamp", record->timestamp_ms}};
    if (record->key) json["key"] = *record->key;
    if (record->value) json["value"] = *record->value;
    for (const korvet::RecordHeader& header : record->headers) {
      json["headers"].push_back({header.name, header.value.value_or("")});
    }
    return json;
  }

  MaybeMatch Sweep(Commands commands) {
    const RecordedCommand& trim = commands[0];
    if (!Is(trim, {"XTRIM", "*", "*", "*", "*"}) || Failed(trim)) return std::nullopt;
    const auto partition = PartitionOf(trim.words[1]);
    const auto trimming = TrimmingName(trim.words[3]);
    const auto bound = base::ParseInt64(trim.words[4]);
    if (!partition || !trimming || !bound) return std::nullopt;
    const bool by_time = absl::EqualsIgnoreCase(trim.words[2], "MINID");
    const TopicConfig& config = ConfigOf(*partition);
    const int64_t now_ms = by_time ? *bound + std::max<int64_t>(config.retention_time_ms, 0) : 0;
    const korvet::RetentionBounds bounds = korvet::RetentionOf(config, now_ms);
    if ((by_time ? bounds.min_id_ms : bounds.max_length) != bound) return std::nullopt;
    Json arguments = At(*partition);
    arguments["trimming"] = *trimming;
    arguments["now"] = now_ms;
    arguments["by_time"] = by_time;
    arguments["by_size"] = !by_time;
    return Match{1, "sweep_logs", arguments, Json{{"removed", trim.reply.value_or(Json())}}};
  }

  MaybeMatch Fetch(Commands commands) {
    const RecordedCommand& read = commands[0];
    if (!step_.arguments.contains("offset") || !step_.result) return std::nullopt;
    if (Failed(read) && !ExpectsError()) return std::nullopt;
    const Json& offset = step_.arguments["offset"];
    if (!offset.is_number_integer()) return std::nullopt;
    const bool range = BeginsWith(read, {"XRANGE", "*", "*", "+", "COUNT", "*"});
    const bool bounds = Is(read, {"XINFO", "STREAM", "*"}) && ExpectsError();
    if (!range && !bounds) return std::nullopt;
    const auto partition = PartitionOf(read.words[range ? 1 : 2]);
    if (!partition) return std::nullopt;
    if (range && OffsetOf(*partition, read.words[2]) != offset.get<int64_t>()) return std::nullopt;
    Json arguments = At(*partition);
    arguments["offset"] = offset;
    if (range) arguments["max_records"] = base::ParseInt64(read.words[5]).value_or(100);
    if (step_.arguments.contains("max_bytes")) {
      arguments["max_bytes"] = step_.arguments["max_bytes"];
    }
    // The rest of the step reads the same log.
    size_t used = 1;
    while (used < commands.size() && (BeginsWith(commands[used], {"XINFO", "STREAM"}) ||
                                      BeginsWith(commands[used], {"XRANGE"}))) {
      ++used;
    }
    return Match{used, "fetch", arguments};
  }

  // Returns the timestamp that a step asks for in its arguments, its command or its name.
  std::optional<int64_t> TimestampOf(const RecordedCommand& look) const {
    for (const char* name : {"timestamp", "ts", "time"}) {
      if (!step_.arguments.contains(name)) continue;
      const Json& value = step_.arguments[name];
      return value.is_number_integer() ? std::optional(value.get<int64_t>()) : std::nullopt;
    }
    const auto has = [&](const char* part) { return step_.op.find(part) != std::string::npos; };
    if (BeginsWith(look, {"XINFO"}) && has("latest")) return -1;
    if (BeginsWith(look, {"XRANGE"}) && has("earliest")) return -2;
    if (BeginsWith(look, {"XREVRANGE"}) && has("max")) return -3;
    return std::nullopt;
  }

  MaybeMatch ListOffsets(Commands commands) {
    const RecordedCommand& look = commands[0];
    const bool info = Is(look, {"XINFO", "STREAM", "*"});
    if (!info && !Is(look, {"XRANGE", "*", "*", "+", "COUNT", "1"}) &&
        !Is(look, {"XREVRANGE", "*", "+", "-", "COUNT", "1"})) {
      return std::nullopt;
    }
    const auto timestamp = TimestampOf(look);
    const auto partition = PartitionOf(look.words[info ? 2 : 1]);
    if (!timestamp || !partition || !step_.result || Failed(look)) return std::nullopt;
    if (info != (*timestamp == -1)) return std::nullopt;
    Json arguments = At(*partition);
    arguments["timestamp"] = *timestamp;
    return Match{1, "list_offsets", arguments};
  }

  // Groups.

  static Json Of(const korvet::TopicPartition& partition, const std::string& group) {
    Json arguments = At(partition);
    arguments["group"] = group;
    return arguments;
  }

  // Returns `at` for the id after which a group reads; null if Korvet does not write that id.
  Json PositionOf(const korvet::TopicPartition& partition, const std::string& id) const {
    if (id == "0") return "earliest";
    if (id == "$") return "latest";
    const auto offset = OffsetBehind(partition, id);
    return offset ? Json(*offset) : Json();
  }

  MaybeMatch CreateGroup(Commands commands) {
    const RecordedCommand& create = commands[0];
    if (!BeginsWith(create, {"XGROUP", "CREATE", "*", "*", "*", "MKSTREAM"})) return std::nullopt;
    const auto partition = PartitionOf(create.words[2]);
    if (!partition) return std::nullopt;
    Json arguments = Of(*partition, create.words[3]);
    arguments["at"] = PositionOf(*partition, create.words[4]);
    if (arguments["at"].is_null()) return std::nullopt;
    if (BeginsWith(create, {"*", "*", "*", "*", "*", "*", "ENTRIESREAD", "*"})) {
      arguments["entries_read"] = base::ParseInt64(create.words[7]).value_or(0);
    }
    return Match{1, "create_group", arguments, Json("ok")};
  }

  MaybeMatch Poll(Commands commands) {
    const RecordedCommand& read = commands[0];
    if (!Is(read, {"XREADGROUP", "GROUP", "*", "*", "COUNT", "*", "STREAMS", "*", ">"}) ||
        Failed(read) || !read.reply) {
      return std::nullopt;
    }
    const auto partition = PartitionOf(read.words[7]);
    if (!partition) return std::nullopt;
    Json arguments = Of(*partition, read.words[2]);
    arguments["member"] = read.words[3];
    arguments["max_records"] = base::ParseInt64(read.words[5]).value_or(1);
    const std::optional<Json> offsets =
        read.reply->is_null() ? Json::array()
                              : OffsetsOf(*partition, ElementOf(ElementOf(*read.reply, 0), 1));
    if (!offsets) return std::nullopt;
    return Match{1, "poll", arguments, Json{{"offsets", *offsets}}};
  }

  MaybeMatch Commit(Commands commands) {
    const RecordedCommand& pending = commands[0];
    if (commands.size() < 2 || !Is(pending, {"XPENDING", "*", "*", "-", "*", "1000"}) ||
        Failed(pending) ||
        !BeginsWith(commands[1], {"XACK", pending.words[1], pending.words[2], "*"})) {
      return std::nullopt;
    }
    const auto partition = PartitionOf(pending.words[1]);
    const auto offset = partition ? OffsetBehind(*partition, pending.words[4]) : std::nullopt;
    if (!offset) return std::nullopt;
    Json arguments = Of(*partition, pending.words[2]);
    arguments["offset"] = *offset;
    return Match{2, "commit", arguments,
                 Json{{"acknowledged", commands[1].reply.value_or(Json())}}};
  }

  MaybeMatch Acknowledge(Commands commands) {
    const RecordedCommand& ack = commands[0];
    if (!BeginsWith(ack, {"XACK", "*", "*", "*"}) || Failed(ack)) return std::nullopt;
    const auto partition = PartitionOf(ack.words[1]);
    if (!partition) return std::nullopt;
    Json arguments = Of(*partition, ack.words[2]);
    for (const std::string& id : std::span(ack.words).subspan(3)) {
      const auto offset = OffsetOf(*partition, id);
      if (!offset) return std::nullopt;
      arguments["offsets"].push_back(*offset);
    }
    return Match{1, "acknowledge", arguments, Json{{"acknowledged", ack.reply.value_or(Json())}}};
  }

  MaybeMatch Committed(Commands commands) {
    const RecordedCommand& pending = commands[0];
    if (commands.size() < 2 || !step_.result || !Is(pending, {"XPENDING", "*", "*"}) ||
        Failed(pending) || !Is(commands[1], {"XINFO", "GROUPS", pending.words[1]})) {
      return std::nullopt;
    }
    const auto partition = PartitionOf(pending.words[1]);
    if (!partition) return std::nullopt;
    return Match{2, "committed", Of(*partition, pending.words[2])};
  }

  MaybeMatch Claim(Commands commands) {
    const RecordedCommand& claim = commands[0];
    if (!Is(claim, {"XAUTOCLAIM", "*", "*", "*", "*", "0-0", "COUNT", "100"}) || Failed(claim) ||
        !claim.reply || ElementOf(*claim.reply, 0) != "0-0") {
      return std::nullopt;
    }
    const auto partition = PartitionOf(claim.words[1]);
    const auto min_idle_ms = base::ParseInt64(claim.words[4]);
    if (!partition || !min_idle_ms) return std::nullopt;
    const std::optional<Json> offsets = OffsetsOf(*partition, ElementOf(*claim.reply, 1));
    if (!offsets) return std::nullopt;
    Json arguments = Of(*partition, claim.words[2]);
    arguments["member"] = claim.words[3];
    arguments["min_idle_ms"] = *min_idle_ms;
    return Match{1, "claim", arguments, Json{{"offsets", *offsets}}};
  }

  MaybeMatch RemoveMember(Commands commands) {
    const RecordedCommand& remove = commands[0];
    if (!Is(remove, {"XGROUP", "DELCONSUMER", "*", "*", "*"}) || Failed(remove)) {
      return std::nullopt;
    }
    const auto partition = PartitionOf(remove.words[2]);
    if (!partition) return std::nullopt;
    Json arguments = Of(*partition, remove.words[3]);
    arguments["member"] = remove.words[4];
    return Match{1, "remove_member", arguments, Json{{"lost", remove.reply.value_or(Json())}}};
  }

  MaybeMatch Seek(Commands commands) {
    const RecordedCommand& set = commands[0];
    if (!Is(set, {"XGROUP", "SETID", "*", "*", "*"}) || Failed(set)) return std::nullopt;
    const auto partition = PartitionOf(set.words[2]);
    if (!partition) return std::nullopt;
    Json arguments = Of(*partition, set.words[3]);
    arguments["at"] = PositionOf(*partition, set.words[4]);
    if (arguments["at"].is_null()) return std::nullopt;
    return Match{1, "seek", arguments, Json("ok")};
  }

  MaybeMatch DeleteGroup(Commands commands) {
    const RecordedCommand& destroy = commands[0];
    if (!Is(destroy, {"XGROUP", "DESTROY", "*", "*"}) || destroy.reply != Json(1)) {
      return std::nullopt;
    }
    size_t used = 1;
    while (used < commands.size() &&
           Is(commands[used], {"XGROUP", "DESTROY", "*", destroy.words[3]}) &&
           commands[used].reply == Json(1)) {
      ++used;
    }
    return Match{used, "delete_group", {{"group", destroy.words[3]}}, Json("ok")};
  }

  MaybeMatch ListGroups(Commands commands) {
    if (!Is(commands[0], {"SMEMBERS", keys_.Topics()})) return std::nullopt;
    size_t used = 1;
    bool looks = false;
    while (used < commands.size() && (Is(commands[used], {"HGET", "*", "partitions"}) ||
                                      Is(commands[used], {"XINFO", "GROUPS", "*"}))) {
      looks = looks || commands[used].words[0] == "XINFO";
      ++used;
    }
    if (!looks) return std::nullopt;
    return Match{used, "list_groups", Json::object()};
  }

  const RecordedStep& step_;
  std::map<std::string, KnownTopic>& topics_;
  const Keys keys_ = Keys::Create().value();
  std::vector<RecordedStep> result_;
};

}  // namespace

std::vector<RecordedStep> KorvetSteps(const Golden& golden) {
  std::vector<RecordedStep> whole;
  for (const RecordedStep& step : golden.steps) {
    const bool continued = std::string_view(step.op).ends_with(kContinued) && !whole.empty();
    if (!continued) {
      whole.push_back(step);
      continue;
    }
    std::vector<RecordedCommand>& commands = whole.back().commands;
    commands.insert(commands.end(), step.commands.begin(), step.commands.end());
    if (step.result) whole.back().result = step.result;
  }
  std::map<std::string, KnownTopic> topics;
  std::vector<RecordedStep> steps;
  for (const RecordedStep& step : whole) {
    std::vector<RecordedStep> recognised = Recogniser(step, topics).Run();
    std::move(recognised.begin(), recognised.end(), std::back_inserter(steps));
  }
  return steps;
}

}  // namespace redouble::inline v0_1::golden
