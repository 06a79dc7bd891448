// StreamNode: some consecutive entries of a stream in one listpack, byte for byte as Redis keeps
// them.
//
// Why it exists: what an approximate trim removes, what XINFO STREAM counts and what DUMP carries
// are nodes, so they have to be Redis's. A node opens with a master entry: the numbers of live and
// of deleted entries and the fields of the first one. An entry writes its id as two differences
// from the node's, and leaves its field names out when they are the master's.
//
//   master: | live | deleted | field count | field... | 0 |
//   entry:  | flags | ms - ms0 | seq - seq0 | value... | element count |            same fields
//           | flags | ms - ms0 | seq - seq0 | field count | field | value | ... | element count |
//
// A deleted entry stays where it is with a flag set; a node of which everything is deleted may stay
// as well (XTRIM MINID between two entries of which the later is deleted).
//
//   StreamNode node({5, 1}, {{"name", "Ann"}});
//   node.Append({5, 1}, {{"name", "Ann"}});
//
// Thread-safety: as Listpack.
// Source: Redis 7.0 DUMP of a stream.
#ifndef REDOUBLE_BACKENDS_MEMORY_VALUES_STREAM_NODE_H_
#define REDOUBLE_BACKENDS_MEMORY_VALUES_STREAM_NODE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "backends/memory/values/listpack.h"
#include "core/store/stream_id.h"

namespace redouble::memory {

using store::StreamId;

// The fields and values of an entry, alternating, as XADD gets them.
using StreamFields = std::span<const std::string_view>;

class StreamNode {
 public:
  // A node without entries. Ids of its entries must not be below `master_id`; `fields` are those of
  // the first entry to come.
  StreamNode(StreamId master_id, StreamFields fields);

  // The node that `pack` is; none when it is none, or its ids do not ascend. Linear in the size.
  static std::optional<StreamNode> Load(StreamId master_id, Listpack pack);

  StreamId master_id() const { return master_id_; }
  size_t live() const { return ReadHeader(0); }
  size_t deleted() const { return ReadHeader(1); }
  size_t size_bytes() const { return pack_.size_bytes(); }
  size_t allocated_bytes() const { return pack_.allocated_bytes(); }
  const Listpack& listpack() const { return pack_; }

  // Adds an entry behind all others; its id is above theirs.
  void Append(StreamId id, StreamFields fields);
  // Gives spare room back: nothing will be added any more.
  void ShrinkToFit() { pack_.ShrinkToFit(); }

  // Where an entry stands. Any change of the node makes it invalid.
  struct Entry {
    StreamId id;
    bool deleted;
    bool same_fields;
    uint32_t field_count;
    Listpack::Position flags;  // Its first element.
    Listpack::Position data;   // Its first value; its first field when it has its own.
  };

  // Walking over all entries, the deleted ones too; no value where there is none.
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
  // Marks live entries from the front on as deleted, `max_count` at most and only those below
  // `end`, if given. Returns how many.
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

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_VALUES_STREAM_NODE_H_
