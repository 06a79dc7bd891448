#include "redouble/core/store/keyspace/unused_keys.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/script.h"
#include "redouble/core/store/typed/keys.h"

namespace redouble::inline v0_1::store {
namespace {

const Script& DeleteIfUnused() {
  static const Script* const script = new Script(R"(
local idle = redis.call('OBJECT', 'IDLETIME', KEYS[1])
if not idle or idle < tonumber(ARGV[1]) then return 0 end
return redis.call('DEL', KEYS[1])
)");
  return *script;
}

// The keys of a page that something is to be done with.
struct Found {
  std::vector<std::string> unused;
  std::vector<std::string> integers;
};

base::Task<absl::StatusOr<Found>> Look(Store& store, std::vector<std::string> keys,
                                       int64_t seconds) {
  Batch batch(Batch::Atomicity::kPipeline);
  for (const std::string& key : keys) {
    batch.Add(CommandId::kObjectEncoding, {key});
    batch.Add(CommandId::kObjectIdleTime, {key});
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<Reply> replies, co_await Execute(store, batch));
  Found found;
  for (size_t i = 0; i < keys.size(); ++i) {
    const Reply& idle = replies[2 * i + 1];
    if (idle.is_nil()) continue;  // It has gone since the scan.
    REDOUBLE_CO_ASSIGN_OR_RETURN(const auto encoding, DecodeStringOrNil(replies[2 * i]));
    REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t unused, DecodeInteger(idle));
    if (encoding == "int") {
      found.integers.push_back(std::move(keys[i]));
    } else if (unused >= seconds) {
      found.unused.push_back(std::move(keys[i]));
    }
  }
  co_return found;
}

base::Task<absl::Status> Clean(Store& store, const Found& found, int64_t seconds,
                               UnusedKeysReport& report) {
  const std::string limit = absl::StrCat(seconds);
  const std::string_view arguments[] = {limit};
  Batch batch(Batch::Atomicity::kPipeline);
  for (const std::string& key : found.unused) {
    const std::string_view of_script[] = {key};
    DeleteIfUnused().AddTo(batch, of_script, arguments);
  }
  for (const std::string& key : found.integers) {
    batch.Add(CommandId::kExpire, {key, limit, "NX"});
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<Reply> replies, co_await Execute(store, batch));
  for (size_t i = 0; i < replies.size(); ++i) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t count, DecodeInteger(replies[i]));
    (i < found.unused.size() ? report.deleted : report.expiring) += count;
  }
  co_return absl::OkStatus();
}

}  // namespace

base::Task<absl::StatusOr<UnusedKeysReport>> DeleteUnusedKeys(Store& store, UnusedKeys unused) {
  const int64_t seconds = absl::ToInt64Seconds(unused.unused_for);
  if (seconds < 1) {
    co_return absl::InvalidArgumentError(absl::StrCat("unused_for: expected at least 1s, got ",
                                                      absl::FormatDuration(unused.unused_for)));
  }
  UnusedKeysReport report;
  ScanOptions options;
  options.count = unused.page_size;
  std::string cursor = "0";
  do {
    REDOUBLE_CO_ASSIGN_OR_RETURN(ScanPage page, co_await Scan(store, cursor, options));
    std::erase_if(page.keys, [&](const std::string& key) { return !unused.selects(key); });
    cursor = std::move(page.cursor);
    if (page.keys.empty()) continue;
    report.selected += static_cast<int64_t>(page.keys.size());
    REDOUBLE_CO_ASSIGN_OR_RETURN(const Found found,
                                 co_await Look(store, std::move(page.keys), seconds));
    if (found.unused.empty() && found.integers.empty()) continue;
    REDOUBLE_CO_RETURN_IF_ERROR(co_await Clean(store, found, seconds, report));
  } while (cursor != "0");
  co_return report;
}

}  // namespace redouble::inline v0_1::store
