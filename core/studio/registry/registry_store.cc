#include "redouble/core/studio/registry/registry_store.h"

#include <algorithm>
#include <array>
#include <span>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/python/error.h"
#include "redouble/core/python/json.h"
#include "redouble/core/python/text.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/script.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/sets.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/core/studio/scripts/script_texts.h"

namespace redouble::inline v0_1::studio {
namespace {

using base::ToAbsl;
using store::Reply;
using store::Script;

// KEYS of the three scripts: record, set of ids, pair; for an update also the pair of the record
// that was read. They return "ok", "exists", "taken" or "changed".

// ARGV: record, id.
const Script& CreateScript() {
  static const Script& script = *new Script(std::string(kCreateServiceText));
  return script;
}

// ARGV: record, id, the record that was read.
const Script& UpdateScript() {
  static const Script& script = *new Script(std::string(kUpdateServiceText));
  return script;
}

// ARGV: the record that was read, id.
const Script& DeleteScript() {
  static const Script& script = *new Script(std::string(kDeleteServiceText));
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
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::string json, python::PydanticJson(ToValue(record)));
  if (!is_atomic()) {
    co_return co_await CreateInSteps(record, std::move(json));
  }
  const std::string record_key = keys_.Record(record.service_id);
  const std::string pair_key = keys_.EnvironmentUrl(record.environment, record.base_url);
  const std::array<std::string_view, 3> keys = {record_key, keys_.All(), pair_key};
  const std::array<std::string_view, 2> arguments = {json, record.service_id};
  REDOUBLE_CO_ASSIGN_OR_RETURN(
      const std::string outcome,
      store::DecodeString(co_await CreateScript().Run(store_, keys, arguments)));
  if (outcome == "exists") co_return IdTaken(record.service_id);
  if (outcome == "taken") co_return PairTaken(record);
  co_return absl::OkStatus();
}

base::Task<absl::Status> RegistryStore::CreateInSteps(const ServiceRecord& record,
                                                      std::string json) {
  const std::string record_key = keys_.Record(record.service_id);
  const std::string pair_key = keys_.EnvironmentUrl(record.environment, record.base_url);
  const store::SetOptions if_absent = {.condition = store::SetOptions::Condition::kIfAbsent};
  REDOUBLE_CO_ASSIGN_OR_RETURN(const bool id_was_free,
                               co_await store::Set(store_, record_key, json, if_absent));
  if (!id_was_free) co_return IdTaken(record.service_id);

  REDOUBLE_CO_ASSIGN_OR_RETURN(const bool pair_was_free,
                               co_await store::Set(store_, pair_key, record.service_id, if_absent));
  if (!pair_was_free) {
    const absl::StatusOr<bool> deleted = co_await store::Del(store_, record_key);
    co_return deleted.ok() ? PairTaken(record) : deleted.status();
  }

  const absl::StatusOr<bool> added = co_await store::SAdd(store_, keys_.All(), record.service_id);
  if (added.ok()) co_return absl::OkStatus();
  const absl::Status deleted = co_await DeleteBoth(record_key, pair_key);
  co_return deleted.ok() ? added.status() : deleted;
}

// On a cluster the keys are in different slots. The pair goes first: a record without its pair is
// complete again after its next update, and a pair without its record would stay taken.
base::Task<absl::Status> RegistryStore::DeleteBoth(std::string_view record_key,
                                                   std::string_view pair_key) {
  if (options_.key_layout == store::KeyLayout::kDocumented) {
    const std::array<std::string_view, 2> both = {record_key, pair_key};
    co_return (co_await store::Del(store_, both)).status();
  }
  REDOUBLE_CO_RETURN_IF_ERROR((co_await store::Del(store_, pair_key)).status());
  co_return (co_await store::Del(store_, record_key)).status();
}

base::Task<absl::StatusOr<std::vector<ServiceRecord>>> RegistryStore::List() {
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<std::string> ids,
                               co_await store::SMembers(store_, keys_.All()));
  std::sort(ids.begin(), ids.end());
  std::vector<std::string> keys;
  keys.reserve(ids.size());
  for (const std::string& id : ids) keys.push_back(keys_.Record(id));
  REDOUBLE_CO_ASSIGN_OR_RETURN(auto values, co_await store::GetEach(store_, keys));
  std::vector<ServiceRecord> records;
  for (auto& value : values) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const auto json, std::move(value));
    if (!json) continue;
    REDOUBLE_CO_ASSIGN_OR_RETURN(ServiceRecord record, ParseServiceRecord(*json));
    records.push_back(std::move(record));
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
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::optional<Stored> stored, co_await Read(service_id));
  std::optional<ServiceRecord> record;
  if (stored) record = std::move(stored->record);
  co_return record;
}

base::Task<absl::StatusOr<std::optional<RegistryStore::Stored>>> RegistryStore::Read(
    std::string_view service_id) {
  const std::string key = keys_.Record(service_id);
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::optional<std::string> json, co_await store::Get(store_, key));
  std::optional<Stored> stored;
  if (!json) co_return stored;
  REDOUBLE_CO_ASSIGN_OR_RETURN(ServiceRecord record, ParseServiceRecord(*json));
  stored.emplace();
  stored->json = *std::move(json);
  stored->record = std::move(record);
  co_return stored;
}

