#include "core/studio/registry_store.h"

#include <algorithm>
#include <array>
#include <span>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/string_bridge.h"
#include "core/python/error.h"
#include "core/python/text.h"
#include "core/store/decode.h"
#include "core/store/keys.h"
#include "core/store/script.h"
#include "core/store/sets.h"
#include "core/store/strings.h"
#include "core/studio/model.h"

namespace redouble::studio {
namespace {

using base::ToAbsl;
using store::Reply;
using store::Script;

// KEYS of all three: record, ids, pair; of the update also the pair of the record that was read.
// They give "ok", "exists", "taken" or "changed".

// ARGV: record, id.
constexpr std::string_view kCreateText = R"(
if redis.call('EXISTS', KEYS[1]) == 1 then return 'exists' end
if redis.call('EXISTS', KEYS[3]) == 1 then return 'taken' end
redis.call('SET', KEYS[1], ARGV[1])
redis.call('SET', KEYS[3], ARGV[2])
redis.call('SADD', KEYS[2], ARGV[2])
return 'ok'
)";

// ARGV: record, id, the record that was read.
constexpr std::string_view kUpdateText = R"(
if redis.call('GET', KEYS[1]) ~= ARGV[3] then return 'changed' end
local owner = redis.call('GET', KEYS[3])
if owner and owner ~= ARGV[2] then return 'taken' end
redis.call('SET', KEYS[1], ARGV[1])
redis.call('SADD', KEYS[2], ARGV[2])
redis.call('SET', KEYS[3], ARGV[2])
if KEYS[4] ~= KEYS[3] and redis.call('GET', KEYS[4]) == ARGV[2] then
  redis.call('DEL', KEYS[4])
end
return 'ok'
)";

// ARGV: the record that was read, id.
constexpr std::string_view kDeleteText = R"(
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 'changed' end
redis.call('DEL', KEYS[1])
if redis.call('GET', KEYS[3]) == ARGV[2] then redis.call('DEL', KEYS[3]) end
redis.call('SREM', KEYS[2], ARGV[2])
return 'ok'
)";

const Script& CreateScript() {
  static const Script& script = *new Script(std::string(kCreateText));
  return script;
}
const Script& UpdateScript() {
  static const Script& script = *new Script(std::string(kUpdateText));
  return script;
}
const Script& DeleteScript() {
  static const Script& script = *new Script(std::string(kDeleteText));
  return script;
}

constexpr std::string_view kDuplicateError = "DuplicateServiceError";

absl::Status IdTaken(std::string_view service_id) {
  return python::Error(absl::StatusCode::kAlreadyExists, kDuplicateError,
                       absl::StrCat("Service '", ToAbsl(service_id), "' is already registered."));
}

absl::Status PairTaken(const ServiceRecord& record) {
  return python::Error(absl::StatusCode::kAlreadyExists, kDuplicateError,
                       absl::StrCat("A service is already registered for environment '",
                                    record.environment, "' and base_url '", record.base_url, "'."));
}

}  // namespace

absl::Status ServiceNotFound(std::string_view service_id) {
  return python::Error(absl::StatusCode::kNotFound, "ServiceNotFoundError",
                       absl::StrCat("Service '", ToAbsl(service_id), "' was not found."));
}

RegistryStore::RegistryStore(store::Store& store, RegistryStoreOptions options)
    : store_(store), options_(std::move(options)), keys_(options_.prefix) {}

base::Task<absl::Status> RegistryStore::Create(const ServiceRecord& record) {
  absl::StatusOr<std::string> json = ModelJson(ToValue(record));
  if (!json.ok()) co_return json.status();
  if (!options_.hardening.atomic_registry) {
    co_return co_await CreateInSteps(record, *std::move(json));
  }
  const std::string record_key = keys_.Record(record.service_id);
  const std::string pair_key = keys_.EnvironmentUrl(record.environment, record.base_url);
  const std::array<std::string_view, 3> keys = {record_key, keys_.All(), pair_key};
  const std::array<std::string_view, 2> arguments = {*json, record.service_id};
  const absl::StatusOr<std::string> outcome =
      store::DecodeString(co_await CreateScript().Run(store_, keys, arguments));
  if (!outcome.ok()) co_return outcome.status();
  if (*outcome == "exists") co_return IdTaken(record.service_id);
  if (*outcome == "taken") co_return PairTaken(record);
  co_return absl::OkStatus();
}

