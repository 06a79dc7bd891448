#include "core/studio/search_store.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/store/decode.h"
#include "core/store/keys.h"
#include "core/store/script.h"
#include "core/store/sets.h"
#include "core/store/strings.h"
#include "core/studio/model.h"

namespace redouble::studio {
namespace {

using store::Script;

// KEYS: document, set of all, sets to leave, sets to join; ARGV: id, the document that was read and
// the next one ("=" and the text, or ""), how many sets to leave. Gives whether it did.
constexpr std::string_view kExchangeText = R"(
local present = redis.call('GET', KEYS[1])
if (present and '=' .. present or '') ~= ARGV[2] then return 0 end
local leave = 2 + tonumber(ARGV[4])
for i = 3, leave do redis.call('SREM', KEYS[i], ARGV[1]) end
if ARGV[3] == '' then
  redis.call('DEL', KEYS[1])
  redis.call('SREM', KEYS[2], ARGV[1])
  return 1
end
redis.call('SET', KEYS[1], string.sub(ARGV[3], 2))
redis.call('SADD', KEYS[2], ARGV[1])
for i = leave + 1, #KEYS do redis.call('SADD', KEYS[i], ARGV[1]) end
return 1
)";

const Script& ExchangeScript() {
  static const Script& script = *new Script(std::string(kExchangeText));
  return script;
}

std::string Marked(const std::optional<std::string>& text) {
  return text ? absl::StrCat("=", *text) : "";
}

// The sets of a task's document; it leaves task_id third and joins it last.
absl::StatusOr<std::vector<std::string>> TaskSets(const SearchKeys& keys, std::string_view json,
                                                  bool to_remove) {
  const absl::StatusOr<TaskDocument> document = ParseTaskDocument(json);
  if (!document.ok()) return document.status();
  std::vector<std::string> sets = {keys.TaskService(document->service_id)};
  for (const auto& [field, value] : FiltersOf(*document)) {
    sets.push_back(keys.TaskFilter(field, value));
  }
  if (to_remove) std::rotate(sets.begin() + 2, sets.end() - 1, sets.end());
  return sets;
}

absl::StatusOr<std::vector<std::string>> ServiceSets(const SearchKeys& keys, std::string_view json,
                                                     bool /*to_remove*/) {
  const absl::StatusOr<ServiceDocument> document = ParseServiceDocument(json);
  if (!document.ok()) return document.status();
  std::vector<std::string> sets;
  for (const auto& [field, value] : FiltersOf(*document)) {
    sets.push_back(keys.ServiceFilter(field, value));
  }
  for (const std::string& token : TokensOf(*document)) sets.push_back(keys.ServiceToken(token));
  return sets;
}

template <typename Document>
absl::StatusOr<std::optional<Document>> ParseOptional(
    const std::optional<std::string>& json, absl::StatusOr<Document> (*parse)(std::string_view)) {
  std::optional<Document> document;
  if (!json) return document;
  absl::StatusOr<Document> parsed = parse(*json);
  if (!parsed.ok()) return parsed.status();
  document = *std::move(parsed);
  return document;
}

}  // namespace

struct SearchStore::Kind {
  std::string (SearchKeys::*document_key)(std::string_view id) const;
  const std::string& (SearchKeys::*all_key)() const;
  absl::StatusOr<std::vector<std::string>> (*sets)(const SearchKeys& keys, std::string_view json,
                                                   bool to_remove);
};

const SearchStore::Kind& SearchStore::TaskKind() {
  static constexpr Kind kKind = {&SearchKeys::TaskDocument, &SearchKeys::TaskAll, TaskSets};
  return kKind;
}

const SearchStore::Kind& SearchStore::ServiceKind() {
  static constexpr Kind kKind = {&SearchKeys::ServiceDocument, &SearchKeys::ServiceAll,
                                 ServiceSets};
  return kKind;
}

SearchStore::SearchStore(store::Store& store, SearchStoreOptions options)
    : store_(store), options_(std::move(options)), keys_(options_.prefix) {}

base::Task<absl::StatusOr<std::optional<std::string>>> SearchStore::ReadJson(const Kind& kind,
                                                                             std::string_view id) {
  const std::string key = (keys_.*kind.document_key)(id);
  co_return co_await store::Get(store_, key);
}

