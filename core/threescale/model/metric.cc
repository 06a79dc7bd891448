#include "redouble/core/threescale/model/metric.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/script.h"
#include "redouble/core/store/typed/sets.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/core/threescale/model/requests.h"
#include "redouble/core/threescale/scripts/script_texts.h"

namespace redouble::inline v0_1::threescale {
namespace {

using store::Batch;
using store::CommandId;

using OptionalText = std::optional<std::string>;

constexpr std::string_view kLoadIds = "Metric.load_all_ids";
constexpr std::string_view kLoadNames = "Metric.load_all_names";
constexpr std::string_view kLoadName = "Metric.load_name";
constexpr std::string_view kLoadId = "Metric.load_id";

// The number of parents that one MGET reads.
constexpr size_t kSlice = 400;

template <typename List, typename Element>
bool Contains(const List& list, const Element& element) {
  return std::find(list.begin(), list.end(), element) != list.end();
}

std::string NamesKey(std::string_view service_id, const std::vector<std::string>& ids) {
  return MemoizerKey(kLoadNames, service_id, absl::StrJoin(ids, "-"));
}

// Returns the parents in the order of their first child, each with its children.
std::vector<std::pair<std::string, std::vector<std::string>>> GroupByParent(
    const std::vector<std::string>& ids, const MetricNames& parent_ids) {
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (!parent_ids[i]) continue;
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const auto& known) { return known.first == *parent_ids[i]; });
    if (group == groups.end()) group = groups.insert(group, {*parent_ids[i], {}});
    group->second.push_back(ids[i]);
  }
  return groups;
}

const MetricNames* ChildrenOf(const MetricHierarchy& hierarchy, const OptionalText& parent) {
  const auto entry = std::find_if(hierarchy.begin(), hierarchy.end(),
                                  [&](const auto& known) { return known.first == parent; });
  return entry == hierarchy.end() ? nullptr : &entry->second;
}

// Appends the children of `parent`, and then the descendants of each child. Returns false if it
// reaches one of `above`, the ancestors on the current path.
bool AppendDescendants(const MetricHierarchy& hierarchy, const OptionalText& parent,
                       std::vector<OptionalText>& above, MetricNames& descendants) {
  const MetricNames* children = ChildrenOf(hierarchy, parent);
  if (children == nullptr) return true;
  above.push_back(parent);
  descendants.insert(descendants.end(), children->begin(), children->end());
  for (const OptionalText& child : *children) {
    if (Contains(above, child)) return false;
    if (!AppendDescendants(hierarchy, child, above, descendants)) return false;
  }
  above.pop_back();
  return true;
}

// KEYS: the metric's name, the id by its old name, the id by its new name, the parent, the ids of
// the service. ARGV: the id, the old name or "", the new name, and the parent if it is given.
// Replies 0, and writes nothing, if the name is no longer the old one.
const store::Script& SaveScript() {
  static const store::Script& script = *new store::Script(std::string(kSaveMetricText));
  return script;
}

// KEYS: the metric's name, the id by that name, the parent, the ids of the service. ARGV: the id,
// the name. Replies 0, and writes nothing, if the name has changed.
const store::Script& DeleteScript() {
  static const store::Script& script = *new store::Script(std::string(kDeleteMetricText));
  return script;
}

}  // namespace

absl::Status MetricCycleError(std::string_view service_id, std::string_view metric) {
  return absl::FailedPreconditionError(absl::StrCat("metric \"", base::ToAbsl(metric),
                                                    "\" of service \"", base::ToAbsl(service_id),
                                                    "\" is its own ancestor"));
}

absl::StatusOr<MetricNames> DescendantsIn(const MetricHierarchy& hierarchy,
                                          const MetricNameRef& metric) {
  MetricNames descendants;
  std::vector<OptionalText> above;
  if (!AppendDescendants(hierarchy, std::string(metric.name), above, descendants)) {
    return MetricCycleError(metric.service_id, metric.name);
  }
  return descendants;
}

base::Task<absl::Status> MetricStore::Save(const Metric& metric) {
  if (hardening_.change_metrics_atomically) {
    REDOUBLE_CO_RETURN_IF_ERROR(co_await SaveByScript(metric));
  } else {
    REDOUBLE_CO_RETURN_IF_ERROR(co_await SaveOne(metric));
  }
  for (const Metric& child : metric.children) {
    Metric of_this = child;
    of_this.service_id = metric.service_id;
    of_this.parent_id = metric.id;
    REDOUBLE_CO_RETURN_IF_ERROR(co_await Save(of_this));
  }
  const MetricNameRef name{metric.service_id, metric.name};
  co_return co_await Forget(name, metric.id);
}

