#include "redouble/core/threescale/report/stats_cleaner.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/base/text/utf8.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/sets.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/core/threescale/keys.h"
#include "redouble/core/threescale/text/periods.h"

namespace redouble::inline v0_1::threescale {
namespace {

constexpr std::string_view kPrefix = "stats/";
// Appears in the key of the set of applications with traffic, and in the keys of ids that contain
// it.
constexpr std::string_view kSetMark = "cinstances";
constexpr std::string_view kEternity = "eternity";
// The columns of a counter apart from the granularities, as the original names them.
constexpr std::array<std::string_view, 7> kColumns = {
    "service", "cinstance", "uinstance", "metric", "response_code", "period", "value"};
constexpr size_t kYearAndMonth = 6;

struct Column {
  std::string name;
  std::optional<std::string> value;
};
// Names are distinct.
using Columns = std::vector<Column>;

bool IsCounter(std::string_view key) {
  return key.starts_with(kPrefix) && key.find(kSetMark) == key.npos;
}

// Splits `text` at each separator and drops empty parts at the end, as Ruby's split does.
std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts = absl::StrSplit(base::ToAbsl(text), separator);
  while (!parts.empty() && parts.back().empty()) parts.pop_back();
  return parts;
}

// Takes a key apart as the original does, which reads it as `"KEY":"VALUE"` with an empty value: a
// quote in the key ends it, and what follows the next quote is a part of the value. Of two segments
// with one name, the last has the value.
absl::StatusOr<Columns> ColumnsOf(std::string_view key) {
  // Old counters have a segment "uinstance:N/A".
  const std::string line =
      absl::StrReplaceAll(absl::StrCat("\"", base::ToAbsl(key), "\":\"\""), {{":N/A", ":"}});
  const std::vector<std::string> quoted = Split(line, '"');
  std::string text = quoted[1];
  text.erase(std::remove_if(text.begin(), text.end(), [](char c) { return c == '{' || c == '}'; }),
             text.end());
  absl::StrAppend(&text, "/value:", quoted.size() > 3 ? quoted[3] : "");
  Columns columns;
  std::vector<std::string> segments = Split(text, '/');
  segments.erase(segments.begin());
  for (const std::string& segment : segments) {
    const std::vector<std::string> parts = Split(segment, ':');
    if (parts.empty() || parts.size() > 2) {
      return absl::InvalidArgumentError(
          absl::StrCat("invalid number of elements (", parts.size(), " for 1..2)"));
    }
    auto column = std::find_if(columns.begin(), columns.end(),
                               [&](const Column& known) { return known.name == parts[0]; });
    if (column == columns.end()) {
      column = columns.insert(columns.end(), Column{parts[0], std::nullopt});
    }
    column->value = parts.size() == 2 ? std::optional(parts[1]) : std::nullopt;
  }
  return columns;
}

// Errors after which other servers can still be scanned. A proxy answers with the last one.
bool IsConnectionError(const absl::Status& status) {
  const std::optional<store::ErrorKind> kind = store::ErrorKindOf(status);
  return absl::IsUnavailable(status) || kind == store::ErrorKind::kNotSent ||
         kind == store::ErrorKind::kOutcomeUnknown ||
         base::ToStd(status.message()) == "ERR Connection timed out";
}

std::vector<std::string_view> Views(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

}  // namespace

absl::StatusOr<std::optional<std::string>> ServiceOfCounter(std::string_view key) {
  if (!IsCounter(key)) return std::nullopt;
  REDOUBLE_ASSIGN_OR_RETURN(const Columns columns, ColumnsOf(key));
  const auto period = std::find_if(columns.begin(), columns.end(), [](const Column& column) {
    return FindGranularity(column.name).has_value();
  });
  if (period == columns.end()) return std::nullopt;
  if (period->name != kEternity && !period->value) {
    return absl::InvalidArgumentError(absl::StrCat(period->name, " has no time"));
  }
  const Column* service = nullptr;
  for (const Column& column : columns) {
    const bool is_known =
        std::find(kColumns.begin(), kColumns.end(), column.name) != kColumns.end() ||
        FindGranularity(column.name).has_value();
    if (!is_known) return std::nullopt;
    if (column.name == kColumns.front()) service = &column;
  }
  if (service == nullptr) return std::nullopt;
  if (period->name != kEternity && base::CountCodePoints(*period->value) <= kYearAndMonth) {
    return absl::InvalidArgumentError(absl::StrCat(period->name, " has no day"));
  }
  return service->value;
}

StatsCleaner::StatsCleaner(store::Store& store, base::Clock& clock, StatsCleanerOptions options)
    : store_(store), clock_(clock), options_(std::move(options)) {
  if (options_.servers.empty()) options_.servers.push_back(&store);
}

base::Task<absl::StatusOr<bool>> StatsCleaner::Mark(std::string_view service_id) {
  return store::SAdd(store_, options_.keys.ServicesToClean(), service_id);
}

base::Task<absl::Status> StatsCleaner::DeleteMarked() {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<std::string> services, co_await ReadMarks());
  if (services.empty()) co_return absl::OkStatus();
  const Visit visit = [&](store::Store& server, const Names& keys) {
    return DeleteOf(services, server, keys);
  };
  REDOUBLE_CO_RETURN_IF_ERROR((co_await VisitServers(/*probe=*/true, visit)).status());
  absl::Status unmarked = co_await DeleteMarks(services);
  for (int attempt = 1; !unmarked.ok() && attempt < kTries; ++attempt) {
    unmarked = co_await DeleteMarks(services);
  }
  co_return unmarked;
}

