// List: a Redis list: a sequence of listpacks, each of at most 8 KiB by default
// (EncodingLimits::list_max_listpack_size).
//
// Pushing and popping at either end costs at most one node; reaching an index skips whole nodes.
// Redis 7.0 reports the encoding of every list as "quicklist".
//
//   List list;
//   list.Push(List::End::kBack, "a");
//   std::string first = list.Pop(List::End::kFront);
//
// Thread-safety: one thread.
// Source: Redis 7.0 RPUSH, LPOP, OBJECT ENCODING.
#ifndef REDOUBLE_BACKENDS_MEMORY_VALUES_LIST_H_
#define REDOUBLE_BACKENDS_MEMORY_VALUES_LIST_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/backends/memory/values/encoding_limits.h"
#include "redouble/backends/memory/values/encodings/listpack.h"
#include "redouble/backends/memory/values/value.h"
#include "redouble/core/store/table/key_type.h"

namespace redouble::inline v0_1::memory {

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
  // The nodes in order. No node is empty.
  const std::vector<Listpack>& nodes() const { return nodes_; }

  // Sets the size limit of nodes. Existing nodes are not split.
  void LimitNodes(const EncodingLimits& limits);

  void Push(End end, std::string_view element);
  // Appends the elements of `node`, none or more, as a node of its own, whatever the limits.
  void AppendNode(Listpack node);
  // Removes and returns the element at that end. The list must not be empty.
  std::string Pop(End end);

  // The position of an element. A change of the list makes it invalid, unless stated otherwise.
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

  // The cursor of the element at `index`, 0 <= index < size(). O(nodes + elements of one node).
  Cursor At(size_t index) const;
  Cursor First() const;
  Cursor Last() const;

  // Replaces the element.
  void Replace(const Cursor& at, std::string_view element);
  void InsertBefore(const Cursor& at, std::string_view element);
  void InsertAfter(const Cursor& at, std::string_view element);
  // Removes the element and moves the cursor to the next one (the previous one if `backwards`).
  void Erase(Cursor& at, bool backwards = false);
  // Keeps only the elements from `first` to `last`, both included.
  void Trim(size_t first, size_t last);

 private:
  static constexpr int kDefaultNodeLimit = -2;

  size_t MaxNodeBytes() const;
  size_t MaxNodeElements() const;
  bool Fits(const Listpack& node, std::string_view element) const;
  // Splits a node that exceeds the limit into two halves.
  void SplitIfLarge(size_t node);
  void EraseFront(size_t count);
  void EraseBack(size_t count);

  uint64_t size_ : 48 = 0;
  // See EncodingLimits::list_max_listpack_size.
  int64_t node_limit_ : 16 = kDefaultNodeLimit;
  std::vector<Listpack> nodes_;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_VALUES_LIST_H_
