#include "backends/memory/values/hash.h"

#include <cassert>

namespace redouble::memory {

std::unique_ptr<Collection> Hash::Clone() const {
  auto copy = std::make_unique<Hash>();
  if (!table_) {
    copy->listpack_ = listpack_;
    return copy;
  }
  copy->table_ = std::make_unique<DenseTable<Field>>();
  copy->table_->Reserve(table_->size());
  ForEach([&](std::string_view field, std::string_view value) {
    copy->table_->Append(Field{CompactString(field), CompactString(value)});
  });
  return copy;
}

std::optional<std::string> Hash::Get(std::string_view field) const {
  if (table_) {
    const Field* found = table_->Find(field);
    return found == nullptr ? std::nullopt : std::optional<std::string>(found->value.view());
  }
  const Listpack::Position at = listpack_.Find(field, listpack_.First(), 1);
  if (at == Listpack::kNone) return std::nullopt;
  return listpack_.Get(listpack_.Next(at)).ToString();
}

bool Hash::Contains(std::string_view field) const {
  if (table_) return table_->Find(field) != nullptr;
  return listpack_.Find(field, listpack_.First(), 1) != Listpack::kNone;
}

void Hash::ConvertIfTooLong(std::string_view text, const EncodingLimits& limits) {
  if (!table_ && text.size() > limits.hash_max_listpack_value) ConvertToTable();
}

bool Hash::Set(std::string_view field, std::string_view value, const EncodingLimits& limits) {
  ConvertIfTooLong(field, limits);
  ConvertIfTooLong(value, limits);
  if (table_) {
    if (Field* found = table_->Find(field)) {
      found->value = CompactString(value);
      return false;
    }
    table_->Append(Field{CompactString(field), CompactString(value)});
    return true;
  }
  const Listpack::Position at = listpack_.Find(field, listpack_.First(), 1);
  if (at != Listpack::kNone) {
    listpack_.Replace(listpack_.Next(at), value);
    return false;
  }
  listpack_.Append(field);
  listpack_.Append(value);
  if (size() > limits.hash_max_listpack_entries) ConvertToTable();
  return true;
}

bool Hash::Remove(std::string_view field) {
  if (table_) {
    const size_t position = table_->PositionOf(field);
    if (position == DenseTable<Field>::kNotFound) return false;
    table_->RemoveAt(position);
    return true;
  }
  const Listpack::Position at = listpack_.Find(field, listpack_.First(), 1);
  if (at == Listpack::kNone) return false;
  listpack_.Erase(at, 2);
  return true;
}

std::pair<std::string, std::string> Hash::At(size_t position) const {
  assert(position < size());
  if (table_) {
    const Field& field = table_->at(position);
    return {std::string(field.name.view()), std::string(field.value.view())};
  }
  const Listpack::Position at = listpack_.Seek(static_cast<int64_t>(position) * 2);
  return {listpack_.Get(at).ToString(), listpack_.Get(listpack_.Next(at)).ToString()};
}

void Hash::ConvertToTable() {
  auto table = std::make_unique<DenseTable<Field>>();
  table->Reserve(size());
  ForEach([&](std::string_view field, std::string_view value) {
    table->Append(Field{CompactString(field), CompactString(value)});
  });
  table_ = std::move(table);
  listpack_ = Listpack();
}

}  // namespace redouble::memory
