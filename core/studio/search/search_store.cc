#include "redouble/core/studio/search/search_store.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/python/json.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/script.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/sets.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/core/studio/scripts/script_texts.h"

namespace redouble::inline v0_1::studio {
namespace {

using store::Script;

// KEYS: document, set of all, sets to leave, sets to join, and the record of the service if it
// matters.
// ARGV: id, the document that was read and the next one ("=" and the text, or ""), the number of
// sets to leave, and "1" if the record must exist, "0" if it must not, "" if it does not matter.
// The script returns 1 if it wrote, 0 if the document has changed, and 2 if the record is not so.
const Script& ExchangeScript() {
  static const Script& script = *new Script(std::string(kExchangeDocumentText));
  return script;
}

// KEYS: document, set. ARGV: id. Replies 1 if it removed the id.
const Script& LeaveScript() {
  static const Script& script = *new Script(std::string(kLeaveLostDocumentText));
  return script;
}

std::string Marked(const std::optional<std::string>& text) {
  return text ? absl::StrCat("=", *text) : "";
}

// The sets of a task document. The documented order removes task_id third and adds it last.
absl::StatusOr<std::vector<std::string>> TaskSets(const SearchKeys& keys, std::string_view json,
                                                  bool to_remove) {
  REDOUBLE_ASSIGN_OR_RETURN(const TaskDocument document, ParseTaskDocument(json));
  std::vector<std::string> sets = {keys.TaskService(document.service_id)};
  for (const auto& [field, value] : FiltersOf(document)) {
    sets.push_back(keys.TaskFilter(field, value));
  }
  if (to_remove) std::rotate(sets.begin() + 2, sets.end() - 1, sets.end());
  return sets;
}

absl::StatusOr<std::vector<std::string>> ServiceSets(const SearchKeys& keys, std::string_view json,
                                                     bool /*to_remove*/) {
  REDOUBLE_ASSIGN_OR_RETURN(const ServiceDocument document, ParseServiceDocument(json));
  std::vector<std::string> sets;
  for (const auto& [field, value] : FiltersOf(document)) {
    sets.push_back(keys.ServiceFilter(field, value));
  }
  for (const std::string& token : TokensOf(document)) sets.push_back(keys.ServiceToken(token));
  return sets;
}

absl::StatusOr<std::string> ServiceOfTask(std::string_view json) {
  REDOUBLE_ASSIGN_OR_RETURN(const TaskDocument document, ParseTaskDocument(json));
  return document.service_id;
}

absl::StatusOr<std::string> ServiceOfService(std::string_view json) {
  REDOUBLE_ASSIGN_OR_RETURN(const ServiceDocument document, ParseServiceDocument(json));
  return document.service_id;
}

// On a cluster a document and its sets are in different slots, so no script can have them all.
SearchStoreOptions WithEffect(SearchStoreOptions options) {
  if (options.key_layout == store::KeyLayout::kCluster) {
    options.hardening = {};
  }
  if (options.hardening.registered_services_only) options.hardening.atomic_search_documents = true;
  return options;
}

template <typename Document>
absl::StatusOr<std::optional<Document>> ParseOptional(
    const std::optional<std::string>& json, absl::StatusOr<Document> (*parse)(std::string_view)) {
  std::optional<Document> document;
  if (!json) return document;
  REDOUBLE_ASSIGN_OR_RETURN(Document parsed, parse(*json));
  document = std::move(parsed);
  return document;
}

}  // namespace

struct SearchStore::Kind {
  std::string (SearchKeys::*document_key)(std::string_view id) const;
  const std::string& (SearchKeys::*all_key)() const;
  absl::StatusOr<std::vector<std::string>> (*sets)(const SearchKeys& keys, std::string_view json,
                                                   bool to_remove);
  absl::StatusOr<std::string> (*service_id)(std::string_view json);
};

const SearchStore::Kind& SearchStore::TaskKind() {
  static constexpr Kind kKind = {&SearchKeys::TaskDocument, &SearchKeys::TaskAll, TaskSets,
                                 ServiceOfTask};
  return kKind;
}

const SearchStore::Kind& SearchStore::ServiceKind() {
  static constexpr Kind kKind = {&SearchKeys::ServiceDocument, &SearchKeys::ServiceAll, ServiceSets,
                                 ServiceOfService};
  return kKind;
}

SearchStore::SearchStore(store::Store& store, SearchStoreOptions options)
    : store_(store),
      options_(WithEffect(std::move(options))),
      keys_(options_.prefix),
      registry_keys_(options_.registry_prefix) {}

base::Task<absl::StatusOr<std::optional<std::string>>> SearchStore::ReadJson(const Kind& kind,
                                                                             std::string_view id) {
  const std::string key = (keys_.*kind.document_key)(id);
  co_return co_await store::Get(store_, key);
}

base::Task<absl::StatusOr<std::optional<TaskDocument>>> SearchStore::GetTaskDocument(
    std::string_view document_id) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto json, co_await ReadJson(TaskKind(), document_id));
  co_return ParseOptional(json, ParseTaskDocument);
}

