// Value: a value as a Python program passes it around and a JSON text holds it.
//
// Why it exists: the documented systems hash, store and publish free-form objects byte for byte.
// What decides the bytes must survive: the order of members, integers of any size, that 1 is not
// 1.0, NaN, lone surrogates, and date-times, which are no JSON but are met on the way. The JSON
// library keeps none of the last four.
//
//   const Value event = Object({{"task_id", "t1"}, {"attempt", 2}});
//   event.Find("task_id")->text()   // points to "t1"
//
// Thread-safety: plain values.
#ifndef REDOUBLE_CORE_PYTHON_VALUE_H_
#define REDOUBLE_CORE_PYTHON_VALUE_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/time/time.h"

namespace redouble::python {

class Value;

// An integer of any size, as its decimal digits: no plus sign, no leading zero, no "-0".
struct Integer {
  std::string digits = "0";
  friend bool operator==(const Integer&, const Integer&) = default;
};

// A date-time of offset zero, in microseconds; what is finer is cut when it is written.
struct DateTime {
  absl::Time time;
  friend bool operator==(const DateTime&, const DateTime&) = default;
};

// Something that no JSON can hold: an instance of the class `type`, whose str() is `text`.
struct Opaque {
  std::string type;
  std::string text;
  friend bool operator==(const Opaque&, const Opaque&) = default;
};

using Array = std::vector<Value>;

// Named members in the order in which they were first set; a name occurs once. Look-up is linear.
class Object {
 public:
  struct Member;

  // Members are whole only behind Value, so all of these stand in value.cc.
  Object();
  Object(const Object& other);
  Object(Object&& other) noexcept;
  Object& operator=(const Object& other);
  Object& operator=(Object&& other) noexcept;
  ~Object();
  // As if set one after the other.
  explicit Object(std::initializer_list<Member> members);
  // Members whose names are known to differ.
  static Object OfDistinct(std::vector<Member> members);

  // Null when there is no such member.
  const Value* Find(std::string_view name) const;
  // Replaces the member's value where it stands, or appends it.
  void Set(std::string_view name, Value value);
  // Does nothing when there is no such member.
  void Erase(std::string_view name);

  bool empty() const { return size() == 0; }
  size_t size() const;
  const std::vector<Member>& members() const { return members_; }

  // Names, values and order.
  friend bool operator==(const Object& a, const Object& b);

 private:
  std::vector<Member> members_;
};

class Value {
 public:
  // None, JSON's null.
  Value() = default;
  Value(std::nullptr_t) {}
  // Implicit, all of them, so that nested values are written as they look.
  Value(std::same_as<bool> auto value) : data_(value) {}
  template <std::integral Int>
    requires(!std::same_as<Int, bool>)
  Value(Int value) : data_(Integer{std::to_string(value)}) {}
  Value(Integer value) : data_(std::move(value)) {}
  Value(double value) : data_(value) {}
  Value(const char* text) : data_(std::string(text)) {}
  Value(std::string_view text) : data_(std::string(text)) {}
  Value(std::string text) : data_(std::move(text)) {}
  Value(Array array) : data_(std::move(array)) {}
  Value(Object object) : data_(std::move(object)) {}
  Value(DateTime time) : data_(time) {}
  Value(Opaque opaque) : data_(std::move(opaque)) {}
  // The text, or None.
  Value(std::optional<std::string> text) {
    if (text) data_ = *std::move(text);
  }

  bool is_null() const { return std::holds_alternative<std::monostate>(data_); }
  // What it is; null when it is something else.
  const bool* boolean() const { return std::get_if<bool>(&data_); }
  const Integer* integer() const { return std::get_if<Integer>(&data_); }
  const double* real() const { return std::get_if<double>(&data_); }
  const std::string* text() const { return std::get_if<std::string>(&data_); }
  const Array* array() const { return std::get_if<Array>(&data_); }
  Array* array() { return std::get_if<Array>(&data_); }
  const Object* object() const { return std::get_if<Object>(&data_); }
  Object* object() { return std::get_if<Object>(&data_); }
  const DateTime* date_time() const { return std::get_if<DateTime>(&data_); }
  const Opaque* opaque() const { return std::get_if<Opaque>(&data_); }

  // The member of an object; null when there is none or this is no object.
  const Value* Find(std::string_view name) const;
  // The integer when it is one that fits; none otherwise, also for 1.0 and true.
  std::optional<int64_t> AsInt64() const;
  // What Python's `if value:` asks: false for None, false, zero, and what is empty.
  bool IsTruthy() const;

  // Equal in type and value: 1 is not 1.0. NaN is unequal to itself.
  friend bool operator==(const Value& a, const Value& b) { return a.data_ == b.data_; }

 private:
  std::variant<std::monostate, bool, Integer, double, std::string, Array, Object, DateTime, Opaque>
      data_;
};

struct Object::Member {
  std::string name;
  Value value;
  friend bool operator==(const Member&, const Member&) = default;
};

}  // namespace redouble::python

#endif  // REDOUBLE_CORE_PYTHON_VALUE_H_
