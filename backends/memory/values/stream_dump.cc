#include "backends/memory/values/stream_dump.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "backends/memory/values/listpack.h"

namespace redouble::memory {
namespace {

constexpr size_t kIdBytes = 16;
constexpr size_t kTimeBytes = 8;
// How an unknown number of read entries is written.
constexpr uint64_t kUnknown = ~uint64_t{0};

void AppendBigEndian(uint64_t value, std::string& out) {
  for (int shift = 56; shift >= 0; shift -= 8) out.push_back(static_cast<char>(value >> shift));
}

// An id as the radix trees of Redis have it for a key.
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

void AppendGroup(const StreamGroup& group, std::string& out) {
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
    AppendRdbString(name, out);
    AppendLittleEndian(static_cast<uint64_t>(consumer->seen_ms), kTimeBytes, out);
    AppendRdbLength(consumer->pending.size(), out);
    for (const StreamId id : consumer->pending) out += IdBytes(id);
  }
}

bool ReadNodes(RdbReader& reader, Stream& stream) {
  const std::optional<uint64_t> count = reader.ReadLength();
  if (!count) return false;
  for (uint64_t i = 0; i < *count; ++i) {
    const std::optional<std::string> key = reader.ReadString();
    const std::optional<StreamId> id = IdOf(key);
    const std::optional<std::string> bytes = id ? reader.ReadString() : std::nullopt;
    if (!bytes) return false;
    absl::StatusOr<Listpack> listpack = Listpack::Parse(*bytes);
    if (!listpack.ok()) return false;
    std::optional<StreamNode> node = StreamNode::Load(*id, *std::move(listpack));
    if (!node || !stream.AppendNode(*std::move(node))) return false;
  }
  return true;
}

bool ReadMetadata(RdbReader& reader, StreamDumpFormat format, Stream& stream) {
  const std::optional<uint64_t> size = reader.ReadLength();
  const std::optional<StreamId> last = size ? ReadId(reader) : std::nullopt;
  if (!last || *size != stream.size()) return false;
  stream.set_last_id(*last);
  if (format == StreamDumpFormat::kRedis5) {
    stream.set_entries_added(*size);
    return true;
  }
  const std::optional<StreamId> first = ReadId(reader);
  const std::optional<StreamId> max_deleted = first ? ReadId(reader) : std::nullopt;
  const std::optional<uint64_t> added = max_deleted ? reader.ReadLength() : std::nullopt;
  if (!added) return false;
  stream.set_max_deleted_id(*max_deleted);
  stream.set_entries_added(*added);
  return *first == stream.first_id();
}

// What is pending is known before whose it is.
using Deliveries = absl::btree_map<StreamId, StreamPending>;

std::optional<Deliveries> ReadDeliveries(RdbReader& reader) {
  const std::optional<uint64_t> count = reader.ReadLength();
  if (!count) return std::nullopt;
  Deliveries deliveries;
  for (uint64_t i = 0; i < *count; ++i) {
    const std::optional<StreamId> id = IdOf(reader.ReadBytes(kIdBytes));
    const std::optional<uint64_t> time = id ? reader.ReadLittleEndian(kTimeBytes) : std::nullopt;
    const std::optional<uint64_t> times = time ? reader.ReadLength() : std::nullopt;
    if (!times) return std::nullopt;
    const StreamPending pending{nullptr, static_cast<int64_t>(*time), static_cast<int64_t>(*times)};
    if (!deliveries.emplace(*id, pending).second) return std::nullopt;
  }
  return deliveries;
}

// Reads a consumer; what is pending with it leaves `deliveries`.
bool ReadConsumer(RdbReader& reader, Deliveries& deliveries, StreamGroup& group) {
  const std::optional<std::string> name = reader.ReadString();
  const std::optional<uint64_t> seen = name ? reader.ReadLittleEndian(kTimeBytes) : std::nullopt;
  const std::optional<uint64_t> count = seen ? reader.ReadLength() : std::nullopt;
  if (!count || group.FindConsumer(*name) != nullptr) return false;
  StreamConsumer& consumer = group.AddConsumer(*name, static_cast<int64_t>(*seen));
  for (uint64_t i = 0; i < *count; ++i) {
    const std::optional<StreamId> id = IdOf(reader.ReadBytes(kIdBytes));
    const auto delivery = id ? deliveries.find(*id) : deliveries.end();
    if (delivery == deliveries.end()) return false;
    group.Deliver(*id, consumer, delivery->second.delivered_ms);
    group.FindPending(*id)->deliveries = delivery->second.deliveries;
    deliveries.erase(delivery);
  }
  return true;
}

bool ReadGroup(RdbReader& reader, StreamDumpFormat format, Stream& stream) {
  const std::optional<std::string> name = reader.ReadString();
  const std::optional<StreamId> last = name ? ReadId(reader) : std::nullopt;
  if (!last) return false;
  std::optional<int64_t> read;
  if (format == StreamDumpFormat::kRedis5) {
    read = stream.EntriesReadAt(*last);
  } else {
    const std::optional<uint64_t> written = reader.ReadLength();
    if (!written) return false;
    if (*written != kUnknown) read = static_cast<int64_t>(*written);
  }
  if (!stream.AddGroup(*name, {*last, read})) return false;
  StreamGroup& group = *stream.FindGroup(*name);
  std::optional<Deliveries> deliveries = ReadDeliveries(reader);
  const std::optional<uint64_t> consumers = deliveries ? reader.ReadLength() : std::nullopt;
  if (!consumers) return false;
  for (uint64_t i = 0; i < *consumers; ++i) {
    if (!ReadConsumer(reader, *deliveries, group)) return false;
  }
  // Whatever is pending is somebody's.
  return deliveries->empty();
}

}  // namespace

void AppendStreamDump(const Stream& stream, std::string& out) {
  AppendRdbLength(stream.node_count(), out);
  for (size_t i = 0; i < stream.node_count(); ++i) {
    AppendRdbString(IdBytes(stream.node(i).master_id()), out);
    AppendRdbString(stream.node(i).listpack().bytes(), out);
  }
  AppendRdbLength(stream.size(), out);
  AppendId(stream.last_id(), out);
  AppendId(stream.first_id(), out);
  AppendId(stream.max_deleted_id(), out);
  AppendRdbLength(stream.entries_added(), out);
  AppendRdbLength(stream.groups().size(), out);
  for (const auto& [name, group] : stream.groups()) {
    AppendRdbString(name, out);
    AppendGroup(group, out);
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

}  // namespace redouble::memory