base::Task<absl::Status> MetricStore::SaveOne(const Metric& metric) {
  const MetricRef ref{metric.service_id, metric.id};
  REDOUBLE_CO_ASSIGN_OR_RETURN(const OptionalText old_name, co_await LoadName(ref));
  Batch batch(Batch::Atomicity::kPipeline);
  if (old_name != metric.name) {
    // A request of its own: the original sends it on another connection while it fills the
    // pipeline.
    const std::string old_key = process_.keys.MetricId({metric.service_id, old_name.value_or("")});
    batch.Add(CommandId::kDel, {old_key});
    REDOUBLE_CO_RETURN_IF_ERROR(co_await ExecuteAll(process_.store, batch));
    batch = Batch(Batch::Atomicity::kPipeline);
  }
  const std::string id_key = process_.keys.MetricId({metric.service_id, metric.name});
  batch.Add(CommandId::kSet).AddOwned(id_key).Add(metric.id);
  batch.Add(CommandId::kSet).AddOwned(process_.keys.MetricName(ref)).Add(metric.name);
  if (metric.parent_id) {
    batch.Add(CommandId::kSet).AddOwned(process_.keys.MetricParent(ref)).Add(*metric.parent_id);
  }
  batch.Add(CommandId::kSAdd).AddOwned(process_.keys.MetricIds(metric.service_id)).Add(metric.id);
  co_return co_await ExecuteAll(process_.store, batch);
}

// Begins again if another process has renamed the metric in between.
base::Task<absl::Status> MetricStore::SaveByScript(const Metric& metric) {
  const MetricRef ref{metric.service_id, metric.id};
  const std::string name_key = process_.keys.MetricName(ref);
  const std::string id_key = process_.keys.MetricId({metric.service_id, metric.name});
  const std::string parent_key = process_.keys.MetricParent(ref);
  const std::string ids_key = process_.keys.MetricIds(metric.service_id);
  bool saved = false;
  while (!saved) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const OptionalText stored,
                                 co_await store::Get(process_.store, name_key));
    const std::string old_name = stored.value_or("");
    const std::string old_key = process_.keys.MetricId({metric.service_id, old_name});
    const std::string_view keys[] = {name_key, old_key, id_key, parent_key, ids_key};
    std::vector<std::string_view> arguments = {metric.id, old_name, metric.name};
    if (metric.parent_id) arguments.push_back(*metric.parent_id);
    REDOUBLE_CO_ASSIGN_OR_RETURN(
        saved, store::DecodeBool(co_await SaveScript().Run(process_.store, keys, arguments)));
  }
  co_return absl::OkStatus();
}

// The ids are part of the cache key of the names. They are read also without a memoizer, as in the
// original.
base::Task<absl::Status> MetricStore::Forget(MetricNameRef name, std::string_view id) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<std::string> ids,
                               co_await LoadIds(name.service_id));
  if (process_.memoizer == nullptr) co_return absl::OkStatus();
  process_.memoizer->Clear(MemoizerKey("Metric.load_all", name.service_id));
  process_.memoizer->Clear(NamesKey(name.service_id, ids));
  process_.memoizer->Clear(MemoizerKey(kLoadName, name.service_id, id));
  process_.memoizer->Clear(MemoizerKey(kLoadId, name.service_id, name.name));
  process_.memoizer->Clear(MemoizerKey(kLoadIds, name.service_id));
  co_return absl::OkStatus();
}

base::Task<absl::StatusOr<bool>> MetricStore::Delete(MetricRef metric) {
  if (hardening_.change_metrics_atomically) co_return co_await DeleteByScript(metric);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const OptionalText name, co_await LoadName(metric));
  if (!name || name->empty()) co_return false;
  const MetricNameRef name_ref{metric.service_id, *name};
  REDOUBLE_CO_RETURN_IF_ERROR(co_await Forget(name_ref, metric.id));
  Batch batch(Batch::Atomicity::kPipeline);
  batch.Add(CommandId::kSRem).AddOwned(process_.keys.MetricIds(metric.service_id)).Add(metric.id);
  batch.Add(CommandId::kDel)
      .AddOwned(process_.keys.MetricName(metric))
      .AddOwned(process_.keys.MetricParent(metric))
      .AddOwned(process_.keys.MetricId(name_ref));
  REDOUBLE_CO_RETURN_IF_ERROR(co_await ExecuteAll(process_.store, batch));
  co_return true;
}

