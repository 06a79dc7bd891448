#include "redouble/backends/memory/persistence/rdb_value.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "redouble/backends/memory/persistence/stream_dump.h"
#include "redouble/backends/memory/persistence/ziplist.h"
#include "redouble/backends/memory/values/encodings/intset.h"
#include "redouble/backends/memory/values/encodings/listpack.h"
#include "redouble/backends/memory/values/encodings/listpack_score.h"
#include "redouble/backends/memory/values/hash.h"
#include "redouble/backends/memory/values/list.h"
#include "redouble/backends/memory/values/set.h"
#include "redouble/backends/memory/values/sorted_set.h"
#include "redouble/backends/memory/values/stream.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

// The format of a quicklist's node.
constexpr uint64_t kPlainNode = 1;
constexpr uint64_t kPackedNode = 2;

void AppendList(const List& list, std::string& out, RdbCompression compression) {
  AppendRdbLength(list.nodes().size(), out);
  for (const Listpack& node : list.nodes()) {
    if (list.IsPlain(node)) {
      AppendRdbLength(kPlainNode, out);
      AppendRdbString(node.Get(node.First()).text(), out, compression);
      continue;
    }
    AppendRdbLength(kPackedNode, out);
    AppendRdbString(node.bytes(), out, compression);
  }
}

void AppendSet(const Set& set, bool packed, std::string& out, RdbCompression compression) {
  if (const Intset* intset = set.intset()) {
    AppendRdbString(intset->bytes(), out, compression);
    return;
  }
  if (packed) {
    Listpack listpack;
    set.ForEach([&](std::string_view member) { listpack.Append(member); });
    AppendRdbString(listpack.bytes(), out, compression);
    return;
  }
  AppendRdbLength(set.size(), out);
  set.ForEach([&](std::string_view member) { AppendRdbString(member, out, compression); });
}

void AppendHash(const Hash& hash, std::string& out, RdbCompression compression) {
  if (const Listpack* listpack = hash.listpack()) {
    AppendRdbString(listpack->bytes(), out, compression);
    return;
  }
  AppendRdbLength(hash.size(), out);
  hash.ForEach([&](std::string_view field, std::string_view value) {
    AppendRdbString(field, out, compression);
    AppendRdbString(value, out, compression);
  });
}

// The deadline of each field of the hash, 0 for none, in the order of ForEach.
std::vector<int64_t> TimesInOrder(const Hash& hash, const FieldTimes& times) {
  std::vector<int64_t> ordered;
  hash.ForEach([&](std::string_view field, std::string_view) {
    const auto found =
        std::lower_bound(times.begin(), times.end(), field,
                         [](const auto& row, std::string_view name) { return row.first < name; });
    ordered.push_back(found == times.end() || found->first != field ? 0 : found->second);
  });
  return ordered;
}

// The earliest deadline; 0 if there is none.
int64_t FirstTime(const FieldTimes& times) {
  int64_t first_ms = 0;
  for (const auto& [field, deadline_ms] : times) {
    if (first_ms == 0 || deadline_ms < first_ms) first_ms = deadline_ms;
  }
  return first_ms;
}

// A listpack of fields, values and deadlines, in the order of the deadlines; fields without one are
// the last.
Listpack ListpackWithTimes(const Hash& hash, const FieldTimes& times) {
  struct Row {
    std::string field;
    std::string value;
    int64_t deadline_ms;
  };
  std::vector<Row> rows;
  const std::vector<int64_t> ordered = TimesInOrder(hash, times);
  hash.ForEach([&](std::string_view field, std::string_view value) {
    rows.push_back({std::string(field), std::string(value), ordered[rows.size()]});
  });
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return (a.deadline_ms != 0) && (b.deadline_ms == 0 || a.deadline_ms < b.deadline_ms);
  });
  Listpack listpack;
  for (const Row& row : rows) {
    listpack.Append(row.field);
    listpack.Append(row.value);
    listpack.Append(base::FormatInt64(row.deadline_ms));
  }
  return listpack;
}

