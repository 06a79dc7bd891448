#include "redouble/backends/memory/values/encodings/stream_node.h"

#include <cassert>
#include <cstdint>
#include <utility>

namespace redouble::inline v0_1::memory {
namespace {

constexpr int64_t kDeleted = 1;
constexpr int64_t kSameFields = 2;

constexpr size_t kLive = 0;
constexpr size_t kDeletedCount = 1;
constexpr size_t kFieldCount = 2;

// Differences wrap around, as with Redis's unsigned integers: an entry of a later millisecond may
// have a smaller sequence number than the node.
int64_t Difference(uint64_t value, uint64_t base) { return static_cast<int64_t>(value - base); }
uint64_t Sum(uint64_t base, int64_t difference) { return base + static_cast<uint64_t>(difference); }

}  // namespace

StreamNode::StreamNode(StreamId master_id, StreamFields fields) : master_id_(master_id) {
  pack_.Append(int64_t{0});
  pack_.Append(int64_t{0});
  pack_.Append(static_cast<int64_t>(fields.size() / 2));
  for (size_t i = 0; i < fields.size(); i += 2) pack_.Append(fields[i]);
  pack_.Append(int64_t{0});
}

namespace {

// Reads the elements of an untrusted listpack.
class ElementReader {
 public:
  explicit ElementReader(const Listpack& pack) : pack_(pack), at_(pack.First()) {}

  bool at_end() const { return at_ == Listpack::kNone; }
  // The next element as an integer; nullopt if it is not an integer or the listpack ends.
  std::optional<int64_t> Integer() {
    if (at_end()) return std::nullopt;
    return pack_.Get(std::exchange(at_, pack_.Next(at_))).AsInt64();
  }
  // Skips `count` elements. Returns false if there are fewer.
  bool Skip(int64_t count) {
    for (; count > 0 && !at_end(); --count) at_ = pack_.Next(at_);
    return count <= 0;
  }