// Begins again if another process has renamed the metric in between.
base::Task<absl::StatusOr<bool>> MetricStore::DeleteByScript(MetricRef metric) {
  const std::string name_key = process_.keys.MetricName(metric);
  const std::string parent_key = process_.keys.MetricParent(metric);
  const std::string ids_key = process_.keys.MetricIds(metric.service_id);
  bool deleted = false;
  while (!deleted) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const OptionalText name,
                                 co_await store::Get(process_.store, name_key));
    if (!name || name->empty()) co_return false;
    const MetricNameRef name_ref{metric.service_id, *name};
    REDOUBLE_CO_RETURN_IF_ERROR(co_await Forget(name_ref, metric.id));
    const std::string id_key = process_.keys.MetricId(name_ref);
    const std::string_view keys[] = {name_key, id_key, parent_key, ids_key};
    const std::string_view arguments[] = {metric.id, *name};
    REDOUBLE_CO_ASSIGN_OR_RETURN(
        deleted, store::DecodeBool(co_await DeleteScript().Run(process_.store, keys, arguments)));
  }
  co_return true;
}

base::Task<absl::StatusOr<std::optional<Metric>>> MetricStore::Load(MetricRef metric) {
  std::vector<std::string> keys = {process_.keys.MetricName(metric),
                                   process_.keys.MetricParent(metric)};
  REDOUBLE_CO_ASSIGN_OR_RETURN(OptionalTexts values,
                               co_await GetAll(process_.store, std::move(keys)));
  if (!values.front()) co_return std::nullopt;
  Metric loaded;
  loaded.service_id = metric.service_id;
  loaded.id = metric.id;
  loaded.name = *std::move(values[0]);
  loaded.parent_id = std::move(values[1]);
  co_return loaded;
}

base::Task<absl::StatusOr<OptionalText>> MetricStore::LoadId(MetricNameRef metric) {
  const std::string key = process_.keys.MetricId(metric);
  const auto read = [&] { return store::Get(process_.store, key); };
  co_return co_await Memoized<OptionalText>(
      process_.memoizer, MemoizerKey(kLoadId, metric.service_id, metric.name), read);
}

base::Task<absl::StatusOr<OptionalText>> MetricStore::LoadName(MetricRef metric) {
  const std::string key = process_.keys.MetricName(metric);
  const auto read = [&] { return store::Get(process_.store, key); };
  co_return co_await Memoized<OptionalText>(
      process_.memoizer, MemoizerKey(kLoadName, metric.service_id, metric.id), read);
}

base::Task<absl::StatusOr<OptionalText>> MetricStore::LoadParentId(MetricRef metric) {
  const std::string key = process_.keys.MetricParent(metric);
  const auto read = [&] { return store::Get(process_.store, key); };
  co_return co_await Memoized<OptionalText>(
      process_.memoizer, MemoizerKey("Metric.load_parent_id", metric.service_id, metric.id), read);
}

base::Task<absl::StatusOr<std::vector<std::string>>> MetricStore::LoadIds(
    std::string_view service_id) {
  const std::string key = process_.keys.MetricIds(service_id);
  const auto read = [&] { return store::SMembers(process_.store, key); };
  co_return co_await Memoized<std::vector<std::string>>(process_.memoizer,
                                                        MemoizerKey(kLoadIds, service_id), read);
}

base::Task<absl::StatusOr<MetricNames>> MetricStore::LoadNames(std::string_view service_id,
                                                               std::vector<std::string> ids) {
  std::vector<std::string> keys;
  for (const std::string& id : ids) keys.push_back(process_.keys.MetricName({service_id, id}));
  const auto read = [&] { return GetAll(process_.store, keys); };
  co_return co_await Memoized<MetricNames>(process_.memoizer, NamesKey(service_id, ids), read);
}

base::Task<absl::StatusOr<MetricHierarchy>> MetricStore::Hierarchy(std::string_view service_id) {
  const auto read = [this, service_id] { return ReadHierarchy(service_id); };
  co_return co_await Memoized<MetricHierarchy>(process_.memoizer,
                                               MemoizerKey("Metric.hierarchy", service_id), read);
}