base::Task<absl::StatusOr<std::optional<ServiceDocument>>> SearchStore::GetServiceDocument(
    std::string_view service_id) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto json, co_await ReadJson(ServiceKind(), service_id));
  co_return ParseOptional(json, ParseServiceDocument);
}

template <typename Document>
base::Task<absl::StatusOr<SearchStore::Documents<Document>>> SearchStore::GetDocuments(
    const Kind& kind, std::vector<std::string> ids,
    absl::StatusOr<Document> (*parse)(std::string_view)) {
  std::vector<std::string> keys;
  keys.reserve(ids.size());
  for (const std::string& id : ids) keys.push_back((keys_.*kind.document_key)(id));
  REDOUBLE_CO_ASSIGN_OR_RETURN(auto values, co_await store::GetEach(store_, keys));
  Documents<Document> documents;
  documents.reserve(values.size());
  for (auto& value : values) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const auto json, std::move(value));
    REDOUBLE_CO_ASSIGN_OR_RETURN(auto document, ParseOptional(json, parse));
    documents.push_back(std::move(document));
  }
  co_return documents;
}

base::Task<absl::StatusOr<SearchStore::Documents<TaskDocument>>> SearchStore::GetTaskDocuments(
    std::vector<std::string> document_ids) {
  return GetDocuments(TaskKind(), std::move(document_ids), ParseTaskDocument);
}

base::Task<absl::StatusOr<SearchStore::Documents<ServiceDocument>>>
SearchStore::GetServiceDocuments(std::vector<std::string> service_ids) {
  return GetDocuments(ServiceKind(), std::move(service_ids), ParseServiceDocument);
}

absl::StatusOr<std::vector<std::string>> SearchStore::SetsOf(const Kind& kind,
                                                             const std::optional<std::string>& json,
                                                             bool to_remove) const {
  if (!json) return std::vector<std::string>();
  return kind.sets(keys_, *json, to_remove);
}

base::Task<absl::Status> SearchStore::RemoveFromSets(const Kind& kind, std::string_view id,
                                                     const std::optional<std::string>& json) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<std::string> sets,
                               SetsOf(kind, json, /*to_remove=*/true));
  for (const std::string& key : sets) {
    REDOUBLE_CO_RETURN_IF_ERROR((co_await store::SRem(store_, key, id)).status());
  }
  co_return absl::OkStatus();
}

