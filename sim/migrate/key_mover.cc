#include "redouble/sim/migrate/key_mover.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/decode.h"

namespace redouble::inline v0_1::sim {
namespace {

using store::Batch;
using store::CommandId;
using store::Reply;
using store::Store;

// Whether each key exists. One round trip.
base::Task<absl::StatusOr<std::vector<bool>>> Exist(Store& store,
                                                    std::span<const std::string> keys) {
  Batch batch(Batch::Atomicity::kPipeline);
  for (const std::string& key : keys) batch.Add(CommandId::kExists).Add(key);
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<Reply> replies, co_await store::Execute(store, batch));
  std::vector<bool> exist;
  for (Reply& reply : replies) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const bool exists, store::DecodeBool(std::move(reply)));
    exist.push_back(exists);
  }
  co_return exist;
}

std::string IdOf(const KeyMove::Target& target) { return std::string(target.family->id); }

absl::Status NoWayBack(std::string_view key, std::string_view moved) {
  return absl::FailedPreconditionError(
      absl::StrCat("cannot move \"", base::ToAbsl(key), "\": its key in the other layout, \"",
                   base::ToAbsl(moved), "\", does not lead back to it"));
}

bool HasKey(std::span<const MovedKey> moved, std::string_view key) {
  return std::any_of(moved.begin(), moved.end(),
                     [&](const MovedKey& each) { return each.value && each.key == key; });
}

bool IsUnequal(const FamilyReport& counts) {
  return counts.missing + counts.different + counts.extra > 0;
}

// Counts what a key should have become and what there is.
void CompareCopies(std::span<const MovedKey> expected,
                   std::span<const std::optional<KeyValue>> found, FamilyReport& counts) {
  for (size_t i = 0; i < expected.size(); ++i) {
    const auto& [key, value] = expected[i];
    if (value) counts.from_digest += DigestOf(key, *value);
    if (found[i]) counts.to_digest += DigestOf(key, *found[i]);
    if (value && !found[i]) {
      counts.missing = 1;
    } else if (found[i] != value) {
      counts.different = 1;
    }
  }
  if (counts.missing > 0) counts.different = 0;
}

}  // namespace

FamilyReport& FamilyReport::operator+=(const FamilyReport& other) {
  keys += other.keys;
  missing += other.missing;
  different += other.different;
  extra += other.extra;
  from_digest += other.from_digest;
  to_digest += other.to_digest;
  return *this;
}

bool VerifyReport::is_equal() const {
  return std::none_of(families.begin(), families.end(),
                      [](const auto& entry) { return IsUnequal(entry.second); });
}

absl::StatusOr<std::vector<KeyMover::Planned>> KeyMover::Plan(std::span<const std::string> keys,
                                                              int64_t& other_keys) {
  std::vector<Planned> planned;
  for (const std::string& key : keys) {
    REDOUBLE_ASSIGN_OR_RETURN(std::optional<KeyMove::Target> target, forth_.Translate(key));
    if (!target) {
      ++other_keys;
      continue;
    }
    planned.push_back({key, *std::move(target)});
    REDOUBLE_RETURN_IF_ERROR(CheckWayBack(planned.back()));
  }
  return planned;
}

absl::Status KeyMover::CheckWayBack(const Planned& planned) const {
  if (!planned.target.is_carried()) return absl::OkStatus();
  const auto restored = back_.Translate(planned.target.key);
  // A key that the way back reads from its value is checked when it is read there.
  if (restored.ok() && *restored &&
      ((*restored)->key == planned.key || !(*restored)->is_carried())) {
    return absl::OkStatus();
  }
  return NoWayBack(planned.key, planned.target.key);
}

absl::Status KeyMover::CheckWayBack(const Planned& planned, std::span<const MovedKey> moved) const {
  for (const MovedKey& each : moved) {
    if (!each.value) continue;
    const absl::StatusOr<std::optional<KeyMove::Target>> restored = back_.Translate(each.key);
    if (!restored.ok() || !*restored) return NoWayBack(planned.key, each.key);
    const KeyMove::Target& target = **restored;
    // Keys of several sources are joined and divided by what their elements say.
    if (target.is_derived() || (target.move != nullptr && target.move->sources != nullptr) ||
        planned.target.move->sources != nullptr) {
      continue;
    }
    bool leads_back = target.key == planned.key;
    if (!target.is_carried()) {
      const absl::StatusOr<std::vector<MovedKey>> again =
          back_.Convert(target, each.key, {&each.value, 1});
      leads_back = again.ok() && HasKey(*again, planned.key);
    }
    if (!leads_back) return NoWayBack(planned.key, each.key);
  }
  return absl::OkStatus();
}

