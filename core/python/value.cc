#include "redouble/core/python/value.h"

#include <algorithm>

#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::python {

Object::Object() = default;
Object::Object(const Object& other) = default;
Object::Object(Object&& other) noexcept = default;
Object& Object::operator=(const Object& other) = default;
Object& Object::operator=(Object&& other) noexcept = default;
Object::~Object() = default;

Object::Object(std::initializer_list<Member> members) {
  for (const Member& member : members) Set(member.name, member.value);
}

Object Object::OfDistinct(std::vector<Member> members) {
  Object object;
  object.members_ = std::move(members);
  return object;
}

size_t Object::size() const { return members_.size(); }

const Value* Object::Find(std::string_view name) const {
  const auto found = std::find_if(members_.begin(), members_.end(),
                                  [&](const Member& member) { return member.name == name; });
  return found == members_.end() ? nullptr : &found->value;
}

void Object::Set(std::string_view name, Value value) {
  const auto found = std::find_if(members_.begin(), members_.end(),
                                  [&](const Member& member) { return member.name == name; });
  if (found != members_.end()) {
    found->value = std::move(value);
  } else {
    members_.push_back({std::string(name), std::move(value)});
  }
}

void Object::Erase(std::string_view name) {
  std::erase_if(members_, [&](const Member& member) { return member.name == name; });
}

bool operator==(const Object& a, const Object& b) { return a.members_ == b.members_; }

const Value* Value::Find(std::string_view name) const {
  return object() == nullptr ? nullptr : object()->Find(name);
}

std::optional<int64_t> Value::AsInt64() const {
  return integer() == nullptr ? std::nullopt : base::ParseInt64(integer()->digits);
}

bool Value::IsTruthy() const {
  if (is_null()) return false;
  if (boolean() != nullptr) return *boolean();
  if (integer() != nullptr) return integer()->digits != "0";
  if (real() != nullptr) return *real() != 0;
  if (text() != nullptr) return !text()->empty();
  if (array() != nullptr) return !array()->empty();
  if (object() != nullptr) return !object()->empty();
  return true;
}

Value OptionalTimeValue(const std::optional<DateTime>& time) {
  return time ? Value(*time) : Value();
}

}  // namespace redouble::inline v0_1::python