base::Task<absl::Status> SearchStore::WriteInSteps(const Kind& kind, std::string_view id,
                                                   std::string json) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto present, co_await ReadJson(kind, id));
  REDOUBLE_CO_RETURN_IF_ERROR(co_await RemoveFromSets(kind, id, present));

  std::vector<std::string> sets = {(keys_.*kind.all_key)()};
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<std::string> next,
                               SetsOf(kind, json, /*to_remove=*/false));
  sets.insert(sets.end(), next.begin(), next.end());
  const std::string key = (keys_.*kind.document_key)(id);
  REDOUBLE_CO_RETURN_IF_ERROR((co_await store::Set(store_, key, json)).status());
  for (const std::string& set : sets) {
    REDOUBLE_CO_RETURN_IF_ERROR((co_await store::SAdd(store_, set, id)).status());
  }
  co_return absl::OkStatus();
}

base::Task<absl::Status> SearchStore::Write(const Kind& kind, std::string_view id,
                                            std::string json) {
  if (!options_.hardening.atomic_search_documents) {
    co_return co_await WriteInSteps(kind, id, std::move(json));
  }
  while (true) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const auto present, co_await ReadJson(kind, id));
    REDOUBLE_CO_ASSIGN_OR_RETURN(const bool written, co_await Exchange(kind, id, present, json));
    if (written) co_return absl::OkStatus();
  }
}

base::Task<absl::StatusOr<bool>> SearchStore::Exchange(const Kind& kind, std::string_view id,
                                                       const std::optional<std::string>& expected,
                                                       const std::optional<std::string>& json) {
  Guard guard;
  if (json && options_.hardening.registered_services_only) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string service_id, kind.service_id(*json));
    guard = {.record = registry_keys_.Record(service_id), .must_exist = true};
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const Outcome outcome,
                               co_await ExchangeIf(kind, id, expected, json, guard));
  co_return outcome != Outcome::kChanged;
}

base::Task<absl::StatusOr<SearchStore::Outcome>> SearchStore::ExchangeIf(
    const Kind& kind, std::string_view id, const std::optional<std::string>& expected,
    const std::optional<std::string>& json, const Guard& guard) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<std::string> leave, SetsOf(kind, expected, true));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<std::string> join, SetsOf(kind, json, false));
  const std::string key = (keys_.*kind.document_key)(id);
  std::vector<std::string_view> keys = {key, (keys_.*kind.all_key)()};
  keys.insert(keys.end(), leave.begin(), leave.end());
  keys.insert(keys.end(), join.begin(), join.end());
  if (guard.record) keys.push_back(*guard.record);
  const std::string_view demand = guard.must_exist ? "1" : "0";
  const std::string present = Marked(expected);
  const std::string next = Marked(json);
  const std::string leave_count = absl::StrCat(leave.size());
  const std::array<std::string_view, 5> arguments = {id, present, next, leave_count,
                                                     guard.record ? demand : ""};
  REDOUBLE_CO_ASSIGN_OR_RETURN(
      const int64_t reply,
      store::DecodeInteger(co_await ExchangeScript().Run(store_, keys, arguments)));
  co_return static_cast<Outcome>(reply);
}

base::Task<absl::Status> SearchStore::SetTaskDocument(const TaskDocument& document) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::string json, python::PydanticJson(ToValue(document)));
  const std::string id = TaskDocumentId({document.service_id, document.task_id});
  co_return co_await Write(TaskKind(), id, std::move(json));
}

base::Task<absl::Status> SearchStore::SetServiceDocument(const ServiceDocument& document) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::string json, python::PydanticJson(ToValue(document)));
  co_return co_await Write(ServiceKind(), document.service_id, std::move(json));
}

base::Task<absl::Status> SearchStore::ModifyTaskDocument(std::string_view document_id,
                                                         TaskChange change) {
  while (true) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const auto present, co_await ReadJson(TaskKind(), document_id));
    REDOUBLE_CO_ASSIGN_OR_RETURN(const auto parsed, ParseOptional(present, ParseTaskDocument));
    REDOUBLE_CO_ASSIGN_OR_RETURN(const std::optional<TaskDocument> next, change(parsed));
    if (!next) co_return absl::OkStatus();
    if (!options_.hardening.atomic_search_documents) co_return co_await SetTaskDocument(*next);
    REDOUBLE_CO_ASSIGN_OR_RETURN(std::string json, python::PydanticJson(ToValue(*next)));
    const std::optional<std::string> text = std::move(json);
    REDOUBLE_CO_ASSIGN_OR_RETURN(const bool written,
                                 co_await Exchange(TaskKind(), document_id, present, text));
    if (written) co_return absl::OkStatus();
  }
}

