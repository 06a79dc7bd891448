#include "backends/memory/commands/info_memory.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "backends/memory/memory_limit.h"
#include "backends/memory/values/memory_usage.h"
#include "core/base/redis_number.h"

namespace redouble::memory {
namespace {

// "1.50M", as Redis writes sizes for people.
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

// What the keys take; of many, some are asked, which stand as far from each other as they can.
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

uint64_t UsedMemory(Engine& engine) {
  if (engine.memory_limit().on()) return engine.memory_limit().UsedBytes();
  uint64_t bytes = MemoryLimit::kEmptyServerBytes;
  for (int index = 0; index < engine.database_count(); ++index) {
    bytes += KeysMemory(engine.database(index));
  }
  return bytes;
}

std::vector<store::Reply> MemoryStats(Engine& engine) {
  using store::Reply;
  Host* host = engine.administration().host();
  const ProcessFigures process = host == nullptr ? ProcessFigures() : host->Figures();
  const uint64_t used = UsedMemory(engine);
  const uint64_t peak = engine.administration().NotePeakMemory(used);
  const uint64_t dataset = used - MemoryLimit::kEmptyServerBytes;
  size_t keys = 0;
  std::vector<Reply> stats;
  const auto bytes = [&](std::string_view name, uint64_t value) {
    stats.push_back(Reply::Bulk(name));
    stats.push_back(Reply::Integer(static_cast<int64_t>(value)));
  };
  const auto share = [&](std::string_view name, uint64_t part, uint64_t whole) {
    stats.push_back(Reply::Bulk(name));
    const double percent =
        whole == 0 ? 0 : static_cast<double>(part) * 100 / static_cast<double>(whole);
    stats.push_back(Reply::Double(base::FormatDouble(percent)));
  };
  bytes("peak.allocated", peak);
  bytes("total.allocated", used);
  bytes("startup.allocated", MemoryLimit::kEmptyServerBytes);
  for (const std::string_view none :
       {"replication.backlog", "clients.slaves", "clients.normal", "cluster.links", "aof.buffer",
        "lua.caches", "functions.caches"}) {
    bytes(none, 0);
  }
  for (int index = 0; index < engine.database_count(); ++index) {
    keys += engine.database(index).size();
  }
  bytes("overhead.total", MemoryLimit::kEmptyServerBytes);
  bytes("keys.count", keys);
  bytes("keys.bytes-per-key", keys == 0 ? 0 : dataset / keys);
  bytes("dataset.bytes", dataset);
  share("dataset.percentage", dataset, dataset);
  share("peak.percentage", used, peak);
  bytes("allocator.allocated", static_cast<uint64_t>(process.allocated_bytes));
  bytes("allocator.resident", static_cast<uint64_t>(process.resident_bytes));
  return stats;
}

void AppendMemory(Engine& engine, std::string& out) {
  Host* host = engine.administration().host();
  const ProcessFigures process = host == nullptr ? ProcessFigures() : host->Figures();
  const uint64_t used = UsedMemory(engine);
  const uint64_t peak = engine.administration().NotePeakMemory(used);
  const uint64_t dataset = used - MemoryLimit::kEmptyServerBytes;
  const EngineOptions& options = engine.options();
  AppendSize("used_memory", used, out);
  AppendSize("used_memory_rss", static_cast<uint64_t>(process.resident_bytes), out);
  AppendSize("used_memory_peak", peak, out);
  absl::StrAppend(&out, "used_memory_peak_perc:", Percent(used, peak),
                  "\r\nused_memory_overhead:", MemoryLimit::kEmptyServerBytes,
                  "\r\nused_memory_startup:", MemoryLimit::kEmptyServerBytes,
                  "\r\nused_memory_dataset:", dataset,
                  "\r\nused_memory_dataset_perc:", Percent(dataset, std::max<uint64_t>(dataset, 1)),
                  "\r\nallocator_allocated:", process.allocated_bytes,
                  "\r\nallocator_resident:", process.resident_bytes, "\r\n");
  AppendSize("total_system_memory", static_cast<uint64_t>(process.system_memory_bytes), out);
  AppendSize("maxmemory", options.maxmemory_bytes, out);
  const std::string_view policy =
      kMaxmemoryPolicyNames[static_cast<size_t>(options.maxmemory_policy)];
  absl::StrAppend(&out, "maxmemory_policy:", absl::string_view(policy.data(), policy.size()),
                  "\r\nmem_fragmentation_ratio:",
                  absl::StrFormat("%.2f", static_cast<double>(process.resident_bytes) /
                                              static_cast<double>(used)),
                  "\r\nmem_not_counted_for_evict:0\r\nmem_replication_backlog:0\r\n",
                  "mem_clients_slaves:0\r\nmem_cluster_links:0\r\nmem_aof_buffer:0\r\n",
                  "mem_allocator:libc\r\nactive_defrag_running:0\r\n",
                  "lazyfree_pending_objects:0\r\nlazyfreed_objects:0\r\n");
}

}  // namespace redouble::memory
