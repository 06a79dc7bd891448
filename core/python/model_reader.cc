#include "redouble/core/python/model_reader.h"

#include "absl/strings/str_cat.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/python/error.h"
#include "redouble/core/python/json.h"
#include "redouble/core/python/pydantic.h"
#include "redouble/core/python/text.h"

namespace redouble::inline v0_1::python {

using base::ToAbsl;

absl::StatusOr<Value> ParseModelJson(std::string_view text, std::string_view model) {
  absl::StatusOr<Value> value = ParseJson(text);
  if (value.ok()) return value;
  return ValidationError(absl::StrCat(ToAbsl(model), ": ", value.status().message()));
}

ModelReader::ModelReader(const Value& value, std::string_view model)
    : value_(value), model_(model) {
  if (value.object() == nullptr) Refuse("", "Input should be an object");
}

const Value* ModelReader::Find(std::string_view name) const {
  const Value* member = FindGiven(name);
  return member == nullptr || member->is_null() ? nullptr : member;
}

std::string ModelReader::String(std::string_view name) {
  const Value* member = FindGiven(name);
  const std::string* text = member == nullptr ? nullptr : member->text();
  if (text != nullptr) return *text;
  Refuse(name, member == nullptr ? "Field required" : "value must be a string");
  return "";
}

std::string ModelReader::StringOr(std::string_view name, std::string_view otherwise) {
  return FindGiven(name) == nullptr ? std::string(otherwise) : String(name);
}

std::string ModelReader::StrippedString(std::string_view name) {
  const bool was_ok = status_.ok();
  std::string text(Strip(String(name)));
  if (was_ok && status_.ok() && text.empty()) Refuse(name, "value must not be empty");
  return text;
}

std::optional<std::string> ModelReader::OptionalString(std::string_view name) {
  if (Find(name) == nullptr) return std::nullopt;
  return String(name);
}

std::optional<std::string> ModelReader::OptionalStrippedString(std::string_view name) {
  const std::optional<std::string> text = OptionalString(name);
  if (!text) return std::nullopt;
  const std::string_view stripped = Strip(*text);
  if (stripped.empty()) return std::nullopt;
  return std::string(stripped);
}

std::vector<std::string> ModelReader::Strings(std::string_view name) {
  std::vector<std::string> texts;
  const Value* member = FindGiven(name);
  if (member == nullptr) return texts;
  if (member->array() == nullptr) {
    Refuse(name, "Input should be a list");
    return texts;
  }
  for (const Value& element : *member->array()) {
    if (element.text() == nullptr) {
      Refuse(name, "value must be a string");
      return {};
    }
    texts.push_back(*element.text());
  }
  return texts;
}

bool ModelReader::Bool(std::string_view name) {
  if (FindGiven(name) == nullptr) Refuse(name, "Field required");
  return BoolOr(name, false);
}

bool ModelReader::BoolOr(std::string_view name, bool otherwise) {
  const Value* member = FindGiven(name);
  if (member == nullptr) return otherwise;
  const std::optional<bool> boolean = PydanticBool(*member);
  if (!boolean) Refuse(name, "Input should be a boolean");
  return boolean.value_or(otherwise);
}

int64_t ModelReader::Integer(std::string_view name) {
  if (FindGiven(name) == nullptr) Refuse(name, "Field required");
  return IntegerOr(name, 0);
}

int64_t ModelReader::IntegerOr(std::string_view name, int64_t otherwise) {
  const Value* member = FindGiven(name);
  if (member == nullptr) return otherwise;
  const std::optional<int64_t> number = PydanticInteger(*member);
  if (!number) Refuse(name, "Input should be an integer");
  return number.value_or(otherwise);
}

std::optional<int64_t> ModelReader::OptionalInteger(std::string_view name) {
  if (Find(name) == nullptr) return std::nullopt;
  return IntegerOr(name, 0);
}

DateTime ModelReader::Time(std::string_view name) {
  const Value* member = FindGiven(name);
  if (member == nullptr) Refuse(name, "Field required");
  if (member != nullptr && member->is_null()) Refuse(name, "Input should be a datetime");
  return OptionalTime(name).value_or(absl::UnixEpoch());
}

std::optional<DateTime> ModelReader::OptionalTime(std::string_view name) {
  const Value* member = Find(name);
  if (member == nullptr) return std::nullopt;
  const std::optional<DateTime> time = PydanticDateTime(*member);
  if (!time) Refuse(name, "Input should be a datetime");
  return time;
}

Value ModelReader::Object(std::string_view name) {
  const Value* member = FindGiven(name);
  if (member == nullptr) return Value(python::Object());
  if (member->object() == nullptr) Refuse(name, "Input should be an object");
  return *member;
}

void ModelReader::Refuse(std::string_view name, std::string_view reason) {
  if (!status_.ok()) return;
  if (name.empty()) {
    status_ = ValidationError(absl::StrCat(ToAbsl(model_), ": ", ToAbsl(reason)));
  } else {
    status_ = ValidationError(absl::StrCat(ToAbsl(name), ": ", ToAbsl(reason)));
  }
}

void ModelReader::Update(const absl::Status& status) {
  if (status_.ok()) status_ = status;
}

}  // namespace redouble::inline v0_1::python
