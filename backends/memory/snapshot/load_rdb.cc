#include "redouble/backends/memory/snapshot/load_rdb.h"

#include <charconv>
#include <cstddef>
#include <limits>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/keyspace/database.h"
#include "redouble/backends/memory/persistence/rdb_codec.h"
#include "redouble/backends/memory/persistence/rdb_value.h"
#include "redouble/backends/memory/scripting/function_libraries.h"
#include "redouble/backends/memory/server/kept_parameters.h"
#include "redouble/backends/memory/snapshot/module_value.h"
#include "redouble/backends/memory/snapshot/rdb_opcode.h"
#include "redouble/backends/memory/values/stream.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::memory {
namespace {

constexpr uint64_t kProgressBytes = uint64_t{2} << 20;
constexpr int64_t kMillisPerSecond = 1000;

int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

std::string Quoted(std::string_view text) {
  return absl::StrCat("\"", absl::CHexEscape(base::ToAbsl(text)), "\"");
}

// Shifts the times of consumers and pending entries.
void ShiftTimes(Stream& stream, int64_t shift_ms) {
  for (const auto& [name, unused] : stream.groups()) {
    StreamGroup& group = *stream.FindGroup(name);
    for (const auto& [consumer, state] : group.consumers()) {
      state->seen_ms = SaturatingAdd(state->seen_ms, shift_ms);
    }
    for (const auto& [id, unused_pending] : group.pending()) {
      StreamPending& pending = *group.FindPending(id);
      pending.delivered_ms = SaturatingAdd(pending.delivered_ms, shift_ms);
    }
  }
}

using Present = RdbLoadOptions::Present;

class RdbLoader final : public RdbLoad {
 public:
  RdbLoader(EngineCore& core, ByteSource& source, RdbLoadOptions options)
      : core_(core),
        options_(std::move(options)),
        reader_(source),
        now_ms_(core.clock().NowMillis()),
        has_field_times_(HasFieldTimes(core.compatibility().spec().rdb_version)) {
    for (int index = 0; index < core.database_count(); ++index) {
      databases_.push_back(std::make_unique<Database>());
    }
    appender_.emplace(*databases_[0]);
  }

  absl::StatusOr<bool> Continue(uint64_t part_bytes) override {
    if (reader_.offset() == 0) REDOUBLE_RETURN_IF_ERROR(ReadVersion());
    const absl::StatusOr<bool> ended = ReadRecords(part_bytes);
    if (ended.ok() && !*ended) return true;
    // A key that exists twice comes before the error.
    REDOUBLE_RETURN_IF_ERROR(IndexKeys());
    REDOUBLE_RETURN_IF_ERROR(ended.status());
    REDOUBLE_RETURN_IF_ERROR(ReadChecksum());
    report_.bytes = reader_.offset();
    REDOUBLE_RETURN_IF_ERROR(Commit());
    ReportProgress();
    return false;
  }
  RdbProgress progress() const override { return {reader_.offset(), report_.keys}; }
  const RdbLoadReport& report() const override { return report_; }

 private:
  // What was read of the next key before its type.
  struct KeyPrefix {
    std::optional<int64_t> deadline_ms;
    std::optional<uint64_t> idle_s;
    std::optional<uint8_t> frequency;
  };

  // The error for what reader_ could not read.
  absl::Status ReadError(std::string_view context = {}) const {
    if (!reader_.source_status().ok()) return reader_.source_status();
    const RdbReader::Failure& failure = *reader_.failure();
    return absl::DataLossError(absl::StrCat("byte ", failure.offset, ": expected ",
                                            failure.expected, base::ToAbsl(context)));
  }

  // An error about the bytes at `offset`.
  static absl::Status ErrorAt(uint64_t offset, absl::StatusCode code, absl::string_view message) {
    return {code, absl::StrCat("byte ", offset, ": ", message)};
  }