void AppendHashWithTimes(const Hash& hash, const FieldTimes& times, std::string& out,
                         RdbCompression compression) {
  const int64_t first_ms = FirstTime(times);
  AppendLittleEndian(static_cast<uint64_t>(first_ms), sizeof(first_ms), out);
  if (hash.listpack() != nullptr) {
    AppendRdbString(ListpackWithTimes(hash, times).bytes(), out, compression);
    return;
  }
  AppendRdbLength(hash.size(), out);
  const std::vector<int64_t> ordered = TimesInOrder(hash, times);
  size_t index = 0;
  hash.ForEach([&](std::string_view field, std::string_view value) {
    const int64_t deadline_ms = ordered[index++];
    AppendRdbLength(deadline_ms == 0 ? 0 : static_cast<uint64_t>(deadline_ms - first_ms + 1), out);
    AppendRdbString(field, out, compression);
    AppendRdbString(value, out, compression);
  });
}

// From the highest to the lowest, which is faster to load in Redis.
void AppendSortedSet(const SortedSet& set, std::string& out, RdbCompression compression) {
  if (const Listpack* listpack = set.listpack()) {
    AppendRdbString(listpack->bytes(), out, compression);
    return;
  }
  AppendRdbLength(set.size(), out);
  set.ForEach(set.size() - 1, set.size(), true, [&](std::string_view member, double score) {
    AppendRdbString(member, out, compression);
    uint64_t bits;
    std::memcpy(&bits, &score, sizeof(bits));
    AppendLittleEndian(bits, sizeof(bits), out);
  });
}

std::optional<Value> ReadText(RdbReader& reader) {
  const std::optional<std::string_view> text = reader.ReadStringView();
  if (!text) return std::nullopt;
  return Value::String(*text);
}

// A listpack written as a string.
std::optional<Listpack> ReadListpack(RdbReader& reader) {
  const std::optional<std::string_view> bytes = reader.ReadStringView();
  if (!bytes) return std::nullopt;
  absl::StatusOr<Listpack> listpack = Listpack::Parse(*bytes);
  if (!listpack.ok()) return reader.Fail("a listpack");
  return *std::move(listpack);
}

using Texts = std::vector<std::string>;

std::optional<Texts> ReadListpackTexts(RdbReader& reader) {
  const std::optional<Listpack> listpack = ReadListpack(reader);
  if (!listpack) return std::nullopt;
  Texts texts;
  for (Listpack::Position at = listpack->First(); at != Listpack::kNone; at = listpack->Next(at)) {
    texts.push_back(listpack->Get(at).ToString());
  }
  return texts;
}

std::optional<Texts> ReadZiplistTexts(RdbReader& reader) {
  const std::optional<std::string_view> bytes = reader.ReadStringView();
  if (!bytes) return std::nullopt;
  std::optional<Texts> texts = ReadZiplist(*bytes);
  if (!texts) return reader.Fail("a ziplist");
  return texts;
}

std::optional<Texts> ReadZipmapTexts(RdbReader& reader) {
  const std::optional<std::string_view> bytes = reader.ReadStringView();
  if (!bytes) return std::nullopt;
  std::optional<Texts> texts = ReadZipmap(*bytes);
  if (!texts) return reader.Fail("a zipmap");
  return texts;
}

bool ReadElement(RdbReader& reader, List& list) {
  const std::optional<std::string_view> element = reader.ReadStringView();
  if (element) list.Push(List::End::kBack, *element);
  return element.has_value();
}

bool ReadListpackNode(RdbReader& reader, List& list) {
  const std::optional<uint64_t> container = reader.ReadLength();
  if (!container) return false;
  if (*container == kPlainNode) {
    const std::optional<std::string_view> element = reader.ReadStringView();
    if (element && element->empty()) {
      reader.Fail("an element that is not empty");
      return false;
    }
    if (element) list.Push(List::End::kBack, *element);
    return element.has_value();
  }
  if (*container != kPackedNode) {
    reader.Fail("the format of a list's node, 1 or 2");
    return false;
  }
  std::optional<Listpack> node = ReadListpack(reader);
  if (node) list.AppendNode(*std::move(node));
  return node.has_value();
}

bool ReadZiplistNode(RdbReader& reader, List& list) {
  const std::optional<Texts> elements = ReadZiplistTexts(reader);
  if (!elements) return false;
  for (const std::string& element : *elements) list.Push(List::End::kBack, element);
  return true;
}

// A list of `count` parts, each an element or a node. Redis wrote empty nodes at times.
std::optional<Value> ReadList(RdbReader& reader, const EncodingLimits& limits,
                              std::optional<uint64_t> count,
                              bool (*read_part)(RdbReader& reader, List& list)) {
  if (!count) return std::nullopt;
  auto list = std::make_unique<List>(limits);
  for (uint64_t i = 0; i < *count; ++i) {
    if (!read_part(reader, *list)) return std::nullopt;
  }
  list->ChooseEncoding(limits);
  return Value::Of(std::move(list));
}

