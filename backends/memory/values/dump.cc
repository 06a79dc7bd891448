#include "backends/memory/values/dump.h"

#include <cstdint>
#include <memory>
#include <utility>

#include "backends/memory/values/hash.h"
#include "backends/memory/values/intset.h"
#include "backends/memory/values/list.h"
#include "backends/memory/values/listpack.h"
#include "backends/memory/values/rdb_codec.h"
#include "backends/memory/values/set.h"
#include "core/base/crc.h"

namespace redouble::memory {
namespace {

// RDB's numbers of types in their encodings.
enum class RdbType : uint8_t {
  kString = 0,
  kList = 1,
  kSet = 2,
  kHash = 4,
  kSetIntset = 11,
  kHashListpack = 16,
  kListQuicklist2 = 18,
};

// What a quicklist's node holds.
constexpr uint64_t kPlainNode = 1;
constexpr uint64_t kPackedNode = 2;

constexpr uint64_t kVersion = 10;
constexpr size_t kVersionBytes = 2;
constexpr size_t kChecksumBytes = 8;
constexpr size_t kTrailerBytes = kVersionBytes + kChecksumBytes;

void AppendType(RdbType type, std::string& out) { out.push_back(static_cast<char>(type)); }

void AppendList(const List& list, std::string& out) {
  AppendType(RdbType::kListQuicklist2, out);
  AppendRdbLength(list.nodes().size(), out);
  for (const Listpack& node : list.nodes()) {
    AppendRdbLength(kPackedNode, out);
    AppendRdbString(node.bytes(), out);
  }
}

void AppendSet(const Set& set, std::string& out) {
  if (const Intset* intset = set.intset()) {
    AppendType(RdbType::kSetIntset, out);
    AppendRdbString(intset->bytes(), out);
    return;
  }
  AppendType(RdbType::kSet, out);
  AppendRdbLength(set.size(), out);
  set.ForEach([&](std::string_view member) { AppendRdbString(member, out); });
}

void AppendHash(const Hash& hash, std::string& out) {
  if (const Listpack* listpack = hash.listpack()) {
    AppendType(RdbType::kHashListpack, out);
    AppendRdbString(listpack->bytes(), out);
    return;
  }
  AppendType(RdbType::kHash, out);
  AppendRdbLength(hash.size(), out);
  hash.ForEach([&](std::string_view field, std::string_view value) {
    AppendRdbString(field, out);
    AppendRdbString(value, out);
  });
}

std::optional<Value> LoadString(RdbReader& reader) {
  const std::optional<std::string> text = reader.ReadString();
  if (!text) return std::nullopt;
  return Value::String(*text);
}

// A listpack written as a string; none when it is broken or empty.
std::optional<Listpack> ReadListpack(RdbReader& reader) {
  const std::optional<std::string> bytes = reader.ReadString();
  if (!bytes) return std::nullopt;
  absl::StatusOr<Listpack> listpack = Listpack::Parse(*bytes);
  if (!listpack.ok() || listpack->empty()) return std::nullopt;
  return *std::move(listpack);
}

std::optional<Value> LoadPlainList(RdbReader& reader) {
  const std::optional<uint64_t> size = reader.ReadLength();
  if (!size || *size == 0) return std::nullopt;
  auto list = std::make_unique<List>();
  for (uint64_t i = 0; i < *size; ++i) {
    const std::optional<std::string> element = reader.ReadString();
    if (!element) return std::nullopt;
    list->Push(List::End::kBack, *element);
  }
  return Value::Of(std::move(list));
}

bool LoadListNode(RdbReader& reader, List& list) {
  const std::optional<uint64_t> container = reader.ReadLength();
  if (container == kPlainNode) {
    const std::optional<std::string> element = reader.ReadString();
    if (element) list.Push(List::End::kBack, *element);
    return element.has_value();
  }
  if (container != kPackedNode) return false;
  const std::optional<Listpack> node = ReadListpack(reader);
  if (!node) return false;
  base::Int64Buffer buffer;
  for (Listpack::Position at = node->First(); at != Listpack::kNone; at = node->Next(at)) {
    list.Push(List::End::kBack, node->Get(at).View(buffer));
  }
  return true;
}

std::optional<Value> LoadQuicklist(RdbReader& reader) {
  const std::optional<uint64_t> nodes = reader.ReadLength();
  if (!nodes || *nodes == 0) return std::nullopt;
  auto list = std::make_unique<List>();
  for (uint64_t i = 0; i < *nodes; ++i) {
    if (!LoadListNode(reader, *list)) return std::nullopt;
  }
  return Value::Of(std::move(list));
}

std::optional<Value> LoadSet(RdbReader& reader, const EncodingLimits& limits) {
  const std::optional<uint64_t> size = reader.ReadLength();
  if (!size || *size == 0) return std::nullopt;
  auto set = std::make_unique<Set>();
  for (uint64_t i = 0; i < *size; ++i) {
    const std::optional<std::string> member = reader.ReadString();
    if (!member || !set->Add(*member, limits)) return std::nullopt;
  }
  return Value::Of(std::move(set));
}

std::optional<Value> LoadIntset(RdbReader& reader, const EncodingLimits& limits) {
  const std::optional<std::string> bytes = reader.ReadString();
  if (!bytes) return std::nullopt;
  const absl::StatusOr<Intset> integers = Intset::Parse(*bytes);
  if (!integers.ok() || integers->empty()) return std::nullopt;
  auto set = std::make_unique<Set>();
  for (size_t i = 0; i < integers->count(); ++i) {
    set->Add(base::FormatInt64(integers->At(i)), limits);
  }
  return Value::Of(std::move(set));
}

// False when the hash has the field already.
bool AddField(std::string_view field, std::string_view value, const EncodingLimits& limits,
              Hash& hash) {
  hash.ConvertIfTooLong(field, limits);
  hash.ConvertIfTooLong(value, limits);
  return hash.Set(field, value, limits);
}

std::optional<Value> LoadHash(RdbReader& reader, const EncodingLimits& limits) {
  const std::optional<uint64_t> size = reader.ReadLength();
  if (!size || *size == 0) return std::nullopt;
  auto hash = std::make_unique<Hash>();
  for (uint64_t i = 0; i < *size; ++i) {
    const std::optional<std::string> field = reader.ReadString();
    const std::optional<std::string> value = field ? reader.ReadString() : std::nullopt;
    if (!value || !AddField(*field, *value, limits, *hash)) return std::nullopt;
  }
  return Value::Of(std::move(hash));
}

std::optional<Value> LoadHashListpack(RdbReader& reader, const EncodingLimits& limits) {
  const std::optional<Listpack> listpack = ReadListpack(reader);
  if (!listpack || listpack->count() % 2 != 0) return std::nullopt;
  auto hash = std::make_unique<Hash>();
  for (Listpack::Position at = listpack->First(); at != Listpack::kNone;) {
    const std::string field = listpack->Get(at).ToString();
    at = listpack->Next(at);
    const std::string value = listpack->Get(at).ToString();
    at = listpack->Next(at);
    if (!AddField(field, value, limits, *hash)) return std::nullopt;
  }
  return Value::Of(std::move(hash));
}

}  // namespace

std::optional<std::string> DumpValue(const Value& value) {
  std::string out;
  if (value.is_string()) {
    AppendType(RdbType::kString, out);
    Value::TextBuffer buffer;
    AppendRdbString(value.Text(buffer), out);
  } else if (const List* list = value.As<List>()) {
    AppendList(*list, out);
  } else if (const Set* set = value.As<Set>()) {
    AppendSet(*set, out);
  } else if (const Hash* hash = value.As<Hash>()) {
    AppendHash(*hash, out);
  } else {
    return std::nullopt;
  }
  AppendLittleEndian(kVersion, kVersionBytes, out);
  AppendLittleEndian(base::Crc64(out), kChecksumBytes, out);
  return out;
}

bool DumpIsIntact(std::string_view payload) {
  if (payload.size() < kTrailerBytes) return false;
  const size_t covered = payload.size() - kChecksumBytes;
  RdbReader trailer(payload.substr(covered - kVersionBytes));
  if (*trailer.ReadLittleEndian(kVersionBytes) > kVersion) return false;
  return *trailer.ReadLittleEndian(kChecksumBytes) == base::Crc64(payload.substr(0, covered));
}

std::optional<Value> LoadDump(std::string_view payload, const EncodingLimits& limits) {
  // As in Redis, a value may reach into the trailer, and need not reach up to it.
  RdbReader reader(payload);
  const std::optional<uint64_t> type = reader.ReadLittleEndian(1);
  if (!type) return std::nullopt;
  switch (static_cast<RdbType>(*type)) {
    case RdbType::kString:
      return LoadString(reader);
    case RdbType::kList:
      return LoadPlainList(reader);
    case RdbType::kSet:
      return LoadSet(reader, limits);
    case RdbType::kHash:
      return LoadHash(reader, limits);
    case RdbType::kSetIntset:
      return LoadIntset(reader, limits);
    case RdbType::kHashListpack:
      return LoadHashListpack(reader, limits);
    case RdbType::kListQuicklist2:
      return LoadQuicklist(reader);
  }
  return std::nullopt;
}

}  // namespace redouble::memory