  absl::Status ReadVersion() {
    const std::optional<std::string_view> header =
        reader_.ReadBytes(kRdbMagic.size() + kRdbVersionDigits);
    if (!header) return ReadError(", the beginning of an RDB file");
    if (!header->starts_with(kRdbMagic)) {
      return ErrorAt(0, absl::StatusCode::kDataLoss, "expected the word REDIS of an RDB file");
    }
    const std::string_view digits = header->substr(kRdbMagic.size());
    const char* const end = digits.data() + digits.size();
    const auto [rest, error] = std::from_chars(digits.data(), end, report_.version);
    if (rest != end || error != std::errc() || report_.version < 1) {
      return ErrorAt(kRdbMagic.size(), absl::StatusCode::kDataLoss,
                     "expected four digits of an RDB version");
    }
    if (report_.version <= kLastRdbVersion) return absl::OkStatus();
    return ErrorAt(kRdbMagic.size(), absl::StatusCode::kUnimplemented,
                   absl::StrCat("RDB version ", report_.version, "; versions 1 to ",
                                kLastRdbVersion, " can be read"));
  }

  // Returns true after the last record.
  absl::StatusOr<bool> ReadRecords(uint64_t part_bytes) {
    const uint64_t begin = reader_.offset();
    for (;;) {
      const uint64_t keys = read_keys_;
      REDOUBLE_ASSIGN_OR_RETURN(const bool ended, ReadRecord());
      if (reader_.offset() >= next_progress_) ReportProgress();
      if (ended) return true;
      if (read_keys_ > keys && reader_.offset() - begin >= part_bytes) return false;
    }
  }

  // Returns true after the last record.
  absl::StatusOr<bool> ReadRecord() {
    const uint64_t begin = reader_.offset();
    const std::optional<uint64_t> first = reader_.ReadLittleEndian(1);
    if (!first) return ReadError(", the beginning of a record");
    if (*first >= static_cast<uint64_t>(RdbOpcode::kSlotInfo)) {
      REDOUBLE_RETURN_IF_ERROR(ReadOpcode(static_cast<RdbOpcode>(*first)));
      return static_cast<RdbOpcode>(*first) == RdbOpcode::kEnd;
    }
    const auto type = static_cast<RdbType>(*first);
    if (NameOfRdbType(type).empty()) {
      return ErrorAt(begin, absl::StatusCode::kDataLoss,
                     absl::StrCat("expected a record of Redis 1.0 to 8.0, found ", *first));
    }
    REDOUBLE_RETURN_IF_ERROR(ReadKey(type, begin));
    return false;
  }

  absl::Status ReadOpcode(RdbOpcode opcode) {
    switch (opcode) {
      case RdbOpcode::kSlotInfo:
        return ReadLengths(3);
      case RdbOpcode::kFunction:
        return ReadLibrary();
      case RdbOpcode::kPreReleaseFunction:
        return ErrorAt(reader_.offset() - 1, absl::StatusCode::kUnimplemented,
                       "a function of a release candidate of Redis 7.0, whose format no release "
                       "reads");
      case RdbOpcode::kModuleAux:
        return SkipModuleData();
      case RdbOpcode::kAux:
        return ReadField();
      case RdbOpcode::kResize:
        return ReadSizes();
      case RdbOpcode::kSelectDb:
        return SelectDatabase();
      case RdbOpcode::kEnd:
        return absl::OkStatus();
      default:
        return ReadKeyPrefix(opcode);
    }
  }

  // The number of keys only makes loading faster: it may be wrong.
  absl::Status ReadSizes() {
    const std::optional<uint64_t> keys = reader_.ReadLength();
    if (!keys) return ReadError();
    appender_->Expect(*keys);
    return ReadLengths(1);
  }

  // Reads numbers that nothing here needs: the sizes that they announce are counted instead.
  absl::Status ReadLengths(int count) {
    for (int i = 0; i < count; ++i) {
      if (!reader_.ReadLength()) return ReadError();
    }
    return absl::OkStatus();
  }

