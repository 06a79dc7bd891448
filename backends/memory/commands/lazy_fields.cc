#include "redouble/backends/memory/commands/lazy_fields.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/values/hash.h"

namespace redouble::inline v0_1::memory {
namespace {

bool MayRemove(const EngineCore& engine) {
  return engine.authority() != EngineCore::Authority::kMaster && !engine.administration().paused();
}

bool HasHiddenFields(const CommandContext& context) {
  return MayHaveLazyFields(context) && !context.engine().runs_obeyed();
}

// Removes the fields, which have expired, with one event for all of them.
void Remove(CommandContext& context, std::string_view key, std::vector<std::string> fields,
            bool with_events = true) {
  context.db().WillChange(key);
  for (const std::string& field : fields) context.ClearFieldDeadline(key, field);
  context.engine().ExpireFields(context.db_index(), {std::string(key), std::move(fields)},
                                with_events);
}

}  // namespace

bool HidesField(const CommandContext& context, std::string_view key, std::string_view field) {
  if (!HasHiddenFields(context)) return false;
  const std::optional<int64_t> deadline_ms = context.FieldDeadline(key, field);
  return deadline_ms && *deadline_ms < context.now_ms();
}

std::vector<std::string> HiddenFields(const CommandContext& context, std::string_view key) {
  std::vector<std::string> hidden;
  if (!HasHiddenFields(context)) return hidden;
  const std::optional<FieldDeadlines::List> list = context.FieldDeadlinesOf(key);
  if (!list) return hidden;
  for (const auto& [field, deadline_ms] : *list) {
    if (deadline_ms < context.now_ms()) hidden.push_back(field);
  }
  return hidden;
}

void RemoveExpiredFields(CommandContext& context, std::string_view key, Arguments fields,
                         FieldEvents events) {
  // The key may have expired itself.
  const Lookup<Hash> hash = context.Find<Hash>(key);
  if (!hash || !MayRemove(context.engine())) return;
  std::vector<std::string> expired;
  for (const std::string_view field : fields) {
    if (!HidesField(context, key, field)) continue;
    if (std::find(expired.begin(), expired.end(), field) == expired.end()) {
      expired.emplace_back(field);
    }
  }
  if (expired.empty()) return;
  if (events == FieldEvents::kEach) {
    for (std::string& field : expired) Remove(context, key, {std::move(field)});
    return;
  }
  const bool empties_alone = expired.size() == 1 && hash->size() == 1;
  Remove(context, key, std::move(expired), /*with_events=*/!empties_alone);
}

void ExpireAllFields(CommandContext& context, std::string_view key) {
  if (!MayHaveLazyFields(context) || !MayRemove(context.engine())) return;
  if (!context.Find<Hash>(key)) return;
  std::vector<std::string> expired = HiddenFields(context, key);
  if (!expired.empty()) Remove(context, key, std::move(expired));
}

}  // namespace redouble::inline v0_1::memory
