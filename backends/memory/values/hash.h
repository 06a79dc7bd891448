// Hash: a Redis hash: a listpack of fields and values while it is small, a table when it exceeds
// one of its limits (EncodingLimits).
//
// A listpack keeps the fields in the order in which they were added, as Redis does. The order of
// the table depends only on the operations on it.
//
//   Hash hash;
//   hash.Set("name", "Ann", limits);                  // true: the field is new
//   std::optional<std::string> name = hash.Get("name");
//
// Thread-safety: one thread.
// Source: Redis 7.0 HSET, HGET, HDEL.
#ifndef REDOUBLE_BACKENDS_MEMORY_VALUES_HASH_H_
#define REDOUBLE_BACKENDS_MEMORY_VALUES_HASH_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "redouble/backends/memory/values/encoding_limits.h"
#include "redouble/backends/memory/values/encodings/compact_string.h"
#include "redouble/backends/memory/values/encodings/dense_table.h"
#include "redouble/backends/memory/values/encodings/listpack.h"
#include "redouble/backends/memory/values/encodings/packed_or_table.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/store/table/key_type.h"

namespace redouble::inline v0_1::memory {

class Hash {
 public:
  static constexpr store::KeyType kType = store::KeyType::kHash;

  // The hash that `listpack` is, fields and values alternating, without a copy. nullopt, and
  // `listpack` is unchanged, if it does not have a value for each field, has a field twice or has
  // more fields than the limit.
  static std::optional<Hash> Adopt(Listpack& listpack, const EncodingLimits& limits);
  Hash() = default;

  // A copy that shares nothing with this hash. O(size).
  Hash Clone() const;
  std::string_view encoding() const { return fields_.is_table() ? "hashtable" : "listpack"; }
  bool empty() const { return size() == 0; }

  size_t size() const {
    return fields_.is_table() ? fields_.table().size() : fields_.packed().count() / 2;
  }
  // The listpack; null if the hash is a table.
  const Listpack* listpack() const { return fields_.is_table() ? nullptr : &fields_.packed(); }

  std::optional<std::string> Get(std::string_view field) const;
  bool Contains(std::string_view field) const;
  // Converts the hash to a table if `text` is too long for a listpack.
  void ConvertIfTooLong(std::string_view text, const EncodingLimits& limits);
  // Sets a field. Returns true if the field is new.
  bool Set(std::string_view field, std::string_view value, const EncodingLimits& limits);
  // Removes a field. Returns false if it does not exist.
  bool Remove(std::string_view field);

  // The field and value at a position, 0 <= position < size(); for random picks.
  std::pair<std::string, std::string> At(size_t position) const;
  // Calls `visit(field, value)` for each field. The views are valid during the call.
  template <typename Visit>
  void ForEach(Visit visit) const;
  // One step of a scan (DenseTable::Scan). A listpack is visited whole in one step.
  template <typename Visit>
  uint64_t Scan(uint64_t cursor, size_t count, Visit visit) const;

 private:
  struct Field {
    Field(std::string_view field, std::string_view text) : name(field), value(text) {}
    BasicCompactString<23> name;
    CompactString value;
    std::string_view key() const { return name.view(); }
  };

  using Table = DenseTable<Field>;

  explicit Hash(Listpack listpack) : fields_(std::move(listpack)) {}

  std::unique_ptr<Table> MakeTable() const;
  void ConvertToTable();

  PackedOrTable<Listpack, Table> fields_;
};

template <typename Visit>
void Hash::ForEach(Visit visit) const {
  if (fields_.is_table()) {
    const Table& table = fields_.table();
    for (size_t i = 0; i < table.size(); ++i)
      visit(table.at(i).name.view(), table.at(i).value.view());
    return;
  }
  const Listpack& listpack = fields_.packed();
  base::Int64Buffer field_buffer;
  base::Int64Buffer value_buffer;
  for (Listpack::Position at = listpack.First(); at != Listpack::kNone;) {
    const ListpackValue field = listpack.Get(at);
    at = listpack.Next(at);
    const ListpackValue value = listpack.Get(at);
    at = listpack.Next(at);
    visit(field.View(field_buffer), value.View(value_buffer));
  }
}

template <typename Visit>
uint64_t Hash::Scan(uint64_t cursor, size_t count, Visit visit) const {
  if (fields_.is_table()) {
    return fields_.table().Scan(
        cursor, count, [&](const Field& field) { visit(field.name.view(), field.value.view()); });
  }
  ForEach(visit);
  return 0;
}

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_VALUES_HASH_H_
