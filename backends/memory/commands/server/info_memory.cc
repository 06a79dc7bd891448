#include "redouble/backends/memory/commands/server/info_memory.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "redouble/backends/memory/engine/client_line.h"
#include "redouble/backends/memory/eviction/memory_limit.h"
#include "redouble/backends/memory/scripting/function_libraries.h"
#include "redouble/backends/memory/scripting/script_cache.h"
#include "redouble/backends/memory/values/memory_usage.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::memory {
namespace {

// "1.50M", as Redis writes human-readable sizes.
std::string ForPeople(uint64_t bytes) {
  constexpr char kUnits[] = {'B', 'K', 'M', 'G', 'T', 'P'};
  if (bytes < 1024) return absl::StrCat(bytes, "B");
  double amount = static_cast<double>(bytes);
  size_t unit = 0;
  while (amount >= 1024 && unit + 1 < std::size(kUnits)) {
    amount /= 1024;
    ++unit;
  }
  return absl::StrFormat("%.2f%c", amount, kUnits[unit]);
}

// "name:12\r\nname_human:12B\r\n"
void AppendSize(std::string_view name, uint64_t bytes, std::string& out) {
  const absl::string_view key(name.data(), name.size());
  absl::StrAppend(&out, key, ":", bytes, "\r\n", key, "_human:", ForPeople(bytes), "\r\n");
}

std::string Percent(uint64_t part, uint64_t whole) {
  const double share = whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
  return absl::StrFormat("%.2f%%", share * 100);
}

// The size in bytes of Redis's hash table with this many entries: a power of two of buckets.
uint64_t TableBytes(size_t entries, uint64_t bytes_per_entry) {
  constexpr size_t kFewestSlots = 4;
  constexpr uint64_t kSlotBytes = 8;
  if (entries == 0) return 0;
  return std::bit_ceil(std::max(entries, kFewestSlots)) * kSlotBytes + entries * bytes_per_entry;
}

struct DatabaseOverhead {
  int index;
  uint64_t main_bytes;
  uint64_t expires_bytes;
};

// The figures of INFO memory and MEMORY STATS.
struct MemoryFigures {
  ProcessFigures process;
  uint64_t used_bytes = 0;
  uint64_t peak_bytes = 0;
  uint64_t overhead_bytes = MemoryLimit::kEmptyServerBytes;
  uint64_t clients_bytes = 0;  // Only large buffers are part of used_bytes.
  uint64_t replicas_bytes = 0;
  uint64_t backlog_bytes = 0;
  uint64_t stream_bytes = 0;  // The backlog, and what replicas have not read.
  uint64_t keys = 0;
  std::vector<DatabaseOverhead> databases;

  uint64_t keys_bytes() const { return used_bytes - MemoryLimit::kEmptyServerBytes; }
  uint64_t dataset_bytes() const { return used_bytes - std::min(used_bytes, overhead_bytes); }
  double resident_per_used() const {
    return static_cast<double>(process.resident_bytes) / static_cast<double>(used_bytes);
  }
  int64_t resident_beyond_used() const {
    return process.resident_bytes - static_cast<int64_t>(used_bytes);
  }
  // Active and resident pages are reported as equal.
  double resident_per_allocated() const {
    if (process.allocated_bytes == 0) return 0;
    return static_cast<double>(process.resident_bytes) /
           static_cast<double>(process.allocated_bytes);
  }
  int64_t resident_beyond_allocated() const {
    return process.resident_bytes - process.allocated_bytes;
  }
};

MemoryFigures FiguresOf(EngineCore& engine) {
  // Source: Redis 7.0, the size of a table's entry and of its value's object.
  constexpr uint64_t kMainEntryBytes = 24 + 16;
  constexpr uint64_t kExpiresEntryBytes = 24;
  MemoryFigures figures;
  if (Host* host = engine.administration().host()) figures.process = host->Figures();
  figures.used_bytes = UsedMemory(engine);
  figures.peak_bytes = engine.administration().NotePeakMemory(figures.used_bytes);
  for (const auto& [id, session] : engine.administration().sessions()) {
    // Redis measures a client after its command, whose words are gone.
    const uint64_t bytes = BytesOf(engine, *session) - FiguresOf(engine, *session).argument_bytes;
    if (IsReplica(engine, *session)) {
      figures.replicas_bytes += bytes;
      figures.stream_bytes += FiguresOf(engine, *session).output_bytes;
    } else {
      figures.clients_bytes += bytes;
    }
  }
  if (const Replication* replication = engine.administration().replication()) {
    figures.backlog_bytes = static_cast<uint64_t>(replication->figures().backlog_length);
    figures.stream_bytes += figures.backlog_bytes;
  }
  for (int index = 0; index < engine.database_count(); ++index) {
    const Database& db = engine.database(index);
    if (db.size() == 0) continue;
    figures.keys += db.size();
    const DatabaseOverhead& overhead = figures.databases.emplace_back(
        DatabaseOverhead{index, TableBytes(db.size(), kMainEntryBytes),
                         TableBytes(db.expiring(), kExpiresEntryBytes)});
    figures.overhead_bytes += overhead.main_bytes + overhead.expires_bytes;
  }
  return figures;
}

double PercentOf(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) * 100 / static_cast<double>(whole);
}

