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
#include "redouble/backends/memory/keyspace/eviction_record.h"
#include "redouble/backends/memory/persistence/rdb_codec.h"
#include "redouble/backends/memory/persistence/rdb_value.h"
#include "redouble/backends/memory/scripting/function_libraries.h"
#include "redouble/backends/memory/snapshot/keys_saver.h"
#include "redouble/backends/memory/snapshot/rdb_opcode.h"
#include "redouble/core/base/hash/crc.h"

namespace redouble::inline v0_1::memory {

namespace {

class RdbSaver final : public KeysSaver {
 public:
  RdbSaver(EngineCore& core, RdbSaveOptions options)
      : KeysSaver(core, options.keeps,
                  IsLru(core.options().maxmemory_policy) || IsLfu(core.options().maxmemory_policy)),
        options_(std::move(options)),
        compression_(options_.compresses ? RdbCompression::kOn : RdbCompression::kOff),
        format_{.version = core.compatibility().spec().rdb_version, .compression = compression_},
        saves_idle_(IsLru(core.options().maxmemory_policy)),
        saves_frequency_(IsLfu(core.options().maxmemory_policy)),
        decay_minutes_(core.options().lfu_decay_time_minutes),
        now_s_(static_cast<uint32_t>(core.clock().NowMillis() / 1000)) {
    AppendHeader();
    if (!options_.has_libraries) return;
    for (const FunctionLibraries::Library* library : core.functions().List()) {
      AppendOpcode(RdbOpcode::kFunction, buffer());
      AppendRdbString(library->code, buffer(), compression_);
    }
  }

 private:
  static void AppendOpcode(RdbOpcode opcode, std::string& out) {
    out.push_back(static_cast<char>(opcode));
  }

  void AppendField(std::string_view name, std::string_view value) {
    AppendOpcode(RdbOpcode::kAux, buffer());
    AppendRdbString(name, buffer(), compression_);
    AppendRdbString(value, buffer(), compression_);
  }

  void AppendHeader() {
    const store::VersionSpec& version = core().compatibility().spec();
    buffer() += kRdbMagic;
    buffer() += absl::StrFormat("%0*d", kRdbVersionDigits, version.rdb_version);
    const bool is_valkey = version.product == store::Product::kValkey;
    AppendField(is_valkey ? "valkey-ver" : "redis-ver", version.version);
    AppendField("redis-bits", "64");
    AppendField("ctime", std::to_string(core().clock().NowMillis() / 1000));
    AppendField("used-mem", std::to_string(UsedMemory(core())));
    if (options_.stream) {
      AppendField("repl-stream-db", std::to_string(options_.stream->db));
      AppendField("repl-id", options_.stream->id);
      AppendField("repl-offset", std::to_string(options_.stream->offset));
    }
    AppendField("aof-base", options_.is_log_base ? "1" : "0");
  }

  void AppendDatabase(size_t index, const Sizes& sizes, std::string& out) const override {
    AppendOpcode(RdbOpcode::kSelectDb, out);
    AppendRdbLength(index, out);
    AppendOpcode(RdbOpcode::kResize, out);
    AppendRdbLength(sizes.keys, out);
    AppendRdbLength(sizes.expiring, out);
  }

  void AppendKey(const Database& db, const Database::Entry& entry, EvictionRecord use,
                 std::string& out) const override {
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
    const std::optional<FieldTimes> times = db.FieldDeadlinesOf(entry.key());
    const FieldTimes* of_hash = times ? &*times : nullptr;
    out.push_back(static_cast<char>(RdbTypeOf(entry.value, format_, of_hash)));
    AppendRdbString(entry.key(), out, compression_);
    AppendRdbValue(entry.value, out, format_, of_hash);
  }

  void EndPart(std::string& part, bool is_last) override {
    if (is_last) AppendOpcode(RdbOpcode::kEnd, part);
    checksum_ = base::Crc64(part, checksum_);
    if (is_last) {
      AppendLittleEndian(options_.has_checksum ? checksum_ : 0, kRdbChecksumBytes, part);
    }
  }

  const RdbSaveOptions options_;
  const RdbCompression compression_;
  const RdbFormat format_;
  const bool saves_idle_;
  const bool saves_frequency_;
  const int decay_minutes_;
  const uint32_t now_s_;
  uint64_t checksum_ = 0;
};

}  // namespace

std::unique_ptr<KeysSave> BeginSavingRdb(Engine& engine, RdbSaveOptions options) {
  return std::make_unique<RdbSaver>(engine.core(), std::move(options));
}

absl::Status SaveRdb(Engine& engine, ByteSink& sink, const RdbSaveOptions& options) {
  return FinishSaving(*BeginSavingRdb(engine, options), sink);
}

}  // namespace redouble::inline v0_1::memory
