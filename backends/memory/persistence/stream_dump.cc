#include "redouble/backends/memory/persistence/stream_dump.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "redouble/backends/memory/values/encodings/listpack.h"

namespace redouble::inline v0_1::memory {
namespace {

constexpr size_t kIdBytes = 16;
constexpr size_t kTimeBytes = 8;
// Represents an unknown number of read entries.
constexpr uint64_t kUnknown = ~uint64_t{0};

void AppendBigEndian(uint64_t value, std::string& out) {
  for (int shift = 56; shift >= 0; shift -= 8) out.push_back(static_cast<char>(value >> shift));
}

// An id as a key of Redis's radix trees.
std::string IdBytes(StreamId id) {
  std::string bytes;
  AppendBigEndian(id.ms, bytes);
  AppendBigEndian(id.seq, bytes);
  return bytes;
}

uint64_t BigEndian(std::string_view bytes) {
  uint64_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<uint8_t>(byte);
  return value;
}

std::optional<StreamId> IdOf(std::optional<std::string_view> bytes) {
  if (!bytes || bytes->size() != kIdBytes) return std::nullopt;
  return StreamId{BigEndian(bytes->substr(0, 8)), BigEndian(bytes->substr(8))};
}

void AppendId(StreamId id, std::string& out) {
  AppendRdbLength(id.ms, out);
  AppendRdbLength(id.seq, out);
}

std::optional<StreamId> ReadId(RdbReader& reader) {
  const std::optional<uint64_t> ms = reader.ReadLength();
  const std::optional<uint64_t> seq = ms ? reader.ReadLength() : std::nullopt;
  if (!seq) return std::nullopt;
  return StreamId{*ms, *seq};
}

void AppendGroup(const StreamGroup& group, std::string& out, RdbCompression compression,
                 StreamDumpFormat format) {
  AppendId(group.position.last_delivered_id, out);
  const std::optional<int64_t> read = group.position.entries_read;
  AppendRdbLength(read ? static_cast<uint64_t>(*read) : kUnknown, out);
  AppendRdbLength(group.pending().size(), out);
  for (const auto& [id, pending] : group.pending()) {
    out += IdBytes(id);
    AppendLittleEndian(static_cast<uint64_t>(pending.delivered_ms), kTimeBytes, out);
    AppendRdbLength(static_cast<uint64_t>(pending.deliveries), out);
  }
  AppendRdbLength(group.consumers().size(), out);
  for (const auto& [name, consumer] : group.consumers()) {
    AppendRdbString(name, out, compression);
    AppendLittleEndian(static_cast<uint64_t>(consumer->seen_ms), kTimeBytes, out);
    if (format == StreamDumpFormat::kRedis72) {
      AppendLittleEndian(static_cast<uint64_t>(consumer->active_ms), kTimeBytes, out);
    }
    AppendRdbLength(consumer->pending.size(), out);
    for (const StreamId id : consumer->pending) out += IdBytes(id);
  }
}

std::optional<StreamId> ReadIdBytes(RdbReader& reader) { return IdOf(reader.ReadBytes(kIdBytes)); }

// Records what is wrong with the item read last. Returns false.
bool Fail(RdbReader& reader, std::string_view expected) {
  reader.Fail(expected);
  return false;
}

bool ReadNode(RdbReader& reader, Stream& stream) {
  const std::optional<std::string> key = reader.ReadString();
  if (!key) return false;
  const std::optional<StreamId> id = IdOf(*key);
  if (!id) return Fail(reader, "the 16 bytes of a stream id");
  const std::optional<std::string_view> bytes = reader.ReadStringView();
  if (!bytes) return false;
  absl::StatusOr<Listpack> listpack = Listpack::Parse(*bytes);
  if (!listpack.ok()) return Fail(reader, "a listpack");
  std::optional<StreamNode> node = StreamNode::Load(*id, *std::move(listpack));
  if (!node) return Fail(reader, "the entries of a stream");
  return stream.AppendNode(*std::move(node)) || Fail(reader, "entries above the earlier ones");
}

bool ReadNodes(RdbReader& reader, Stream& stream) {
  const std::optional<uint64_t> count = reader.ReadLength();
  if (!count) return false;
  for (uint64_t i = 0; i < *count; ++i) {
    if (!ReadNode(reader, stream)) return false;
  }
  return true;
}

// The least last_id of a stream with these entries. A smaller one would let XADD write an entry
// before others. Redis accepts it.
StreamId LeastLastId(const Stream& stream) {
  if (stream.node_count() == 0) return {};
  const StreamId last_node = stream.node(stream.node_count() - 1).master_id();
  return stream.size() == 0 ? last_node : std::max(last_node, stream.LastEntryId());
}

bool ReadMetadata(RdbReader& reader, StreamDumpFormat format, Stream& stream) {
  const std::optional<uint64_t> size = reader.ReadLength();
  if (!size) return false;
  if (*size != stream.size()) return Fail(reader, "the number of the stream's entries");
  const std::optional<StreamId> last = ReadId(reader);
  if (!last) return false;
  if (*last < LeastLastId(stream)) return Fail(reader, "a last id not below an entry");
  stream.set_last_id(*last);
  if (format == StreamDumpFormat::kRedis5) {
    stream.set_entries_added(*size);
    return true;
  }
  // The first id follows from the entries. A Redis 7.0 that loaded an empty stream of an earlier
  // version writes the greatest id here.
  const std::optional<StreamId> first = ReadId(reader);
  const std::optional<StreamId> max_deleted = first ? ReadId(reader) : std::nullopt;
  const std::optional<uint64_t> added = max_deleted ? reader.ReadLength() : std::nullopt;
  if (!added) return false;
  stream.set_max_deleted_id(*max_deleted);
  stream.set_entries_added(*added);
  return true;
}

// The group's pending entries, before their consumers have been read.
using Deliveries = absl::btree_map<StreamId, StreamPending>;

std::optional<Deliveries> ReadDeliveries(RdbReader& reader) {
  const std::optional<uint64_t> count = reader.ReadLength();
  if (!count) return std::nullopt;
  Deliveries deliveries;
  for (uint64_t i = 0; i < *count; ++i) {
    const std::optional<StreamId> id = ReadIdBytes(reader);
    const std::optional<uint64_t> time = id ? reader.ReadLittleEndian(kTimeBytes) : std::nullopt;
    const std::optional<uint64_t> times = time ? reader.ReadLength() : std::nullopt;
    if (!times) return std::nullopt;
    const StreamPending pending{nullptr, static_cast<int64_t>(*time), static_cast<int64_t>(*times)};
    if (!deliveries.emplace(*id, pending).second) {
      return reader.Fail("a pending entry that the group does not have yet");
    }
  }
  return deliveries;
}

// Reads a consumer, and moves its pending entries from `deliveries` to the group.
bool ReadConsumer(RdbReader& reader, StreamDumpFormat format, Deliveries& deliveries,
                  StreamGroup& group) {
  const std::optional<std::string> name = reader.ReadString();
  if (!name) return false;
  if (group.FindConsumer(*name) != nullptr) return Fail(reader, "the name of another consumer");
  const std::optional<uint64_t> seen = reader.ReadLittleEndian(kTimeBytes);
  if (!seen) return false;
  // Redis 7.2 takes the time of an earlier version for both.
  std::optional<uint64_t> active = seen;
  if (format == StreamDumpFormat::kRedis72) active = reader.ReadLittleEndian(kTimeBytes);
  if (!active) return false;
  const std::optional<uint64_t> count = reader.ReadLength();
  if (!count) return false;
  StreamConsumer& consumer = group.AddConsumer(*name, static_cast<int64_t>(*seen));
  consumer.active_ms = static_cast<int64_t>(*active);
  for (uint64_t i = 0; i < *count; ++i) {
    const std::optional<StreamId> id = ReadIdBytes(reader);
    if (!id) return false;
    const auto delivery = deliveries.find(*id);
    if (delivery == deliveries.end()) return Fail(reader, "a pending entry of the group");
    group.Deliver(*id, consumer, delivery->second.delivered_ms);
    group.FindPending(*id)->deliveries = delivery->second.deliveries;
    deliveries.erase(delivery);
  }
  return true;
}

bool ReadGroup(RdbReader& reader, StreamDumpFormat format, Stream& stream) {
  const std::optional<std::string> name = reader.ReadString();
  if (!name) return false;
  if (stream.FindGroup(*name) != nullptr) return Fail(reader, "the name of another group");
  const std::optional<StreamId> last = ReadId(reader);
  if (!last) return false;
  std::optional<int64_t> read;
  if (format == StreamDumpFormat::kRedis5) {
    read = stream.EntriesReadAt(*last);
  } else {
    const std::optional<uint64_t> written = reader.ReadLength();
    if (!written) return false;
    if (*written != kUnknown) read = static_cast<int64_t>(*written);
  }
  stream.AddGroup(*name, {*last, read});
  StreamGroup& group = *stream.FindGroup(*name);
  std::optional<Deliveries> deliveries = ReadDeliveries(reader);
  const std::optional<uint64_t> consumers = deliveries ? reader.ReadLength() : std::nullopt;
  if (!consumers) return false;
  for (uint64_t i = 0; i < *consumers; ++i) {
    if (!ReadConsumer(reader, format, *deliveries, group)) return false;
  }
  return deliveries->empty() || Fail(reader, "a consumer for each pending entry");
}

}  // namespace

void AppendStreamDump(const Stream& stream, std::string& out, RdbCompression compression,
                      StreamDumpFormat format) {
  AppendRdbLength(stream.node_count(), out);
  for (size_t i = 0; i < stream.node_count(); ++i) {
    AppendRdbString(IdBytes(stream.node(i).master_id()), out, compression);
    AppendRdbString(stream.node(i).listpack().bytes(), out, compression);
  }
  AppendRdbLength(stream.size(), out);
  AppendId(stream.last_id(), out);
  AppendId(stream.first_id(), out);
  AppendId(stream.max_deleted_id(), out);
  AppendRdbLength(stream.entries_added(), out);
  AppendRdbLength(stream.groups().size(), out);
  for (const auto& [name, group] : stream.groups()) {
    AppendRdbString(name, out, compression);
    AppendGroup(group, out, compression, format);
  }
}

std::unique_ptr<Stream> ReadStreamDump(RdbReader& reader, StreamDumpFormat format) {
  auto stream = std::make_unique<Stream>();
  if (!ReadNodes(reader, *stream) || !ReadMetadata(reader, format, *stream)) return nullptr;
  const std::optional<uint64_t> groups = reader.ReadLength();
  if (!groups) return nullptr;
  for (uint64_t i = 0; i < *groups; ++i) {
    if (!ReadGroup(reader, format, *stream)) return nullptr;
  }
  return stream;
}

}  // namespace redouble::inline v0_1::memory
