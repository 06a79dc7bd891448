#include "redouble/sim/migrate/key_value.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/hash/crc.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/sim/migrate/stream_parts.h"

namespace redouble::inline v0_1::sim {
namespace {

using store::Batch;
using store::Command;
using store::CommandId;
using store::KeyType;
using store::Reply;

// How the values of a type are read and written.
struct TypeRow {
  KeyType type;
  CommandId read;
  std::array<std::string_view, 3> read_arguments;  // After the key, up to an empty one.
  CommandId write;
  size_t parts_of_element;   // 2 for pairs.
  bool is_sorted_here;       // The server's order of elements means nothing.
  bool is_written_reversed;  // ZADD takes the score first.
};

constexpr std::array kTypes = {
    TypeRow{KeyType::kString, CommandId::kGet, {}, CommandId::kSet, 1, false, false},
    TypeRow{KeyType::kList, CommandId::kLRange, {"0", "-1"}, CommandId::kRPush, 1, false, false},
    TypeRow{KeyType::kSet, CommandId::kSMembers, {}, CommandId::kSAdd, 1, true, false},
    TypeRow{KeyType::kHash, CommandId::kHGetAll, {}, CommandId::kHSet, 2, true, false},
    TypeRow{KeyType::kSortedSet,
            CommandId::kZRange,
            {"0", "-1", "WITHSCORES"},
            CommandId::kZAdd,
            2,
            false,
            true},
    TypeRow{KeyType::kStream,
            CommandId::kXInfoStream,
            {"FULL", "COUNT", "0"},
            CommandId::kUnknown,
            1,
            false,
            false},
};

const TypeRow* RowOf(KeyType type) {
  const auto row = std::find_if(kTypes.begin(), kTypes.end(),
                                [type](const TypeRow& each) { return each.type == type; });
  return row == kTypes.end() ? nullptr : &*row;
}

// The parts in their order; empty for the reply of a missing key.
absl::StatusOr<std::vector<std::string>> DecodeParts(const TypeRow& row, Reply reply) {
  if (row.type == KeyType::kString) {
    if (reply.is_nil()) return std::vector<std::string>();
    REDOUBLE_ASSIGN_OR_RETURN(std::string text, store::DecodeString(std::move(reply)));
    return std::vector<std::string>{std::move(text)};
  }
  if (row.type == KeyType::kStream) return DecodeStreamParts(std::move(reply));
  REDOUBLE_ASSIGN_OR_RETURN(std::vector<std::string> parts, store::DecodeStrings(std::move(reply)));
  if (!row.is_sorted_here) return parts;
  if (row.parts_of_element == 2) {
    SortFields(parts);
  } else {
    std::sort(parts.begin(), parts.end());
  }
  return parts;
}

absl::StatusOr<const TypeRow*> DecodeType(std::string_view key, Reply reply) {
  REDOUBLE_ASSIGN_OR_RETURN(const std::string name, store::DecodeString(std::move(reply)));
  const std::optional<KeyType> type = store::ParseKeyType(name);
  if (type == KeyType::kNone) return nullptr;
  const TypeRow* const row = type ? RowOf(*type) : nullptr;
  if (row != nullptr) return row;
  return absl::UnimplementedError(
      absl::StrCat("\"", base::ToAbsl(key), "\" has the type ", name, " of a module"));
}

// `deadline` is the reply of PEXPIRETIME after the read.
absl::StatusOr<std::optional<KeyValue>> DecodeValue(const TypeRow& row, Reply value,
                                                    Reply deadline) {
  REDOUBLE_ASSIGN_OR_RETURN(const int64_t deadline_ms, store::DecodeInteger(std::move(deadline)));
  const store::ExpiryTime expiry(deadline_ms);
  if (!expiry.exists()) return std::nullopt;  // It expired after TYPE.
  KeyValue read;
  read.type = row.type;
  REDOUBLE_ASSIGN_OR_RETURN(read.parts, DecodeParts(row, std::move(value)));
  if (read.parts.empty()) return std::nullopt;  // Another client has just created it again.
  if (expiry.expires()) read.deadline_ms = deadline_ms;
  return read;
}

// Replaces a key that is no string by a transaction.
base::Task<absl::Status> WriteKey(store::Store& store, std::string_view key,
                                  const KeyValue& value) {
  // As in the commands of an append-only log.
  constexpr size_t kElementsOfCommand = 64;
  const TypeRow& row = *RowOf(value.type);
  if (row.write == CommandId::kUnknown) {
    co_return absl::FailedPreconditionError(
        absl::StrCat("\"", base::ToAbsl(key), "\" is a stream, which no commands create exactly"));
  }
  Batch batch(Batch::Atomicity::kTransaction);
  batch.Add(CommandId::kDel).Add(key);
  const size_t step = kElementsOfCommand * row.parts_of_element;
  for (size_t begin = 0; begin < value.parts.size(); begin += step) {
    const size_t end = std::min(begin + step, value.parts.size());
    Command& write = batch.Add(row.write);
    write.Add(key);
    for (size_t i = begin; i < end; i += row.parts_of_element) {
      if (row.is_written_reversed) {
        write.Add(value.parts[i + 1]).Add(value.parts[i]);
      } else {
        write.AddAll(std::span(value.parts).subspan(i, row.parts_of_element));
      }
    }
  }
  if (value.deadline_ms) batch.Add(CommandId::kPExpireAt).Add(key).AddInteger(*value.deadline_ms);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<Reply> replies,
                               co_await store::Execute(store, batch));
  co_return store::FirstError(replies);
}

}  // namespace

