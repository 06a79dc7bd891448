#include "redouble/backends/memory/values/memory_usage.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "redouble/backends/memory/values/hash.h"
#include "redouble/backends/memory/values/list.h"
#include "redouble/backends/memory/values/set.h"
#include "redouble/backends/memory/values/sorted_set.h"
#include "redouble/backends/memory/values/stream.h"

namespace redouble::inline v0_1::memory {
namespace {

// Sizes of Redis's structures on 64-bit machines.
constexpr size_t kObject = 16;
constexpr size_t kDictEntry = 24;
constexpr size_t kDict = 56;
constexpr size_t kPointer = 8;
constexpr size_t kQuicklist = 40;
constexpr size_t kQuicklistNode = 40;
constexpr size_t kSkipListSet = 16 + 32;
constexpr size_t kSkipListHeader = 640;
// A node has 1 1/3 levels on average.
constexpr size_t kSkipListNode = 52;
constexpr size_t kStream = 80;
constexpr size_t kStreamNodeBlock = 4096;
constexpr size_t kStreamGroup = 40;
constexpr size_t kStreamConsumer = 24;
constexpr size_t kPendingEntry = 24;
constexpr size_t kStreamId = 16;
constexpr size_t kTreeNode = 4 + 30 * 8;

// The headers of strings. The shortest one has no room for the number of spare bytes.
constexpr size_t kShortestHeader = 1;
constexpr size_t kByteHeader = 3;
constexpr size_t kWordHeader = 5;

size_t HeaderBytes(size_t length) {
  if (length > 0 && length < 32) return kShortestHeader;
  if (length <= std::numeric_limits<uint8_t>::max()) return kByteHeader;
  if (length <= std::numeric_limits<uint16_t>::max()) return kWordHeader;
  return 9;
}

// Redis does not give a value the shortest header, because values may be appended to.
size_t ValueHeaderBytes(size_t length) { return std::max(HeaderBytes(length), kByteHeader); }

// A string with its header and the terminating zero byte.
size_t StringSize(size_t length) { return HeaderBytes(length) + length + 1; }

size_t StringBytes(size_t length) { return AllocatedBytes(StringSize(length)); }

StringRoom RoomOf(size_t length, size_t header) {
  const size_t allocated = AllocatedBytes(header + length + 1);
  if (header == kShortestHeader) return {allocated, 0};
  size_t most = std::numeric_limits<size_t>::max();
  if (header == kByteHeader) most = std::numeric_limits<uint8_t>::max();
  if (header == kWordHeader) most = std::numeric_limits<uint16_t>::max();
  return {allocated, std::min(allocated - header - 1, most) - length};
}

size_t OfString(const Value& value, std::string_view encoding) {
  if (value.is_integer()) return kObject;
  return kObject + RoomOfValue(value.TextSize(), encoding).allocated_bytes;
}

size_t TableBytes(size_t size) {
  constexpr size_t kSmallestTable = 4;
  return kDict + kPointer * std::bit_ceil(std::max(size, kSmallestTable));
}

// The bytes of `count` elements, extrapolated from the samples.
size_t Scaled(size_t bytes, size_t looked_at, size_t count) {
  if (looked_at == 0) return 0;
  return static_cast<size_t>(static_cast<double>(bytes) / static_cast<double>(looked_at) *
                             static_cast<double>(count));
}

size_t OfList(const List& list, size_t samples, std::string_view encoding) {
  if (encoding == "listpack") return kObject + AllocatedBytes(list.nodes().front().size_bytes());
  size_t bytes = 0;
  const size_t looked_at = std::min(samples, list.nodes().size());
  for (size_t i = 0; i < looked_at; ++i) {
    bytes += kQuicklistNode + AllocatedBytes(list.nodes()[i].size_bytes());
  }
  return kObject + kQuicklist + Scaled(bytes, looked_at, list.nodes().size());
}

size_t OfSet(const Set& set, size_t samples) {
  if (const Intset* intset = set.intset()) return kObject + AllocatedBytes(intset->size_bytes());
  if (set.is_packed()) {
    Listpack packed;
    set.ForEach([&](std::string_view member) { packed.Append(member); });
    return kObject + AllocatedBytes(packed.size_bytes());
  }
  size_t bytes = 0;
  const size_t looked_at = std::min(samples, set.size());
  for (size_t i = 0; i < looked_at; ++i) bytes += kDictEntry + StringBytes(set.At(i).size());
  return kObject + TableBytes(set.size()) + Scaled(bytes, looked_at, set.size());
}

size_t OfHash(const Hash& hash, size_t samples) {
  if (const Listpack* listpack = hash.listpack()) {
    return kObject + AllocatedBytes(listpack->size_bytes());
  }
  size_t bytes = 0;
  const size_t looked_at = std::min(samples, hash.size());
  for (size_t i = 0; i < looked_at; ++i) {
    const auto [field, value] = hash.At(i);
    bytes += kDictEntry + StringBytes(field.size()) + StringBytes(value.size());
  }
  return kObject + TableBytes(hash.size()) + Scaled(bytes, looked_at, hash.size());
}

size_t OfSortedSet(const SortedSet& set, size_t samples) {
  if (const Listpack* listpack = set.listpack()) {
    return kObject + AllocatedBytes(listpack->size_bytes());
  }
  size_t bytes = 0;
  const size_t looked_at = std::min(samples, set.size());
  set.ForEach(0, looked_at, false, [&](std::string_view member, double) {
    bytes += kDictEntry + kSkipListNode + StringBytes(member.size());
  });
  return kObject + kSkipListSet + kSkipListHeader + TableBytes(set.size()) +
         Scaled(bytes, looked_at, set.size());
}

size_t TreeBytes(size_t elements, size_t nodes) { return elements * kStreamId + nodes * kTreeNode; }

// A tree of entries has about one node for each entry, and its root.
size_t PendingTreeBytes(size_t elements) { return TreeBytes(elements, elements + 1); }

size_t OfGroup(const StreamGroup& group) {
  const size_t pending = group.pending().size();
  size_t bytes = kStreamGroup + PendingTreeBytes(pending) + kPendingEntry * pending;
  for (const auto& [name, consumer] : group.consumers()) {
    bytes += kStreamConsumer + name.size() + PendingTreeBytes(consumer->pending.size());
  }
  return bytes;
}

size_t OfStream(const Stream& stream, size_t samples) {
  const size_t nodes = stream.node_count();
  const auto node_bytes = [&](size_t index) {
    const size_t bytes = stream.node(index).size_bytes();
    // The last node has spare capacity for further entries.
    return AllocatedBytes(index + 1 == nodes ? std::max(bytes, kStreamNodeBlock) : bytes);
  };
  size_t bytes = 0;
  const size_t looked_at = std::min(samples, nodes);
  for (size_t i = 0; i < looked_at; ++i) bytes += node_bytes(i);
  if (nodes > looked_at) bytes = bytes / looked_at * (nodes - 1) + node_bytes(nodes - 1);
  bytes += kObject + kStream + TreeBytes(nodes, stream.RadixTreeNodes());
  for (const auto& [name, group] : stream.groups()) bytes += OfGroup(group);
  return bytes;
}

size_t OfValue(const Value& value, size_t samples, std::string_view encoding) {
  if (value.is_string()) return OfString(value, encoding);
  if (const List* list = value.As<List>()) return OfList(*list, samples, encoding);
  if (const Set* set = value.As<Set>()) return OfSet(*set, samples);
  if (const Hash* hash = value.As<Hash>()) return OfHash(*hash, samples);
  if (const SortedSet* set = value.As<SortedSet>()) return OfSortedSet(*set, samples);
  return OfStream(*value.As<Stream>(), samples);
}

}  // namespace

size_t AllocatedBytes(size_t bytes) {
  if (bytes <= 8) return 8;
  constexpr size_t kStep = 16;
  constexpr size_t kEvenSteps = 128;
  if (bytes <= kEvenSteps) return (bytes + kStep - 1) / kStep * kStep;
  // Larger sizes have four classes between two powers of two.
  const size_t step = std::bit_ceil(bytes) / 8;
  return (bytes + step - 1) / step * step;
}

StringRoom RoomOfKey(size_t length) { return RoomOf(length, HeaderBytes(length)); }

StringRoom RoomOfValue(size_t length, std::string_view encoding) {
  if (encoding == "embstr") {
    return {AllocatedBytes(kObject + kByteHeader + length + 1) - kObject, 0};
  }
  StringRoom room = RoomOf(length, ValueHeaderBytes(length));
  // Redis gives much spare room back.
  if (room.spare_bytes > length / 10) room.spare_bytes = 0;
  return room;
}

size_t MemoryUsage(std::string_view key, const Value& value, size_t samples,
                   const MemoryModel& model) {
  if (samples == 0) samples = std::numeric_limits<size_t>::max();
  const size_t bytes = OfValue(value, samples, model.encoding);
  switch (model.keys) {
    case MemoryModel::Keys::kApart:
      return bytes + StringBytes(key.size()) + kDictEntry;
    case MemoryModel::Keys::kInEntry:
      // The entry has the size of the string's header instead of a pointer to the string.
      return bytes + AllocatedBytes(kDictEntry - kPointer + 1 + StringSize(key.size()));
    case MemoryModel::Keys::kInValue:
      return bytes;
  }
  return bytes;
}

size_t MemoryUsage(std::string_view key, const Value& value, size_t samples) {
  return MemoryUsage(key, value, samples, {.encoding = value.encoding()});
}

}  // namespace redouble::inline v0_1::memory