base::Task<absl::Status> SearchStore::ModifyServiceDocument(std::string_view service_id,
                                                            ServiceChange change) {
  while (true) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const auto present, co_await ReadJson(ServiceKind(), service_id));
    REDOUBLE_CO_ASSIGN_OR_RETURN(const auto parsed, ParseOptional(present, ParseServiceDocument));
    const ServiceDocument next = change(parsed);
    if (!options_.hardening.atomic_search_documents) co_return co_await SetServiceDocument(next);
    REDOUBLE_CO_ASSIGN_OR_RETURN(std::string json, python::PydanticJson(ToValue(next)));
    const std::optional<std::string> text = std::move(json);
    REDOUBLE_CO_ASSIGN_OR_RETURN(const bool written,
                                 co_await Exchange(ServiceKind(), service_id, present, text));
    if (written) co_return absl::OkStatus();
  }
}

base::Task<absl::Status> SearchStore::Remove(const Kind& kind, std::string_view id) {
  while (true) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const auto present, co_await ReadJson(kind, id));
    if (options_.hardening.atomic_search_documents) {
      REDOUBLE_CO_ASSIGN_OR_RETURN(const bool removed,
                                   co_await Exchange(kind, id, present, std::nullopt));
      if (removed) co_return absl::OkStatus();
      continue;
    }
    REDOUBLE_CO_RETURN_IF_ERROR(co_await RemoveFromSets(kind, id, present));
    const std::string key = (keys_.*kind.document_key)(id);
    REDOUBLE_CO_RETURN_IF_ERROR((co_await store::Del(store_, key)).status());
    co_return (co_await store::SRem(store_, (keys_.*kind.all_key)(), id)).status();
  }
}

base::Task<absl::Status> SearchStore::DeleteTaskDocument(std::string_view document_id) {
  co_return co_await Remove(TaskKind(), document_id);
}

base::Task<absl::Status> SearchStore::DeleteServiceDocument(std::string_view service_id) {
  co_return co_await Remove(ServiceKind(), service_id);
}

base::Task<absl::StatusOr<bool>> SearchStore::DeleteTaskDocumentIf(std::string_view document_id,
                                                                   TaskTest test) {
  while (true) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const auto present, co_await ReadJson(TaskKind(), document_id));
    REDOUBLE_CO_ASSIGN_OR_RETURN(const auto parsed, ParseOptional(present, ParseTaskDocument));
    if (!test(parsed)) co_return false;
    if (!options_.hardening.atomic_search_documents) {
      REDOUBLE_CO_RETURN_IF_ERROR(co_await DeleteTaskDocument(document_id));
      co_return true;
    }
    const absl::StatusOr<bool> removed =
        co_await Exchange(TaskKind(), document_id, present, std::nullopt);
    if (!removed.ok() || *removed) co_return removed;
  }
}

base::Task<absl::StatusOr<int64_t>> SearchStore::SweepTaskSets() {
  constexpr int64_t kPage = 500;
  const store::ScanOptions options = {.count = kPage, .type = "set"};
  int64_t removed = 0;
  std::string cursor = "0";
  do {
    REDOUBLE_CO_ASSIGN_OR_RETURN(store::ScanPage page,
                                 co_await store::Scan(store_, cursor, options));
    for (const std::string& key : page.keys) {
      if (!keys_.IsTaskSet(key)) continue;
      REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t removed_here, co_await SweepTaskSet(key));
      removed += removed_here;
    }
    cursor = std::move(page.cursor);
  } while (cursor != "0");
  co_return removed;
}