base::Task<absl::Status> KeyMover::Copy(std::span<const std::string> keys, Writes writes,
                                        CopyReport& report) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<Planned> planned, Plan(keys, report.other_keys));
  REDOUBLE_CO_RETURN_IF_ERROR(co_await CopyCarried(planned, writes, report));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const Expected expected,
                               co_await ConvertAll(planned, copied_joins_));
  std::vector<MovedKey> moved;
  for (size_t i = 0; i < planned.size(); ++i) {
    if (planned[i].target.is_derived()) ++report.keys[IdOf(planned[i].target)];
    if (!expected[i]) continue;
    ++report.keys[IdOf(planned[i].target)];
    moved.insert(moved.end(), expected[i]->begin(), expected[i]->end());
  }
  if (writes == Writes::kNone) co_return absl::OkStatus();
  co_return co_await WriteKeys(to_, moved);
}

base::Task<absl::Status> KeyMover::CopyCarried(std::span<const Planned> planned, Writes writes,
                                               CopyReport& report) {
  std::vector<std::string> keys;
  std::vector<const KeyMove::Target*> targets;
  for (const auto& [key, target] : planned) {
    if (!target.is_carried()) continue;
    keys.push_back(key);
    targets.push_back(&target);
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<std::optional<KeyDump>> dumps,
                               co_await DumpKeys(from_, keys));
  std::vector<NamedDump> named;
  std::vector<std::string> sources;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!dumps[i]) continue;  // It expired after SCAN.
    ++report.keys[IdOf(*targets[i])];
    named.push_back({targets[i]->key, &*dumps[i]});
    sources.push_back(std::move(keys[i]));
  }
  if (writes == Writes::kNone) co_return absl::OkStatus();
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<UnreadDump> unread,
                               co_await RestoreKeys(to_, named));
  co_return co_await CopyUnread(named, sources, unread);
}

// By their decoded values, because `to` is older than `from`.
base::Task<absl::Status> KeyMover::CopyUnread(std::span<const NamedDump> dumps,
                                              std::span<const std::string> keys,
                                              std::span<const UnreadDump> unread) {
  std::vector<std::string> sources;
  for (const UnreadDump& each : unread) sources.push_back(keys[each.index]);
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<std::optional<KeyValue>> values,
                               co_await ReadKeys(from_, sources));
  std::vector<MovedKey> moved;
  for (size_t i = 0; i < unread.size(); ++i) {
    if (values[i] && values[i]->type == store::KeyType::kStream) {
      co_return absl::FailedPreconditionError(
          absl::StrCat("cannot move \"", sources[i],
                       "\": it is a stream, and the server that it is copied to "
                       "does not read the format of the server that it comes from: ",
                       unread[i].error));
    }
    moved.push_back({std::string(dumps[unread[i].index].key), std::move(values[i])});
  }
  co_return co_await WriteKeys(to_, moved);
}

base::Task<absl::StatusOr<KeyMover::Expected>> KeyMover::ConvertAll(
    std::span<const Planned> planned, std::set<std::string>& joined) {
  std::vector<std::string> sources;
  std::vector<size_t> counts(planned.size());
  for (size_t i = 0; i < planned.size(); ++i) {
    const auto& [key, target] = planned[i];
    if (target.is_carried() || target.is_derived()) continue;
    std::vector<std::string> own = target.SourcesOf(key);
    if (target.move->sources != nullptr && !joined.insert(own.front()).second) continue;
    counts[i] = own.size();
    std::move(own.begin(), own.end(), std::back_inserter(sources));
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<std::optional<KeyValue>> values,
                               co_await ReadKeys(from_, sources));
  Expected expected(planned.size());
  std::span<const std::optional<KeyValue>> rest(values);
  for (size_t i = 0; i < planned.size(); ++i) {
    const auto own = rest.first(counts[i]);
    rest = rest.subspan(counts[i]);
    const auto exists = [](const std::optional<KeyValue>& value) { return value.has_value(); };
    if (std::none_of(own.begin(), own.end(), exists)) continue;
    REDOUBLE_CO_ASSIGN_OR_RETURN(expected[i],
                                 forth_.Convert(planned[i].target, planned[i].key, own));
    REDOUBLE_CO_RETURN_IF_ERROR(CheckWayBack(planned[i], *expected[i]));
  }
  co_return expected;
}

base::Task<absl::StatusOr<KeyMover::Expected>> KeyMover::ExpectAll(
    std::span<const Planned> planned) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(Expected expected, co_await ConvertAll(planned, compared_joins_));
  std::vector<std::string> carried;
  for (const auto& [key, target] : planned) {
    if (target.is_carried()) carried.push_back(key);
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<std::optional<KeyValue>> values,
                               co_await ReadKeys(from_, carried));
  size_t next = 0;
  for (size_t i = 0; i < planned.size(); ++i) {
    if (!planned[i].target.is_carried()) continue;
    std::optional<KeyValue>& value = values[next++];
    if (value) expected[i].emplace().push_back({planned[i].target.key, std::move(value)});
  }
  co_return expected;
}

