#include "redouble/sim/migrate/migration.h"

#include <algorithm>
#include <span>
#include <utility>

#include "absl/functional/function_ref.h"
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

}  // namespace redouble::inline v0_1::sim