bool AddMember(std::string_view member, RdbReader& reader, const EncodingLimits& limits, Set& set) {
  if (set.Add(member, limits)) return true;
  reader.Fail("a member that the set does not have yet");
  return false;
}

std::optional<Value> ReadSet(RdbReader& reader, const EncodingLimits& limits) {
  const std::optional<uint64_t> size = reader.ReadLength();
  if (!size) return std::nullopt;
  Set set;
  for (uint64_t i = 0; i < *size; ++i) {
    const std::optional<std::string_view> member = reader.ReadStringView();
    if (!member || !AddMember(*member, reader, limits, set)) return std::nullopt;
  }
  return Value::Of(std::move(set));
}

std::optional<Value> ReadSetListpack(RdbReader& reader, const EncodingLimits& limits) {
  const std::optional<Texts> members = ReadListpackTexts(reader);
  if (!members) return std::nullopt;
  Set set;
  for (const std::string& member : *members) {
    if (!AddMember(member, reader, limits, set)) return std::nullopt;
  }
  return Value::Of(std::move(set));
}

std::optional<Value> ReadIntset(RdbReader& reader, const EncodingLimits& limits) {
  const std::optional<std::string_view> bytes = reader.ReadStringView();
  if (!bytes) return std::nullopt;
  absl::StatusOr<Intset> integers = Intset::Parse(*bytes);
  if (!integers.ok() || integers->empty()) return reader.Fail("an intset with members");
  if (std::optional<Set> adopted = Set::Adopt(*integers, limits)) {
    return Value::Of(*std::move(adopted));
  }
  Set set;
  for (size_t i = 0; i < integers->count(); ++i) {
    set.Add(base::FormatInt64(integers->At(i)), limits);
  }
  return Value::Of(std::move(set));
}

bool AddField(std::string_view field, std::string_view value, RdbReader& reader,
              const EncodingLimits& limits, Hash& hash) {
  hash.ConvertIfTooLong(field, limits);
  hash.ConvertIfTooLong(value, limits);
  if (hash.Set(field, value, limits)) return true;
  reader.Fail("a field that the hash does not have yet");
  return false;
}

std::optional<Value> ReadHash(RdbReader& reader, const EncodingLimits& limits) {
  const std::optional<uint64_t> size = reader.ReadLength();
  if (!size) return std::nullopt;
  Hash hash;
  for (uint64_t i = 0; i < *size; ++i) {
    const std::optional<std::string> field = reader.ReadString();
    const std::optional<std::string_view> value = field ? reader.ReadStringView() : std::nullopt;
    if (!value || !AddField(*field, *value, reader, limits, hash)) return std::nullopt;
  }
  return Value::Of(std::move(hash));
}

// Removes the limit on text lengths: for a value that was one block, Redis checks only the number
// of elements.
EncodingLimits OfAnyLength(EncodingLimits limits) {
  limits.hash_max_listpack_value = std::numeric_limits<size_t>::max();
  limits.zset_max_listpack_value = std::numeric_limits<size_t>::max();
  return limits;
}

// A field whose deadline is `deadline_ms`, 0 for none.
bool AddTimedField(std::string_view field, std::string_view value, int64_t deadline_ms,
                   RdbReader& reader, const EncodingLimits& limits, Hash& hash, FieldTimes& times) {
  if (!AddField(field, value, reader, limits, hash)) return false;
  if (deadline_ms != 0) times.emplace_back(field, deadline_ms);
  return true;
}

std::optional<Value> ReadHashWithTimes(RdbReader& reader, const EncodingLimits& limits,
                                       FieldTimes& times) {
  const std::optional<uint64_t> first_ms = reader.ReadLittleEndian(sizeof(uint64_t));
  const std::optional<uint64_t> size = first_ms ? reader.ReadLength() : std::nullopt;
  if (!size) return std::nullopt;
  Hash hash;
  for (uint64_t i = 0; i < *size; ++i) {
    const std::optional<uint64_t> after = reader.ReadLength();
    const std::optional<std::string> field = after ? reader.ReadString() : std::nullopt;
    const std::optional<std::string_view> value = field ? reader.ReadStringView() : std::nullopt;
    if (!value) return std::nullopt;
    const auto deadline_ms = *after == 0 ? 0 : static_cast<int64_t>(*first_ms + *after - 1);
    if (!AddTimedField(*field, *value, deadline_ms, reader, limits, hash, times)) {
      return std::nullopt;
    }
  }
  return Value::Of(std::move(hash));
}

