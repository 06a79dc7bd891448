#include "sim/inspect/inspect.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "core/base/string_bridge.h"
#include "core/store/batch.h"
#include "core/store/command.h"
#include "core/store/decode.h"
#include "core/store/key_type.h"
#include "core/store/keys.h"

namespace redouble::sim {
namespace {

using store::Batch;
using store::CommandId;
using store::KeyType;
using store::Reply;

constexpr std::array<std::string_view, kAnomalyKinds> kKindNames = {"unknown_key", "wrong_type",
                                                                    "missing_ttl", "orphan"};

// How the size of a type is asked for.
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
  KeyType type = KeyType::kNone;  // Also for a type that is none of ours.
  std::optional<int64_t> ttl_ms;
  int64_t size = 0;
};

// Types and times to live of a page; keys that are gone by now are left out.
base::Task<absl::StatusOr<std::vector<ReadKey>>> ReadTypes(store::Store& store,
                                                           std::vector<std::string> keys) {
  Batch batch(Batch::Atomicity::kPipeline);
  for (const std::string& key : keys) {
    batch.Add(CommandId::kType).Add(key);
    batch.Add(CommandId::kPTtl).Add(key);
  }
  absl::StatusOr<std::vector<Reply>> replies = co_await store::Execute(store, batch);
  if (!replies.ok()) co_return replies.status();
  std::vector<ReadKey> read;
  for (size_t i = 0; i < keys.size(); ++i) {
    absl::StatusOr<std::string> type = store::DecodeString(std::move((*replies)[2 * i]));
    if (!type.ok()) co_return type.status();
    const absl::StatusOr<int64_t> pttl = store::DecodeInteger(std::move((*replies)[2 * i + 1]));
    if (!pttl.ok()) co_return pttl.status();
    if (*type == "none" || *pttl == -2) continue;
    ReadKey& key = read.emplace_back();
    key.key = std::move(keys[i]);
    key.type = store::ParseKeyType(*type).value_or(KeyType::kNone);
    key.type_name = *std::move(type);
    if (*pttl >= 0) key.ttl_ms = *pttl;
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
  absl::StatusOr<std::vector<Reply>> replies = co_await store::Execute(store, batch);
  if (!replies.ok()) co_return replies.status();
  for (size_t i = 0; i < asked.size(); ++i) {
    // A key that became another type meanwhile has no size.
    if ((*replies)[i].is_integer()) asked[i]->size = (*replies)[i].integer();
  }
  co_return absl::OkStatus();
}

// Counts what it is shown.
class Inspector {
 public:
  Inspector(const RuleTable& table, size_t listed)
      : table_(table), listed_(listed), provided_(table.relation_count()) {
    for (const store::KeyFamily* family : table.families()) {
      counts_.emplace_back();
      counts_.back().family = family;
    }
  }

  // The keys that were not seen yet.
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

  // One key that lacks another, as far as was seen.
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

  // Which of too many are listed must not depend on the order of the scan.
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
  absl::StatusOr<std::vector<ReadKey>> read = co_await ReadTypes(store, std::move(keys));
  if (!read.ok()) co_return read.status();
  const absl::Status sized = co_await ReadSizes(store, *read);
  if (!sized.ok()) co_return sized;
  for (const ReadKey& key : *read) inspector.Add(key);
  co_return absl::OkStatus();
}

// The scan saw the two keys at different times: an orphan is one that is there now, and whose
// partner is not. Where several would do none was seen, which has to suffice.
base::Task<absl::StatusOr<bool>> IsOrphan(store::Store& store, const RuleTable& table,
                                          const Inspector::Need& need) {
  const absl::StatusOr<bool> is_there = co_await store::Exists(store, need.key);
  if (!is_there.ok() || !*is_there) co_return is_there;
  const std::optional<std::string> needed = table.NeededKey(need.end);
  if (!needed) co_return true;
  const absl::StatusOr<bool> is_met = co_await store::Exists(store, *needed);
  if (!is_met.ok()) co_return is_met;
  co_return !*is_met;
}

base::Task<absl::Status> FindOrphans(store::Store& store, const RuleTable& table,
                                     Inspector& inspector) {
  const std::vector<Inspector::Need> unmet = inspector.TakeUnmet();
  for (const Inspector::Need& need : unmet) {
    const absl::StatusOr<bool> is_orphan = co_await IsOrphan(store, table, need);
    if (!is_orphan.ok()) co_return is_orphan.status();
    if (*is_orphan) inspector.ReportOrphan(need);
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
  const absl::StatusOr<int64_t> total = co_await store::DbSize(store);
  if (!total.ok()) co_return total.status();
  Inspector inspector(table, options.listed_anomalies);
  store::ScanOptions scan;
  scan.count = options.page_keys;
  std::string cursor = "0";
  int64_t read = 0;
  do {
    absl::StatusOr<store::ScanPage> page = co_await store::Scan(store, cursor, scan);
    if (!page.ok()) co_return page.status();
    cursor = std::move(page->cursor);
    std::vector<std::string> keys = inspector.TakeNew(std::move(page->keys));
    read += static_cast<int64_t>(keys.size());
    const absl::Status status = co_await ReadPage(store, std::move(keys), inspector);
    if (!status.ok()) co_return status;
    if (options.progress) options.progress(read, *total);
  } while (cursor != "0");
  const absl::Status status = co_await FindOrphans(store, table, inspector);
  if (!status.ok()) co_return status;
  co_return inspector.Finish();
}

}  // namespace redouble::sim
