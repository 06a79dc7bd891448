// Hash: a Redis hash: a listpack of fields and values while it is small, a table afterwards.
//
// A listpack keeps the fields in the order in which they were added, as Redis does; the table has
// an order that depends on nothing but the operations.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_BACKENDS_MEMORY_VALUES_HASH_H_
#define REDOUBLE_BACKENDS_MEMORY_VALUES_HASH_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "backends/memory/encoding_limits.h"
#include "backends/memory/values/compact_string.h"
#include "backends/memory/values/dense_table.h"
#include "backends/memory/values/listpack.h"
#include "backends/memory/values/value.h"
#include "core/base/redis_number.h"
#include "core/store/key_type.h"

namespace redouble::memory {

class Hash final : public Collection {
 public:
  static constexpr store::KeyType kType = store::KeyType::kHash;

  store::KeyType type() const override { return kType; }
  std::unique_ptr<Collection> Clone() const override;
  std::string_view encoding() const override { return table_ ? "hashtable" : "listpack"; }
  bool empty() const override { return size() == 0; }

  size_t size() const { return table_ ? table_->size() : listpack_.count() / 2; }
  // The listpack; null when the hash is a table.
  const Listpack* listpack() const { return table_ ? nullptr : &listpack_; }

  std::optional<std::string> Get(std::string_view field) const;
  bool Contains(std::string_view field) const;
  // Becomes a table when one of the texts is too long for a listpack.
  void ConvertIfTooLong(std::string_view text, const EncodingLimits& limits);
  // True when the field is new.
  bool Set(std::string_view field, std::string_view value, const EncodingLimits& limits);
  // False when there is no such field.
  bool Remove(std::string_view field);

  // The field and value at a position, 0 <= position < size(), for random picks.
  std::pair<std::string, std::string> At(size_t position) const;
  // Calls `visit(field, value)` for each field; the views are good during the call.
  template <typename Visit>
  void ForEach(Visit visit) const;
  // One step of a scan (DenseTable::Scan); a listpack is given whole.
  template <typename Visit>
  uint64_t Scan(uint64_t cursor, size_t count, Visit visit) const;

 private:
  struct Field {
    CompactString name;
    CompactString value;
    std::string_view key() const { return name.view(); }
  };

  void ConvertToTable();

  Listpack listpack_;
  std::unique_ptr<DenseTable<Field>> table_;
};

template <typename Visit>
void Hash::ForEach(Visit visit) const {
  if (table_) {
    for (size_t i = 0; i < table_->size(); ++i) {
      visit(table_->at(i).name.view(), table_->at(i).value.view());
    }
    return;
  }
  base::Int64Buffer field_buffer;
  base::Int64Buffer value_buffer;
  for (Listpack::Position at = listpack_.First(); at != Listpack::kNone;) {
    const ListpackValue field = listpack_.Get(at);
    at = listpack_.Next(at);
    const ListpackValue value = listpack_.Get(at);
    at = listpack_.Next(at);
    visit(field.View(field_buffer), value.View(value_buffer));
  }
}

template <typename Visit>
uint64_t Hash::Scan(uint64_t cursor, size_t count, Visit visit) const {
  if (table_) {
    return table_->Scan(cursor, count,
                        [&](const Field& field) { visit(field.name.view(), field.value.view()); });
  }
  ForEach(visit);
  return 0;
}

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_VALUES_HASH_H_