base::Task<absl::StatusOr<int64_t>> StatsCleaner::DeleteZeros() {
  const Visit visit = [this](store::Store& server, const Names& keys) {
    return DeleteZerosOf(server, keys);
  };
  co_return co_await VisitServers(/*probe=*/false, visit);
}

base::Task<absl::StatusOr<std::vector<std::string>>> StatsCleaner::ReadMarks() {
  std::vector<std::string> services;
  std::string cursor = "0";
  while (true) {
    store::Command scan(store::CommandId::kSScan,
                        {options_.keys.ServicesToClean(), cursor, "COUNT"});
    scan.AddInteger(kPageSize);
    REDOUBLE_CO_ASSIGN_OR_RETURN(const auto page,
                                 store::DecodeArray(co_await store_.Execute(scan)));
    if (page.size() != 2 || !page.front().is_bulk()) {
      co_return store::ProtocolError("SSCAN answered something else");
    }
    REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<std::string> members,
                                 store::DecodeStrings(page.back()));
    services.insert(services.end(), members.begin(), members.end());
    cursor = page.front().text();
    if (cursor == "0") co_return services;
    co_await clock_.Sleep(options_.pause);
  }
}

base::Task<absl::Status> StatsCleaner::DeleteMarks(const std::vector<std::string>& services) {
  store::Batch batch(store::Batch::Atomicity::kPipeline);
  for (const std::string& service : services) {
    batch.Add(store::CommandId::kSRem, {options_.keys.ServicesToClean(), service});
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<store::Reply> replies,
                               co_await store::Execute(store_, batch));
  co_return store::FirstError(replies);
}

base::Task<absl::StatusOr<int64_t>> StatsCleaner::VisitServers(bool probe, const Visit& visit) {
  int64_t deleted = 0;
  absl::Status lost;
  for (store::Store* server : options_.servers) {
    const absl::StatusOr<int64_t> count = co_await VisitServer(*server, probe, visit);
    if (count.ok()) {
      deleted += *count;
    } else if (IsConnectionError(count.status())) {
      lost.Update(count.status());
    } else {
      co_return count.status();
    }
  }
  REDOUBLE_CO_RETURN_IF_ERROR(lost);
  co_return deleted;
}

base::Task<absl::StatusOr<int64_t>> StatsCleaner::VisitServer(store::Store& server, bool probe,
                                                              const Visit& visit) {
  if (probe) {
    store::ScanOptions one_key;
    one_key.count = 1;
    REDOUBLE_CO_RETURN_IF_ERROR((co_await store::Scan(server, "0", one_key)).status());
  }
  int64_t deleted = 0;
  std::string cursor = "0";
  while (true) {
    absl::StatusOr<int64_t> count = co_await VisitPage(server, cursor, visit);
    for (int attempt = 1; !count.ok() && attempt < kTries; ++attempt) {
      count = co_await VisitPage(server, cursor, visit);
    }
    REDOUBLE_CO_RETURN_IF_ERROR(count.status());
    deleted += *count;
    if (cursor == "0") co_return deleted;
    co_await clock_.Sleep(options_.pause);
  }
}

