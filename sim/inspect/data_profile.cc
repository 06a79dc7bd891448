#include "redouble/sim/inspect/data_profile.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/values/hash.h"
#include "redouble/backends/memory/values/list.h"
#include "redouble/backends/memory/values/memory_usage.h"
#include "redouble/backends/memory/values/set.h"
#include "redouble/backends/memory/values/sorted_set.h"
#include "redouble/backends/memory/values/stream.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/sim/json/bytes.h"

namespace redouble::inline v0_1::sim {
namespace {

using memory::Database;
using memory::Value;

constexpr int64_t kNoTtl = -1;

bool IsSeparator(char c) { return c == ':' || c == '/' || c == '.'; }

int64_t ElementsOf(const Value& value) {
  size_t count = 0;
  if (const auto* hash = value.As<memory::Hash>()) {
    count = hash->size();
  } else if (const auto* list = value.As<memory::List>()) {
    count = list->size();
  } else if (const auto* set = value.As<memory::Set>()) {
    count = set->size();
  } else if (const auto* sorted = value.As<memory::SortedSet>()) {
    count = sorted->size();
  } else if (const auto* stream = value.As<memory::Stream>()) {
    count = stream->size();
  } else {
    Value::TextBuffer buffer;
    count = value.Text(buffer).size();
  }
  return static_cast<int64_t>(count);
}

bool IsLarger(const DataProfile::Key& a, const DataProfile::Key& b) {
  return std::tie(b.bytes, a.db, a.name) < std::tie(a.bytes, b.db, b.name);
}

class Profiler {
 public:
  explicit Profiler(const ProfileOptions& options) : options_(options) {}

  void Add(int db, const Database& database, const Database::Entry& entry, int64_t now_ms) {
    const std::optional<int64_t> deadline_ms = database.DeadlineOf(entry);
    DataProfile::Key key;
    key.type = entry.value.type();
    key.elements = ElementsOf(entry.value);
    key.bytes = static_cast<int64_t>(memory::MemoryUsage(entry.key(), entry.value));
    AddToFamily(entry.key(), key, deadline_ms.has_value());
    ++profile_.keys;
    profile_.bytes += key.bytes;
    if (!deadline_ms) ++profile_.without_ttl;
    key.db = db;
    key.name = std::string(entry.key());
    key.ttl_ms = deadline_ms ? std::max<int64_t>(*deadline_ms - now_ms, 0) : kNoTtl;
    key.encoding = std::string(entry.value.encoding());
    Keep(std::move(key));
  }

