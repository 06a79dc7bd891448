#include "redouble/sim/inspect/inspect.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/table/key_type.h"
#include "redouble/core/store/typed/keys.h"

namespace redouble::inline v0_1::sim {
namespace {

using store::Batch;
using store::CommandId;
using store::KeyType;
using store::Reply;

constexpr std::array<std::string_view, kAnomalyKinds> kKindNames = {"unknown_key", "wrong_type",
                                                                    "missing_ttl", "orphan"};

// The command that returns the size of a type.
struct SizeRow {
  KeyType type;
  CommandId command;
};
constexpr std::array kSizes = {
    SizeRow{KeyType::kString, CommandId::kStrLen}, SizeRow{KeyType::kList, CommandId::kLLen},
    SizeRow{KeyType::kSet, CommandId::kSCard},     SizeRow{KeyType::kSortedSet, CommandId::kZCard},
    SizeRow{KeyType::kHash, CommandId::kHLen},     SizeRow{KeyType::kStream, CommandId::kXLen},
};

// What was read about a key.
struct ReadKey {
  std::string key;
  std::string type_name;
  KeyType type = KeyType::kNone;  // kNone also for an unknown type.
  std::optional<int64_t> ttl_ms;
  int64_t size = 0;
};

// Reads the types and TTLs of a page; keys that no longer exist are left out.
base::Task<absl::StatusOr<std::vector<ReadKey>>> ReadTypes(store::Store& store,
                                                           std::vector<std::string> keys) {
  Batch batch(Batch::Atomicity::kPipeline);
  for (const std::string& key : keys) {
    batch.Add(CommandId::kType).Add(key);
    batch.Add(CommandId::kPTtl).Add(key);
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<Reply> replies, co_await store::Execute(store, batch));
  std::vector<ReadKey> read;
  for (size_t i = 0; i < keys.size(); ++i) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(std::string type, store::DecodeString(std::move(replies[2 * i])));
    REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t pttl,
                                 store::DecodeInteger(std::move(replies[2 * i + 1])));
    if (type == "none" || pttl == -2) continue;
    ReadKey& key = read.emplace_back();
    key.key = std::move(keys[i]);
    key.type = store::ParseKeyType(type).value_or(KeyType::kNone);
    key.type_name = std::move(type);
    if (pttl >= 0) key.ttl_ms = pttl;
  }
  co_return read;
}

base::Task<absl::Status> ReadSizes(store::Store& store, std::vector<ReadKey>& keys) {
  Batch batch(Batch::Atomicity::kPipeline);
  std::vector<ReadKey*> asked;
  for (ReadKey& key : keys) {
    const auto row = std::find_if(kSizes.begin(), kSizes.end(),
                                  [&](const SizeRow& size) { return size.type == key.type; });
    if (row == kSizes.end()) continue;
    batch.Add(row->command).Add(key.key);
    asked.push_back(&key);
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<Reply> replies, co_await store::Execute(store, batch));
  for (size_t i = 0; i < asked.size(); ++i) {
    // A key whose type has changed since has no size.
    if (replies[i].is_integer()) asked[i]->size = replies[i].integer();
  }
  co_return absl::OkStatus();
}

// Collects counts and anomalies from the keys that were read.
class Inspector {
 public:
  Inspector(const RuleTable& table, size_t listed)
      : table_(table), listed_(listed), provided_(table.relation_count()) {
    for (const store::KeyFamily* family : table.families()) {
      counts_.emplace_back();
      counts_.back().family = family;
    }
  }

  // Returns the keys that were not seen before.
  std::vector<std::string> TakeNew(std::vector<std::string> keys) {
    std::erase_if(keys, [this](const std::string& key) { return !seen_.insert(key).second; });
    return keys;
  }

  void Add(const ReadKey& key) {
    ++found_.keys;
    const std::optional<KeyReading> reading = table_.Read(key.key, key.type);
    if (!reading) {
      Report(AnomalyKind::kUnknownKey, key.key, absl::StrCat("a ", key.type_name, " of no family"));
      return;
    }
    Count(key, *reading);
    const absl::string_view id = base::ToAbsl(reading->family->id);
    if (!reading->has_type) {
      const bool is_channel = reading->family->type == KeyType::kNone;
      const absl::string_view expected =
          is_channel ? "channel" : base::ToAbsl(store::KeyTypeName(reading->family->type));
      Report(AnomalyKind::kWrongType, key.key,
             absl::StrCat("a ", key.type_name, ", ", id, " is a ", expected));
    }
    if (reading->must_expire && !key.ttl_ms) {
      Report(AnomalyKind::kMissingTtl, key.key,
             absl::StrCat("never expires; ", id, ": ", base::ToAbsl(reading->family->ttl_rule)));
    }
    for (const RelationEnd& end : reading->provided) provided_[end.relation].insert(end.common);
    for (const RelationEnd& end : reading->needed) needs_.push_back(Need{end, key.key});
  }

  // A key whose related key was not seen.
  struct Need {
    RelationEnd end;
    std::string key;
  };
  std::vector<Need> TakeUnmet() {
    std::erase_if(needs_, [this](const Need& need) {
      return provided_[need.end.relation].contains(need.end.common);
    });
    return std::move(needs_);
  }

