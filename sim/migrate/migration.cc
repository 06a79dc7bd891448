#include "redouble/sim/migrate/migration.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/sim/migrate/key_value.h"

namespace redouble::inline v0_1::sim {

using store::ScanPage;
using store::Store;

namespace {

struct ScanRange {
  std::string cursor = "0";  // As in CopyOptions.
  int64_t page_keys = CopyOptions().page_keys;
};

// Calls `visit` for each key from the cursor on, and `on_page` with the cursor after each page. The
// first error ends the scan. The functions must outlive the task.
base::Task<absl::Status> VisitKeys(
    Store& store, ScanRange range, Pace pace,
    absl::FunctionRef<base::Task<absl::Status>(std::string_view key)> visit,
    absl::FunctionRef<absl::Status(std::string_view cursor)> on_page) {
  const store::ScanOptions scan{.count = range.page_keys};
  do {
    REDOUBLE_CO_ASSIGN_OR_RETURN(ScanPage page, co_await store::Scan(store, range.cursor, scan));
    for (const std::string& key : page.keys) {
      REDOUBLE_CO_RETURN_IF_ERROR(co_await visit(key));
      if (pace.clock != nullptr) co_await pace.clock->Sleep(pace.per_key);
    }
    range.cursor = std::move(page.cursor);
    REDOUBLE_CO_RETURN_IF_ERROR(on_page(range.cursor));
  } while (range.cursor != "0");
  co_return absl::OkStatus();
}

}  // namespace

bool VerifyReport::is_equal() const {
  return std::all_of(families.begin(), families.end(), [](const auto& entry) {
    const FamilyReport& family = entry.second;
    return family.missing == 0 && family.different == 0 && family.extra == 0;
  });
}

absl::StatusOr<Migration> Migration::Create(std::string_view system, LayoutPair layouts,
                                            std::span<const store::KeyBinding> bindings) {
  REDOUBLE_ASSIGN_OR_RETURN(const MovedSystem* const moved, FindMovedSystem(system));
  REDOUBLE_ASSIGN_OR_RETURN(KeyMove forth, KeyMove::Create(*moved, layouts, bindings));
  REDOUBLE_ASSIGN_OR_RETURN(KeyMove back,
                            KeyMove::Create(*moved, {layouts.to, layouts.from}, bindings));
  return Migration(std::move(forth), std::move(back));
}

base::Task<absl::StatusOr<CopyReport>> Migration::Copy(Store& from, Store& to,
                                                       CopyOptions options) const {
  CopyReport report;
  const auto copy = [&](std::string_view key) {
    return CopyKey(from, to, key, options.is_dry_run, report);
  };
  const auto tell = [&](std::string_view cursor) {
    return options.on_page ? options.on_page(cursor, report) : absl::OkStatus();
  };
  ScanRange range{options.cursor, options.page_keys};
  REDOUBLE_CO_RETURN_IF_ERROR(co_await VisitKeys(from, std::move(range), options.pace, copy, tell));
  co_return report;
}

absl::StatusOr<std::optional<KeyMove::Target>> Migration::Translate(std::string_view key) const {
  REDOUBLE_ASSIGN_OR_RETURN(std::optional<KeyMove::Target> target, forth_.Translate(key));
  if (!target) return std::nullopt;
  const auto restored = back_.Translate(target->key);
  if (restored.ok() && *restored && (*restored)->key == key) return target;
  return absl::FailedPreconditionError(absl::StrCat("cannot move \"", base::ToAbsl(key),
                                                    "\": its key in the other layout, \"",
                                                    target->key, "\", does not lead back to it"));
}

base::Task<absl::Status> Migration::CopyKey(Store& from, Store& to, std::string_view key,
                                            bool is_dry_run, CopyReport& report) const {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::optional<KeyMove::Target> target, Translate(key));
  if (!target) {
    ++report.other_keys;
    co_return absl::OkStatus();
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::optional<KeyValue> read, co_await ReadKey(from, key));
  if (!read) co_return absl::OkStatus();  // It expired after SCAN.
  REDOUBLE_CO_ASSIGN_OR_RETURN(const KeyValue value, forth_.Rewrite(*target, *std::move(read)));
  if (!is_dry_run) REDOUBLE_CO_RETURN_IF_ERROR(co_await WriteKey(to, target->key, value));
  ++report.keys[std::string(target->family->id)];
  co_return absl::OkStatus();
}

base::Task<absl::StatusOr<VerifyReport>> Migration::Verify(Store& from, Store& to,
                                                           Pace pace) const {
  VerifyReport report;
  const auto compare = [&](std::string_view key) { return CompareKey(from, to, key, report); };
  const auto find_extra = [&](std::string_view key) { return FindExtra(from, to, key, report); };
  const auto go_on = [](std::string_view) { return absl::OkStatus(); };
  const ScanRange all;
  REDOUBLE_CO_RETURN_IF_ERROR(co_await VisitKeys(from, all, pace, compare, go_on));
  REDOUBLE_CO_RETURN_IF_ERROR(co_await VisitKeys(to, all, pace, find_extra, go_on));
  co_return report;
}

base::Task<absl::Status> Migration::CompareKey(Store& from, Store& to, std::string_view key,
                                               VerifyReport& report) const {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::optional<KeyMove::Target> target, Translate(key));
  if (!target) co_return absl::OkStatus();
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::optional<KeyValue> read, co_await ReadKey(from, key));
  if (!read) co_return absl::OkStatus();
  REDOUBLE_CO_ASSIGN_OR_RETURN(const KeyValue expected, forth_.Rewrite(*target, *std::move(read)));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::optional<KeyValue> found,
                               co_await ReadKey(to, target->key));
  if (!found) {
    // Both copies have the same deadline: the key may have expired between the two reads.
    REDOUBLE_CO_ASSIGN_OR_RETURN(const bool exists, co_await store::Exists(from, key));
    if (!exists) co_return absl::OkStatus();
  }
  FamilyReport& family = report.families[std::string(target->family->id)];
  ++family.keys;
  family.from_digest += DigestOf(target->key, expected);
  if (found) family.to_digest += DigestOf(target->key, *found);
  if (!found) ++family.missing;
  if (found && *found != expected) ++family.different;
  co_return absl::OkStatus();
}

base::Task<absl::Status> Migration::FindExtra(Store& from, Store& to, std::string_view key,
                                              VerifyReport& report) const {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::optional<KeyMove::Target> source, back_.Translate(key));
  if (!source) co_return absl::OkStatus();
  REDOUBLE_CO_ASSIGN_OR_RETURN(const bool has_source, co_await store::Exists(from, source->key));
  if (has_source) co_return absl::OkStatus();
  REDOUBLE_CO_ASSIGN_OR_RETURN(const bool exists, co_await store::Exists(to, key));
  if (exists) ++report.families[std::string(source->family->id)].extra;
  co_return absl::OkStatus();
}

}  // namespace redouble::inline v0_1::sim
