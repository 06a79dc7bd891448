// List: a Redis list: a sequence of nodes, each a listpack of at most 8 KiB by default
// (EncodingLimits::list_max_listpack_size). Nodes are filled, split and merged as Redis does, so
// DUMP writes the same nodes.
//
// Pushing and popping at either end costs at most one node; reaching an index skips whole nodes.
//
// The encoding of a list is "quicklist", which is the only one of Redis 7.0. Since 7.2
// (EncodingLimits::packed_lists) a list begins as a "listpack", which is one node that is never
// split. Commands convert it: PrepareToAdd before they add, PackIfSmall after they remove.
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
  // A quicklist.
  explicit List(const EncodingLimits& limits);

  store::KeyType type() const override { return kType; }
  std::unique_ptr<Collection> Clone() const override;
  std::string_view encoding() const override { return is_packed_ ? "listpack" : "quicklist"; }
  bool empty() const override { return size_ == 0; }

  // True if the encoding is "listpack".
  bool is_packed() const { return is_packed_; }
  size_t size() const { return size_; }
  // The nodes in order. No node is empty.
  const std::vector<Listpack>& nodes() const { return nodes_; }

  // True for a node that is one element larger than the limit of nodes, if such elements are kept
  // without a listpack (EncodingLimits::plain_list_nodes).
  bool IsPlain(const Listpack& node) const;

  // Sets the limit of nodes, and the encoding that commands give a new list. The list must be
  // empty.
  void Configure(const EncodingLimits& limits);

  // Converts a listpack to a quicklist if `count` more elements, of `bytes` bytes together, exceed
  // the limit of a node.
  void PrepareToAdd(size_t count, size_t bytes, const EncodingLimits& limits);
  // Converts a quicklist of one node to a listpack if it takes at most half of the limit of a node.
  void PackIfSmall(const EncodingLimits& limits);
  // Converts to a listpack if there is one node within its limit, else to a quicklist.
  void ChooseEncoding(const EncodingLimits& limits);

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

  // The most bytes and elements of a node.
  struct NodeLimit {
    size_t bytes;
    size_t elements;
    bool Allows(size_t given_bytes, size_t count) const {
      return given_bytes <= bytes && count <= elements;
    }
  };
  static NodeLimit LimitOf(int64_t node_limit);

  bool Fits(const Listpack& node, std::string_view element) const;
  // True if the element takes a plain node.
  bool IsLarge(std::string_view element) const;
  // Inserts the element before or after the one at the cursor.
  void Insert(const Cursor& at, std::string_view element, End side);
  // Inserts the element before or after all of a node that has no room for it.
  void InsertBesideNode(size_t node, std::string_view element, End side);
  // Inserts a node of one element before `node`.
  void InsertNode(size_t node, std::string_view element);
  // Moves the elements after the one at the cursor to a node of their own, if there are any.
  void SplitAfter(const Cursor& at);
  // Merges the nodes around `node` that have room for each other.
  void MergeAround(size_t node);
  // Merges `node` and the next one. Returns false if there is no next one or no room.
  bool TryMerge(size_t node);
  void ConvertToQuicklist(const EncodingLimits& limits);
  // Converts to a listpack if there is one node and it is within the limit, divided by `divisor`.
  void PackIfWithin(const EncodingLimits& limits, size_t divisor);
  void EraseNode(size_t node) { nodes_.erase(nodes_.begin() + static_cast<ptrdiff_t>(node)); }
  void EraseFront(size_t count);
  void EraseBack(size_t count);

  uint64_t size_ : 46 = 0;
  uint64_t is_packed_ : 1 = 0;
  uint64_t has_plain_nodes_ : 1 = 0;
  // See EncodingLimits::list_max_listpack_size.
  int64_t node_limit_ : 16 = kDefaultNodeLimit;
  std::vector<Listpack> nodes_;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_VALUES_LIST_H_
