#include "redouble/backends/memory/snapshot/save_rdb.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "redouble/backends/memory/commands/server/info_memory.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine_options.h"
#include "redouble/backends/memory/keyspace/database.h"
#include "redouble/backends/memory/keyspace/eviction_record.h"
#include "redouble/backends/memory/keyspace/keyspace_walk.h"
#include "redouble/backends/memory/persistence/rdb_codec.h"
#include "redouble/backends/memory/persistence/rdb_value.h"
#include "redouble/backends/memory/scripting/function_libraries.h"
#include "redouble/backends/memory/snapshot/rdb_opcode.h"
#include "redouble/core/base/hash/crc.h"
#include "redouble/core/base/status/status_macros.h"

namespace redouble::inline v0_1::memory {

class RdbSave::Saver {
 public:
  Saver(EngineCore& core, RdbSaveOptions options)
      : core_(core),
        options_(std::move(options)),
        compression_(options_.compresses ? RdbCompression::kOn : RdbCompression::kOff),
        format_{.version = core.compatibility().spec().rdb_version, .compression = compression_},
        saves_idle_(IsLru(core.options().maxmemory_policy)),
        saves_frequency_(IsLfu(core.options().maxmemory_policy)),
        decay_minutes_(core.options().lfu_decay_time_minutes),
        now_s_(static_cast<uint32_t>(core.clock().NowMillis() / 1000)),
        sizes_(SizesOfAll()),
        walk_(Databases(), Encoder(), saves_idle_ || saves_frequency_) {
    core_.AddWalk(walk_);
    AppendHeader();
    for (const FunctionLibraries::Library* library : core_.functions().List()) {
      AppendOpcode(RdbOpcode::kFunction, buffer_);
      AppendRdbString(library->code, buffer_, compression_);
    }
    BeginDatabase();
  }
  Saver(const Saver&) = delete;
  Saver& operator=(const Saver&) = delete;
  ~Saver() { core_.RemoveWalk(walk_); }

  absl::StatusOr<bool> Continue(ByteSink& sink, size_t part_bytes) {
    while (buffer_.size() < part_bytes && index_ < sizes_.size()) {
      const size_t before = buffer_.size();
      if (walk_.Next(index_, buffer_)) {
        if (buffer_.size() > before) ++written_keys_;
        continue;
      }
      ++index_;
      BeginDatabase();
    }
    const bool is_last = index_ == sizes_.size();
    if (is_last) AppendOpcode(RdbOpcode::kEnd, buffer_);
    REDOUBLE_RETURN_IF_ERROR(Flush(sink));
    if (!is_last) return true;
    AppendLittleEndian(options_.has_checksum ? checksum_ : 0, kRdbChecksumBytes, buffer_);
    REDOUBLE_RETURN_IF_ERROR(Flush(sink));
    return false;
  }

  uint64_t keys() const {
    return std::transform_reduce(sizes_.begin(), sizes_.end(), uint64_t{0}, std::plus<>(),
                                 [](const Sizes& sizes) { return sizes.keys; });
  }
  uint64_t written_keys() const { return written_keys_; }

 private:
  // Of a database: the keys that are saved, and those of them with a deadline.
  struct Sizes {
    uint64_t keys = 0;
    uint64_t expiring = 0;
  };

  static void AppendOpcode(RdbOpcode opcode, std::string& out) {
    out.push_back(static_cast<char>(opcode));
  }