base::Task<absl::StatusOr<std::optional<TaskDocument>>> SearchStore::GetTaskDocument(
    std::string_view document_id) {
  const auto json = co_await ReadJson(TaskKind(), document_id);
  if (!json.ok()) co_return json.status();
  co_return ParseOptional(*json, ParseTaskDocument);
}

base::Task<absl::StatusOr<std::optional<ServiceDocument>>> SearchStore::GetServiceDocument(
    std::string_view service_id) {
  const auto json = co_await ReadJson(ServiceKind(), service_id);
  if (!json.ok()) co_return json.status();
  co_return ParseOptional(*json, ParseServiceDocument);
}

absl::StatusOr<std::vector<std::string>> SearchStore::SetsOf(const Kind& kind,
                                                             const std::optional<std::string>& json,
                                                             bool to_remove) const {
  if (!json) return std::vector<std::string>();
  return kind.sets(keys_, *json, to_remove);
}

base::Task<absl::Status> SearchStore::RemoveFromSets(const Kind& kind, std::string_view id,
                                                     const std::optional<std::string>& json) {
  const absl::StatusOr<std::vector<std::string>> sets = SetsOf(kind, json, /*to_remove=*/true);
  if (!sets.ok()) co_return sets.status();
  for (const std::string& key : *sets) {
    const absl::StatusOr<bool> removed = co_await store::SRem(store_, key, id);
    if (!removed.ok()) co_return removed.status();
  }
  co_return absl::OkStatus();
}

base::Task<absl::Status> SearchStore::WriteInSteps(const Kind& kind, std::string_view id,
                                                   std::string json) {
  const auto present = co_await ReadJson(kind, id);
  if (!present.ok()) co_return present.status();
  const absl::Status removed = co_await RemoveFromSets(kind, id, *present);
  if (!removed.ok()) co_return removed;

  std::vector<std::string> sets = {(keys_.*kind.all_key)()};
  absl::StatusOr<std::vector<std::string>> next = SetsOf(kind, json, /*to_remove=*/false);
  if (!next.ok()) co_return next.status();
  sets.insert(sets.end(), next->begin(), next->end());
  const std::string key = (keys_.*kind.document_key)(id);
  absl::StatusOr<bool> done = co_await store::Set(store_, key, json);
  if (!done.ok()) co_return done.status();
  for (const std::string& set : sets) {
    done = co_await store::SAdd(store_, set, id);
    if (!done.ok()) co_return done.status();
  }
  co_return absl::OkStatus();
}

base::Task<absl::Status> SearchStore::Write(const Kind& kind, std::string_view id,
                                            std::string json) {
  if (!options_.hardening.atomic_search_documents) {
    co_return co_await WriteInSteps(kind, id, std::move(json));
  }
  while (true) {
    const auto present = co_await ReadJson(kind, id);
    if (!present.ok()) co_return present.status();
    const absl::StatusOr<bool> written = co_await Exchange(kind, id, *present, json);
    if (!written.ok()) co_return written.status();
    if (*written) co_return absl::OkStatus();
  }
}

base::Task<absl::StatusOr<bool>> SearchStore::Exchange(const Kind& kind, std::string_view id,
                                                       const std::optional<std::string>& expected,
                                                       const std::optional<std::string>& json) {
  const absl::StatusOr<std::vector<std::string>> leave = SetsOf(kind, expected, true);
  if (!leave.ok()) co_return leave.status();
  const absl::StatusOr<std::vector<std::string>> join = SetsOf(kind, json, false);
  if (!join.ok()) co_return join.status();
  const std::string key = (keys_.*kind.document_key)(id);
  std::vector<std::string_view> keys = {key, (keys_.*kind.all_key)()};
  keys.insert(keys.end(), leave->begin(), leave->end());
  keys.insert(keys.end(), join->begin(), join->end());
  const std::string present = Marked(expected);
  const std::string next = Marked(json);
  const std::string leave_count = absl::StrCat(leave->size());
  const std::array<std::string_view, 4> arguments = {id, present, next, leave_count};
  co_return store::DecodeBool(co_await ExchangeScript().Run(store_, keys, arguments));
}