  absl::Status ReadKeyPrefix(RdbOpcode opcode) {
    if (opcode == RdbOpcode::kIdle) {
      prefix_.idle_s = reader_.ReadLength();
      return prefix_.idle_s ? absl::OkStatus() : ReadError();
    }
    const size_t size = opcode == RdbOpcode::kFrequency  ? 1
                        : opcode == RdbOpcode::kExpiryMs ? sizeof(int64_t)
                                                         : sizeof(int32_t);
    const std::optional<uint64_t> bytes = reader_.ReadLittleEndian(size);
    if (!bytes) return ReadError();
    if (opcode == RdbOpcode::kFrequency) {
      prefix_.frequency = static_cast<uint8_t>(*bytes);
    } else if (opcode == RdbOpcode::kExpiryMs) {
      prefix_.deadline_ms = static_cast<int64_t>(*bytes);
    } else {
      prefix_.deadline_ms = static_cast<int32_t>(*bytes) * kMillisPerSecond;
    }
    // As in Redis, -1 is no deadline.
    if (prefix_.deadline_ms == -1) prefix_.deadline_ms.reset();
    return absl::OkStatus();
  }

  absl::Status ReadField() {
    std::optional<std::string> name = reader_.ReadString();
    std::optional<std::string> value = name ? reader_.ReadString() : std::nullopt;
    if (!value) return ReadError(", a field of the file");
    const bool is_time = *name == "ctime";
    const std::optional<int64_t> seconds = is_time ? base::ParseInt64(*value) : std::nullopt;
    if (seconds && options_.time_policy == RdbLoadOptions::TimePolicy::kShiftToNow) {
      int64_t created_ms = 0;
      if (!__builtin_mul_overflow(*seconds, kMillisPerSecond, &created_ms)) {
        shift_ms_ = SaturatingAdd(now_ms_, -created_ms);
      }
    }
    report_.fields.emplace_back(*std::move(name), *std::move(value));
    return absl::OkStatus();
  }

  absl::Status SelectDatabase() {
    const uint64_t begin = reader_.offset() - 1;
    const std::optional<uint64_t> index = reader_.ReadLength();
    if (!index) return ReadError(", the number of a database");
    if (*index >= databases_.size()) {
      return ErrorAt(begin, absl::StatusCode::kFailedPrecondition,
                     absl::StrCat("database ", *index, ", but the engine has ", databases_.size(),
                                  " (EngineOptions::databases)"));
    }
    REDOUBLE_RETURN_IF_ERROR(IndexKeys());
    db_index_ = static_cast<int>(*index);
    appender_.emplace(*databases_[*index]);
    return absl::OkStatus();
  }

  // Loads the library on trial, so that an error has an offset and comes before any change.
  absl::Status ReadLibrary() {
    const uint64_t begin = reader_.offset() - 1;
    const std::optional<std::string_view> code = reader_.ReadStringView();
    if (!code) return ReadError(", the code of a function library");
    if (trial_ == nullptr) trial_ = std::make_unique<FunctionLibraries>(core_.compatibility());
    const store::Reply loaded = trial_->Load(*code, {});
    if (!loaded.is_error()) return absl::OkStatus();
    return ErrorAt(begin, absl::StatusCode::kDataLoss,
                   absl::StrCat("expected a function library: ", base::ToAbsl(loaded.text())));
  }

  absl::Status SkipModuleData() {
    std::optional<std::string> module = SkipModuleValue(reader_);
    if (!module) return ReadError(", the data of a module");
    report_.module_data.push_back(*std::move(module));
    return absl::OkStatus();
  }

