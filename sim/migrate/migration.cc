#include "redouble/sim/migrate/migration.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/store/typed/keys.h"

namespace redouble::inline v0_1::sim {

using store::ScanPage;
using store::Store;

namespace {

// Where a scan begins and how large its pages are, as in CopyOptions.
struct ScanRange {
  std::string cursor = "0";
  int64_t page_keys = CopyOptions().page_keys;
};

size_t BatchSizeOf(const Pace& pace) {
  constexpr absl::Duration kLongest = absl::Milliseconds(100);
  const size_t most = std::max<size_t>(pace.batch_keys, 1);
  if (pace.clock == nullptr || pace.per_key <= absl::ZeroDuration()) return most;
  return std::clamp<size_t>(static_cast<size_t>(kLongest / pace.per_key), 1, most);
}

// Calls `visit` for each batch of keys from the cursor on, and `on_page` with the cursor after each
// page. The first error ends the scan. The functions must outlive the task.
base::Task<absl::Status> VisitKeys(
    Store& store, ScanRange range, Pace pace,
    absl::FunctionRef<base::Task<absl::Status>(std::span<const std::string> keys)> visit,
    absl::FunctionRef<absl::Status(std::string_view cursor)> on_page) {
  const store::ScanOptions scan{.count = range.page_keys};
  do {
    REDOUBLE_CO_ASSIGN_OR_RETURN(ScanPage page, co_await store::Scan(store, range.cursor, scan));
    std::span<const std::string> rest(page.keys);
    while (!rest.empty()) {
      const auto batch = rest.first(std::min(rest.size(), BatchSizeOf(pace)));
      rest = rest.subspan(batch.size());
      const absl::Time begin = pace.clock == nullptr ? absl::Time() : pace.clock->Now();
      REDOUBLE_CO_RETURN_IF_ERROR(co_await visit(batch));
      if (pace.clock == nullptr) continue;
      co_await pace.clock->SleepUntil(begin + pace.per_key * batch.size());
    }
    range.cursor = std::move(page.cursor);
    REDOUBLE_CO_RETURN_IF_ERROR(on_page(range.cursor));
  } while (range.cursor != "0");
  co_return absl::OkStatus();
}

}  // namespace

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
  KeyMover mover(forth_, back_, from, to);
  const Writes writes = options.is_dry_run ? Writes::kNone : Writes::kAll;
  const auto copy = [&](std::span<const std::string> keys) {
    return mover.Copy(keys, writes, report);
  };
  const auto tell = [&](std::string_view cursor) {
    return options.on_page ? options.on_page(cursor, report) : absl::OkStatus();
  };
  ScanRange range{options.cursor, options.page_keys};
  REDOUBLE_CO_RETURN_IF_ERROR(co_await VisitKeys(from, std::move(range), options.pace, copy, tell));
  co_return report;
}

base::Task<absl::StatusOr<VerifyReport>> Migration::Verify(Store& from, Store& to,
                                                           Pace pace) const {
  VerifyReport report;
  KeyMover mover(forth_, back_, from, to);
  const auto compare = [&](std::span<const std::string> keys) -> base::Task<absl::Status> {
    co_return (co_await mover.Compare(keys, report)).status();
  };
  const auto find_extra = [&](std::span<const std::string> keys) -> base::Task<absl::Status> {
    co_return (co_await mover.FindExtra(keys, report)).status();
  };
  const auto go_on = [](std::string_view) { return absl::OkStatus(); };
  const ScanRange all;
  REDOUBLE_CO_RETURN_IF_ERROR(co_await VisitKeys(from, all, pace, compare, go_on));
  REDOUBLE_CO_RETURN_IF_ERROR(co_await VisitKeys(to, all, pace, find_extra, go_on));
  co_return report;
}

base::Task<absl::Status> Migration::Pass(Store& from, Store& to, Pace pace,
                                         FollowReport& report) const {
  KeyMover mover(forth_, back_, from, to);
  const auto update = [&](std::span<const std::string> keys) -> base::Task<absl::Status> {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<std::string> unequal,
                                 co_await mover.Compare(keys, report.compared));
    if (unequal.empty()) co_return absl::OkStatus();
    report.copied += static_cast<int64_t>(unequal.size());
    CopyReport copied;
    co_return co_await mover.Copy(unequal, Writes::kAll, copied);
  };
  const auto remove = [&](std::span<const std::string> keys) -> base::Task<absl::Status> {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<std::string> extra,
                                 co_await mover.FindExtra(keys, report.compared));
    report.deleted += static_cast<int64_t>(extra.size());
    co_return co_await mover.Delete(extra);
  };
  const auto go_on = [](std::string_view) { return absl::OkStatus(); };
  const ScanRange all;
  REDOUBLE_CO_RETURN_IF_ERROR(co_await VisitKeys(from, all, pace, update, go_on));
  co_return co_await VisitKeys(to, all, pace, remove, go_on);
}

base::Task<absl::StatusOr<FollowReport>> Migration::Follow(Store& from, Store& to,
                                                           FollowOptions options) const {
  constexpr int64_t kPatience = 5;
  std::optional<FollowReport> best;
  for (int64_t pass = 1;; ++pass) {
    FollowReport report;
    report.passes = pass;
    REDOUBLE_CO_RETURN_IF_ERROR(co_await Pass(from, to, options.pace, report));
    if (options.on_pass) REDOUBLE_CO_RETURN_IF_ERROR(options.on_pass(report));
    if (report.changes() <= options.most_changes) co_return report;
    if (!best || report.changes() < best->changes()) {
      best = std::move(report);
    } else if (pass == best->passes + kPatience) {
      co_return absl::AbortedError(
          absl::StrCat("pass ", best->passes, " has changed ", best->changes(),
                       " keys, and none of the ", kPatience,
                       " passes after it fewer: the writers are as fast; pause them, or allow more "
                       "changes"));
    }
  }
}

}  // namespace redouble::inline v0_1::sim
