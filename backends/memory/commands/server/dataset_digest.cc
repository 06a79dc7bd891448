#include "redouble/backends/memory/commands/server/dataset_digest.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/commands/sorted_sets/sorted_set_replies.h"
#include "redouble/backends/memory/keyspace/database.h"
#include "redouble/backends/memory/keyspace/field_deadlines.h"
#include "redouble/backends/memory/values/hash.h"
#include "redouble/backends/memory/values/list.h"
#include "redouble/backends/memory/values/set.h"
#include "redouble/backends/memory/values/sorted_set.h"
#include "redouble/backends/memory/values/stream.h"
#include "redouble/core/base/hash/digest.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::memory {
namespace {

// A digest that other digests are mixed into.
class Digest {
 public:
  // Mixes by XOR: the order does not matter.
  void Add(std::string_view text) { Add(base::Sha1(text)); }
  void Add(const Digest& other) { Add(std::string_view(other.bytes_.data(), other.bytes_.size())); }
  // Mixes so that the order matters.
  void Append(std::string_view text) {
    Add(text);
    bytes_ = base::Sha1({bytes_.data(), bytes_.size()});
  }
  // An integer in network byte order.
  void Append(uint32_t number) {
    const std::array<char, 4> bytes = {static_cast<char>(number >> 24),
                                       static_cast<char>(number >> 16),
                                       static_cast<char>(number >> 8), static_cast<char>(number)};
    Append({bytes.data(), bytes.size()});
  }

  std::string Hex() const { return absl::BytesToHexString({bytes_.data(), bytes_.size()}); }

 private:
  void Add(const base::Sha1Bytes& other) {
    for (size_t i = 0; i < bytes_.size(); ++i) {
      bytes_[i] = static_cast<char>(bytes_[i] ^ other[i]);
    }
  }

  base::Sha1Bytes bytes_ = {};
};

// Redis's number of a type.
uint32_t NumberOf(store::KeyType type) {
  switch (type) {
    case store::KeyType::kList:
      return 1;
    case store::KeyType::kSet:
      return 2;
    case store::KeyType::kSortedSet:
      return 3;
    case store::KeyType::kHash:
      return 4;
    case store::KeyType::kStream:
      return 6;
    default:
      return 0;
  }
}

void AppendList(const List& list, Digest& digest) {
  for (List::Cursor at = list.First(); at.valid(); at.Next()) {
    digest.Append(at.value().ToString());
  }
}

Digest PairOf(std::string_view first, std::string_view second) {
  Digest pair;
  pair.Append(first);
  pair.Append(second);
  return pair;
}

void AddHash(const Hash& hash, const Database& database, std::string_view key, Digest& digest) {
  const FieldDeadlines* deadlines = database.field_deadlines();
  hash.ForEach([&](std::string_view field, std::string_view text) {
    Digest pair = PairOf(field, text);
    if (deadlines != nullptr && deadlines->Of(key, field)) pair.Add("!!hexpire!!");
    digest.Add(pair);
  });
}

void AppendStream(const Stream& stream, Digest& digest) {
  for (Stream::Cursor at = stream.From(StreamId::Min()); at.valid(); at.Next()) {
    digest.Append(std::string_view(absl::StrCat(at.id().ms, ".", at.id().seq)));
    at.VisitFields([&](const ListpackValue& field, const ListpackValue& value) {
      digest.Append(field.ToString());
      digest.Append(value.ToString());
    });
  }
}

void AppendValue(const EngineCore& engine, const Database& database, const Database::Entry& entry,
                 Digest& digest) {
  const Value& value = entry.value;
  digest.Append(NumberOf(value.type()));
  if (const List* list = value.As<List>()) {
    AppendList(*list, digest);
  } else if (const Set* set = value.As<Set>()) {
    set->ForEach([&](std::string_view member) { digest.Add(member); });
  } else if (const SortedSet* sorted = value.As<SortedSet>()) {
    sorted->ForEach(0, sorted->size(), false, [&](std::string_view member, double score) {
      digest.Add(PairOf(member, ScoreText(engine, score)));
    });
  } else if (const Hash* hash = value.As<Hash>()) {
    AddHash(*hash, database, entry.key(), digest);
  } else if (const Stream* stream = value.As<Stream>()) {
    AppendStream(*stream, digest);
  } else {
    Value::TextBuffer buffer;
    digest.Append(value.Text(buffer));
  }
  if (database.DeadlineOf(entry)) digest.Add("!!expire!!");
}

}  // namespace

std::string DatasetDigest(EngineCore& engine) {
  Digest all;
  for (int index = 0; index < engine.database_count(); ++index) {
    const Database& database = engine.database(index);
    if (database.size() == 0) continue;
    all.Append(static_cast<uint32_t>(index));
    for (size_t i = 0; i < database.size(); ++i) {
      const Database::Entry& entry = database.at(i);
      Digest one;
      one.Append(entry.key());
      AppendValue(engine, database, entry, one);
      all.Add(one);
    }
  }
  return all.Hex();
}

std::string ValueDigest(const EngineCore& engine, const Database& database,
                        const Database::Entry& entry) {
  Digest digest;
  AppendValue(engine, database, entry, digest);
  return digest.Hex();
}

}  // namespace redouble::inline v0_1::memory
