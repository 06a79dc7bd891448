// DenseTable: a hash table whose iteration order depends only on the operations on it.
//
// Entries are stored densely in blocks, in the order of insertion; a hash index finds an entry by
// its key. Removing an entry moves the last one into its place. Therefore a position picks a random
// entry in O(1), and no observable order depends on hash seeds or addresses.
//
// A small table is cheap: its first block begins with `kFirstEntries` entries and is moved to a
// larger one until it has kBlockEntries, and a table of a few entries has no index and is searched
// linearly. Larger tables grow without moving entries; with kFirstEntries = kBlockEntries no growth
// moves one. The index takes a little more than five bytes per entry: its position and one byte of
// its hash. The index grows by being rebuilt from the entries, which are read in memory order.
//
// A scan runs from the last entry down to the first. An entry moved by a removal moves towards the
// part that is still to be visited, and new entries are added to the part already visited.
// Therefore each entry that exists during the whole scan is reported (SCAN's guarantee).
//
//   DenseTable<Entry> table;   // Entry has `std::string_view key() const`
//   if (Entry* entry = table.Find("k")) ...
//
// Thread-safety: one thread.
#ifndef REDOUBLE_BACKENDS_MEMORY_VALUES_ENCODINGS_DENSE_TABLE_H_
#define REDOUBLE_BACKENDS_MEMORY_VALUES_ENCODINGS_DENSE_TABLE_H_

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::memory {

template <typename Entry, size_t kFirstEntries = 4>
class DenseTable {
 public:
  static constexpr size_t kBlockEntries = 128;
  static constexpr size_t kNotFound = std::numeric_limits<size_t>::max();

  DenseTable() = default;
  DenseTable(const DenseTable&) = delete;
  DenseTable& operator=(const DenseTable&) = delete;
  ~DenseTable() { Clear(); }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // The entry at a position, 0 <= position < size().
  Entry& at(size_t position) { return *Address(blocks_, position); }
  const Entry& at(size_t position) const { return *Address(blocks_, position); }

  // The position of `key`; kNotFound if it is absent. O(1).
  size_t PositionOf(std::string_view key) const {
    if (index_ == nullptr) {
      for (size_t position = 0; position < size_; ++position) {
        if (at(position).key() == key) return position;
      }
      return kNotFound;
    }
    const Probe probe{key, SlotHash::HashOf(key)};
    // The index reads its control bytes first and the position only on a match.
    index_->prefetch(probe);
    const auto found = index_->find(probe);
    return found == index_->end() ? kNotFound : found->position;
  }
  Entry* Find(std::string_view key) {
    const size_t position = PositionOf(key);
    return position == kNotFound ? nullptr : &at(position);
  }
  const Entry* Find(std::string_view key) const {
    const size_t position = PositionOf(key);
    return position == kNotFound ? nullptr : &at(position);
  }

  // Appends an entry, whose key must be absent. Amortized O(1).
  Entry& Append(Entry entry) {
    assert(PositionOf(entry.key()) == kNotFound);
    assert(size_ < std::numeric_limits<uint32_t>::max());
    MakeRoom();
    Entry* placed = new (Address(blocks_, size_)) Entry(std::move(entry));
    ++size_;
    if (index_ != nullptr && size_ <= RoomOf(*index_)) {
      index_->insert(SlotAt(size_ - 1));
    } else if (size_ > kUnindexedEntries) {
      MakeIndex(size_, size_);
    }
    return *placed;
  }

  // Appends many entries, for example those of a file, without waiting for memory at each: an entry
  // is indexed when Index is called, after its place in the index has been prefetched. Before, it
  // cannot be found, and the table must not be used otherwise.
  class Appender {
   public:
    explicit Appender(DenseTable& table) : table_(&table) {}

    // How many entries the table will have, if that is known: the index is then rebuilt less often
    // while it grows. A number that is too high costs a few dozen bytes for each appended entry.
    void Expect(uint64_t entries) { expected_ = entries; }
    // If true, Index must be called before the next Append.
    bool full() const { return count_ == kWaiting; }
    // Constructs an entry of `arguments`.
    template <typename... Arguments>
    Entry& Append(Arguments&&... arguments) {
      assert(!full());
      table_->MakeRoom();
      Entry* const placed = Address(table_->blocks_, table_->size_);
      new (placed) Entry(std::forward<Arguments>(arguments)...);
      hashes_[count_++] = table_->PrefetchPlace(placed->key());
      ++table_->size_;
      return *placed;
    }
    // Indexes the appended entries. Returns the position of the first whose key existed already;
    // the table may then only be cleared or destroyed.
    std::optional<size_t> Index() {
      const size_t begin = table_->size_ - count_;
      for (size_t i = 0; i < count_; ++i) {
        if (!table_->IndexAppended(begin + i, hashes_[i], expected_)) return begin + i;
      }
      count_ = 0;
      return std::nullopt;
    }

   private:
    // More than the memory can fetch at once.
    static constexpr size_t kWaiting = 32;
    DenseTable* table_;
    uint64_t expected_ = 0;
    std::array<size_t, kWaiting> hashes_;
    size_t count_ = 0;
  };

  // Removes the entry at `position`. The last entry moves there, unless it is the removed one.
  // O(1).
  void RemoveAt(size_t position) {
    assert(position < size_);
    if (index_ != nullptr) index_->erase(index_->find(SlotAt(position)));
    const size_t last = size_ - 1;
    if (position != last) {
      // The slot's hash belongs to the entry, so it moves with it.
      if (index_ != nullptr) {
        const_cast<Slot&>(*index_->find(SlotAt(last))).position = static_cast<uint32_t>(position);
      }
      at(position) = std::move(at(last));
    }
    at(last).~Entry();
    --size_;
    if (size_ % kBlockEntries == 0) blocks_.pop_back();
  }

  void Clear() {
    index_.reset();
    while (size_ > 0) at(--size_).~Entry();
    blocks_.clear();
  }

  // Reserves room for that many entries in total.
  void Reserve(size_t entries) {
    if (blocks_.empty() && entries > kFirstEntries) {
      AddFirstBlock(std::min(entries, kBlockEntries));
    }
    const bool has_room = index_ != nullptr && entries <= RoomOf(*index_);
    if (entries > kUnindexedEntries && !has_room) {
      MakeIndex(size_, std::max<size_t>(entries, size_));
    }
  }

  // Prefetches the index slot of a key that will be looked up soon. Returns the hash, to be passed
  // to PrefetchAtPlace a little later, which prefetches the entry. Neither call waits for memory.
  size_t PrefetchPlace(std::string_view key) const {
    const size_t hash = SlotHash::HashOf(key);
    if (index_ != nullptr) index_->prefetch(Probe{key, hash});
    return hash;
  }
  void PrefetchAtPlace(size_t hash) const {
    if (index_ == nullptr) return;
    const auto found = index_->find(Guess{hash});
    if (found != index_->end()) PrefetchEntry(found->position);
  }
  // The same for an entry whose position is known: call PrefetchEntry first, then PrefetchIndex.
  void PrefetchEntry(size_t position) const { __builtin_prefetch(&at(position)); }
  void PrefetchIndex(size_t position) const {
    if (index_ != nullptr) index_->prefetch(SlotAt(position));
  }

  // One step of a scan: calls `visit` on up to `count` entries and returns the next cursor. Begin
  // with cursor 0; the scan is complete when it returns 0. `visit` must not change the table.
  template <typename Visit>
  uint64_t Scan(uint64_t cursor, size_t count, Visit visit) const {
    size_t end = cursor == 0 || cursor > size_ ? size_ : static_cast<size_t>(cursor);
    const size_t begin = end > count ? end - count : 0;
    while (end > begin) visit(at(--end));
    return begin;
  }

 private:
  // Comparing this many keys is as fast as hashing one.
  static constexpr size_t kUnindexedEntries = 8;
  static_assert(kFirstEntries <= kBlockEntries);

  struct FreeBlock {
    void operator()(Entry* block) const { ::operator delete(block); }
  };
  using Block = std::unique_ptr<Entry, FreeBlock>;
  using Blocks = std::vector<Block>;

  struct Slot {
    uint32_t position;
  };
  struct Probe {
    std::string_view key;
    size_t hash;
  };
  // An entry that is known to be new.
  struct Fresh {
    size_t hash;
  };
  // The first candidate: an entry with the same hash byte.
  struct Guess {
    size_t hash;
  };
  struct SlotHash {
    using is_transparent = void;
    const Blocks* blocks;
    static size_t HashOf(std::string_view key) {
      return absl::Hash<absl::string_view>()(base::ToAbsl(key));
    }
    size_t operator()(Slot slot) const { return HashOf(Address(*blocks, slot.position)->key()); }
    size_t operator()(const Probe& probe) const { return probe.hash; }
    size_t operator()(Guess guess) const { return guess.hash; }
    size_t operator()(Fresh fresh) const { return fresh.hash; }
  };
  struct SlotEqual {
    using is_transparent = void;
    const Blocks* blocks;
    bool operator()(Slot a, Slot b) const { return a.position == b.position; }
    bool operator()(Slot slot, const Probe& probe) const {
      return Address(*blocks, slot.position)->key() == probe.key;
    }
    bool operator()(const Probe& probe, Slot slot) const { return (*this)(slot, probe); }
    // Abseil asserts that what is equal has equal hashes.
    bool operator()([[maybe_unused]] Slot slot, [[maybe_unused]] Guess guess) const {
#ifdef NDEBUG
      return true;
#else
      return SlotHash{blocks}(slot) == guess.hash;
#endif
    }
    bool operator()(Guess guess, Slot slot) const { return (*this)(slot, guess); }
    bool operator()(Slot, Fresh) const { return false; }
    bool operator()(Fresh, Slot) const { return false; }
  };

  using Index = absl::flat_hash_set<Slot, SlotHash, SlotEqual>;

  static Block MakeBlock(size_t entries) {
    return Block(static_cast<Entry*>(::operator new(entries * sizeof(Entry))));
  }
  static Entry* Address(const Blocks& blocks, size_t position) {
    return blocks[position / kBlockEntries].get() + position % kBlockEntries;
  }
  // The number of entries that the index holds before it must grow.
  static size_t RoomOf(const Index& index) {
    const size_t places = index.bucket_count();
    return places - places / 8;
  }

  // Makes room for one more entry.
  void MakeRoom() {
    if (blocks_.empty()) {
      AddFirstBlock(kFirstEntries);
    } else if (blocks_.size() == 1 && size_ == first_capacity_ && size_ < kBlockEntries) {
      GrowFirstBlock();
    } else if (size_ == blocks_.size() * kBlockEntries) {
      blocks_.push_back(MakeBlock(kBlockEntries));
    }
  }
  void AddFirstBlock(size_t entries) {
    blocks_.push_back(MakeBlock(entries));
    first_capacity_ = static_cast<uint32_t>(entries);
  }
  void GrowFirstBlock() {
    const size_t more = std::max<size_t>(first_capacity_ / 2, 4);
    const size_t capacity = std::min<size_t>(first_capacity_ + more, kBlockEntries);
    Block larger = MakeBlock(capacity);
    for (size_t i = 0; i < size_; ++i) {
      new (larger.get() + i) Entry(std::move(at(i)));
      at(i).~Entry();
    }
    blocks_[0] = std::move(larger);
    first_capacity_ = static_cast<uint32_t>(capacity);
  }
  // Makes an index of the first `count` entries with room for `room`. Frees the old one first, so
  // that two never exist at once. The place of each entry is prefetched before it is needed.
  void MakeIndex(size_t count, size_t room) {
    constexpr size_t kAhead = 16;
    index_.reset();
    index_ = std::make_unique<Index>(0, SlotHash{&blocks_}, SlotEqual{&blocks_});
    index_->reserve(room);
    std::array<size_t, kAhead> hashes;
    for (size_t i = 0; i < count + kAhead; ++i) {
      size_t& hash = hashes[i % kAhead];
      if (i >= kAhead && i - kAhead < count) IndexAt(i - kAhead, Fresh{hash});
      if (i < count) hash = PrefetchPlace(at(i).key());
    }
  }
  // Indexes an entry, unless `probe` finds one already. Returns whether it was indexed.
  template <typename P>
  bool IndexAt(size_t position, const P& probe) {
    bool is_new = false;
    index_->lazy_emplace(probe, [&](const auto& construct) {
      construct(SlotAt(position));
      is_new = true;
    });
    return is_new;
  }
  // Indexes the entry at `position`, which follows the indexed entries. Returns false if its key
  // exists. `expected` is how many entries there may be in the end.
  bool IndexAppended(size_t position, size_t hash, uint64_t expected) {
    // The greatest ratio of the index's room to its entries.
    constexpr uint64_t kMostRoom = 8;
    if (position < kUnindexedEntries && index_ == nullptr) {
      for (size_t i = 0; i < position; ++i) {
        if (at(i).key() == at(position).key()) return false;
      }
      return true;
    }
    if (index_ == nullptr || position >= RoomOf(*index_)) {
      MakeIndex(position, std::clamp<uint64_t>(expected, position + 1, kMostRoom * (position + 1)));
    }
    return IndexAt(position, Probe{at(position).key(), hash});
  }
  static Slot SlotAt(size_t position) { return Slot{static_cast<uint32_t>(position)}; }

  Blocks blocks_;
  uint32_t size_ = 0;
  uint32_t first_capacity_ = 0;  // Capacity of the first block while it is the only one.
  std::unique_ptr<Index> index_;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_VALUES_ENCODINGS_DENSE_TABLE_H_
