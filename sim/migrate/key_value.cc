#include "redouble/sim/migrate/key_value.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/hash/crc.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/typed/keys.h"

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
};

const TypeRow* RowOf(KeyType type) {
  const auto row = std::find_if(kTypes.begin(), kTypes.end(),
                                [type](const TypeRow& each) { return each.type == type; });
  return row == kTypes.end() ? nullptr : &*row;
}

std::vector<std::string> SortPairs(std::vector<std::string> flat) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (size_t i = 0; i + 1 < flat.size(); i += 2) {
    pairs.emplace_back(std::move(flat[i]), std::move(flat[i + 1]));
  }
  std::sort(pairs.begin(), pairs.end());
  flat.clear();
  for (auto& [field, value] : pairs) {
    flat.push_back(std::move(field));
    flat.push_back(std::move(value));
  }
  return flat;
}

// The parts in their order; empty for the reply of a missing key.
absl::StatusOr<std::vector<std::string>> DecodeParts(const TypeRow& row, Reply reply) {
  if (row.type == KeyType::kString) {
    if (reply.is_nil()) return std::vector<std::string>();
    REDOUBLE_ASSIGN_OR_RETURN(std::string text, store::DecodeString(std::move(reply)));
    return std::vector<std::string>{std::move(text)};
  }
  REDOUBLE_ASSIGN_OR_RETURN(std::vector<std::string> parts, store::DecodeStrings(std::move(reply)));
  if (!row.is_sorted_here) return parts;
  if (row.parts_of_element == 2) return SortPairs(std::move(parts));
  std::sort(parts.begin(), parts.end());
  return parts;
}

}  // namespace

base::Task<absl::StatusOr<std::optional<KeyValue>>> ReadKey(store::Store& store,
                                                            std::string_view key) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const KeyType type, co_await store::TypeOf(store, key));
  if (type == KeyType::kNone) co_return std::nullopt;
  const TypeRow* const row = RowOf(type);
  if (row == nullptr) {
    co_return absl::UnimplementedError(absl::StrCat("\"", base::ToAbsl(key), "\" is a ",
                                                    base::ToAbsl(store::KeyTypeName(type)),
                                                    ", which cannot be copied yet"));
  }
  Batch batch(Batch::Atomicity::kTransaction);
  Command& read = batch.Add(row->read);
  read.Add(key);
  for (const std::string_view argument : row->read_arguments) {
    if (!argument.empty()) read.Add(argument);
  }
  batch.Add(CommandId::kPExpireTime).Add(key);
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<Reply> replies, co_await store::Execute(store, batch));
  REDOUBLE_CO_RETURN_IF_ERROR(store::FirstError(replies));
  KeyValue value;
  value.type = type;
  REDOUBLE_CO_ASSIGN_OR_RETURN(value.parts, DecodeParts(*row, std::move(replies[0])));
  if (value.parts.empty()) co_return std::nullopt;  // It expired after TYPE.
  REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t deadline_ms,
                               store::DecodeInteger(std::move(replies[1])));
  if (deadline_ms >= 0) value.deadline_ms = deadline_ms;
  co_return std::optional<KeyValue>(std::move(value));
}

base::Task<absl::Status> WriteKey(store::Store& store, std::string_view key,
                                  const KeyValue& value) {
  // As in the commands of an append-only log.
  constexpr size_t kElementsOfCommand = 64;
  const TypeRow& row = *RowOf(value.type);
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

}  // namespace redouble::inline v0_1::sim
