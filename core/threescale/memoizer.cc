#include "redouble/core/threescale/memoizer.h"

#include "absl/strings/str_cat.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::threescale {
namespace {

int64_t SecondsOf(const base::Clock& clock) { return absl::ToUnixSeconds(clock.Now()); }

}  // namespace

Memoizer::Memoizer(const base::Clock& clock)
    : clock_(clock), purge_after_(SecondsOf(clock) + kPurgeSeconds) {}

const std::any* Memoizer::FindAny(std::string_view key) {
  const int64_t now = SecondsOf(clock_);
  if (now > purge_after_) Purge(now);
  const auto entry = entries_.find(key);
  if (entry == entries_.end() || now > entry->second.last_second) return nullptr;
  return &entry->second.value;
}

void Memoizer::PutAny(std::string_view key, std::any value) {
  entries_.insert_or_assign(std::string(key),
                            Entry{std::move(value), SecondsOf(clock_) + kValidSeconds});
}

void Memoizer::Clear(std::string_view key) {
  if (const auto entry = entries_.find(key); entry != entries_.end()) entries_.erase(entry);
}

void Memoizer::ClearAll() {
  entries_.clear();
  purge_after_ = SecondsOf(clock_) + kPurgeSeconds;
}

void Memoizer::Purge(int64_t now_seconds) {
  purge_after_ = now_seconds + kPurgeSeconds;
  std::erase_if(entries_, [now_seconds](const auto& entry) {
    return now_seconds > entry.second.last_second;
  });
  if (entries_.size() > kMostEntries) ClearAll();
}

std::string MemoizerKey(std::string_view method, std::string_view argument,
                        std::string_view second_argument) {
  std::string key = absl::StrCat(base::ToAbsl(method), "-", base::ToAbsl(argument));
  if (!second_argument.empty()) absl::StrAppend(&key, "-", base::ToAbsl(second_argument));
  return key;
}

}  // namespace redouble::inline v0_1::threescale
