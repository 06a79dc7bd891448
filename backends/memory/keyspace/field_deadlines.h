// FieldDeadlines: the deadlines of the fields of a database's hashes (HEXPIRE of Redis 7.4).
//
// They are kept beside the hashes, so that a hash without deadlines costs nothing for them. Each
// field with a deadline has a node in a timing wheel: setting, clearing and expiring one costs
// O(1) besides the lookup of the field, however many there are.
//
//   FieldDeadlines deadlines;
//   deadlines.Set("h", "field", 1'700'000'000'000);
//   deadlines.Of("h", "field");                       // 1'700'000'000'000
//   while (auto due = deadlines.TakeDue(now_ms)) ...  // The fields of one hash.
//
// A hash that has had a deadline is tracked until its key is removed: Redis keeps its encoding.
//
// Thread-safety: one thread.
// Source: Redis 7.4 HEXPIRE.
#ifndef REDOUBLE_BACKENDS_MEMORY_KEYSPACE_FIELD_DEADLINES_H_
#define REDOUBLE_BACKENDS_MEMORY_KEYSPACE_FIELD_DEADLINES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "redouble/backends/memory/keyspace/expiry_wheel.h"

namespace redouble::inline v0_1::memory {

class FieldDeadlines {
 public:
  // The fields of one hash and their deadlines, in the order of the fields.
  using List = std::vector<std::pair<std::string, int64_t>>;
  struct Due {
    std::string key;
    std::vector<std::string> fields;
  };

  FieldDeadlines() = default;
  FieldDeadlines(const FieldDeadlines&) = delete;
  FieldDeadlines& operator=(const FieldDeadlines&) = delete;

  // Whether the hash has had a deadline since its key was added.
  bool Tracks(std::string_view key) const { return Find(key) != nullptr; }
  // The number of hashes with a deadline.
  size_t hash_count() const { return hash_count_; }
  // The number of fields with a deadline.
  size_t size() const { return wheel_.size(); }

  // The deadline; nullopt if the field has none.
  std::optional<int64_t> Of(std::string_view key, std::string_view field) const;
  // Sets or replaces a deadline. The hash is tracked from now on.
  void Set(std::string_view key, std::string_view field, int64_t deadline_ms);
  // Returns false if the field had no deadline.
  bool Clear(std::string_view key, std::string_view field);
  // The key is removed, or its value replaced.
  void ForgetKey(std::string_view key);
  void ForgetAll();

  // The deadlines of a hash; nullopt if it is not tracked. For moving and copying it.
  std::optional<List> ListOf(std::string_view key) const;
  // Tracks a hash, with these deadlines.
  void Put(std::string_view key, const List& list);

  // The key of the hash whose field expires first, if its deadline is before `now_ms`; null
  // otherwise. Valid until the next change. `now_ms` must not decrease between calls.
  const std::string* FirstDue(int64_t now_ms);
  // Removes the deadlines before `now_ms` of the hash whose field expires first, and returns the
  // fields in the order of their deadlines; nullopt if there are none. `now_ms` must not decrease
  // between calls.
  std::optional<Due> TakeDue(int64_t now_ms);
  // The first millisecond at which TakeDue has to be called; nullopt without deadlines. It may
  // find nothing then. O(1).
  std::optional<int64_t> NextCheck() const;
  // The first millisecond at which TakeDue finds a field. See ExpiryWheel::Earliest.
  std::optional<int64_t> Next() const;

 private:
  struct Hash {
    std::string key;
    std::map<std::string, ExpiryWheel::NodeId, std::less<>> fields;
  };
  // What a node's position refers to.
  struct Place {
    Hash* hash = nullptr;
    const std::string* field = nullptr;
  };

  Hash* Find(std::string_view key) const;
  Hash& Track(std::string_view key);
  void RemoveNode(ExpiryWheel::NodeId node);

  absl::flat_hash_map<std::string, std::unique_ptr<Hash>> hashes_;
  size_t hash_count_ = 0;
  ExpiryWheel wheel_;
  std::vector<Place> places_;
  std::vector<uint32_t> free_places_;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_KEYSPACE_FIELD_DEADLINES_H_