std::optional<Value> ReadHashListpackWithTimes(RdbReader& reader, const EncodingLimits& limits,
                                               FieldTimes& times) {
  constexpr size_t kParts = 3;
  if (!reader.ReadLittleEndian(sizeof(uint64_t))) return std::nullopt;
  const std::optional<Texts> texts = ReadListpackTexts(reader);
  if (!texts) return std::nullopt;
  if (texts->size() % kParts != 0) return reader.Fail("a value and a deadline for each field");
  Hash hash;
  for (size_t i = 0; i < texts->size(); i += kParts) {
    const std::optional<int64_t> deadline_ms = base::ParseInt64((*texts)[i + 2]);
    if (!deadline_ms || *deadline_ms < 0) return reader.Fail("the deadline of a field");
    if (!AddTimedField((*texts)[i], (*texts)[i + 1], *deadline_ms, reader, limits, hash, times)) {
      return std::nullopt;
    }
  }
  return Value::Of(std::move(hash));
}

// `texts` are fields and values, alternating.
std::optional<Value> HashOf(const std::optional<Texts>& texts, RdbReader& reader,
                            const EncodingLimits& limits) {
  if (!texts) return std::nullopt;
  if (texts->size() % 2 != 0) return reader.Fail("a value for each field of the hash");
  Hash hash;
  for (size_t i = 0; i < texts->size(); i += 2) {
    if (!AddField((*texts)[i], (*texts)[i + 1], reader, limits, hash)) return std::nullopt;
  }
  return Value::Of(std::move(hash));
}

// The same of a listpack, which becomes the hash as it is unless it exceeds a limit.
std::optional<Value> ReadHashListpack(RdbReader& reader, const EncodingLimits& limits) {
  std::optional<Listpack> listpack = ReadListpack(reader);
  if (!listpack) return std::nullopt;
  if (listpack->count() % 2 != 0) return reader.Fail("a value for each field of the hash");
  if (std::optional<Hash> adopted = Hash::Adopt(*listpack, limits)) {
    return Value::Of(*std::move(adopted));
  }
  Hash hash;
  base::Int64Buffer field_buffer;
  base::Int64Buffer value_buffer;
  for (Listpack::Position at = listpack->First(); at != Listpack::kNone;) {
    const std::string_view field = listpack->Get(at).View(field_buffer);
    at = listpack->Next(at);
    const std::string_view value = listpack->Get(at).View(value_buffer);
    at = listpack->Next(at);
    if (!AddField(field, value, reader, limits, hash)) return std::nullopt;
  }
  return Value::Of(std::move(hash));
}

// A score as text with its length, or one of the codes for NaN and the infinities.
std::optional<double> ReadScoreText(RdbReader& reader) {
  constexpr uint64_t kMinusInfinity = 255;
  constexpr uint64_t kInfinity = 254;
  constexpr uint64_t kNan = 253;
  const std::optional<uint64_t> size = reader.ReadLittleEndian(1);
  if (!size) return std::nullopt;
  if (*size == kInfinity) return std::numeric_limits<double>::infinity();
  if (*size == kMinusInfinity) return -std::numeric_limits<double>::infinity();
  if (*size == kNan) return std::numeric_limits<double>::quiet_NaN();
  const std::optional<std::string_view> text = reader.ReadBytes(*size);
  if (!text) return std::nullopt;
  const std::optional<double> score = base::ParseDouble(*text);
  if (!score) return reader.Fail("the text of a score");
  return score;
}

std::optional<double> ReadScoreBits(RdbReader& reader) {
  const std::optional<uint64_t> bits = reader.ReadLittleEndian(sizeof(double));
  if (!bits) return std::nullopt;
  double score;
  std::memcpy(&score, &*bits, sizeof(score));
  return score;
}

bool AddMember(std::string_view member, double score, RdbReader& reader,
               const EncodingLimits& limits, SortedSet& set) {
  if (std::isnan(score)) {
    reader.Fail("a score that is a number");
    return false;
  }
  if (set.Set(member, score, limits)) return true;
  reader.Fail("a member that the sorted set does not have yet");
  return false;
}