base::Task<absl::Status> RegistryStore::CreateInSteps(const ServiceRecord& record,
                                                      std::string json) {
  const std::string record_key = keys_.Record(record.service_id);
  const std::string pair_key = keys_.EnvironmentUrl(record.environment, record.base_url);
  const store::SetOptions if_absent = {.condition = store::SetOptions::Condition::kIfAbsent};
  absl::StatusOr<bool> set = co_await store::Set(store_, record_key, json, if_absent);
  if (!set.ok()) co_return set.status();
  if (!*set) co_return IdTaken(record.service_id);

  set = co_await store::Set(store_, pair_key, record.service_id, if_absent);
  if (!set.ok()) co_return set.status();
  if (!*set) {
    const absl::StatusOr<bool> deleted = co_await store::Del(store_, record_key);
    co_return deleted.ok() ? PairTaken(record) : deleted.status();
  }

  const absl::StatusOr<bool> added = co_await store::SAdd(store_, keys_.All(), record.service_id);
  if (added.ok()) co_return absl::OkStatus();
  const std::array<std::string_view, 2> both = {record_key, pair_key};
  const absl::StatusOr<int64_t> deleted = co_await store::Del(store_, both);
  co_return deleted.ok() ? added.status() : deleted.status();
}

base::Task<absl::StatusOr<std::vector<ServiceRecord>>> RegistryStore::List() {
  absl::StatusOr<std::vector<std::string>> ids = co_await store::SMembers(store_, keys_.All());
  if (!ids.ok()) co_return ids.status();
  std::sort(ids->begin(), ids->end());
  std::vector<ServiceRecord> records;
  for (const std::string& id : *ids) {
    absl::StatusOr<std::optional<ServiceRecord>> record = co_await Get(id);
    if (!record.ok()) co_return record.status();
    if (*record) records.push_back(**std::move(record));
  }
  const auto order = [](const ServiceRecord& record) {
    return std::make_tuple(std::string_view(record.environment), python::Lower(record.name),
                           std::string_view(record.service_id));
  };
  std::stable_sort(records.begin(), records.end(),
                   [&](const auto& a, const auto& b) { return order(a) < order(b); });
  co_return records;
}

base::Task<absl::StatusOr<std::optional<ServiceRecord>>> RegistryStore::Get(
    std::string_view service_id) {
  absl::StatusOr<std::optional<Stored>> stored = co_await Read(service_id);
  if (!stored.ok()) co_return stored.status();
  std::optional<ServiceRecord> record;
  if (*stored) record = std::move((*stored)->record);
  co_return record;
}

base::Task<absl::StatusOr<std::optional<RegistryStore::Stored>>> RegistryStore::Read(
    std::string_view service_id) {
  const std::string key = keys_.Record(service_id);
  absl::StatusOr<std::optional<std::string>> json = co_await store::Get(store_, key);
  if (!json.ok()) co_return json.status();
  std::optional<Stored> stored;
  if (!*json) co_return stored;
  absl::StatusOr<ServiceRecord> record = ParseServiceRecord(**json);
  if (!record.ok()) co_return record.status();
  stored.emplace();
  stored->json = **std::move(json);
  stored->record = *std::move(record);
  co_return stored;
}

base::Task<absl::StatusOr<RegistryStore::Stored>> RegistryStore::ReadExisting(
    std::string_view service_id) {
  absl::StatusOr<std::optional<Stored>> stored = co_await Read(service_id);
  if (!stored.ok()) co_return stored.status();
  if (!*stored) co_return ServiceNotFound(service_id);
  co_return **std::move(stored);
}

base::Task<absl::Status> RegistryStore::Update(const ServiceRecord& record) {
  if (!options_.hardening.atomic_registry) co_return co_await UpdateInSteps(record);
  while (true) {
    const absl::StatusOr<Stored> stored = co_await ReadExisting(record.service_id);
    if (!stored.ok()) co_return stored.status();
    const absl::StatusOr<bool> replaced = co_await Replace(*stored, record);
    if (!replaced.ok()) co_return replaced.status();
    if (*replaced) co_return absl::OkStatus();
  }
}