  absl::Status ReadKey(RdbType type, uint64_t begin) {
    ++read_keys_;
    const KeyPrefix prefix = std::exchange(prefix_, {});
    const std::optional<std::string_view> key = reader_.ReadStringView();
    if (!key) return ReadError(", the name of a key");
    key_.assign(*key);
    const std::string_view type_name = NameOfRdbType(type);
    if (type == RdbType::kModule) return SkipModuleKey();
    if (!ReadsRdbType(type)) {
      return ErrorAt(begin, absl::StatusCode::kUnimplemented,
                     absl::StrCat("the key ", Quoted(key_), " in database ", db_index_,
                                  " has the type ", static_cast<int>(type), ", ",
                                  base::ToAbsl(type_name), ", which cannot be read"));
    }
    std::optional<FieldTimes> times;
    std::optional<Value> value = ReadRdbValue(type, reader_, core_.encoding_limits(), &times);
    if (!value) {
      return ReadError(base::ToStd(absl::StrCat(" in the key ", Quoted(key_), " of database ",
                                                db_index_, ", type ", static_cast<int>(type), ", ",
                                                base::ToAbsl(type_name))));
    }
    // Hashes of Redis 7.4 and later may be written as if they had times.
    if (times && times->empty() && !has_field_times_) times.reset();
    return Keep(*std::move(value), type, times, prefix, begin);
  }

  absl::Status SkipModuleKey() {
    std::optional<std::string> module = SkipModuleValue(reader_);
    if (!module) {
      return ReadError(base::ToStd(absl::StrCat(" in the key ", Quoted(key_), " of database ",
                                                db_index_, ", a module value")));
    }
    report_.module_keys.push_back({db_index_, key_, *std::move(module)});
    return absl::OkStatus();
  }

  // Adds the key that begins at `begin`, unless it is to be dropped.
  absl::Status Keep(Value value, RdbType type, const std::optional<FieldTimes>& times,
                    const KeyPrefix& prefix, uint64_t begin) {
    const bool shifts = options_.time_policy == RdbLoadOptions::TimePolicy::kShiftToNow;
    if (shifts && !shift_ms_ && (prefix.deadline_ms || times || value.As<Stream>() != nullptr)) {
      return ErrorAt(begin, absl::StatusCode::kFailedPrecondition,
                     absl::StrCat("the times of the key ", Quoted(key_),
                                  " cannot be shifted: the file has no ctime before it"));
    }
    if (value.empty()) {
      ++report_.empty_keys;
      return absl::OkStatus();
    }
    const int64_t shift_ms = shift_ms_.value_or(0);
    const bool expires = prefix.deadline_ms.has_value();
    const int64_t deadline_ms = SaturatingAdd(prefix.deadline_ms.value_or(0), shift_ms);
    const bool keeps_expired = options_.time_policy == RdbLoadOptions::TimePolicy::kKeepExpired;
    if (expires && deadline_ms < now_ms_ && !keeps_expired) {
      ++report_.expired_keys;
      if (options_.on_expired) options_.on_expired(db_index_, key_);
      return absl::OkStatus();
    }
    if (options_.keeps && !options_.keeps(key_)) {
      ++report_.filtered_keys;
      return absl::OkStatus();
    }
    if (times && !has_field_times_) return RefuseFieldTimes(type, begin);
    if (shift_ms != 0) {
      if (Stream* stream = value.As<Stream>()) ShiftTimes(*stream, shift_ms);
    }
    if (appender_->full()) REDOUBLE_RETURN_IF_ERROR(IndexKeys());
    begins_.push_back(begin);
    appender_->Add(key_, std::move(value)).eviction = RecordOf(prefix);
    if (times) KeepFieldTimes(*times, shift_ms);
    if (expires) appender_->SetExpiry(deadline_ms);
    ++report_.keys;
    return absl::OkStatus();
  }

  // The engine would write a file that no server of its version reads.
  absl::Status RefuseFieldTimes(RdbType type, uint64_t begin) const {
    return ErrorAt(
        begin, absl::StatusCode::kUnimplemented,
        absl::StrCat("the key ", Quoted(key_), " in database ", db_index_, " has the type ",
                     static_cast<int>(type), ", ", base::ToAbsl(NameOfRdbType(type)), ", which ",
                     base::ToAbsl(core_.compatibility().spec().name),
                     " does not have (EngineOptions::compatibility or --compatibility can "
                     "name a later version)"));
  }

