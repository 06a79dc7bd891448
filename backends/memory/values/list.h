// List: a Redis list, as Redis keeps it: a sequence of listpacks of at most 8 KiB, or of another
// size (EncodingLimits::list_max_listpack_size).
//
// Pushing and popping at either end is O(1) but for the bytes of one node; reaching an index skips
// whole nodes. Redis 7.0 reports every list as "quicklist".
//
//   List list;
//   list.Push(List::End::kBack, "a");
//   std::string first = list.Pop(List::End::kFront);
//
// Thread-safety: one thread.
#ifndef REDOUBLE_BACKENDS_MEMORY_VALUES_LIST_H_
#define REDOUBLE_BACKENDS_MEMORY_VALUES_LIST_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/memory/encoding_limits.h"
#include "backends/memory/values/listpack.h"
#include "backends/memory/values/value.h"
#include "core/store/key_type.h"

namespace redouble::memory {

class List final : public Collection {
 public:
  static constexpr store::KeyType kType = store::KeyType::kList;
  enum class End { kFront, kBack };

  List() = default;
  explicit List(const EncodingLimits& limits) { LimitNodes(limits); }

  store::KeyType type() const override { return kType; }
  std::unique_ptr<Collection> Clone() const override;
  std::string_view encoding() const override { return "quicklist"; }
  bool empty() const override { return size_ == 0; }

  size_t size() const { return size_; }
  // The nodes in order, none of them empty.
  const std::vector<Listpack>& nodes() const { return nodes_; }

  // How large its nodes may grow from now on.
  void LimitNodes(const EncodingLimits& limits);

  void Push(End end, std::string_view element);
  // Removes and gives the element at that end; the list must not be empty.
  std::string Pop(End end);

  // Where an element stands; what changes the list makes it invalid, unless said otherwise.
  class Cursor {
   public:
    bool valid() const { return position_ != Listpack::kNone; }
    ListpackValue value() const { return list_->nodes_[node_].Get(position_); }
    void Next();
    void Previous();

   private:
    friend class List;
    Cursor(const List* list, size_t node, Listpack::Position position)
        : list_(list), node_(node), position_(position) {}
    const List* list_;
    size_t node_;
    Listpack::Position position_;
  };

  // The element at `index`, 0 <= index < size(). O(nodes + elements of one node).
  Cursor At(size_t index) const;
  Cursor First() const;
  Cursor Last() const;

  // Replaces the element.
  void Replace(const Cursor& at, std::string_view element);
  void InsertBefore(const Cursor& at, std::string_view element);
  void InsertAfter(const Cursor& at, std::string_view element);
  // Removes the element; the cursor goes to the next one (the previous one when `backwards`).
  void Erase(Cursor& at, bool backwards = false);
  // Keeps the elements from `first` to `last`, both included.
  void Trim(size_t first, size_t last);

 private:
  static constexpr int kDefaultNodeLimit = -2;

  size_t MaxNodeBytes() const;
  size_t MaxNodeElements() const;
  bool Fits(const Listpack& node, std::string_view element) const;
  // Splits a node that grew too large into two halves.
  void SplitIfLarge(size_t node);
  void EraseFront(size_t count);
  void EraseBack(size_t count);

  uint64_t size_ : 48 = 0;
  // As list_max_listpack_size.
  int64_t node_limit_ : 16 = kDefaultNodeLimit;
  std::vector<Listpack> nodes_;
};

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_VALUES_LIST_H_
