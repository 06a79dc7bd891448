// Memoizer: the read cache of one process of the backend.
//
// Each listener and worker of the original caches replies of Redis for about a minute, including
// missing values. A write clears only some entries of its own process. Other processes use stale
// values until their entries expire, for example an old application key or limit (hazard H20). This
// behavior is available as an option: without a Memoizer, every read goes to Redis.
//
//   Memoizer memoizer(clock);
//   const std::string key = MemoizerKey("Metric.load_id", service_id, name);
//   const auto read = [&] { return store::Get(store, redis_key); };
//   co_return co_await Memoized<std::optional<std::string>>(&memoizer, key, read);
//
// An entry is valid up to and including the 60th second after it was stored, in whole seconds.
// Expired entries are removed at most every 60 seconds; if more than 10000 entries are left then,
// the cache is cleared. An entry must be read with the type with which it was stored.
//
// Thread-safety: one thread, as a process of the original.
// Source: docs/systems/threescale.md 4.24, H20, D26.
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
#include "redouble/core/base/task/task.h"
#include "redouble/core/base/time/clock.h"

namespace redouble::inline v0_1::threescale {

class Memoizer {
 public:
  static constexpr int64_t kValidSeconds = 60;
  static constexpr int64_t kPurgeSeconds = 60;
  static constexpr size_t kMostEntries = 10000;

  // `clock` is the clock of the process, and must outlive the object.
  explicit Memoizer(const base::Clock& clock);

  // Returns the value of `key`, or null if it has no valid entry. The pointer is valid until the
  // next call.
  template <typename T>
  const T* Find(std::string_view key) {
    const std::any* value = FindAny(key);
    return value == nullptr ? nullptr : std::any_cast<T>(value);
  }

  // Stores `value` at the current time.
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

// Returns "method-argument-argument", as the original builds its keys. Different arguments that
// contain dashes can give the same key.
std::string MemoizerKey(std::string_view method, std::string_view argument,
                        std::string_view second_argument = {});

// Returns the value of `key` in `memoizer`, which may be null. Otherwise runs the task `read()` of
// type StatusOr<T>, and stores its result unless it is an error. `read` must outlive the task.
template <typename T, typename Read>
base::Task<absl::StatusOr<T>> Memoized(Memoizer* memoizer, std::string key, const Read& read) {
  if (memoizer != nullptr) {
    if (const T* value = memoizer->Find<T>(key)) co_return *value;
  }
  absl::StatusOr<T> value = co_await read();
  if (value.ok() && memoizer != nullptr) memoizer->Put(key, *value);
  co_return value;
}

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_MEMOIZER_H_
