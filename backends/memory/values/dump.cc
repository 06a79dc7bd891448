#include "backends/memory/values/dump.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "backends/memory/values/hash.h"
#include "backends/memory/values/intset.h"
#include "backends/memory/values/list.h"
#include "backends/memory/values/listpack.h"
#include "backends/memory/values/rdb_codec.h"
#include "backends/memory/values/set.h"
#include "backends/memory/values/sorted_set.h"
#include "backends/memory/values/stream.h"
#include "backends/memory/values/stream_dump.h"
#include "backends/memory/values/ziplist.h"
#include "core/base/crc.h"
#include "core/base/redis_number.h"

namespace redouble::memory {
namespace {

// RDB's numbers of types in their encodings. Those that Redis 7.0 does not write any more: lists
// and hashes up to 2.4 (plain, zipmap), 2.6 to 3.0 (list in one ziplist), 3.2 to 6.2 (quicklist of
// ziplists, ziplists), sorted sets with scores as text, streams of 5.0.
enum class RdbType : uint8_t {
  kString = 0,
  kList = 1,
  kSet = 2,
  kSortedSetOfText = 3,
  kHash = 4,
  kSortedSet = 5,
  kHashZipmap = 9,
  kListZiplist = 10,
  kSetIntset = 11,
  kSortedSetZiplist = 12,
  kHashZiplist = 13,
  kListQuicklist = 14,
  kStream5 = 15,
  kHashListpack = 16,
  kSortedSetListpack = 17,
  kListQuicklist2 = 18,
  kStream7 = 19,
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

// From the highest down, which Redis finds quicker to load.
void AppendSortedSet(const SortedSet& set, std::string& out) {
  if (const Listpack* listpack = set.listpack()) {
    AppendType(RdbType::kSortedSetListpack, out);
    AppendRdbString(listpack->bytes(), out);
    return;
  }
  AppendType(RdbType::kSortedSet, out);
  AppendRdbLength(set.size(), out);
  set.ForEach(set.size() - 1, set.size(), true, [&](std::string_view member, double score) {
    AppendRdbString(member, out);
    uint64_t bits;
    std::memcpy(&bits, &score, sizeof(bits));
    AppendLittleEndian(bits, sizeof(bits), out);
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

std::optional<Value> LoadPlainList(RdbReader& reader, const EncodingLimits& limits) {
  const std::optional<uint64_t> size = reader.ReadLength();
  if (!size || *size == 0) return std::nullopt;
  auto list = std::make_unique<List>(limits);
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

std::optional<Value> LoadQuicklist(RdbReader& reader, const EncodingLimits& limits) {
  const std::optional<uint64_t> nodes = reader.ReadLength();
  if (!nodes || *nodes == 0) return std::nullopt;
  auto list = std::make_unique<List>(limits);
  for (uint64_t i = 0; i < *nodes; ++i) {
    if (!LoadListNode(reader, *list)) return std::nullopt;
  }
  return Value::Of(std::move(list));
}

bool LoadZiplistNode(RdbReader& reader, List& list) {
  const std::optional<std::string> bytes = reader.ReadString();
  const auto elements = bytes ? ReadZiplist(*bytes) : std::nullopt;
  if (!elements || elements->empty()) return false;
  for (const std::string& element : *elements) list.Push(List::End::kBack, element);
  return true;
}

std::optional<Value> LoadListOfZiplists(RdbReader& reader, const EncodingLimits& limits,
                                        std::optional<uint64_t> nodes) {
  if (!nodes || *nodes == 0) return std::nullopt;
  auto list = std::make_unique<List>(limits);
  for (uint64_t i = 0; i < *nodes; ++i) {
    if (!LoadZiplistNode(reader, *list)) return std::nullopt;
  }
  return Value::Of(std::move(list));
}

std::optional<Value> LoadSet(RdbReader& reader, const EncodingLimits& limits) {
  const std::optional<uint64_t> size = reader.ReadLength();
  if (!size || *size == 0) return std::nullopt;
  Set set;
  for (uint64_t i = 0; i < *size; ++i) {
    const std::optional<std::string> member = reader.ReadString();
    if (!member || !set.Add(*member, limits)) return std::nullopt;
  }
  return Value::Of(std::move(set));
}

std::optional<Value> LoadIntset(RdbReader& reader, const EncodingLimits& limits) {
  const std::optional<std::string> bytes = reader.ReadString();
  if (!bytes) return std::nullopt;
  const absl::StatusOr<Intset> integers = Intset::Parse(*bytes);
  if (!integers.ok() || integers->empty()) return std::nullopt;
  Set set;
  for (size_t i = 0; i < integers->count(); ++i) {
    set.Add(base::FormatInt64(integers->At(i)), limits);
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
  Hash hash;
  for (uint64_t i = 0; i < *size; ++i) {
    const std::optional<std::string> field = reader.ReadString();
    const std::optional<std::string> value = field ? reader.ReadString() : std::nullopt;
    if (!value || !AddField(*field, *value, limits, hash)) return std::nullopt;
  }
  return Value::Of(std::move(hash));
}

// What was one block stays one whatever the lengths of its texts: Redis looks only at how many
// there are.
EncodingLimits OfAnyLength(EncodingLimits limits) {
  limits.hash_max_listpack_value = std::numeric_limits<size_t>::max();
  limits.zset_max_listpack_value = std::numeric_limits<size_t>::max();
  return limits;
}

// The texts of a listpack.
std::optional<std::vector<std::string>> LoadListpackTexts(RdbReader& reader) {
  const std::optional<Listpack> listpack = ReadListpack(reader);
  if (!listpack) return std::nullopt;
  std::vector<std::string> texts;
  for (Listpack::Position at = listpack->First(); at != Listpack::kNone; at = listpack->Next(at)) {
    texts.push_back(listpack->Get(at).ToString());
  }
  return texts;
}

// Of fields and values, alternating.
std::optional<Value> HashOf(const std::optional<std::vector<std::string>>& texts,
                            const EncodingLimits& limits) {
  if (!texts || texts->empty() || texts->size() % 2 != 0) return std::nullopt;
  Hash hash;
  for (size_t i = 0; i < texts->size(); i += 2) {
    if (!AddField((*texts)[i], (*texts)[i + 1], limits, hash)) return std::nullopt;
  }
  return Value::Of(std::move(hash));
}

using ReadTexts = std::optional<std::vector<std::string>> (*)(std::string_view);

// The texts in a string that holds a ziplist or a zipmap.
std::optional<std::vector<std::string>> LoadTexts(RdbReader& reader, ReadTexts read) {
  const std::optional<std::string> bytes = reader.ReadString();
  return bytes ? read(*bytes) : std::nullopt;
}

// A score in front of which its length stands, or what it is instead of a number.
std::optional<double> ReadScoreText(RdbReader& reader) {
  constexpr uint64_t kMinusInfinity = 255;
  constexpr uint64_t kInfinity = 254;
  constexpr uint64_t kNan = 253;
  const std::optional<uint64_t> size = reader.ReadLittleEndian(1);
  if (!size || *size == kNan) return std::nullopt;
  if (*size == kInfinity) return std::numeric_limits<double>::infinity();
  if (*size == kMinusInfinity) return -std::numeric_limits<double>::infinity();
  const std::optional<std::string_view> text = reader.ReadBytes(*size);
  return text ? base::ParseDouble(*text) : std::nullopt;
}

std::optional<double> ReadScoreBits(RdbReader& reader) {
  const std::optional<uint64_t> bits = reader.ReadLittleEndian(sizeof(double));
  if (!bits) return std::nullopt;
  double score;
  std::memcpy(&score, &*bits, sizeof(score));
  return score;
}

// False when the score is none or the set has the member already.
bool AddMember(std::string_view member, std::optional<double> score, const EncodingLimits& limits,
               SortedSet& set) {
  return score && !std::isnan(*score) && set.Set(member, *score, limits);
}

using ReadScore = std::optional<double> (*)(RdbReader&);

// A set that is too large for a listpack never was one, so that it has kept the sign of -0.
std::optional<Value> LoadSortedSet(RdbReader& reader, const EncodingLimits& limits,
                                   ReadScore read_score) {
  const std::optional<uint64_t> size = reader.ReadLength();
  if (!size || *size == 0) return std::nullopt;
  std::vector<std::pair<std::string, std::optional<double>>> members;
  bool fits = *size <= limits.zset_max_listpack_entries;
  for (uint64_t i = 0; i < *size; ++i) {
    std::optional<std::string> member = reader.ReadString();
    if (!member) return std::nullopt;
    fits = fits && member->size() <= limits.zset_max_listpack_value;
    members.emplace_back(*std::move(member), read_score(reader));
  }
  SortedSet set;
  if (!fits) set.ConvertToTable();
  for (const auto& [member, score] : members) {
    if (!AddMember(member, score, limits, set)) return std::nullopt;
  }
  return Value::Of(std::move(set));
}

// Of members and scores, alternating.
std::optional<Value> SortedSetOf(const std::optional<std::vector<std::string>>& texts,
                                 const EncodingLimits& limits) {
  if (!texts || texts->empty() || texts->size() % 2 != 0) return std::nullopt;
  SortedSet set;
  for (size_t i = 0; i < texts->size(); i += 2) {
    const std::optional<double> score = base::ParseDouble((*texts)[i + 1]);
    if (!AddMember((*texts)[i], score, limits, set)) return std::nullopt;
  }
  return Value::Of(std::move(set));
}

std::optional<Value> LoadStream(RdbReader& reader, StreamDumpFormat format) {
  std::unique_ptr<Stream> stream = ReadStreamDump(reader, format);
  if (stream == nullptr) return std::nullopt;
  return Value::Of(std::move(stream));
}

// Types that older servers wrote.
std::optional<Value> LoadOldDump(RdbType type, RdbReader& reader, const EncodingLimits& limits) {
  switch (type) {
    case RdbType::kList:
      return LoadPlainList(reader, limits);
    case RdbType::kSortedSetOfText:
      return LoadSortedSet(reader, limits, ReadScoreText);
    case RdbType::kHashZipmap:
      return HashOf(LoadTexts(reader, ReadZipmap), limits);
    case RdbType::kListZiplist:
      return LoadListOfZiplists(reader, limits, 1);
    case RdbType::kSortedSetZiplist:
      return SortedSetOf(LoadTexts(reader, ReadZiplist), OfAnyLength(limits));
    case RdbType::kHashZiplist:
      return HashOf(LoadTexts(reader, ReadZiplist), OfAnyLength(limits));
    case RdbType::kListQuicklist:
      return LoadListOfZiplists(reader, limits, reader.ReadLength());
    case RdbType::kStream5:
      return LoadStream(reader, StreamDumpFormat::kRedis5);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::string DumpValue(const Value& value) {
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
  } else if (const SortedSet* sorted_set = value.As<SortedSet>()) {
    AppendSortedSet(*sorted_set, out);
  } else {
    AppendType(RdbType::kStream7, out);
    AppendStreamDump(*value.As<Stream>(), out);
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
    case RdbType::kSet:
      return LoadSet(reader, limits);
    case RdbType::kHash:
      return LoadHash(reader, limits);
    case RdbType::kSetIntset:
      return LoadIntset(reader, limits);
    case RdbType::kHashListpack:
      return HashOf(LoadListpackTexts(reader), OfAnyLength(limits));
    case RdbType::kListQuicklist2:
      return LoadQuicklist(reader, limits);
    case RdbType::kSortedSet:
      return LoadSortedSet(reader, limits, ReadScoreBits);
    case RdbType::kSortedSetListpack:
      return SortedSetOf(LoadListpackTexts(reader), OfAnyLength(limits));
    case RdbType::kStream7:
      return LoadStream(reader, StreamDumpFormat::kRedis7);
    default:
      return LoadOldDump(static_cast<RdbType>(*type), reader, limits);
  }
}

}  // namespace redouble::memory
