#include "core/threescale/stats_cleaner.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/base/string_bridge.h"
#include "core/store/decode.h"
#include "core/store/errors.h"
#include "core/store/keys.h"
#include "core/store/sets.h"
#include "core/store/strings.h"
#include "core/threescale/keys.h"
#include "core/threescale/periods.h"

namespace redouble::threescale {
namespace {

constexpr std::string_view kPrefix = "stats/";
// Marks the set of applications with traffic; so does any id that holds it.
constexpr std::string_view kSetMark = "cinstances";
constexpr std::array<std::string_view, 5> kSegments = {"service", "cinstance", "uinstance",
                                                       "metric", "response_code"};

bool IsCounter(std::string_view key) {
  return key.starts_with(kPrefix) && key.find(kSetMark) == key.npos;
}

// `text` cut at each separator, without the empty parts at the end, as Ruby's split does.
std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts = absl::StrSplit(base::ToAbsl(text), separator);
  while (!parts.empty() && parts.back().empty()) parts.pop_back();
  return parts;
}

std::vector<std::string_view> Views(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

}  // namespace

absl::StatusOr<std::optional<std::string>> ServiceOfCounter(std::string_view key) {
  if (!IsCounter(key)) return std::nullopt;
  std::string rest(key.substr(kPrefix.size()));
  rest.erase(std::remove_if(rest.begin(), rest.end(), [](char c) { return c == '{' || c == '}'; }),
             rest.end());
  std::optional<std::string> service;
  bool is_readable = true;
  int periods = 0;
  for (const std::string& segment : Split(rest, '/')) {
    const std::vector<std::string> parts = Split(segment, ':');
    if (parts.empty() || parts.size() > 2) {
      return absl::InvalidArgumentError(
          absl::StrCat("invalid number of elements (", parts.size(), " for 1..2)"));
    }
    if (FindGranularity(parts[0])) {
      ++periods;
    } else if (std::find(kSegments.begin(), kSegments.end(), parts[0]) == kSegments.end()) {
      is_readable = false;
    } else if (parts[0] == kSegments.front() && parts.size() == 2) {
      service = parts[1];
    }
  }
  if (!is_readable || periods != 1) return std::nullopt;
  return service;
}

base::Task<absl::StatusOr<bool>> StatsCleaner::Mark(std::string_view service_id) {
  return store::SAdd(store_, kServicesToCleanKey, service_id);
}

base::Task<absl::Status> StatsCleaner::DeleteMarked() {
  const absl::StatusOr<std::vector<std::string>> services = co_await ReadMarks();
  if (!services.ok()) co_return services.status();
  if (services->empty()) co_return absl::OkStatus();
  // Whether the server can be scanned at all.
  store::ScanOptions probe;
  probe.count = 1;
  const absl::StatusOr<store::ScanPage> probed = co_await store::Scan(store_, "0", probe);
  if (!probed.ok()) co_return probed.status();
  const Visit visit = [&](const std::vector<std::string>& keys) {
    return DeleteOf(*services, keys);
  };
  const absl::StatusOr<int64_t> deleted = co_await VisitAll(visit);
  if (!deleted.ok()) co_return deleted.status();
  const std::vector<std::string_view> marks = Views(*services);
  const absl::StatusOr<int64_t> unmarked = co_await store::SRem(store_, kServicesToCleanKey, marks);
  co_return unmarked.status();
}

base::Task<absl::StatusOr<int64_t>> StatsCleaner::DeleteZeros() {
  const Visit visit = [this](const std::vector<std::string>& keys) { return DeleteZerosOf(keys); };
  co_return co_await VisitAll(visit);
}

base::Task<absl::StatusOr<std::vector<std::string>>> StatsCleaner::ReadMarks() {
  std::vector<std::string> services;
  std::string cursor = "0";
  do {
    store::Command scan(store::CommandId::kSScan, {kServicesToCleanKey, cursor, "COUNT"});
    scan.AddInteger(kPageSize);
    const auto page = store::DecodeArray(co_await store_.Execute(scan));
    if (!page.ok()) co_return page.status();
    if (page->size() != 2 || !page->front().is_bulk()) {
      co_return store::ProtocolError("SSCAN answered something else");
    }
    absl::StatusOr<std::vector<std::string>> members = store::DecodeStrings(page->back());
    if (!members.ok()) co_return members.status();
    services.insert(services.end(), members->begin(), members->end());
    cursor = page->front().text();
  } while (cursor != "0");
  co_return services;
}

base::Task<absl::StatusOr<int64_t>> StatsCleaner::VisitAll(const Visit& visit) {
  int64_t deleted = 0;
  std::string cursor = "0";
  while (true) {
    absl::StatusOr<int64_t> count = co_await VisitPage(cursor, visit);
    for (int attempt = 1; !count.ok() && attempt < kTries; ++attempt) {
      count = co_await VisitPage(cursor, visit);
    }
    if (!count.ok()) co_return count.status();
    deleted += *count;
    if (cursor == "0") co_return deleted;
    co_await clock_.Sleep(options_.pause);
  }
}

// Moves the cursor on unless something fails.
base::Task<absl::StatusOr<int64_t>> StatsCleaner::VisitPage(std::string& cursor,
                                                            const Visit& visit) {
  store::ScanOptions options;
  options.count = kPageSize;
  absl::StatusOr<store::ScanPage> page = co_await store::Scan(store_, cursor, options);
  if (!page.ok()) co_return page.status();
  const absl::StatusOr<int64_t> deleted = co_await visit(page->keys);
  if (!deleted.ok()) co_return deleted.status();
  cursor = std::move(page->cursor);
  co_return *deleted;
}

base::Task<absl::StatusOr<int64_t>> StatsCleaner::DeleteAll(const std::vector<std::string>& keys) {
  if (keys.empty()) co_return 0;
  const std::vector<std::string_view> views = Views(keys);
  co_return co_await store::Del(store_, views);
}

base::Task<absl::StatusOr<int64_t>> StatsCleaner::DeleteOf(const std::vector<std::string>& services,
                                                           const std::vector<std::string>& keys) {
  std::vector<std::string> counters;
  for (const std::string& key : keys) {
    const absl::StatusOr<std::optional<std::string>> service = ServiceOfCounter(key);
    if (!service.ok()) co_return service.status();
    const bool is_marked =
        *service && std::find(services.begin(), services.end(), **service) != services.end();
    if (is_marked) counters.push_back(key);
  }
  co_return co_await DeleteAll(counters);
}

base::Task<absl::StatusOr<int64_t>> StatsCleaner::DeleteZerosOf(
    const std::vector<std::string>& keys) {
  std::vector<std::string> counters;
  std::copy_if(keys.begin(), keys.end(), std::back_inserter(counters),
               [](const std::string& key) { return key.starts_with(kPrefix); });
  if (counters.empty()) co_return 0;
  const std::vector<std::string_view> views = Views(counters);
  const auto values = co_await store::MGet(store_, views);
  if (!values.ok()) co_return values.status();
  std::vector<std::string> zeros;
  for (size_t i = 0; i < counters.size(); ++i) {
    if ((*values)[i] == "0") zeros.push_back(counters[i]);
  }
  co_return co_await DeleteAll(zeros);
}

}  // namespace redouble::threescale
