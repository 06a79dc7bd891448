#include "redouble/backends/memory/values/hash.h"

#include <cassert>

namespace redouble::inline v0_1::memory {

std::optional<Hash> Hash::Adopt(Listpack& listpack, const EncodingLimits& limits) {
  const size_t count = listpack.count();
  if (count % 2 != 0 || count / 2 > limits.hash_max_listpack_entries) return std::nullopt;
  if (!listpack.HasDistinctKeys()) return std::nullopt;
  return Hash(std::move(listpack));
}

Hash Hash::Clone() const {
  Hash copy;
  if (!fields_.is_table()) {
    copy.fields_.packed() = fields_.packed();
    return copy;
  }
  copy.fields_.Become(MakeTable());
  return copy;
}

std::unique_ptr<Hash::Table> Hash::MakeTable() const {
  auto table = std::make_unique<Table>();
  table->Reserve(size());
  ForEach(
      [&](std::string_view field, std::string_view value) { table->Append(Field(field, value)); });
  return table;
}

std::optional<std::string> Hash::Get(std::string_view field) const {
  if (fields_.is_table()) {
    const Field* found = fields_.table().Find(field);
    return found == nullptr ? std::nullopt : std::optional<std::string>(found->value.view());
  }
  const Listpack::Position at = fields_.packed().Find(field, fields_.packed().First(), 1);
  if (at == Listpack::kNone) return std::nullopt;
  return fields_.packed().Get(fields_.packed().Next(at)).ToString();
}

bool Hash::Contains(std::string_view field) const {
  if (fields_.is_table()) return fields_.table().Find(field) != nullptr;
  return fields_.packed().Find(field, fields_.packed().First(), 1) != Listpack::kNone;
}

void Hash::ConvertIfTooLong(std::string_view text, const EncodingLimits& limits) {
  if (!fields_.is_table() && text.size() > limits.hash_max_listpack_value) ConvertToTable();
}

bool Hash::Set(std::string_view field, std::string_view value, const EncodingLimits& limits) {
  ConvertIfTooLong(field, limits);
  ConvertIfTooLong(value, limits);
  if (fields_.is_table()) {
    if (Field* found = fields_.table().Find(field)) {
      found->value = CompactString(value);
      return false;
    }
    fields_.table().Append(Field(field, value));
    return true;
  }
  const Listpack::Position at = fields_.packed().Find(field, fields_.packed().First(), 1);
  if (at != Listpack::kNone) {
    fields_.packed().Replace(fields_.packed().Next(at), value);
    return false;
  }
  fields_.packed().Append(field);
  fields_.packed().Append(value);
  if (size() > limits.hash_max_listpack_entries) ConvertToTable();
  return true;
}

bool Hash::Remove(std::string_view field) {
  if (fields_.is_table()) {
    const size_t position = fields_.table().PositionOf(field);
    if (position == Table::kNotFound) return false;
    fields_.table().RemoveAt(position);
    return true;
  }
  const Listpack::Position at = fields_.packed().Find(field, fields_.packed().First(), 1);
  if (at == Listpack::kNone) return false;
  fields_.packed().Erase(at, 2);
  return true;
}

std::pair<std::string, std::string> Hash::At(size_t position) const {
  assert(position < size());
  if (fields_.is_table()) {
    const Field& field = fields_.table().at(position);
    return {std::string(field.name.view()), std::string(field.value.view())};
  }
  const Listpack::Position at = fields_.packed().Seek(static_cast<int64_t>(position) * 2);
  return {fields_.packed().Get(at).ToString(),
          fields_.packed().Get(fields_.packed().Next(at)).ToString()};
}

void Hash::ConvertToTable() { fields_.Become(MakeTable()); }

}  // namespace redouble::inline v0_1::memory