  DataProfile Finish() {
    for (auto& [name, family] : families_) profile_.families.push_back(std::move(family));
    std::stable_sort(profile_.families.begin(), profile_.families.end(),
                     [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
    std::sort(profile_.largest_keys.begin(), profile_.largest_keys.end(), IsLarger);
    return std::move(profile_);
  }

 private:
  void AddToFamily(std::string_view name, const DataProfile::Key& key, bool expires) {
    std::string pattern = FamilyPattern(name);
    DataProfile::Family& family = families_[{pattern, key.type}];
    if (family.keys == 0) {
      family.pattern = std::move(pattern);
      family.type = key.type;
    }
    ++family.keys;
    family.elements += key.elements;
    family.bytes += key.bytes;
    family.largest_bytes = std::max(family.largest_bytes, key.bytes);
    if (!expires) ++family.without_ttl;
  }

  // A heap whose front is the smallest of the largest keys.
  void Keep(DataProfile::Key key) {
    std::vector<DataProfile::Key>& kept = profile_.largest_keys;
    if (options_.listed == 0) return;
    if (kept.size() == options_.listed) {
      if (!IsLarger(key, kept.front())) return;
      std::pop_heap(kept.begin(), kept.end(), IsLarger);
      kept.pop_back();
    }
    kept.push_back(std::move(key));
    std::push_heap(kept.begin(), kept.end(), IsLarger);
  }

  const ProfileOptions& options_;
  DataProfile profile_;
  std::map<std::pair<std::string, store::KeyType>, DataProfile::Family> families_;
};

std::string SizeText(int64_t bytes) {
  constexpr std::array<const char*, 4> kUnits = {"B", "kB", "MB", "GB"};
  auto size = static_cast<double>(bytes);
  size_t unit = 0;
  while (size >= 1000 && unit + 1 < kUnits.size()) {
    size /= 1000;
    ++unit;
  }
  return unit == 0 ? absl::StrCat(bytes, " B") : absl::StrFormat("%.1f %s", size, kUnits[unit]);
}

std::string ElementsText(store::KeyType type, int64_t elements) {
  return type == store::KeyType::kString ? SizeText(elements) : absl::StrCat(elements);
}

std::string TtlText(int64_t ttl_ms) {
  return ttl_ms == kNoTtl ? "-" : absl::FormatDuration(absl::Milliseconds(ttl_ms));
}

using Rows = std::vector<std::vector<std::string>>;

Rows FamilyRows(const DataProfile& profile) {
  Rows rows = {{"FAMILY", "TYPE", "KEYS", "ELEMENTS", "MEMORY", "LARGEST", "NO TTL"}};
  for (const DataProfile::Family& family : profile.families) {
    rows.push_back({EncodeBytes(family.pattern), std::string(store::KeyTypeName(family.type)),
                    absl::StrCat(family.keys), ElementsText(family.type, family.elements),
                    SizeText(family.bytes), SizeText(family.largest_bytes),
                    absl::StrCat(family.without_ttl)});
  }
  return rows;
}

Rows KeyRows(const DataProfile& profile) {
  Rows rows = {{"LARGEST KEYS", "DB", "TYPE", "ENCODING", "ELEMENTS", "MEMORY", "TTL"}};
  for (const DataProfile::Key& key : profile.largest_keys) {
    rows.push_back({EncodeBytes(key.name), absl::StrCat(key.db),
                    std::string(store::KeyTypeName(key.type)), key.encoding,
                    ElementsText(key.type, key.elements), SizeText(key.bytes),
                    TtlText(key.ttl_ms)});
  }
  return rows;
}

std::string Summary(const DataProfile& profile) {
  return absl::StrCat(profile.keys, profile.keys == 1 ? " key, " : " keys, ",
                      SizeText(profile.bytes), ", ", profile.without_ttl, " without a TTL");
}

void AppendRows(const Rows& rows, std::string& text) {
  std::vector<size_t> widths(rows[0].size());
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      const bool last = i + 1 == row.size();
      absl::StrAppend(&text, row[i], last ? "\n" : std::string(widths[i] - row[i].size() + 2, ' '));
    }
  }
}

std::string Escaped(std::string_view text) {
  return absl::StrReplaceAll(base::ToAbsl(text),
                             {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

void AppendHtml(const Rows& rows, std::string& page) {
  page += "<table>\n";
  for (size_t i = 0; i < rows.size(); ++i) {
    const char* tag = i == 0 ? "th" : "td";
    page += "<tr>";
    for (const std::string& cell : rows[i]) {
      absl::StrAppend(&page, "<", tag, ">", Escaped(cell), "</", tag, ">");
    }
    page += "</tr>\n";
  }
  page += "</table>\n";
}

constexpr char kStyle[] = R"(:root { color-scheme: light dark; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 1em; }
table { border-collapse: collapse; margin: 1em 0; }
th, td { padding: 2px 12px 2px 0; text-align: right; white-space: nowrap;
  border-bottom: 1px solid light-dark(#e4e4e4, #333842); }
th:first-child, td:first-child { text-align: left; font-family: ui-monospace, monospace; }
)";

}  // namespace

std::string FamilyPattern(std::string_view key) {
  std::string pattern;
  std::string part;
  bool has_digit = false;
  const auto end_part = [&] {
    pattern += has_digit ? "*" : part;
    part.clear();
    has_digit = false;
  };
  for (const char c : key) {
    if (IsSeparator(c)) {
      end_part();
      pattern.push_back(c);
    } else {
      part.push_back(c);
      has_digit = has_digit || absl::ascii_isdigit(static_cast<unsigned char>(c));
    }
  }
  end_part();
  return pattern;
}

DataProfile ProfileOf(memory::Engine& engine, const ProfileOptions& options) {
  memory::EngineCore& core = engine.core();
  core.RemoveExpired();
  const int64_t now_ms =
      options.now ? absl::ToUnixMillis(*options.now) : engine.clock().NowMillis();
  Profiler profiler(options);
  for (int index = 0; index < core.database_count(); ++index) {
    const Database& database = core.database(index);
    for (size_t i = 0; i < database.size(); ++i) {
      profiler.Add(index, database, database.at(i), now_ms);
    }
  }
  return profiler.Finish();
}

std::string ProfileTable(const DataProfile& profile) {
  std::string text;
  AppendRows(FamilyRows(profile), text);
  text += "\n";
  AppendRows(KeyRows(profile), text);
  absl::StrAppend(&text, "\n", Summary(profile), "\n");
  return text;
}

std::string ProfileJson(const DataProfile& profile) {
  nlohmann::ordered_json families = nlohmann::ordered_json::array();
  for (const DataProfile::Family& family : profile.families) {
    families.push_back({{"pattern", EncodeBytes(family.pattern)},
                        {"type", store::KeyTypeName(family.type)},
                        {"keys", family.keys},
                        {"elements", family.elements},
                        {"bytes", family.bytes},
                        {"largest_bytes", family.largest_bytes},
                        {"without_ttl", family.without_ttl}});
  }
  nlohmann::ordered_json keys = nlohmann::ordered_json::array();
  for (const DataProfile::Key& key : profile.largest_keys) {
    nlohmann::ordered_json row = {{"db", key.db},
                                  {"key", EncodeBytes(key.name)},
                                  {"type", store::KeyTypeName(key.type)},
                                  {"encoding", key.encoding},
                                  {"elements", key.elements},
                                  {"bytes", key.bytes},
                                  {"ttl_ms", nullptr}};
    if (key.ttl_ms != kNoTtl) row["ttl_ms"] = key.ttl_ms;
    keys.push_back(std::move(row));
  }
  const nlohmann::ordered_json all = {{"keys", profile.keys},
                                      {"bytes", profile.bytes},
                                      {"without_ttl", profile.without_ttl},
                                      {"families", std::move(families)},
                                      {"largest_keys", std::move(keys)}};
  return all.dump(2) + "\n";
}

std::string ProfilePage(const DataProfile& profile, std::string_view title) {
  std::string page =
      absl::StrCat("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<title>",
                   Escaped(title), "</title>\n<style>\n", kStyle, "</style></head><body>\n<h1>",
                   Escaped(title), "</h1>\n<p>", Summary(profile), "</p>\n");
  AppendHtml(FamilyRows(profile), page);
  AppendHtml(KeyRows(profile), page);
  page += "</body></html>\n";
  return page;
}

}  // namespace redouble::inline v0_1::sim