  void ReportOrphan(const Need& need) {
    const store::KeyRelation& relation = table_.relation(need.end.relation);
    Report(AnomalyKind::kOrphan, need.key,
           absl::StrCat(base::ToAbsl(relation.family), " without ", base::ToAbsl(relation.needs),
                        ": ", base::ToAbsl(relation.without)));
  }

  Inspection Finish() {
    std::erase_if(counts_, [](const FamilyKeys& family) { return family.keys == 0; });
    found_.families = std::move(counts_);
    for (const std::set<Anomaly>& listed : reported_) {
      found_.anomalies.insert(found_.anomalies.end(), listed.begin(), listed.end());
    }
    return std::move(found_);
  }

 private:
  void Count(const ReadKey& key, const KeyReading& reading) {
    FamilyKeys& family =
        *std::find_if(counts_.begin(), counts_.end(),
                      [&](const FamilyKeys& other) { return other.family == reading.family; });
    const bool is_first = family.keys++ == 0;
    family.size += key.size;
    if (is_first || key.size > family.largest ||
        (key.size == family.largest && key.key < family.largest_key)) {
      family.largest = key.size;
      family.largest_key = key.key;
    }
    if (!key.ttl_ms) {
      ++family.without_ttl;
      return;
    }
    family.shortest_ttl_ms = std::min(*key.ttl_ms, family.shortest_ttl_ms.value_or(*key.ttl_ms));
    family.longest_ttl_ms = std::max(*key.ttl_ms, family.longest_ttl_ms.value_or(*key.ttl_ms));
  }

  // If there are too many, the selection must not depend on the order of SCAN.
  void Report(AnomalyKind kind, const std::string& key, std::string message) {
    ++found_.anomaly_counts[static_cast<size_t>(kind)];
    std::set<Anomaly>& listed = reported_[static_cast<size_t>(kind)];
    listed.insert(Anomaly{kind, key, std::move(message)});
    if (listed.size() > listed_) listed.erase(std::prev(listed.end()));
  }

  const RuleTable& table_;
  const size_t listed_;
  absl::flat_hash_set<std::string> seen_;
  std::vector<FamilyKeys> counts_;
  std::vector<absl::flat_hash_set<std::string>> provided_;  // By relation.
  std::vector<Need> needs_;
  std::array<std::set<Anomaly>, kAnomalyKinds> reported_;
  Inspection found_;
};

base::Task<absl::Status> ReadPage(store::Store& store, std::vector<std::string> keys,
                                  Inspector& inspector) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<ReadKey> read,
                               co_await ReadTypes(store, std::move(keys)));
  REDOUBLE_CO_RETURN_IF_ERROR(co_await ReadSizes(store, read));
  for (const ReadKey& key : read) inspector.Add(key);
  co_return absl::OkStatus();
}

// SCAN reads the two keys at different times, so both are checked again: an orphan exists now, and
// its related key does not. If several keys could be the related one, the scan has to suffice.
base::Task<absl::StatusOr<bool>> IsOrphan(store::Store& store, const RuleTable& table,
                                          const Inspector::Need& need) {
  const absl::StatusOr<bool> is_there = co_await store::Exists(store, need.key);
  if (!is_there.ok() || !*is_there) co_return is_there;
  const std::optional<std::string> needed = table.NeededKey(need.end);
  if (!needed) co_return true;
  REDOUBLE_CO_ASSIGN_OR_RETURN(const bool is_met, co_await store::Exists(store, *needed));
  co_return !is_met;
}

base::Task<absl::Status> FindOrphans(store::Store& store, const RuleTable& table,
                                     Inspector& inspector) {
  const std::vector<Inspector::Need> unmet = inspector.TakeUnmet();
  for (const Inspector::Need& need : unmet) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const bool is_orphan, co_await IsOrphan(store, table, need));
    if (is_orphan) inspector.ReportOrphan(need);
  }
  co_return absl::OkStatus();
}

}  // namespace

std::string_view AnomalyKindName(AnomalyKind kind) { return kKindNames[static_cast<size_t>(kind)]; }

bool Inspection::has_anomalies() const {
  return std::any_of(anomaly_counts.begin(), anomaly_counts.end(),
                     [](int64_t count) { return count > 0; });
}

base::Task<absl::StatusOr<Inspection>> InspectKeys(store::Store& store, const RuleTable& table,
                                                   InspectOptions options) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t total, co_await store::DbSize(store));
  Inspector inspector(table, options.listed_anomalies);
  store::ScanOptions scan;
  scan.count = options.page_keys;
  std::string cursor = "0";
  int64_t read = 0;
  do {
    REDOUBLE_CO_ASSIGN_OR_RETURN(store::ScanPage page, co_await store::Scan(store, cursor, scan));
    cursor = std::move(page.cursor);
    std::vector<std::string> keys = inspector.TakeNew(std::move(page.keys));
    read += static_cast<int64_t>(keys.size());
    REDOUBLE_CO_RETURN_IF_ERROR(co_await ReadPage(store, std::move(keys), inspector));
    if (options.progress) options.progress(read, total);
  } while (cursor != "0");
  REDOUBLE_CO_RETURN_IF_ERROR(co_await FindOrphans(store, table, inspector));
  co_return inspector.Finish();
}

}  // namespace redouble::inline v0_1::sim