using ReadScore = std::optional<double> (*)(RdbReader&);

// A set that exceeds the limits of a listpack was a table before, so it keeps the sign of -0.
std::optional<Value> ReadTableOfScores(RdbReader& reader, const EncodingLimits& limits,
                                       uint64_t size, ReadScore read_score) {
  SortedSet set;
  set.ConvertToTable();
  for (uint64_t i = 0; i < size; ++i) {
    const std::optional<std::string> member = reader.ReadString();
    const std::optional<double> score = member ? read_score(reader) : std::nullopt;
    if (!score || !AddMember(*member, *score, reader, limits, set)) return std::nullopt;
  }
  return Value::Of(std::move(set));
}

std::optional<Value> ReadSortedSet(RdbReader& reader, const EncodingLimits& limits,
                                   ReadScore read_score) {
  const std::optional<uint64_t> size = reader.ReadLength();
  if (!size) return std::nullopt;
  if (*size > limits.zset_max_listpack_entries) {
    return ReadTableOfScores(reader, limits, *size, read_score);
  }
  // The longest member decides about the encoding before the first is added.
  std::vector<std::pair<std::string, double>> members;
  bool fits = true;
  for (uint64_t i = 0; i < *size; ++i) {
    std::optional<std::string> member = reader.ReadString();
    const std::optional<double> score = member ? read_score(reader) : std::nullopt;
    if (!score) return std::nullopt;
    fits = fits && member->size() <= limits.zset_max_listpack_value;
    members.emplace_back(*std::move(member), *score);
  }
  SortedSet set;
  if (!fits) set.ConvertToTable();
  for (const auto& [member, score] : members) {
    if (!AddMember(member, score, reader, limits, set)) return std::nullopt;
  }
  return Value::Of(std::move(set));
}

// `texts` are members and scores, alternating.
std::optional<Value> SortedSetOf(const std::optional<Texts>& texts, RdbReader& reader,
                                 const EncodingLimits& limits) {
  if (!texts) return std::nullopt;
  if (texts->size() % 2 != 0) return reader.Fail("a score for each member of the sorted set");
  SortedSet set;
  for (size_t i = 0; i < texts->size(); i += 2) {
    const std::optional<double> score = base::ParseDouble((*texts)[i + 1]);
    if (!score) return reader.Fail("the text of a score");
    if (!AddMember((*texts)[i], *score, reader, limits, set)) return std::nullopt;
  }
  return Value::Of(std::move(set));
}

// The same of a listpack, which becomes the set as it is unless it exceeds a limit.
std::optional<Value> ReadSortedSetListpack(RdbReader& reader, const EncodingLimits& limits) {
  std::optional<Listpack> listpack = ReadListpack(reader);
  if (!listpack) return std::nullopt;
  if (listpack->count() % 2 != 0) return reader.Fail("a score for each member of the sorted set");
  if (std::optional<SortedSet> adopted = SortedSet::Adopt(*listpack, limits)) {
    return Value::Of(*std::move(adopted));
  }
  SortedSet set;
  base::Int64Buffer buffer;
  for (Listpack::Position at = listpack->First(); at != Listpack::kNone;) {
    const std::string_view member = listpack->Get(at).View(buffer);
    at = listpack->Next(at);
    const std::optional<double> score = ScoreOf(listpack->Get(at));
    at = listpack->Next(at);
    if (!score) return reader.Fail("the text of a score");
    if (!AddMember(member, *score, reader, limits, set)) return std::nullopt;
  }
  return Value::Of(std::move(set));
}

std::optional<Value> ReadStream(RdbReader& reader, StreamDumpFormat format) {
  std::unique_ptr<Stream> stream = ReadStreamDump(reader, format);
  if (stream == nullptr) return std::nullopt;
  return Value::Of(std::move(stream));
}