base::Task<absl::Status> SearchStore::SetTaskDocument(const TaskDocument& document) {
  absl::StatusOr<std::string> json = ModelJson(ToValue(document));
  if (!json.ok()) co_return json.status();
  const std::string id = TaskDocumentId({document.service_id, document.task_id});
  co_return co_await Write(TaskKind(), id, *std::move(json));
}

base::Task<absl::Status> SearchStore::SetServiceDocument(const ServiceDocument& document) {
  absl::StatusOr<std::string> json = ModelJson(ToValue(document));
  if (!json.ok()) co_return json.status();
  co_return co_await Write(ServiceKind(), document.service_id, *std::move(json));
}

base::Task<absl::Status> SearchStore::ModifyTaskDocument(std::string_view document_id,
                                                         TaskChange change) {
  while (true) {
    const auto present = co_await ReadJson(TaskKind(), document_id);
    if (!present.ok()) co_return present.status();
    const auto parsed = ParseOptional(*present, ParseTaskDocument);
    if (!parsed.ok()) co_return parsed.status();
    const absl::StatusOr<std::optional<TaskDocument>> next = change(*parsed);
    if (!next.ok()) co_return next.status();
    if (!*next) co_return absl::OkStatus();
    if (!options_.hardening.atomic_search_documents) co_return co_await SetTaskDocument(**next);
    absl::StatusOr<std::string> json = ModelJson(ToValue(**next));
    if (!json.ok()) co_return json.status();
    const std::optional<std::string> text = *std::move(json);
    const absl::StatusOr<bool> written = co_await Exchange(TaskKind(), document_id, *present, text);
    if (!written.ok()) co_return written.status();
    if (*written) co_return absl::OkStatus();
  }
}

base::Task<absl::Status> SearchStore::ModifyServiceDocument(std::string_view service_id,
                                                            ServiceChange change) {
  while (true) {
    const auto present = co_await ReadJson(ServiceKind(), service_id);
    if (!present.ok()) co_return present.status();
    const auto parsed = ParseOptional(*present, ParseServiceDocument);
    if (!parsed.ok()) co_return parsed.status();
    const ServiceDocument next = change(*parsed);
    if (!options_.hardening.atomic_search_documents) co_return co_await SetServiceDocument(next);
    absl::StatusOr<std::string> json = ModelJson(ToValue(next));
    if (!json.ok()) co_return json.status();
    const std::optional<std::string> text = *std::move(json);
    const absl::StatusOr<bool> written =
        co_await Exchange(ServiceKind(), service_id, *present, text);
    if (!written.ok()) co_return written.status();
    if (*written) co_return absl::OkStatus();
  }
}

base::Task<absl::Status> SearchStore::Remove(const Kind& kind, std::string_view id) {
  while (true) {
    const auto present = co_await ReadJson(kind, id);
    if (!present.ok()) co_return present.status();
    if (options_.hardening.atomic_search_documents) {
      const absl::StatusOr<bool> removed = co_await Exchange(kind, id, *present, std::nullopt);
      if (!removed.ok()) co_return removed.status();
      if (*removed) co_return absl::OkStatus();
      continue;
    }
    const absl::Status left = co_await RemoveFromSets(kind, id, *present);
    if (!left.ok()) co_return left;
    const std::string key = (keys_.*kind.document_key)(id);
    absl::StatusOr<bool> done = co_await store::Del(store_, key);
    if (!done.ok()) co_return done.status();
    done = co_await store::SRem(store_, (keys_.*kind.all_key)(), id);
    co_return done.status();
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
    const auto present = co_await ReadJson(TaskKind(), document_id);
    if (!present.ok()) co_return present.status();
    const auto parsed = ParseOptional(*present, ParseTaskDocument);
    if (!parsed.ok()) co_return parsed.status();
    if (!test(*parsed)) co_return false;
    if (!options_.hardening.atomic_search_documents) {
      const absl::Status removed = co_await DeleteTaskDocument(document_id);
      if (!removed.ok()) co_return removed;
      co_return true;
    }
    const absl::StatusOr<bool> removed =
        co_await Exchange(TaskKind(), document_id, *present, std::nullopt);
    if (!removed.ok() || *removed) co_return removed;
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

}  // namespace redouble::studio