base::Task<absl::StatusOr<int64_t>> SearchStore::SweepTaskSet(std::string_view key) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<std::string> ids,
                               co_await store::SMembers(store_, key));
  std::vector<std::string> documents;
  for (const std::string& id : ids) documents.push_back(keys_.TaskDocument(id));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<size_t> missing,
                               co_await store::FindMissing(store_, documents));
  int64_t removed = 0;
  for (const size_t i : missing) {
    const std::string_view keys[] = {documents[i], key};
    const std::string_view arguments[] = {ids[i]};
    REDOUBLE_CO_ASSIGN_OR_RETURN(
        const int64_t left,
        store::DecodeInteger(co_await LeaveScript().Run(store_, keys, arguments)));
    removed += left;
  }
  co_return removed;
}

base::Task<absl::StatusOr<int64_t>> SearchStore::SweepDeletedServices() {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<std::string> ids, co_await ServiceIds());
  std::vector<std::string> records;
  for (const std::string& id : ids) records.push_back(registry_keys_.Record(id));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<size_t> missing,
                               co_await store::FindMissing(store_, records));
  int64_t removed = 0;
  for (const size_t i : missing) {
    const Guard guard = {.record = records[i], .must_exist = false};
    REDOUBLE_CO_ASSIGN_OR_RETURN(const auto tasks, co_await TaskIdsOfService(ids[i]));
    for (const std::string& task : tasks) {
      REDOUBLE_CO_ASSIGN_OR_RETURN(const bool is_gone, co_await RemoveIf(TaskKind(), task, guard));
      if (is_gone) ++removed;
    }
    REDOUBLE_CO_ASSIGN_OR_RETURN(const bool is_gone,
                                 co_await RemoveIf(ServiceKind(), ids[i], guard));
    if (is_gone) ++removed;
  }
  co_return removed;
}

base::Task<absl::StatusOr<bool>> SearchStore::RemoveIf(const Kind& kind, std::string_view id,
                                                       const Guard& guard) {
  while (true) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const auto present, co_await ReadJson(kind, id));
    REDOUBLE_CO_ASSIGN_OR_RETURN(const Outcome outcome,
                                 co_await ExchangeIf(kind, id, present, std::nullopt, guard));
    if (outcome != Outcome::kChanged) co_return outcome == Outcome::kWritten;
  }
}

base::Task<absl::StatusOr<std::vector<std::string>>> SearchStore::SortedMembers(std::string key) {
  absl::StatusOr<std::vector<std::string>> members = co_await store::SMembers(store_, key);
  if (members.ok()) std::sort(members->begin(), members->end());
  co_return members;
}

base::Task<absl::StatusOr<std::vector<std::string>>> SearchStore::TaskIds() {
  return SortedMembers(keys_.TaskAll());
}
base::Task<absl::StatusOr<std::vector<std::string>>> SearchStore::TaskIdsOfService(
    std::string_view service_id) {
  return SortedMembers(keys_.TaskService(service_id));
}
base::Task<absl::StatusOr<std::vector<std::string>>> SearchStore::TaskIdsWith(
    std::string_view field, std::string_view value) {
  return SortedMembers(keys_.TaskFilter(field, value));
}
base::Task<absl::StatusOr<std::vector<std::string>>> SearchStore::ServiceIds() {
  return SortedMembers(keys_.ServiceAll());
}
base::Task<absl::StatusOr<std::vector<std::string>>> SearchStore::ServiceIdsWith(
    std::string_view field, std::string_view value) {
  return SortedMembers(keys_.ServiceFilter(field, value));
}
base::Task<absl::StatusOr<std::vector<std::string>>> SearchStore::ServiceIdsOfToken(
    std::string_view token) {
  return SortedMembers(keys_.ServiceToken(token));
}

}  // namespace redouble::inline v0_1::studio