// The types of Redis 7.0, and those of later versions.
std::optional<Value> ReadNewType(RdbType type, RdbReader& reader, const EncodingLimits& limits) {
  switch (type) {
    case RdbType::kString:
      return ReadText(reader);
    case RdbType::kSet:
      return ReadSet(reader, limits);
    case RdbType::kHash:
      return ReadHash(reader, limits);
    case RdbType::kSetIntset:
      return ReadIntset(reader, limits);
    case RdbType::kHashListpack:
      return ReadHashListpack(reader, OfAnyLength(limits));
    case RdbType::kListQuicklist2:
      return ReadList(reader, limits, reader.ReadLength(), ReadListpackNode);
    case RdbType::kSortedSet:
      return ReadSortedSet(reader, limits, ReadScoreBits);
    case RdbType::kSortedSetListpack:
      return ReadSortedSetListpack(reader, OfAnyLength(limits));
    case RdbType::kStream7:
      return ReadStream(reader, StreamDumpFormat::kRedis7);
    case RdbType::kSetListpack:
      return ReadSetListpack(reader, limits);
    case RdbType::kStream72:
      return ReadStream(reader, StreamDumpFormat::kRedis72);
    default:
      return reader.Fail("a type that this engine has");
  }
}

// True for the types that only earlier servers write: lists and hashes up to 2.4 (plain, zipmap),
// 2.6 to 3.0 (list in one ziplist), 3.2 to 6.2 (quicklist of ziplists, ziplists), sorted sets with
// scores as text, streams of 5.0.
bool IsOldType(RdbType type) {
  switch (type) {
    case RdbType::kList:
    case RdbType::kSortedSetOfText:
    case RdbType::kHashZipmap:
    case RdbType::kListZiplist:
    case RdbType::kSortedSetZiplist:
    case RdbType::kHashZiplist:
    case RdbType::kListQuicklist:
    case RdbType::kStream5:
      return true;
    default:
      return false;
  }
}

std::optional<Value> ReadOldType(RdbType type, RdbReader& reader, const EncodingLimits& limits) {
  switch (type) {
    case RdbType::kList:
      return ReadList(reader, limits, reader.ReadLength(), ReadElement);
    case RdbType::kSortedSetOfText:
      return ReadSortedSet(reader, limits, ReadScoreText);
    case RdbType::kHashZipmap:
      return HashOf(ReadZipmapTexts(reader), reader, limits);
    case RdbType::kListZiplist:
      return ReadList(reader, limits, 1, ReadZiplistNode);
    case RdbType::kSortedSetZiplist:
      return SortedSetOf(ReadZiplistTexts(reader), reader, OfAnyLength(limits));
    case RdbType::kHashZiplist:
      return HashOf(ReadZiplistTexts(reader), reader, OfAnyLength(limits));
    case RdbType::kListQuicklist:
      return ReadList(reader, limits, reader.ReadLength(), ReadZiplistNode);
    default:
      return ReadStream(reader, StreamDumpFormat::kRedis5);
  }
}

struct TypeName {
  RdbType type;
  std::string_view name;
};
constexpr TypeName kTypeNames[] = {
    {RdbType::kString, "string"},
    {RdbType::kList, "list of strings"},
    {RdbType::kSet, "set of strings"},
    {RdbType::kSortedSetOfText, "sorted set with scores as text"},
    {RdbType::kHash, "hash of strings"},
    {RdbType::kSortedSet, "sorted set"},
    {RdbType::kPreReleaseModule, "module value of a Redis before 4.0"},
    {RdbType::kModule, "module value"},
    {RdbType::kHashZipmap, "hash in a zipmap"},
    {RdbType::kListZiplist, "list in a ziplist"},
    {RdbType::kSetIntset, "set in an intset"},
    {RdbType::kSortedSetZiplist, "sorted set in a ziplist"},
    {RdbType::kHashZiplist, "hash in a ziplist"},
    {RdbType::kListQuicklist, "list of ziplists"},
    {RdbType::kStream5, "stream of Redis 5.0"},
    {RdbType::kHashListpack, "hash in a listpack"},
    {RdbType::kSortedSetListpack, "sorted set in a listpack"},
    {RdbType::kListQuicklist2, "list of listpacks"},
    {RdbType::kStream7, "stream of Redis 7.0"},
    {RdbType::kSetListpack, "set in a listpack"},
    {RdbType::kStream72, "stream of Redis 7.2"},
    {RdbType::kPreReleaseHashWithExpiries, "hash with field expiries before Redis 7.4"},
    {RdbType::kPreReleaseHashListpackWithExpiries,
     "hash in a listpack with field expiries before Redis 7.4"},
    {RdbType::kHashWithExpiries, "hash with field expiries"},
    {RdbType::kHashListpackWithExpiries, "hash in a listpack with field expiries"},
};

// A file asks for the name of each key's type.
constexpr auto kNameByType = [] {
  std::array<std::string_view, static_cast<size_t>(RdbType::kHashListpackWithExpiries) + 1> names;
  for (const TypeName& row : kTypeNames) names[static_cast<size_t>(row.type)] = row.name;
  return names;
}();

}  // namespace

