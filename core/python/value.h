// Value: a JSON value with the distinctions that Python makes.
//
// The documented systems hash, store and publish free-form objects byte for byte. A Value therefore
// keeps everything that affects the bytes: the order of members, integers of any size, the
// difference between 1 and 1.0, NaN, lone surrogates, and datetimes. The JSON library does not keep
// the last four.
//
//   const Value event = Object({{"task_id", "t1"}, {"attempt", 2}});
//   *event.Find("task_id")->text()  // "t1"
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

namespace redouble::inline v0_1::python {

class Value;

// An integer of any size as decimal digits, without a plus sign or leading zeros; never "-0".
struct Integer {
  std::string digits = "0";
  friend bool operator==(const Integer&, const Integer&) = default;
};

// A datetime. Writers drop fractions of a microsecond.
struct DateTime {
  // An instant in UTC. Implicit, because most times are instants without a zone of their own.
  DateTime(absl::Time instant = absl::UnixEpoch()) : time(instant) {}
  // An instant with the offset of its zone, or a naive datetime.
  DateTime(absl::Time instant, std::optional<absl::Duration> from_utc)
      : time(instant), offset(from_utc) {}

  // The instant; of a naive datetime, its civil time read as UTC.
  absl::Time time;
  // Local time minus UTC, of less than a day; nullopt: a naive datetime.
  std::optional<absl::Duration> offset = absl::ZeroDuration();

  // Compares what writers write: equal instants with different offsets differ.
  friend bool operator==(const DateTime&, const DateTime&) = default;
};

// A Python object that JSON does not have: an instance of the class `type` whose str() is `text`.
struct Opaque {
  std::string type;
  std::string text;
  friend bool operator==(const Opaque&, const Opaque&) = default;
};

using Array = std::vector<Value>;

// Members in the order in which their names were first set. Names are unique. Lookup is O(size).
class Object {
 public:
  struct Member;

  // Member is incomplete here, so that these are defined in value.cc.
  Object();
  Object(const Object& other);
  Object(Object&& other) noexcept;
  Object& operator=(const Object& other);
  Object& operator=(Object&& other) noexcept;
  ~Object();
  // Sets the members one after the other.
  explicit Object(std::initializer_list<Member> members);
  // Requires distinct names, which it does not check.
  static Object OfDistinct(std::vector<Member> members);

  // Returns null if there is no such member.
  const Value* Find(std::string_view name) const;
  // Replaces the member's value, keeping its position, or appends the member.
  void Set(std::string_view name, Value value);
  // Removes the member, if it exists.
  void Erase(std::string_view name);

  bool empty() const { return size() == 0; }
  size_t size() const;
  const std::vector<Member>& members() const { return members_; }

  // Compares names, values and order.
  friend bool operator==(const Object& a, const Object& b);

 private:
  std::vector<Member> members_;
};

class Value {
 public:
  // JSON's null, Python's None.
  Value() = default;
  Value(std::nullptr_t) {}
  // The constructors are implicit, so that nested values can be written as literals.
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
  // The text, or null if there is none.
  Value(std::optional<std::string> text) {
    if (text) data_ = *std::move(text);
  }

  bool is_null() const { return std::holds_alternative<std::monostate>(data_); }
  // Return the value if it has that type, otherwise null.
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

  // Returns the member of an object; null if it does not exist or this is not an object.
  const Value* Find(std::string_view name) const;
  // Returns an integer that fits; nullopt for any other value, including 1.0 and true.
  std::optional<int64_t> AsInt64() const;
  // Returns Python's bool(value): false for null, false, zero, and empty texts and containers.
  bool IsTruthy() const;

  // Compares type and value: 1 is not equal to 1.0. NaN is not equal to itself.
  friend bool operator==(const Value& a, const Value& b) { return a.data_ == b.data_; }

 private:
  std::variant<std::monostate, bool, Integer, double, std::string, Array, Object, DateTime, Opaque>
      data_;
};

// A date-time; null for nullopt.
Value OptionalTimeValue(const std::optional<DateTime>& time);

struct Object::Member {
  std::string name;
  Value value;
  friend bool operator==(const Member&, const Member&) = default;
};

}  // namespace redouble::inline v0_1::python

#endif  // REDOUBLE_CORE_PYTHON_VALUE_H_