base::Task<absl::StatusOr<MetricNames>> MetricStore::ReadParentIds(
    std::string_view service_id, const std::vector<std::string>& ids) {
  Batch batch(Batch::Atomicity::kPipeline);
  for (size_t begin = 0; begin < ids.size(); begin += kSlice) {
    store::Command& command = batch.Add(CommandId::kMGet);
    for (size_t i = begin; i < std::min(begin + kSlice, ids.size()); ++i) {
      command.AddOwned(process_.keys.MetricParent({service_id, ids[i]}));
    }
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<store::Reply> replies,
                               co_await store::Execute(process_.store, batch));
  MetricNames parent_ids;
  for (store::Reply& reply : replies) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(MetricNames slice, store::DecodeStringsOrNil(std::move(reply)));
    parent_ids.insert(parent_ids.end(), slice.begin(), slice.end());
  }
  co_return parent_ids;
}

base::Task<absl::StatusOr<MetricHierarchy>> MetricStore::ReadHierarchy(
    std::string_view service_id) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<std::string> ids, co_await LoadIds(service_id));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const MetricNames parent_ids,
                               co_await ReadParentIds(service_id, ids));
  const auto groups = GroupByParent(ids, parent_ids);

  std::vector<std::string> named;  // Parents first, each id once.
  for (const auto& [parent_id, children] : groups) named.push_back(parent_id);
  for (const auto& [parent_id, children] : groups) {
    for (const std::string& child : children) {
      if (!Contains(named, child)) named.push_back(child);
    }
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const MetricNames names, co_await LoadNames(service_id, named));
  const auto name_of = [&](const std::string& id) {
    return names[std::find(named.begin(), named.end(), id) - named.begin()];
  };
  MetricHierarchy hierarchy;
  for (const auto& [parent_id, children] : groups) {
    MetricNames child_names;
    for (const std::string& child : children) child_names.push_back(name_of(child));
    const OptionalText parent = name_of(parent_id);
    const auto same = std::find_if(hierarchy.begin(), hierarchy.end(),
                                   [&](const auto& known) { return known.first == parent; });
    if (same != hierarchy.end()) {  // Of two parents with one name, the last is used.
      same->second = std::move(child_names);
    } else {
      hierarchy.emplace_back(parent, std::move(child_names));
    }
  }
  co_return hierarchy;
}

base::Task<absl::StatusOr<MetricNames>> MetricStore::Descendants(MetricNameRef metric) {
  const auto read = [this, metric] { return ReadDescendants(metric); };
  co_return co_await Memoized<MetricNames>(
      process_.memoizer, MemoizerKey("Metric.descendants", metric.service_id, metric.name), read);
}

base::Task<absl::StatusOr<MetricNames>> MetricStore::ReadDescendants(MetricNameRef metric) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const MetricHierarchy hierarchy,
                               co_await Hierarchy(metric.service_id));
  co_return DescendantsIn(hierarchy, metric);
}

base::Task<absl::StatusOr<MetricNames>> MetricStore::Ascendants(MetricNameRef metric) {
  const auto read = [this, metric] { return ReadAscendants(metric); };
  co_return co_await Memoized<MetricNames>(
      process_.memoizer, MemoizerKey("Metric.ascendants", metric.service_id, metric.name), read);
}

base::Task<absl::StatusOr<MetricNames>> MetricStore::ReadAscendants(MetricNameRef metric) {
  MetricNames ascendants;
  std::string name(metric.name);
  while (true) {
    const MetricNameRef name_ref{metric.service_id, name};
    REDOUBLE_CO_ASSIGN_OR_RETURN(const OptionalText id, co_await LoadId(name_ref));
    const std::string known_id = id.value_or("");
    const MetricRef below{metric.service_id, known_id};
    REDOUBLE_CO_ASSIGN_OR_RETURN(const OptionalText parent_id, co_await LoadParentId(below));
    if (!parent_id.has_value()) co_return ascendants;
    const MetricRef parent{metric.service_id, *parent_id};
    REDOUBLE_CO_ASSIGN_OR_RETURN(const OptionalText parent_name, co_await LoadName(parent));
    name = parent_name.value_or("");
    if (name == metric.name || Contains(ascendants, parent_name)) {
      co_return MetricCycleError(metric.service_id, name);
    }
    ascendants.push_back(parent_name);
  }
}

}  // namespace redouble::inline v0_1::threescale