  void AppendField(std::string_view name, std::string_view value) {
    AppendOpcode(RdbOpcode::kAux, buffer_);
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

  std::vector<Sizes> SizesOfAll() {
    core_.RemoveExpired();
    std::vector<Sizes> sizes;
    for (const Database* db : Databases()) sizes.push_back(SizesOf(*db));
    return sizes;
  }

  Sizes SizesOf(const Database& db) const {
    if (!options_.keeps) return {db.size(), db.expiring()};
    Sizes sizes;
    for (size_t i = 0; i < db.size(); ++i) {
      if (!options_.keeps(db.at(i).key())) continue;
      ++sizes.keys;
      sizes.expiring += db.DeadlineOf(db.at(i)) ? 1 : 0;
    }
    return sizes;
  }

  std::vector<Database*> Databases() const {
    std::vector<Database*> databases;
    for (int index = 0; index < core_.database_count(); ++index) {
      databases.push_back(&core_.database(index));
    }
    return databases;
  }

  void BeginDatabase() {
    if (index_ == sizes_.size() || sizes_[index_].keys == 0) return;
    AppendOpcode(RdbOpcode::kSelectDb, buffer_);
    AppendRdbLength(index_, buffer_);
    AppendOpcode(RdbOpcode::kResize, buffer_);
    AppendRdbLength(sizes_[index_].keys, buffer_);
    AppendRdbLength(sizes_[index_].expiring, buffer_);
  }

  EncodeKey Encoder() const {
    return [this](const Database& db, const Database::Entry& entry, EvictionRecord use,
                  std::string& out) {
      if (!options_.keeps || options_.keeps(entry.key())) AppendKey(db, entry, use, out);
    };
  }

  void AppendKey(const Database& db, const Database::Entry& entry, EvictionRecord use,
                 std::string& out) const {
    if (const std::optional<int64_t> deadline_ms = db.DeadlineOf(entry)) {
      AppendOpcode(RdbOpcode::kExpiryMs, out);
      AppendLittleEndian(static_cast<uint64_t>(*deadline_ms), sizeof(*deadline_ms), out);
    }
    if (saves_idle_) {
      AppendOpcode(RdbOpcode::kIdle, out);
      AppendRdbLength(static_cast<uint64_t>(use.IdleSeconds(now_s_)), out);
    }
    if (saves_frequency_) {
      AppendOpcode(RdbOpcode::kFrequency, out);
      out.push_back(static_cast<char>(use.FrequencyNow(now_s_, decay_minutes_)));
    }
    const FieldDeadlines* deadlines = db.field_deadlines();
    const std::optional<FieldTimes> times =
        deadlines == nullptr ? std::nullopt : deadlines->ListOf(entry.key());
    const FieldTimes* of_hash = times ? &*times : nullptr;
    out.push_back(static_cast<char>(RdbTypeOf(entry.value, format_, of_hash)));
    AppendRdbString(entry.key(), out, compression_);
    AppendRdbValue(entry.value, out, format_, of_hash);
  }

  absl::Status Flush(ByteSink& sink) {
    checksum_ = base::Crc64(buffer_, checksum_);
    REDOUBLE_RETURN_IF_ERROR(sink.Write(buffer_));
    buffer_.clear();
    return absl::OkStatus();
  }

  EngineCore& core_;
  const RdbSaveOptions options_;
  const RdbCompression compression_;
  const RdbFormat format_;
  const bool saves_idle_;
  const bool saves_frequency_;
  const int decay_minutes_;
  const uint32_t now_s_;
  const std::vector<Sizes> sizes_;
  KeyspaceWalk walk_;
  size_t index_ = 0;  // Of the database.
  uint64_t written_keys_ = 0;
  std::string buffer_;
  uint64_t checksum_ = 0;
};

RdbSave::RdbSave(Engine& engine, RdbSaveOptions options)
    : saver_(std::make_unique<Saver>(engine.core(), std::move(options))) {}

RdbSave::~RdbSave() = default;

absl::StatusOr<bool> RdbSave::Continue(ByteSink& sink, size_t part_bytes) {
  return saver_->Continue(sink, part_bytes);
}

uint64_t RdbSave::keys() const { return saver_->keys(); }

uint64_t RdbSave::written_keys() const { return saver_->written_keys(); }

bool ContinueInFile(RdbSave& save, FileReplacement& file) {
  bool continues = false;
  const auto write = [&](ByteSink& sink) {
    const absl::StatusOr<bool> written = save.Continue(sink);
    continues = written.ok() && *written;
    return written.status();
  };
  return file.Write(write).ok() && file.SyncIfDue().ok() && continues;
}

absl::Status SaveRdb(Engine& engine, ByteSink& sink, const RdbSaveOptions& options) {
  RdbSave save(engine, options);
  for (;;) {
    REDOUBLE_ASSIGN_OR_RETURN(const bool continues, save.Continue(sink));
    if (!continues) return absl::OkStatus();
  }
}

}  // namespace redouble::inline v0_1::memory
