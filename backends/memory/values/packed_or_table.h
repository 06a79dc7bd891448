// PackedOrTable: what a hash, a set or a sorted set is: packed bytes while it is small, a table
// afterwards, behind one pointer either way.
//
// Why it exists: a Value keeps these collections inside itself (value.h), where there is room for
// one pointer. The lowest bit of the pointer tells which of the two it points at.
//
//   PackedOrTable<Listpack, DenseTable<Field>> fields;
//   fields.packed().Append("name");
//   fields.Become(std::move(table));
//   fields.table().Find("name");
//
// `Packed` is one owning pointer to an aligned block (Listpack, Intset). Both may be moved in
// memory byte by byte.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_BACKENDS_MEMORY_VALUES_PACKED_OR_TABLE_H_
#define REDOUBLE_BACKENDS_MEMORY_VALUES_PACKED_OR_TABLE_H_

#include <cassert>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

namespace redouble::memory {

template <typename Packed, typename Table>
class PackedOrTable {
 public:
  // Packed, and empty.
  PackedOrTable() { new (&packed_) Packed(); }
  explicit PackedOrTable(Packed packed) { new (&packed_) Packed(std::move(packed)); }
  explicit PackedOrTable(std::unique_ptr<Table> table) { Own(std::move(table)); }
  // The moved-from one may only be destroyed or assigned to.
  PackedOrTable(PackedOrTable&& other) noexcept : bits_(std::exchange(other.bits_, 0)) {}
  PackedOrTable& operator=(PackedOrTable&& other) noexcept {
    std::swap(bits_, other.bits_);
    return *this;
  }
  ~PackedOrTable() { Free(); }

  bool is_table() const { return (bits_ & kTableBit) != 0; }
  // Only while it is packed.
  Packed& packed() {
    assert(!is_table());
    return packed_;
  }
  const Packed& packed() const {
    assert(!is_table());
    return packed_;
  }
  // Only while it is a table.
  Table& table() const {
    assert(is_table());
    return *reinterpret_cast<Table*>(bits_ & ~kTableBit);
  }
  // From now on it is this table.
  void Become(std::unique_ptr<Table> table) {
    Free();
    Own(std::move(table));
  }

 private:
  static constexpr uintptr_t kTableBit = 1;

  void Own(std::unique_ptr<Table> table) {
    bits_ = reinterpret_cast<uintptr_t>(table.release()) | kTableBit;
  }
  void Free() {
    if (is_table()) {
      delete &table();
    } else {
      packed_.~Packed();
    }
  }

  union {
    uintptr_t bits_;
    Packed packed_;
  };

  static_assert(sizeof(Packed) == sizeof(uintptr_t));
  static_assert(alignof(Table) > kTableBit);
};

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_VALUES_PACKED_OR_TABLE_H_