  // Makes the keys added since the last call part of the database. After an error it does nothing.
  absl::Status IndexKeys() {
    if (!appender_) return absl::OkStatus();
    const Database& db = *databases_[static_cast<size_t>(db_index_)];
    const size_t first = db.size() - begins_.size();
    const std::optional<size_t> repeated = appender_->Index();
    if (repeated) {
      appender_.reset();
      return ErrorAt(begins_[*repeated - first], absl::StatusCode::kDataLoss,
                     absl::StrCat("expected a key that database ", db_index_,
                                  " does not have yet, found ", Quoted(db.at(*repeated).key())));
    }
    begins_.clear();
    return absl::OkStatus();
  }

  // Fields that have expired are removed when the clock moves.
  void KeepFieldTimes(FieldTimes times, int64_t shift_ms) const {
    for (auto& [field, deadline_ms] : times) deadline_ms = SaturatingAdd(deadline_ms, shift_ms);
    databases_[static_cast<size_t>(db_index_)]->NeedFieldDeadlines().Put(key_, times);
  }

  EvictionRecord RecordOf(const KeyPrefix& prefix) const {
    const auto now_s = static_cast<uint32_t>(now_ms_ / kMillisPerSecond);
    EvictionRecord record{.used_s = now_s, .frequency_minutes = EvictionRecord::MinutesOf(now_s)};
    if (prefix.idle_s && *prefix.idle_s <= now_s) {
      record.used_s = now_s - static_cast<uint32_t>(*prefix.idle_s);
    }
    if (prefix.frequency) record.frequency = *prefix.frequency;
    return record;
  }

  absl::Status ReadChecksum() {
    if (report_.version < kFirstChecksumVersion) return absl::OkStatus();
    const uint64_t actual = reader_.Checksum();
    const uint64_t begin = reader_.offset();
    const std::optional<uint64_t> written = reader_.ReadLittleEndian(kRdbChecksumBytes);
    if (!written) return ReadError(", the checksum");
    // Written if rdbchecksum is off.
    if (*written == 0) return absl::OkStatus();
    report_.has_checksum = true;
    if (*written == actual) return absl::OkStatus();
    return ErrorAt(
        begin, absl::StatusCode::kDataLoss,
        absl::StrCat("RDB CRC error: expected the checksum ", absl::Hex(actual, absl::kZeroPad16),
                     ", found ", absl::Hex(*written, absl::kZeroPad16)));
  }

  // Replaces libraries and keys, or adds to them. Libraries come first because only they can fail.
  absl::Status Commit() {
    if (options_.present == Present::kKept) REDOUBLE_RETURN_IF_ERROR(CheckThatNoKeyExists());
    REDOUBLE_RETURN_IF_ERROR(CommitLibraries());
    if (options_.present == Present::kRemoved) {
      core_.ReplaceDatabases(std::move(databases_));
    } else {
      AddKeys();
    }
    if (options_.within_command) return absl::OkStatus();
    core_.FinishCommand();
    core_.DeliverPending();
    return absl::OkStatus();
  }

  absl::Status CheckThatNoKeyExists() const {
    for (int index = 0; index < core_.database_count(); ++index) {
      const Database& loaded = *databases_[static_cast<size_t>(index)];
      for (size_t i = 0; i < loaded.size(); ++i) {
        if (core_.database(index).FindStored(loaded.at(i).key()) == nullptr) continue;
        return absl::AlreadyExistsError(
            absl::StrCat("the key ", Quoted(loaded.at(i).key()), " exists in database ", index));
      }
    }
    return absl::OkStatus();
  }