void AppendScripting(EngineCore& engine, std::string& out) {
  const ScriptCache& scripts = engine.scripts();
  const FunctionLibraries& functions = engine.functions();
  const size_t eval_lua = scripts.lua_bytes();
  const size_t functions_lua = functions.lua_bytes();
  absl::StrAppend(&out, "used_memory_lua:", eval_lua, "\r\nused_memory_vm_eval:", eval_lua,
                  "\r\nused_memory_lua_human:", ForPeople(eval_lua),
                  "\r\nused_memory_scripts_eval:", scripts.text_bytes(),
                  "\r\nnumber_of_cached_scripts:", scripts.size(),
                  "\r\nnumber_of_functions:", functions.function_count(),
                  "\r\nnumber_of_libraries:", functions.library_count(),
                  "\r\nused_memory_vm_functions:", functions_lua, "\r\n");
  AppendSize("used_memory_vm_total", eval_lua + functions_lua, out);
  absl::StrAppend(&out, "used_memory_functions:", functions.text_bytes(), "\r\n");
  AppendSize("used_memory_scripts", scripts.text_bytes() + functions.text_bytes(), out);
}

// The size of all keys. In a large database it is estimated from keys at equal distances.
uint64_t KeysMemory(const Database& db) {
  constexpr size_t kAsked = 4096;
  const size_t step = std::max<size_t>(db.size() / kAsked, 1);
  uint64_t bytes = 0;
  size_t asked = 0;
  for (size_t i = 0; i < db.size(); i += step) {
    bytes += MemoryUsage(db.at(i).key(), db.at(i).value);
    ++asked;
  }
  if (step == 1) return bytes;
  return static_cast<uint64_t>(static_cast<double>(bytes) / static_cast<double>(asked) *
                               static_cast<double>(db.size()));
}

}  // namespace

uint64_t UsedMemory(EngineCore& engine) {
  const uint64_t client_bytes = engine.administration().client_buffer_bytes();
  MemoryLimit& limit = engine.memory_limit();
  limit.set_client_bytes(client_bytes);
  if (limit.on()) return limit.UsedBytes();
  uint64_t bytes = MemoryLimit::kEmptyServerBytes + client_bytes;
  for (int index = 0; index < engine.database_count(); ++index) {
    bytes += KeysMemory(engine.database(index));
  }
  return bytes;
}

