// Memoizer: what one process of the backend remembers of its reads, for about a minute.
//
// Each listener and worker of the original keeps answers of Redis in memory, found and not found
// alike, and drops only part of them when it writes itself; other processes stay stale until the
// entries expire. That is an observable part of its behaviour (a rotated key is accepted, a new
// limit ignored for up to a minute), so it is reproduced, as an option: without a memoizer every
// read goes to Redis.
//
//   Memoizer memoizer(clock);
//   const std::string key = MemoizerKey("Metric.load_id", service_id, name);
//   const auto read = [&] { return store::Get(store, redis_key); };
//   co_return co_await Memoized<std::optional<std::string>>(&memoizer, key, read);
//
// An entry is valid for whole seconds up to and including the 60th after it was made. What expired
// is dropped in passing, at most every 60 seconds; if more than 10000 entries are left then, all
// are. Entries have the type that they were made with, and are asked for by it.
//
// Thread-safety: one thread (a process of the original has one).
// Source: reference/threescale.md 1.5.
#ifndef REDOUBLE_CORE_THREESCALE_MEMOIZER_H_
#define REDOUBLE_CORE_THREESCALE_MEMOIZER_H_

#include <any>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "core/base/clock.h"
#include "core/base/task.h"

namespace redouble::threescale {

class Memoizer {
 public:
  static constexpr int64_t kValidSeconds = 60;
  static constexpr int64_t kPurgeSeconds = 60;
  static constexpr size_t kMostEntries = 10000;

  // `clock` is the process's, and must outlive this.
  explicit Memoizer(const base::Clock& clock);

  // What `key` was memoized with; null when there is no valid entry. Good until the next call.
  template <typename T>
  const T* Find(std::string_view key) {
    const std::any* value = FindAny(key);
    return value == nullptr ? nullptr : std::any_cast<T>(value);
  }

  // Remembers `value` from now on.
  template <typename T>
  void Put(std::string_view key, T value) {
    PutAny(key, std::any(std::move(value)));
  }

  void Clear(std::string_view key);
  void ClearAll();

  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::any value;
    int64_t last_second = 0;
  };

  const std::any* FindAny(std::string_view key);
  void PutAny(std::string_view key, std::any value);
  void Purge(int64_t now_seconds);

  const base::Clock& clock_;
  int64_t purge_after_;
  std::map<std::string, Entry, std::less<>> entries_;
};

// "method-argument-argument", as the original builds them: arguments that hold dashes may make two
// keys one.
std::string MemoizerKey(std::string_view method, std::string_view argument,
                        std::string_view second_argument = {});

// What `memoizer`, which may be null, has under `key`; else what `read()`, a task of
// StatusOr<T>, gives, remembered unless it failed. `read` must outlive the task.
template <typename T, typename Read>
base::Task<absl::StatusOr<T>> Memoized(Memoizer* memoizer, std::string key, const Read& read) {
  if (memoizer != nullptr) {
    if (const T* value = memoizer->Find<T>(key)) co_return *value;
  }
  absl::StatusOr<T> value = co_await read();
  if (value.ok() && memoizer != nullptr) memoizer->Put(key, *value);
  co_return value;
}

}  // namespace redouble::threescale

#endif  // REDOUBLE_CORE_THREESCALE_MEMOIZER_H_