  void AddKeys() {
    for (int index = 0; index < core_.database_count(); ++index) {
      Database& from = *databases_[static_cast<size_t>(index)];
      Database& to = core_.database(index);
      for (size_t i = 0; i < from.size(); ++i) {
        Database::Entry& loaded = from.at(i);
        to.Remove(loaded.key());
        Database::Entry& added = to.Add(loaded.key(), std::move(loaded.value));
        added.eviction = loaded.eviction;
        const std::optional<int64_t> deadline_ms = from.DeadlineOf(loaded);
        if (deadline_ms) to.SetExpiry(added, *deadline_ms);
        const std::optional<FieldTimes> times = from.FieldDeadlinesOf(added.key());
        if (times) to.NeedFieldDeadlines().Put(added.key(), *times);
      }
    }
    core_.UpdateExpiry();
    core_.memory_limit().MeasureAll();
  }

  absl::Status CommitLibraries() {
    using Policy = FunctionLibraries::RestorePolicy;
    if (trial_ == nullptr) {
      if (options_.present == Present::kRemoved) core_.functions().Flush();
      return absl::OkStatus();
    }
    report_.libraries = trial_->library_count();
    Policy policy = Policy::kFlush;
    if (options_.present == Present::kKept) policy = Policy::kAppend;
    if (options_.present == Present::kReplaced) policy = Policy::kReplace;
    const store::Reply restored = core_.functions().Restore(trial_->Dump(), policy);
    if (!restored.is_error()) return absl::OkStatus();
    if (policy == Policy::kAppend) return absl::AlreadyExistsError(base::ToAbsl(restored.text()));
    return absl::InternalError(base::ToAbsl(restored.text()));
  }

  void ReportProgress() {
    next_progress_ = reader_.offset() + kProgressBytes;
    if (options_.on_progress) options_.on_progress(progress());
  }

  EngineCore& core_;
  const RdbLoadOptions options_;
  RdbReader reader_;
  const int64_t now_ms_;
  const bool has_field_times_;  // Whether fields of hashes may expire.
  RdbLoadReport report_;
  std::vector<std::unique_ptr<Database>> databases_;  // Those that replace the engine's.
  // Adds to the database of db_index_.
  std::optional<Database::Appender> appender_;
  // Where the keys begin that appender_ has not indexed yet.
  std::vector<uint64_t> begins_;
  std::unique_ptr<FunctionLibraries> trial_;
  // How far times are shifted; nullopt until it is known.
  std::optional<int64_t> shift_ms_;
  int db_index_ = 0;
  KeyPrefix prefix_;
  std::string key_;
  uint64_t read_keys_ = 0;  // Those that are dropped included.
  uint64_t next_progress_ = kProgressBytes;
};

}  // namespace

std::optional<std::string> RdbLoadReport::Field(std::string_view name) const {
  for (const auto& [field, value] : fields) {
    if (field == name) return value;
  }
  return std::nullopt;
}

absl::StatusOr<RdbLoadReport> LoadRdb(Engine& engine, ByteSource& source,
                                      const RdbLoadOptions& options) {
  RdbLoader loader(engine.core(), source, options);
  REDOUBLE_RETURN_IF_ERROR(FinishLoading(loader));
  return loader.report();
}

absl::Status FinishLoading(RdbLoad& load) {
  for (;;) {
    REDOUBLE_ASSIGN_OR_RETURN(const bool continues,
                              load.Continue(std::numeric_limits<uint64_t>::max()));
    if (!continues) return absl::OkStatus();
  }
}

uint64_t LoadPartBytes(const EngineOptions& options) {
  if (KeyLoadDelayMicros(options) > 0) return 1;
  return static_cast<uint64_t>(KeptNumber("loading-process-events-interval-bytes", options));
}

int64_t KeyLoadDelayMicros(const EngineOptions& options) {
  return KeptNumber("key-load-delay", options);
}

std::unique_ptr<RdbLoad> BeginLoadingRdb(Engine& engine, ByteSource& source,
                                         RdbLoadOptions options) {
  return std::make_unique<RdbLoader>(engine.core(), source, std::move(options));
}

}  // namespace redouble::inline v0_1::memory