base::Task<absl::StatusOr<std::vector<std::string>>> KeyMover::Compare(
    std::span<const std::string> keys, VerifyReport& report) {
  int64_t other_keys = 0;
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<Planned> planned, Plan(keys, other_keys));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const Expected expected, co_await ExpectAll(planned));
  std::vector<std::string> targets;
  for (const auto& moved : expected) {
    if (!moved) continue;
    for (const MovedKey& each : *moved) targets.push_back(each.key);
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<std::optional<KeyValue>> found,
                               co_await ReadKeys(to_, targets));
  std::vector<FamilyReport> counts(planned.size());
  std::vector<std::string> unequal;
  std::span<const std::optional<KeyValue>> copies(found);
  for (size_t i = 0; i < planned.size(); ++i) {
    counts[i].keys = expected[i] || planned[i].target.is_derived() ? 1 : 0;
    if (!expected[i]) continue;
    CompareCopies(*expected[i], copies.first(expected[i]->size()), counts[i]);
    copies = copies.subspan(expected[i]->size());
    if (IsUnequal(counts[i])) unequal.push_back(planned[i].key);
  }
  // Both copies have the same deadline: a key may have expired between the two reads.
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<bool> exist, co_await Exist(from_, unequal));
  std::vector<std::string> again;
  size_t next = 0;
  for (size_t i = 0; i < planned.size(); ++i) {
    const bool is_unequal = IsUnequal(counts[i]);
    if (counts[i].keys == 0 || (is_unequal && !exist[next++])) continue;
    if (is_unequal) again.push_back(planned[i].key);
    report.families[IdOf(planned[i].target)] += counts[i];
  }
  co_return again;
}

base::Task<absl::StatusOr<std::vector<std::string>>> KeyMover::FindExtra(
    std::span<const std::string> keys, VerifyReport& report) {
  std::vector<Planned> theirs;
  for (const std::string& key : keys) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(std::optional<KeyMove::Target> back, back_.Translate(key));
    if (back) theirs.push_back({key, *std::move(back)});
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<std::vector<std::string>> origins,
                               co_await OriginsOf(theirs));
  std::set<std::string> sources;
  for (const auto& each : origins) sources.insert(each.begin(), each.end());
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::set<std::string> products,
                               co_await ProductsOf({sources.begin(), sources.end()}));
  std::vector<std::string> extra;
  std::vector<std::string> families;
  for (Planned& each : theirs) {
    if (products.contains(each.key)) continue;
    families.push_back(IdOf(each.target));
    extra.push_back(std::move(each.key));
  }
  // What has expired since the scan is not extra.
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<bool> exist, co_await Exist(to_, extra));
  std::vector<std::string> left;
  for (size_t i = 0; i < extra.size(); ++i) {
    if (!exist[i]) continue;
    ++report.families[families[i]].extra;
    left.push_back(std::move(extra[i]));
  }
  co_return left;
}

base::Task<absl::StatusOr<std::vector<std::vector<std::string>>>> KeyMover::OriginsOf(
    std::span<const Planned> theirs) {
  std::vector<std::vector<std::string>> origins(theirs.size());
  // Keys that do not say where they come from; their values do.
  std::vector<size_t> silent;
  std::vector<std::string> keys;
  for (size_t i = 0; i < theirs.size(); ++i) {
    const auto& [key, back] = theirs[i];
    std::optional<std::string> origin =
        back.is_carried() ? std::optional(back.key) : back_.OriginOf(back, key);
    if (origin) {
      origins[i].push_back(*std::move(origin));
    } else {
      silent.push_back(i);
      keys.push_back(key);
    }
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<std::optional<KeyValue>> values,
                               co_await ReadKeys(to_, keys));
  for (size_t i = 0; i < silent.size(); ++i) {
    if (!values[i]) continue;
    const auto& [key, back] = theirs[silent[i]];
    REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<MovedKey> moved,
                                 back_.Convert(back, key, {&values[i], 1}));
    for (const MovedKey& each : moved) {
      if (each.value) origins[silent[i]].push_back(each.key);
    }
  }
  co_return origins;
}

base::Task<absl::StatusOr<std::set<std::string>>> KeyMover::ProductsOf(
    std::vector<std::string> sources) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<bool> exist, co_await Exist(from_, sources));
  std::vector<std::string> existing;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (exist[i]) existing.push_back(std::move(sources[i]));
  }
  int64_t other_keys = 0;
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<Planned> planned, Plan(existing, other_keys));
  std::set<std::string> joined;
  REDOUBLE_CO_ASSIGN_OR_RETURN(const Expected expected, co_await ConvertAll(planned, joined));
  std::set<std::string> products;
  for (size_t i = 0; i < planned.size(); ++i) {
    if (planned[i].target.is_carried()) products.insert(planned[i].target.key);
    if (!expected[i]) continue;
    for (const MovedKey& each : *expected[i]) {
      if (each.value) products.insert(each.key);
    }
  }
  co_return products;
}

base::Task<absl::Status> KeyMover::Delete(std::span<const std::string> keys) {
  std::vector<MovedKey> gone;
  for (const std::string& key : keys) gone.push_back({key, std::nullopt});
  co_return co_await WriteKeys(to_, gone);
}

}  // namespace redouble::inline v0_1::sim
