// StreamNode: consecutive entries of a stream in one listpack, byte for byte as in Redis.
//
// Approximate trimming removes nodes, XINFO STREAM counts nodes and DUMP carries nodes, so they
// must equal Redis's. A node begins with a master entry: the numbers of live and deleted entries,
// and the field names of the first entry. An entry stores its id as two differences from the id of
// the node, and omits its field names if they equal those of the master entry.
//
//   master: | live | deleted | field count | field... | 0 |
//   entry:  | flags | ms - ms0 | seq - seq0 | value... | element count |            same fields
//           | flags | ms - ms0 | seq - seq0 | field count | field | value | ... | element count |
//
// A deleted entry keeps its place and has a flag set. A node whose entries are all deleted may also
// remain (XTRIM MINID with an id between two entries of which the later one is deleted).
//
//   StreamNode node({5, 1}, {{"name", "Ann"}});
//   node.Append({5, 1}, {{"name", "Ann"}});
//
// Thread-safety: one thread, as Listpack.
// Source: Redis 7.0 DUMP of a stream.
#ifndef REDOUBLE_BACKENDS_MEMORY_VALUES_ENCODINGS_STREAM_NODE_H_
#define REDOUBLE_BACKENDS_MEMORY_VALUES_ENCODINGS_STREAM_NODE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "redouble/backends/memory/values/encodings/listpack.h"
#include "redouble/core/store/typed/stream_id.h"

namespace redouble::inline v0_1::memory {

using store::StreamId;

// The fields and values of an entry, alternating, as in XADD.
using StreamFields = std::span<const std::string_view>;

class StreamNode {
 public:
  // An empty node. Ids of its entries must not be below `master_id`. `fields` are the fields of the
  // first entry that will be added.
  StreamNode(StreamId master_id, StreamFields fields);

  // Parses a node. Returns nullopt if `pack` is not a valid node or its ids do not ascend. Linear
  // in the size.
  static std::optional<StreamNode> Load(StreamId master_id, Listpack pack);

  StreamId master_id() const { return master_id_; }
  size_t live() const { return ReadHeader(0); }
  size_t deleted() const { return ReadHeader(1); }
  size_t size_bytes() const { return pack_.size_bytes(); }
  size_t allocated_bytes() const { return pack_.allocated_bytes(); }
  const Listpack& listpack() const { return pack_; }

  // Appends an entry, whose id must be above all others.
  void Append(StreamId id, StreamFields fields);
  // Frees spare capacity when no more entries will be added.
  void ShrinkToFit() { pack_.ShrinkToFit(); }

  // The place of an entry. A change of the node makes it invalid.
  struct Entry {
    StreamId id;
    bool deleted;
    bool same_fields;
    uint32_t field_count;
    Listpack::Position flags;  // The first element of the entry.
    Listpack::Position data;   // Its first value, or its first field if it has its own fields.
  };

  // Walks over all entries, including deleted ones. Returns nullopt at the end.
  std::optional<Entry> First() const;
  std::optional<Entry> Last() const;
  std::optional<Entry> Next(const Entry& entry) const;
  std::optional<Entry> Previous(const Entry& entry) const;

  // Calls visit(field, value), both ListpackValue, for each field of the entry in order.
  template <typename Visit>
  void VisitFields(const Entry& entry, Visit visit) const {
    Listpack::Position own = entry.data;
    Listpack::Position shared = entry.same_fields ? MasterFields() : Listpack::kNone;
    for (uint32_t i = 0; i < entry.field_count; ++i) {
      Listpack::Position& field = entry.same_fields ? shared : own;
      const ListpackValue name = pack_.Get(field);
      field = pack_.Next(field);
      visit(name, pack_.Get(own));
      own = pack_.Next(own);
    }
  }

  // Marks a live entry as deleted.
  void Delete(const Entry& entry);
  // Marks live entries from the front as deleted, at most `max_count` and, if `end` is given, only
  // those with ids below `end`. Returns their number.
  size_t DeleteFront(size_t max_count, std::optional<StreamId> end);

 private:
  StreamNode(StreamId master_id, Listpack pack) : master_id_(master_id), pack_(std::move(pack)) {}

  size_t ReadHeader(size_t index) const;
  void WriteHeader(size_t index, size_t value);
  Listpack::Position MasterFields() const { return pack_.Seek(3); }
  bool HasMasterFields(StreamFields fields) const;
  std::optional<Entry> ReadEntry(Listpack::Position flags) const;
  void SetDeletedFlag(const Entry& entry);

  StreamId master_id_;
  Listpack pack_;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_VALUES_ENCODINGS_STREAM_NODE_H_
