// PackedOrTable: the storage of a hash, a set or a sorted set: packed bytes while it is small, a
// table afterwards, in one pointer.
//
// A Value stores these collections inside itself (value.h), where there is room for one pointer.
// The lowest bit of the pointer distinguishes the two forms.
//
//   PackedOrTable<Listpack, DenseTable<Field>> fields;
//   fields.packed().Append("name");
//   fields.Become(std::move(table));
//   fields.table().Find("name");
//
// `Packed` must be one owning pointer to an aligned block (Listpack, Intset). Both forms may be
// moved in memory bytewise.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_BACKENDS_MEMORY_VALUES_ENCODINGS_PACKED_OR_TABLE_H_
#define REDOUBLE_BACKENDS_MEMORY_VALUES_ENCODINGS_PACKED_OR_TABLE_H_

#include <cassert>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

namespace redouble::inline v0_1::memory {

template <typename Packed, typename Table>
class PackedOrTable {
 public:
  // An empty `Packed`.
  PackedOrTable() { new (&packed_) Packed(); }
  explicit PackedOrTable(Packed packed) { new (&packed_) Packed(std::move(packed)); }
  explicit PackedOrTable(std::unique_ptr<Table> table) { Own(std::move(table)); }
  // The moved-from object may only be destroyed or assigned to.
  PackedOrTable(PackedOrTable&& other) noexcept : bits_(std::exchange(other.bits_, 0)) {}
  PackedOrTable& operator=(PackedOrTable&& other) noexcept {
    std::swap(bits_, other.bits_);
    return *this;
  }
  ~PackedOrTable() { Free(); }

  bool is_table() const { return (bits_ & kTableBit) != 0; }
  // Requires the packed form.
  Packed& packed() {
    assert(!is_table());
    return packed_;
  }
  const Packed& packed() const {
    assert(!is_table());
    return packed_;
  }
  // Requires the table form.
  Table& table() const {
    assert(is_table());
    return *reinterpret_cast<Table*>(bits_ & ~(kTableBit | kMarkBit));
  }
  // A mark of the table form, for the owner; a new table has none.
  bool is_marked() const { return is_table() && (bits_ & kMarkBit) != 0; }
  void Mark() {
    assert(is_table());
    bits_ |= kMarkBit;
  }
  void Unmark() {
    assert(is_table());
    bits_ &= ~kMarkBit;
  }
  // Replaces the packed form, or another table, by `table`.
  void Become(std::unique_ptr<Table> table) {
    Free();
    Own(std::move(table));
  }

 private:
  static constexpr uintptr_t kTableBit = 1;
  static constexpr uintptr_t kMarkBit = 2;

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
  static_assert(alignof(Table) > (kTableBit | kMarkBit));
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_VALUES_ENCODINGS_PACKED_OR_TABLE_H_
