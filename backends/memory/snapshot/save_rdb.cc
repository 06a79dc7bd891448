#include "redouble/backends/memory/snapshot/save_rdb.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "redouble/backends/memory/commands/server/info_memory.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine_options.h"
#include "redouble/backends/memory/keyspace/database.h"
#include "redouble/backends/memory/persistence/rdb_codec.h"
#include "redouble/backends/memory/persistence/rdb_value.h"
#include "redouble/backends/memory/scripting/function_libraries.h"
#include "redouble/backends/memory/snapshot/rdb_opcode.h"
#include "redouble/core/base/hash/crc.h"
#include "redouble/core/base/status/status_macros.h"

namespace redouble::inline v0_1::memory {
namespace {

constexpr size_t kFlushBytes = size_t{1} << 16;

class RdbSaver {
 public:
  RdbSaver(EngineCore& core, ByteSink& sink, const RdbSaveOptions& options)
      : core_(core),
        sink_(sink),
        options_(options),
        compression_(options.compresses ? RdbCompression::kOn : RdbCompression::kOff),
        saves_idle_(IsLru(core.options().maxmemory_policy)),
        saves_frequency_(IsLfu(core.options().maxmemory_policy)),
        now_s_(static_cast<uint32_t>(core.clock().NowMillis() / 1000)) {}

  absl::Status Run() {
    core_.RemoveExpired();
    AppendHeader();
    for (const FunctionLibraries::Library* library : core_.functions().List()) {
      AppendOpcode(RdbOpcode::kFunction);
      AppendRdbString(library->code, buffer_, compression_);
      REDOUBLE_RETURN_IF_ERROR(FlushIfFull());
    }
    for (int index = 0; index < core_.database_count(); ++index) {
      REDOUBLE_RETURN_IF_ERROR(WriteDatabase(index));
    }
    AppendOpcode(RdbOpcode::kEnd);
    REDOUBLE_RETURN_IF_ERROR(Flush());
    AppendLittleEndian(options_.has_checksum ? checksum_ : 0, kRdbChecksumBytes, buffer_);
    return Flush();
  }

 private:
  void AppendOpcode(RdbOpcode opcode) { buffer_.push_back(static_cast<char>(opcode)); }

  void AppendField(std::string_view name, std::string_view value) {
    AppendOpcode(RdbOpcode::kAux);
    AppendRdbString(name, buffer_, compression_);
    AppendRdbString(value, buffer_, compression_);
  }

  void AppendHeader() {
    buffer_ += kRdbMagic;
    buffer_ += absl::StrFormat("%0*d", kRdbVersionDigits, core_.compatibility().spec().rdb_version);
    const store::VersionSpec& version = core_.compatibility().spec();
    const bool is_valkey = version.product == store::Product::kValkey;
    AppendField(is_valkey ? "valkey-ver" : "redis-ver", version.version);
    AppendField("redis-bits", "64");
    AppendField("ctime", std::to_string(core_.clock().NowMillis() / 1000));
    AppendField("used-mem", std::to_string(UsedMemory(core_)));
    if (options_.stream) {
      AppendField("repl-stream-db", std::to_string(options_.stream->db));
      AppendField("repl-id", options_.stream->id);
      AppendField("repl-offset", std::to_string(options_.stream->offset));
    }
    AppendField("aof-base", options_.is_log_base ? "1" : "0");
  }

  // The keys that are saved, and those of them with a deadline.
  std::pair<size_t, size_t> SizesOf(const Database& db) const {
    if (!options_.keeps) return {db.size(), db.expiring()};
    std::pair<size_t, size_t> sizes = {0, 0};
    for (size_t i = 0; i < db.size(); ++i) {
      if (!options_.keeps(db.at(i).key())) continue;
      ++sizes.first;
      sizes.second += db.DeadlineOf(db.at(i)) ? 1 : 0;
    }
    return sizes;
  }

  absl::Status WriteDatabase(int index) {
    const Database& db = core_.database(index);
    const auto [keys, expiring] = SizesOf(db);
    if (keys == 0) return absl::OkStatus();
    AppendOpcode(RdbOpcode::kSelectDb);
    AppendRdbLength(static_cast<uint64_t>(index), buffer_);
    AppendOpcode(RdbOpcode::kResize);
    AppendRdbLength(keys, buffer_);
    AppendRdbLength(expiring, buffer_);
    for (size_t i = 0; i < db.size(); ++i) {
      if (options_.keeps && !options_.keeps(db.at(i).key())) continue;
      AppendKey(db, db.at(i));
      REDOUBLE_RETURN_IF_ERROR(FlushIfFull());
    }
    return absl::OkStatus();
  }

  void AppendKey(const Database& db, const Database::Entry& entry) {
    if (const std::optional<int64_t> deadline_ms = db.DeadlineOf(entry)) {
      AppendOpcode(RdbOpcode::kExpiryMs);
      AppendLittleEndian(static_cast<uint64_t>(*deadline_ms), sizeof(*deadline_ms), buffer_);
    }
    if (saves_idle_) {
      AppendOpcode(RdbOpcode::kIdle);
      AppendRdbLength(static_cast<uint64_t>(entry.eviction.IdleSeconds(now_s_)), buffer_);
    }
    if (saves_frequency_) {
      AppendOpcode(RdbOpcode::kFrequency);
      buffer_.push_back(static_cast<char>(
          entry.eviction.FrequencyNow(now_s_, core_.options().lfu_decay_time_minutes)));
    }
    const RdbFormat format{.version = core_.compatibility().spec().rdb_version,
                           .compression = compression_};
    const FieldDeadlines* deadlines = db.field_deadlines();
    const std::optional<FieldTimes> times =
        deadlines == nullptr ? std::nullopt : deadlines->ListOf(entry.key());
    const FieldTimes* of_hash = times ? &*times : nullptr;
    buffer_.push_back(static_cast<char>(RdbTypeOf(entry.value, format, of_hash)));
    AppendRdbString(entry.key(), buffer_, compression_);
    AppendRdbValue(entry.value, buffer_, format, of_hash);
  }

  absl::Status FlushIfFull() { return buffer_.size() < kFlushBytes ? absl::OkStatus() : Flush(); }

  absl::Status Flush() {
    checksum_ = base::Crc64(buffer_, checksum_);
    REDOUBLE_RETURN_IF_ERROR(sink_.Write(buffer_));
    buffer_.clear();
    return absl::OkStatus();
  }

  EngineCore& core_;
  ByteSink& sink_;
  const RdbSaveOptions& options_;
  const RdbCompression compression_;
  const bool saves_idle_;
  const bool saves_frequency_;
  const uint32_t now_s_;
  std::string buffer_;
  uint64_t checksum_ = 0;
};

}  // namespace

absl::Status SaveRdb(Engine& engine, ByteSink& sink, const RdbSaveOptions& options) {
  return RdbSaver(engine.core(), sink, options).Run();
}

}  // namespace redouble::inline v0_1::memory