std::string_view NameOfRdbType(RdbType type) {
  const auto number = static_cast<size_t>(type);
  return number < kNameByType.size() ? kNameByType[number] : std::string_view();
}

bool ReadsRdbType(RdbType type) {
  const bool is_module = type == RdbType::kPreReleaseModule || type == RdbType::kModule;
  const bool is_before_release = type == RdbType::kPreReleaseHashWithExpiries ||
                                 type == RdbType::kPreReleaseHashListpackWithExpiries;
  return !is_module && !is_before_release && type <= RdbType::kHashListpackWithExpiries &&
         !NameOfRdbType(type).empty();
}

RdbType LastRdbType(int version) {
  constexpr int kRedis72 = 11;
  if (version <= kRdbVersionOfRedis70) return RdbType::kStream7;
  return version == kRedis72 ? RdbType::kStream72 : RdbType::kHashListpackWithExpiries;
}

bool HasFieldTimes(int version) {
  return LastRdbType(version) >= RdbType::kHashListpackWithExpiries;
}

RdbType RdbTypeOf(const Value& value, const RdbFormat& format, const FieldTimes* times) {
  assert(times == nullptr || HasFieldTimes(format.version));
  if (value.is_string()) return RdbType::kString;
  if (value.As<List>() != nullptr) return RdbType::kListQuicklist2;
  if (const Set* set = value.As<Set>()) {
    if (set->is_packed() && format.version > kRdbVersionOfRedis70) return RdbType::kSetListpack;
    return set->intset() != nullptr ? RdbType::kSetIntset : RdbType::kSet;
  }
  if (const Hash* hash = value.As<Hash>()) {
    if (times != nullptr && hash->listpack() != nullptr) return RdbType::kHashListpackWithExpiries;
    if (times != nullptr && !times->empty()) return RdbType::kHashWithExpiries;
    return hash->listpack() != nullptr ? RdbType::kHashListpack : RdbType::kHash;
  }
  if (const SortedSet* sorted_set = value.As<SortedSet>()) {
    return sorted_set->listpack() != nullptr ? RdbType::kSortedSetListpack : RdbType::kSortedSet;
  }
  return format.version > kRdbVersionOfRedis70 ? RdbType::kStream72 : RdbType::kStream7;
}

void AppendRdbValue(const Value& value, std::string& out, const RdbFormat& format,
                    const FieldTimes* times) {
  const RdbCompression compression = format.compression;
  if (value.is_string()) {
    Value::TextBuffer buffer;
    AppendRdbString(value.Text(buffer), out, compression);
  } else if (const List* list = value.As<List>()) {
    AppendList(*list, out, compression);
  } else if (const Set* set = value.As<Set>()) {
    AppendSet(*set, RdbTypeOf(value, format) == RdbType::kSetListpack, out, compression);
  } else if (const Hash* hash = value.As<Hash>()) {
    const RdbType type = RdbTypeOf(value, format, times);
    const bool is_timed =
        type == RdbType::kHashListpackWithExpiries || type == RdbType::kHashWithExpiries;
    if (is_timed) {
      AppendHashWithTimes(*hash, *times, out, compression);
    } else {
      AppendHash(*hash, out, compression);
    }
  } else if (const SortedSet* sorted_set = value.As<SortedSet>()) {
    AppendSortedSet(*sorted_set, out, compression);
  } else {
    const bool is_72 = RdbTypeOf(value, format) == RdbType::kStream72;
    AppendStreamDump(*value.As<Stream>(), out, compression,
                     is_72 ? StreamDumpFormat::kRedis72 : StreamDumpFormat::kRedis7);
  }
}

std::optional<Value> ReadRdbValue(RdbType type, RdbReader& reader, const EncodingLimits& limits,
                                  std::optional<FieldTimes>* times) {
  if (times != nullptr && type == RdbType::kHashWithExpiries) {
    return ReadHashWithTimes(reader, limits, times->emplace());
  }
  if (times != nullptr && type == RdbType::kHashListpackWithExpiries) {
    return ReadHashListpackWithTimes(reader, OfAnyLength(limits), times->emplace());
  }
  return IsOldType(type) ? ReadOldType(type, reader, limits) : ReadNewType(type, reader, limits);
}

}  // namespace redouble::inline v0_1::memory