// Advances the cursor unless an error occurs.
base::Task<absl::StatusOr<int64_t>> StatsCleaner::VisitPage(store::Store& server,
                                                            std::string& cursor,
                                                            const Visit& visit) {
  store::ScanOptions options;
  options.count = kPageSize;
  REDOUBLE_CO_ASSIGN_OR_RETURN(store::ScanPage page, co_await store::Scan(server, cursor, options));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t deleted, co_await visit(server, page.keys));
  cursor = std::move(page.cursor);
  co_return deleted;
}

// A page has the keys of many services, whose slots differ in a cluster. The order of the commands
// does not matter: a page that was deleted in part is deleted again.
base::Task<absl::StatusOr<std::vector<store::Reply>>> StatsCleaner::SendEach(
    store::Store& server, store::CommandId command, std::span<const std::string_view> keys) {
  store::Batch batch(store::Batch::Atomicity::kPipeline);
  for (const std::string_view key : keys) batch.Add(command, {key});
  co_return co_await store::Execute(server, batch);
}

base::Task<absl::StatusOr<int64_t>> StatsCleaner::DeleteAll(
    store::Store& server, std::span<const std::string_view> keys) {
  if (options_.keys.layout() == store::KeyLayout::kDocumented) {
    co_return co_await store::Del(server, keys);
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<store::Reply> replies,
                               co_await SendEach(server, store::CommandId::kDel, keys));
  REDOUBLE_CO_RETURN_IF_ERROR(store::FirstError(replies));
  int64_t deleted = 0;
  for (const store::Reply& reply : replies) deleted += reply.integer();
  co_return deleted;
}

base::Task<absl::StatusOr<std::vector<std::optional<std::string>>>> StatsCleaner::ReadAll(
    store::Store& server, std::span<const std::string_view> keys) {
  if (options_.keys.layout() == store::KeyLayout::kDocumented) {
    co_return co_await store::MGet(server, keys);
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<store::Reply> replies,
                               co_await SendEach(server, store::CommandId::kGet, keys));
  std::vector<std::optional<std::string>> values;
  for (const store::Reply& reply : replies) {
    // As MGET, which reads a value that is not a string as missing.
    values.push_back(reply.is_bulk() ? std::optional<std::string>(reply.text()) : std::nullopt);
  }
  co_return values;
}

base::Task<absl::StatusOr<int64_t>> StatsCleaner::DeleteOf(const std::vector<std::string>& services,
                                                           store::Store& server,
                                                           const Names& keys) {
  Names counters;
  for (const std::string& key : keys) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const std::optional<std::string> service, ServiceOfCounter(key));
    const bool is_marked =
        service && std::any_of(services.begin(), services.end(), [&](const std::string& marked) {
          return options_.keys.TagOf(marked) == *service;
        });
    if (is_marked) counters.push_back(key);
  }
  if (counters.empty()) co_return 0;
  const std::vector<std::string_view> views = Views(counters);
  if (options_.log) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const auto values, co_await ReadAll(server, views));
    for (size_t i = 0; i < counters.size(); ++i) {
      options_.log(absl::StrCat(counters[i], " ", values[i].value_or("")));
    }
  }
  co_return co_await DeleteAll(server, views);
}

base::Task<absl::StatusOr<int64_t>> StatsCleaner::DeleteZerosOf(store::Store& server,
                                                                const Names& keys) {
  Names counters;
  std::copy_if(keys.begin(), keys.end(), std::back_inserter(counters), IsCounter);
  if (counters.empty()) co_return 0;
  const std::vector<std::string_view> views = Views(counters);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto values, co_await ReadAll(server, views));
  std::vector<std::string_view> zeros;
  for (size_t i = 0; i < counters.size(); ++i) {
    if (values[i] == "0") zeros.push_back(counters[i]);
  }
  if (zeros.empty()) co_return 0;
  const absl::StatusOr<int64_t> deleted = co_await DeleteAll(server, zeros);
  if (!deleted.ok() || !options_.log) co_return deleted;
  for (const std::string_view key : zeros) options_.log(key);
  co_return deleted;
}

}  // namespace redouble::inline v0_1::threescale