base::Task<absl::Status> RegistryStore::UpdateInSteps(const ServiceRecord& record) {
  const absl::StatusOr<std::string> json = ModelJson(ToValue(record));
  if (!json.ok()) co_return json.status();
  const absl::StatusOr<Stored> stored = co_await ReadExisting(record.service_id);
  if (!stored.ok()) co_return stored.status();
  const std::string pair_key = keys_.EnvironmentUrl(record.environment, record.base_url);
  const absl::StatusOr<std::optional<std::string>> owner = co_await store::Get(store_, pair_key);
  if (!owner.ok()) co_return owner.status();
  if (*owner && **owner != record.service_id) co_return PairTaken(record);

  const std::string record_key = keys_.Record(record.service_id);
  absl::StatusOr<bool> done = co_await store::Set(store_, record_key, *json);
  if (!done.ok()) co_return done.status();
  done = co_await store::SAdd(store_, keys_.All(), record.service_id);
  if (!done.ok()) co_return done.status();
  done = co_await store::Set(store_, pair_key, record.service_id);
  if (!done.ok()) co_return done.status();
  const std::string old_pair_key =
      keys_.EnvironmentUrl(stored->record.environment, stored->record.base_url);
  if (old_pair_key == pair_key) co_return absl::OkStatus();
  done = co_await store::Del(store_, old_pair_key);
  co_return done.status();
}

base::Task<absl::StatusOr<bool>> RegistryStore::Replace(const Stored& stored,
                                                        const ServiceRecord& record) {
  const absl::StatusOr<std::string> json = ModelJson(ToValue(record));
  if (!json.ok()) co_return json.status();
  const std::string record_key = keys_.Record(record.service_id);
  const std::string pair_key = keys_.EnvironmentUrl(record.environment, record.base_url);
  const std::string old_pair_key =
      keys_.EnvironmentUrl(stored.record.environment, stored.record.base_url);
  const std::array<std::string_view, 4> keys = {record_key, keys_.All(), pair_key, old_pair_key};
  const std::array<std::string_view, 3> arguments = {*json, record.service_id, stored.json};
  const absl::StatusOr<std::string> outcome =
      store::DecodeString(co_await UpdateScript().Run(store_, keys, arguments));
  if (!outcome.ok()) co_return outcome.status();
  if (*outcome == "taken") co_return PairTaken(record);
  co_return *outcome == "ok";
}

base::Task<absl::StatusOr<ServiceRecord>> RegistryStore::Modify(std::string_view service_id,
                                                                Change change) {
  while (true) {
    const absl::StatusOr<Stored> stored = co_await ReadExisting(service_id);
    if (!stored.ok()) co_return stored.status();
    absl::StatusOr<ServiceRecord> record = change(stored->record);
    if (!record.ok()) co_return record.status();
    if (!options_.hardening.atomic_registry) {
      const absl::Status updated = co_await UpdateInSteps(*record);
      if (!updated.ok()) co_return updated;
      co_return record;
    }
    const absl::StatusOr<bool> replaced = co_await Replace(*stored, *record);
    if (!replaced.ok()) co_return replaced.status();
    if (*replaced) co_return record;
  }
}

base::Task<absl::Status> RegistryStore::Delete(std::string_view service_id) {
  if (!options_.hardening.atomic_registry) co_return co_await DeleteInSteps(service_id);
  const std::string record_key = keys_.Record(service_id);
  while (true) {
    const absl::StatusOr<Stored> stored = co_await ReadExisting(service_id);
    if (!stored.ok()) co_return stored.status();
    const std::string pair_key =
        keys_.EnvironmentUrl(stored->record.environment, stored->record.base_url);
    const std::array<std::string_view, 3> keys = {record_key, keys_.All(), pair_key};
    const std::array<std::string_view, 2> arguments = {stored->json, service_id};
    const absl::StatusOr<std::string> outcome =
        store::DecodeString(co_await DeleteScript().Run(store_, keys, arguments));
    if (!outcome.ok()) co_return outcome.status();
    if (*outcome == "ok") co_return absl::OkStatus();
  }
}

base::Task<absl::Status> RegistryStore::DeleteInSteps(std::string_view service_id) {
  const absl::StatusOr<Stored> stored = co_await ReadExisting(service_id);
  if (!stored.ok()) co_return stored.status();
  const std::string record_key = keys_.Record(service_id);
  const std::string pair_key =
      keys_.EnvironmentUrl(stored->record.environment, stored->record.base_url);
  absl::StatusOr<bool> done = co_await store::Del(store_, record_key);
  if (!done.ok()) co_return done.status();
  done = co_await store::Del(store_, pair_key);
  if (!done.ok()) co_return done.status();
  done = co_await store::SRem(store_, keys_.All(), service_id);
  co_return done.status();
}

}  // namespace redouble::studio