base::Task<absl::StatusOr<std::vector<std::optional<KeyValue>>>> ReadKeys(
    store::Store& store, std::span<const std::string> keys) {
  Batch types(Batch::Atomicity::kPipeline);
  for (const std::string& key : keys) types.Add(CommandId::kType).Add(key);
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<Reply> names, co_await store::Execute(store, types));
  std::vector<const TypeRow*> rows;
  Batch reads(Batch::Atomicity::kPipeline);
  for (size_t i = 0; i < keys.size(); ++i) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const TypeRow* const row,
                                 DecodeType(keys[i], std::move(names[i])));
    rows.push_back(row);
    if (row == nullptr) continue;
    Command& read = reads.Add(row->read).Add(keys[i]);
    for (const std::string_view argument : row->read_arguments) {
      if (!argument.empty()) read.Add(argument);
    }
    // After the value: what is read of a key that expires in between does not count.
    reads.Add(CommandId::kPExpireTime).Add(keys[i]);
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<Reply> replies, co_await store::Execute(store, reads));
  std::vector<std::optional<KeyValue>> values(keys.size());
  size_t next = 0;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (rows[i] == nullptr) continue;
    REDOUBLE_CO_ASSIGN_OR_RETURN(
        values[i], DecodeValue(*rows[i], std::move(replies[next]), std::move(replies[next + 1])));
    next += 2;
  }
  co_return values;
}

base::Task<absl::Status> WriteKeys(store::Store& store, std::span<const MovedKey> keys) {
  Batch batch(Batch::Atomicity::kPipeline);
  for (const auto& [key, value] : keys) {
    if (!value) {
      batch.Add(CommandId::kDel).Add(key);
    } else if (value->type == KeyType::kString) {
      Command& set = batch.Add(CommandId::kSet).Add(key).Add(value->parts[0]);
      if (value->deadline_ms) set.Add("PXAT").AddInteger(*value->deadline_ms);
    }
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<Reply> replies,
                               co_await store::Execute(store, batch));
  REDOUBLE_CO_RETURN_IF_ERROR(store::FirstError(replies));
  for (const auto& [key, value] : keys) {
    if (!value || value->type == KeyType::kString) continue;
    REDOUBLE_CO_RETURN_IF_ERROR(co_await WriteKey(store, key, *value));
  }
  co_return absl::OkStatus();
}

uint64_t DigestOf(std::string_view key, const KeyValue& value) {
  // Each text follows its length, so that no two lists of texts have the same bytes.
  const std::string head =
      absl::StrCat(base::ToAbsl(store::KeyTypeName(value.type)), " ",
                   value.deadline_ms ? absl::StrCat(*value.deadline_ms) : "none", " ", key.size(),
                   " ", base::ToAbsl(key));
  uint64_t digest = base::Crc64(head);
  for (const std::string& part : value.parts) {
    digest = base::Crc64(absl::StrCat(" ", part.size(), " "), digest);
    digest = base::Crc64(part, digest);
  }
  return digest;
}

void SortFields(std::vector<std::string>& parts) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (size_t i = 0; i + 1 < parts.size(); i += 2) {
    pairs.emplace_back(std::move(parts[i]), std::move(parts[i + 1]));
  }
  std::sort(pairs.begin(), pairs.end());
  parts.clear();
  for (auto& [field, value] : pairs) {
    parts.push_back(std::move(field));
    parts.push_back(std::move(value));
  }
}

}  // namespace redouble::inline v0_1::sim
