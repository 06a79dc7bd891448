#include "redouble/sim/migrate/migration.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/sim/migrate/key_value.h"

namespace redouble::inline v0_1::sim {

using store::ScanPage;
using store::Store;

namespace {

base::Task<void> PauseAfterKey(Pace pace) {
  if (pace.clock != nullptr) co_await pace.clock->Sleep(pace.per_key);
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
  std::string cursor = options.cursor;
  const store::ScanOptions scan{.count = options.page_keys};
  do {
    REDOUBLE_CO_ASSIGN_OR_RETURN(ScanPage page, co_await store::Scan(from, cursor, scan));
    for (const std::string& key : page.keys) {
      REDOUBLE_CO_RETURN_IF_ERROR(co_await CopyKey(from, to, key, options.is_dry_run, report));
      co_await PauseAfterKey(options.pace);
    }
    cursor = std::move(page.cursor);
    if (options.on_page) REDOUBLE_CO_RETURN_IF_ERROR(options.on_page(cursor, report));
  } while (cursor != "0");
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
  const store::ScanOptions scan{.count = CopyOptions().page_keys};
  std::string cursor = "0";
  do {
    REDOUBLE_CO_ASSIGN_OR_RETURN(ScanPage page, co_await store::Scan(from, cursor, scan));
    for (const std::string& key : page.keys) {
      REDOUBLE_CO_RETURN_IF_ERROR(co_await CompareKey(from, to, key, report));
      co_await PauseAfterKey(pace);
    }
    cursor = std::move(page.cursor);
  } while (cursor != "0");
  do {
    REDOUBLE_CO_ASSIGN_OR_RETURN(ScanPage page, co_await store::Scan(to, cursor, scan));
    for (const std::string& key : page.keys) {
      REDOUBLE_CO_RETURN_IF_ERROR(co_await FindExtra(from, to, key, report));
      co_await PauseAfterKey(pace);
    }
    cursor = std::move(page.cursor);
  } while (cursor != "0");
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