 private:
  const Listpack& pack_;
  Listpack::Position at_;
};

// The same elements in the form in which they are always written. Positions of a node's elements
// are kept while its counters and flags are rewritten, so none of these may change its size.
Listpack Canonical(const Listpack& pack) {
  Listpack canonical;
  for (Listpack::Position at = pack.First(); at != Listpack::kNone; at = pack.Next(at)) {
    canonical.Append(pack.Get(at).ToString());
  }
  return canonical;
}

// The requirements for an entry.
struct ExpectedEntry {
  StreamId master_id;
  int64_t master_fields;
  std::optional<StreamId> previous;
};

// Reads one entry and counts it in `deleted` if it is deleted. Returns false if it is invalid.
bool CheckEntry(ElementReader& reader, ExpectedEntry& expected, int64_t& deleted) {
  const std::optional<int64_t> flags = reader.Integer();
  const std::optional<int64_t> ms = reader.Integer();
  const std::optional<int64_t> seq = reader.Integer();
  if (!flags || !ms || !seq || (*flags & ~(kDeleted | kSameFields)) != 0) return false;
  const StreamId id = {Sum(expected.master_id.ms, *ms), Sum(expected.master_id.seq, *seq)};
  if (id < expected.master_id || (expected.previous && id <= *expected.previous)) return false;
  expected.previous = id;
  deleted += *flags & kDeleted;
  const bool same_fields = (*flags & kSameFields) != 0;
  const std::optional<int64_t> fields = same_fields ? expected.master_fields : reader.Integer();
  if (!fields || *fields < 1 || *fields > UINT32_MAX) return false;
  const int64_t data = same_fields ? *fields : 2 * *fields;
  return reader.Skip(data) && reader.Integer() == data + (same_fields ? 3 : 4);
}

}  // namespace

std::optional<StreamNode> StreamNode::Load(StreamId master_id, Listpack pack) {
  pack = Canonical(pack);
  ElementReader reader(pack);
  const std::optional<int64_t> live = reader.Integer();
  const std::optional<int64_t> deleted = reader.Integer();
  const std::optional<int64_t> fields = reader.Integer();
  if (!live || !deleted || !fields || *live < 0 || *deleted < 0 || *fields < 1) {
    return std::nullopt;
  }
  if (!reader.Skip(*fields) || reader.Integer() != 0) return std::nullopt;
  ExpectedEntry expected{master_id, *fields, std::nullopt};
  int64_t seen = 0;
  int64_t seen_deleted = 0;
  for (; !reader.at_end(); ++seen) {
    if (!CheckEntry(reader, expected, seen_deleted)) return std::nullopt;
  }
  if (seen_deleted != *deleted || seen - seen_deleted != *live) return std::nullopt;
  return StreamNode(master_id, std::move(pack));
}

size_t StreamNode::ReadHeader(size_t index) const {
  return static_cast<size_t>(*pack_.Get(pack_.Seek(static_cast<int64_t>(index))).AsInt64());
}

void StreamNode::WriteHeader(size_t index, size_t value) {
  pack_.Replace(pack_.Seek(static_cast<int64_t>(index)), static_cast<int64_t>(value));
}

bool StreamNode::HasMasterFields(StreamFields fields) const {
  if (fields.size() / 2 != ReadHeader(kFieldCount)) return false;
  Listpack::Position field = MasterFields();
  for (size_t i = 0; i < fields.size(); i += 2) {
    if (!pack_.Get(field).Equals(fields[i])) return false;
    field = pack_.Next(field);
  }
  return true;
}

void StreamNode::Append(StreamId id, StreamFields fields) {
  assert(id >= master_id_ && fields.size() >= 2 && fields.size() % 2 == 0);
  const bool same_fields = HasMasterFields(fields);
  const auto field_count = static_cast<int64_t>(fields.size() / 2);
  WriteHeader(kLive, live() + 1);
  pack_.Append(same_fields ? kSameFields : 0);
  pack_.Append(Difference(id.ms, master_id_.ms));
  pack_.Append(Difference(id.seq, master_id_.seq));
  if (!same_fields) pack_.Append(field_count);
  for (size_t i = 0; i < fields.size(); i += 2) {
    if (!same_fields) pack_.Append(fields[i]);
    pack_.Append(fields[i + 1]);
  }
  pack_.Append(same_fields ? field_count + 3 : 2 * field_count + 4);
}

std::optional<StreamNode::Entry> StreamNode::ReadEntry(Listpack::Position flags_at) const {
  if (flags_at == Listpack::kNone) return std::nullopt;
  const int64_t flags = *pack_.Get(flags_at).AsInt64();
  const Listpack::Position ms_at = pack_.Next(flags_at);
  const Listpack::Position seq_at = pack_.Next(ms_at);
  Entry entry;
  entry.id = {Sum(master_id_.ms, *pack_.Get(ms_at).AsInt64()),
              Sum(master_id_.seq, *pack_.Get(seq_at).AsInt64())};
  entry.deleted = (flags & kDeleted) != 0;
  entry.same_fields = (flags & kSameFields) != 0;
  entry.flags = flags_at;
  entry.data = pack_.Next(seq_at);
  if (entry.same_fields) {
    entry.field_count = static_cast<uint32_t>(ReadHeader(kFieldCount));
  } else {
    entry.field_count = static_cast<uint32_t>(*pack_.Get(entry.data).AsInt64());
    entry.data = pack_.Next(entry.data);
  }
  return entry;
}

std::optional<StreamNode::Entry> StreamNode::First() const {
  Listpack::Position position = MasterFields();
  for (size_t left = ReadHeader(kFieldCount) + 1; left > 0; --left) position = pack_.Next(position);
  return ReadEntry(position);
}

std::optional<StreamNode::Entry> StreamNode::Next(const Entry& entry) const {
  Listpack::Position position = entry.data;
  const size_t elements = entry.same_fields ? entry.field_count : 2 * size_t{entry.field_count};
  // The element count follows the data.
  for (size_t left = elements + 1; left > 0; --left) position = pack_.Next(position);
  return ReadEntry(position);
}

std::optional<StreamNode::Entry> StreamNode::Last() const {
  Listpack::Position position = pack_.Last();
  const int64_t elements = *pack_.Get(position).AsInt64();
  // The element count of the master entry is 0.
  if (elements == 0) return std::nullopt;
  for (int64_t left = elements; left > 0; --left) position = pack_.Previous(position);
  return ReadEntry(position);
}

std::optional<StreamNode::Entry> StreamNode::Previous(const Entry& entry) const {
  Listpack::Position position = pack_.Previous(entry.flags);
  const int64_t elements = *pack_.Get(position).AsInt64();
  if (elements == 0) return std::nullopt;
  for (int64_t left = elements; left > 0; --left) position = pack_.Previous(position);
  return ReadEntry(position);
}

// All flags fit in one byte, so no element moves.
void StreamNode::SetDeletedFlag(const Entry& entry) {
  pack_.Replace(entry.flags, kDeleted | (entry.same_fields ? kSameFields : 0));
}

void StreamNode::Delete(const Entry& entry) {
  assert(!entry.deleted && live() > 0);
  SetDeletedFlag(entry);
  WriteHeader(kLive, live() - 1);
  WriteHeader(kDeletedCount, deleted() + 1);
}

size_t StreamNode::DeleteFront(size_t max_count, std::optional<StreamId> end) {
  size_t count = 0;
  for (std::optional<Entry> entry = First(); entry && count < max_count; entry = Next(*entry)) {
    if (end && entry->id >= *end) break;
    if (entry->deleted) continue;
    SetDeletedFlag(*entry);
    ++count;
  }
  WriteHeader(kLive, live() - count);
  WriteHeader(kDeletedCount, deleted() + count);
  return count;
}

}  // namespace redouble::inline v0_1::memory