std::vector<store::Reply> MemoryStats(EngineCore& engine) {
  using store::Reply;
  const MemoryFigures figures = FiguresOf(engine);
  std::vector<Reply> stats;
  const auto add = [&](std::string_view name, Reply value) {
    stats.push_back(Reply::Bulk(name));
    stats.push_back(std::move(value));
  };
  const auto number = [](auto value) { return Reply::Integer(static_cast<int64_t>(value)); };
  const auto ratio = [](double value) { return Reply::Double(base::FormatDouble(value)); };
  add("peak.allocated", number(figures.peak_bytes));
  add("total.allocated", number(figures.used_bytes));
  add("startup.allocated", number(MemoryLimit::kEmptyServerBytes));
  add("replication.backlog", number(0));
  add("clients.slaves", number(figures.replicas_bytes));
  add("clients.normal", number(figures.clients_bytes));
  add("cluster.links", number(0));
  add("aof.buffer", number(0));
  add("lua.caches", number(engine.scripts().text_bytes()));
  add("functions.caches", number(engine.functions().text_bytes()));
  for (const DatabaseOverhead& db : figures.databases) {
    std::vector<Reply> overhead;
    overhead.push_back(Reply::Bulk("overhead.hashtable.main"));
    overhead.push_back(number(db.main_bytes));
    overhead.push_back(Reply::Bulk("overhead.hashtable.expires"));
    overhead.push_back(number(db.expires_bytes));
    overhead.push_back(Reply::Bulk("overhead.hashtable.slot-to-keys"));
    overhead.push_back(number(0));
    add(absl::StrCat("db.", db.index), Reply::Map(std::move(overhead)));
  }
  add("overhead.total", number(figures.overhead_bytes));
  add("keys.count", number(figures.keys));
  add("keys.bytes-per-key", number(figures.keys == 0 ? 0 : figures.keys_bytes() / figures.keys));
  add("dataset.bytes", number(figures.dataset_bytes()));
  add("dataset.percentage", ratio(PercentOf(figures.dataset_bytes(), figures.keys_bytes())));
  add("peak.percentage", ratio(PercentOf(figures.used_bytes, figures.peak_bytes)));
  add("allocator.allocated", number(figures.process.allocated_bytes));
  add("allocator.active", number(figures.process.resident_bytes));
  add("allocator.resident", number(figures.process.resident_bytes));
  add("allocator-fragmentation.ratio", ratio(figures.resident_per_allocated()));
  add("allocator-fragmentation.bytes", number(figures.resident_beyond_allocated()));
  add("allocator-rss.ratio", ratio(1));
  add("allocator-rss.bytes", number(0));
  add("rss-overhead.ratio", ratio(1));
  add("rss-overhead.bytes", number(0));
  add("fragmentation", ratio(figures.resident_per_used()));
  add("fragmentation.bytes", number(figures.resident_beyond_used()));
  return stats;
}

void AppendMemory(EngineCore& engine, std::string& out) {
  const MemoryFigures figures = FiguresOf(engine);
  AppendSize("used_memory", figures.used_bytes, out);
  AppendSize("used_memory_rss", static_cast<uint64_t>(figures.process.resident_bytes), out);
  AppendSize("used_memory_peak", figures.peak_bytes, out);
  absl::StrAppend(
      &out, "used_memory_peak_perc:", Percent(figures.used_bytes, figures.peak_bytes),
      "\r\nused_memory_overhead:", figures.overhead_bytes,
      "\r\nused_memory_startup:", MemoryLimit::kEmptyServerBytes,
      "\r\nused_memory_dataset:", figures.dataset_bytes(),
      "\r\nused_memory_dataset_perc:", Percent(figures.dataset_bytes(), figures.keys_bytes()),
      "\r\nallocator_allocated:", figures.process.allocated_bytes,
      "\r\nallocator_active:", figures.process.resident_bytes,
      "\r\nallocator_resident:", figures.process.resident_bytes, "\r\n");
  AppendSize("total_system_memory", static_cast<uint64_t>(figures.process.system_memory_bytes),
             out);
  AppendScripting(engine, out);
  AppendSize("maxmemory", engine.options().maxmemory_bytes, out);
  const auto policy = static_cast<size_t>(engine.options().maxmemory_policy);
  absl::StrAppend(&out, "maxmemory_policy:", base::ToAbsl(kMaxmemoryPolicyNames[policy]), "\r\n");
  absl::StrAppend(
      &out, absl::StrFormat("allocator_frag_ratio:%.2f\r\n", figures.resident_per_allocated()),
      "allocator_frag_bytes:", figures.resident_beyond_allocated(),
      "\r\nallocator_rss_ratio:1.00\r\nallocator_rss_bytes:0\r\n",
      "rss_overhead_ratio:1.00\r\nrss_overhead_bytes:0\r\n",
      absl::StrFormat("mem_fragmentation_ratio:%.2f\r\n", figures.resident_per_used()),
      "mem_fragmentation_bytes:", figures.resident_beyond_used(),
      "\r\nmem_not_counted_for_evict:0\r\nmem_replication_backlog:", figures.backlog_bytes,
      "\r\nmem_total_replication_buffers:", figures.stream_bytes,
      "\r\nmem_clients_slaves:", figures.replicas_bytes,
      "\r\nmem_clients_normal:", figures.clients_bytes,
      "\r\nmem_cluster_links:0\r\nmem_aof_buffer:0\r\nmem_allocator:libc\r\n",
      "active_defrag_running:0\r\nlazyfree_pending_objects:0\r\nlazyfreed_objects:",
      engine.lazyfreed_objects(), "\r\n");
}

}  // namespace redouble::inline v0_1::memory