base::Task<absl::StatusOr<RegistryStore::Stored>> RegistryStore::ReadExisting(
    std::string_view service_id) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::optional<Stored> stored, co_await Read(service_id));
  if (!stored) co_return ServiceNotFound(service_id);
  co_return *std::move(stored);
}

base::Task<absl::Status> RegistryStore::Update(const ServiceRecord& record) {
  if (!is_atomic()) co_return co_await UpdateInSteps(record);
  while (true) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const Stored stored, co_await ReadExisting(record.service_id));
    REDOUBLE_CO_ASSIGN_OR_RETURN(const bool replaced, co_await Replace(stored, record));
    if (replaced) co_return absl::OkStatus();
  }
}

base::Task<absl::Status> RegistryStore::UpdateInSteps(const ServiceRecord& record) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string json, python::PydanticJson(ToValue(record)));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const Stored stored, co_await ReadExisting(record.service_id));
  const std::string pair_key = keys_.EnvironmentUrl(record.environment, record.base_url);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::optional<std::string> owner,
                               co_await store::Get(store_, pair_key));
  if (owner && *owner != record.service_id) co_return PairTaken(record);

  const std::string record_key = keys_.Record(record.service_id);
  REDOUBLE_CO_RETURN_IF_ERROR((co_await store::Set(store_, record_key, json)).status());
  REDOUBLE_CO_RETURN_IF_ERROR(
      (co_await store::SAdd(store_, keys_.All(), record.service_id)).status());
  REDOUBLE_CO_RETURN_IF_ERROR((co_await store::Set(store_, pair_key, record.service_id)).status());
  const std::string old_pair_key =
      keys_.EnvironmentUrl(stored.record.environment, stored.record.base_url);
  if (old_pair_key == pair_key) co_return absl::OkStatus();
  co_return (co_await store::Del(store_, old_pair_key)).status();
}

base::Task<absl::StatusOr<bool>> RegistryStore::Replace(const Stored& stored,
                                                        const ServiceRecord& record) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string json, python::PydanticJson(ToValue(record)));
  const std::string record_key = keys_.Record(record.service_id);
  const std::string pair_key = keys_.EnvironmentUrl(record.environment, record.base_url);
  const std::string old_pair_key =
      keys_.EnvironmentUrl(stored.record.environment, stored.record.base_url);
  const std::array<std::string_view, 4> keys = {record_key, keys_.All(), pair_key, old_pair_key};
  const std::array<std::string_view, 3> arguments = {json, record.service_id, stored.json};
  REDOUBLE_CO_ASSIGN_OR_RETURN(
      const std::string outcome,
      store::DecodeString(co_await UpdateScript().Run(store_, keys, arguments)));
  if (outcome == "taken") co_return PairTaken(record);
  co_return outcome == "ok";
}

base::Task<absl::StatusOr<ServiceRecord>> RegistryStore::Modify(std::string_view service_id,
                                                                Change change) {
  while (true) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const Stored stored, co_await ReadExisting(service_id));
    REDOUBLE_CO_ASSIGN_OR_RETURN(ServiceRecord record, change(stored.record));
    if (!is_atomic()) {
      REDOUBLE_CO_RETURN_IF_ERROR(co_await UpdateInSteps(record));
      co_return record;
    }
    REDOUBLE_CO_ASSIGN_OR_RETURN(const bool replaced, co_await Replace(stored, record));
    if (replaced) co_return record;
  }
}

base::Task<absl::Status> RegistryStore::Delete(std::string_view service_id) {
  if (!is_atomic()) co_return co_await DeleteInSteps(service_id);
  const std::string record_key = keys_.Record(service_id);
  while (true) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const Stored stored, co_await ReadExisting(service_id));
    const std::string pair_key =
        keys_.EnvironmentUrl(stored.record.environment, stored.record.base_url);
    const std::array<std::string_view, 3> keys = {record_key, keys_.All(), pair_key};
    const std::array<std::string_view, 2> arguments = {stored.json, service_id};
    REDOUBLE_CO_ASSIGN_OR_RETURN(
        const std::string outcome,
        store::DecodeString(co_await DeleteScript().Run(store_, keys, arguments)));
    if (outcome == "ok") co_return absl::OkStatus();
  }
}

base::Task<absl::Status> RegistryStore::DeleteInSteps(std::string_view service_id) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const Stored stored, co_await ReadExisting(service_id));
  const std::string record_key = keys_.Record(service_id);
  const std::string pair_key =
      keys_.EnvironmentUrl(stored.record.environment, stored.record.base_url);
  REDOUBLE_CO_RETURN_IF_ERROR((co_await store::Del(store_, record_key)).status());
  REDOUBLE_CO_RETURN_IF_ERROR((co_await store::Del(store_, pair_key)).status());
  co_return (co_await store::SRem(store_, keys_.All(), service_id)).status();
}

}  // namespace redouble::inline v0_1::studio
