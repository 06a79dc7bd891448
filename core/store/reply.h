// Reply: the reply of a Redis command, as a value.
//
// A reply has one of the six kinds of RESP2: nil, status, error, integer, bulk string or array. Its
// shape is the type that RESP3 sends instead (a map, a set, a double). Equality ignores the shape,
// so that replies of RESP2, RESP3 and the memory engine compare equal. The functions of decode.h
// turn replies into numbers, strings and vectors.
//
//   Reply reply = Reply::Array({Reply::Integer(1), Reply::Bulk("a"), Reply::Nil()});
//   if (reply.is_array()) first = reply.elements()[0].integer();
//
// Thread-safety: a plain value.
#ifndef REDOUBLE_CORE_STORE_REPLY_H_
#define REDOUBLE_CORE_STORE_REPLY_H_

#include <cassert>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redouble::inline v0_1::store {

class Reply {
 public:
  enum class Kind : uint8_t { kNil, kStatus, kError, kInteger, kBulk, kArray };

  // The RESP3 type of a reply; in parentheses, its kind. kPlain: the type of its kind.
  enum class Shape : uint8_t {
    kPlain,
    kNilArray,    // (nil) RESP2 writes "*-1" instead of "$-1".
    kMap,         // (array) of alternating keys and values.
    kSet,         // (array)
    kPairs,       // (array) of alternating elements; RESP3 sends an array of pairs.
    kMapOfPairs,  // (array) of pairs; RESP3 sends a map.
    kPush,        // (array) out-of-band data.
    kAttributes,  // (array) of alternating keys and values, before the reply that they describe.
    kPreceded,   // (array) of attributes or a push, and the reply after it. RESP2 sends the latter.
    kDouble,     // (bulk) the text of a double.
    kBool,       // (integer) 0 or 1.
    kVerbatim,   // (bulk) text for display, as INFO returns it.
    kBigNumber,  // (bulk) digits.
  };

  // A nil reply.
  Reply() : integer_(0) {}
  Reply(const Reply& other);
  // The moved-from reply is nil.
  Reply(Reply&& other) noexcept : integer_(0) { Take(other); }
  Reply& operator=(const Reply& other) { return *this = Reply(other); }
  Reply& operator=(Reply&& other) noexcept {
    if (this != &other) {
      Clear();
      Take(other);
    }
    return *this;
  }
  ~Reply() { Clear(); }

  static Reply Nil() { return Reply(); }
  static Reply NilArray() { return Reply(Kind::kNil, Shape::kNilArray, int64_t{0}); }
  static Reply Status(std::string_view text) { return Reply(Kind::kStatus, Shape::kPlain, text); }
  static Reply Ok() { return Status("OK"); }
  // `text` is the whole error with its code: "ERR syntax error".
  static Reply Error(std::string_view text) { return Reply(Kind::kError, Shape::kPlain, text); }
  static Reply Integer(int64_t value) { return Reply(Kind::kInteger, Shape::kPlain, value); }
  static Reply Bool(bool value) {
    return Reply(Kind::kInteger, Shape::kBool, static_cast<int64_t>(value));
  }
  static Reply Bulk(std::string&& value) {
    return Reply(Kind::kBulk, Shape::kPlain, std::move(value));
  }
  static Reply Bulk(const std::string& value) { return Bulk(std::string_view(value)); }
  static Reply Bulk(std::string_view value) { return Reply(Kind::kBulk, Shape::kPlain, value); }
  static Reply Bulk(const char* value) { return Bulk(std::string_view(value)); }
  static Reply Array(std::vector<Reply> elements) {
    return Reply(Kind::kArray, Shape::kPlain, std::move(elements));
  }
  static Reply EmptyArray() { return Array({}); }
  // Alternating keys and values.
  static Reply Map(std::vector<Reply> keys_and_values) {
    return Reply(Kind::kArray, Shape::kMap, std::move(keys_and_values));
  }
  // Alternating members and scores, or fields and values.
  static Reply Pairs(std::vector<Reply> alternating) {
    return Reply(Kind::kArray, Shape::kPairs, std::move(alternating));
  }
  // Each element is an array of a key and a value.
  static Reply MapOfPairs(std::vector<Reply> pairs) {
    return Reply(Kind::kArray, Shape::kMapOfPairs, std::move(pairs));
  }
  static Reply Set(std::vector<Reply> elements) {
    return Reply(Kind::kArray, Shape::kSet, std::move(elements));
  }
  static Reply Push(std::vector<Reply> elements) {
    return Reply(Kind::kArray, Shape::kPush, std::move(elements));
  }
  // `reply` after its attributes, which are alternating keys and values.
  static Reply WithAttributes(std::vector<Reply> keys_and_values, Reply reply) {
    return Preceded(Reply(Kind::kArray, Shape::kAttributes, std::move(keys_and_values)),
                    std::move(reply));
  }
  // `reply` after a push with these elements.
  static Reply WithPush(std::vector<Reply> elements, Reply reply) {
    return Preceded(Push(std::move(elements)), std::move(reply));
  }
  // `text` is the number as RESP2 writes it.
  static Reply Double(std::string text) {
    return Reply(Kind::kBulk, Shape::kDouble, std::move(text));
  }
  static Reply Verbatim(std::string text) {
    return Reply(Kind::kBulk, Shape::kVerbatim, std::move(text));
  }
  // `digits` may begin with a minus sign.
  static Reply BigNumber(std::string digits) {
    return Reply(Kind::kBulk, Shape::kBigNumber, std::move(digits));
  }

  Kind kind() const { return kind_; }
  Shape shape() const { return shape_; }
  bool is_nil() const { return kind_ == Kind::kNil; }
  bool is_status() const { return kind_ == Kind::kStatus; }
  bool is_error() const { return kind_ == Kind::kError; }
  bool is_integer() const { return kind_ == Kind::kInteger; }
  bool is_bulk() const { return kind_ == Kind::kBulk; }
  bool is_array() const { return kind_ == Kind::kArray; }

  // Requires is_integer().
  int64_t integer() const {
    assert(is_integer());
    return integer_;
  }
  // Requires a status, an error or a bulk string. The second form moves the text out.
  const std::string& text() const& {
    assert(has_text());
    return text_;
  }
  std::string&& text() && {
    assert(has_text());
    return std::move(text_);
  }
  // Requires is_array(). The second form returns the elements by value, so that a range-based for
  // over a temporary reply is safe.
  const std::vector<Reply>& elements() const& {
    assert(is_array());
    return elements_;
  }
  std::vector<Reply> elements() && {
    assert(is_array());
    return std::move(elements_);
  }

  // Compares kinds and values, also of the elements; ignores shapes.
  friend bool operator==(const Reply& a, const Reply& b);

  // Returns one line for logs and test output: nil, OK, (error) ERR.., 1, "a\x00b", [1, "a"].
  std::string DebugString() const;

 private:
  static Reply Preceded(Reply first, Reply reply) {
    std::vector<Reply> both;
    both.push_back(std::move(first));
    both.push_back(std::move(reply));
    return Reply(Kind::kArray, Shape::kPreceded, std::move(both));
  }
  Reply(Kind kind, Shape shape, int64_t value) : kind_(kind), shape_(shape), integer_(value) {}
  Reply(Kind kind, Shape shape, std::string_view text) : kind_(kind), shape_(shape), text_(text) {}
  Reply(Kind kind, Shape shape, std::string&& text)
      : kind_(kind), shape_(shape), text_(std::move(text)) {}
  Reply(Kind kind, Shape shape, std::vector<Reply>&& elements)
      : kind_(kind), shape_(shape), elements_(std::move(elements)) {}

  bool has_text() const { return is_bulk() || is_status() || is_error(); }

  // Moves `other` into this reply and leaves it nil. This reply must hold nothing to destroy.
  void Take(Reply& other) noexcept {
    kind_ = other.kind_;
    shape_ = other.shape_;
    if (other.has_text()) {
      std::construct_at(&text_, std::move(other.text_));
    } else if (other.is_array()) {
      std::construct_at(&elements_, std::move(other.elements_));
    } else {
      integer_ = other.integer_;
    }
    other.Clear();
  }
  // Makes this reply nil.
  void Clear() noexcept {
    if (has_text()) {
      std::destroy_at(&text_);
    } else if (is_array()) {
      std::destroy_at(&elements_);
    }
    kind_ = Kind::kNil;
    shape_ = Shape::kPlain;
    integer_ = 0;
  }

  // A tagged union instead of std::variant, which moves through a table of functions: moving a
  // reply is the most frequent operation on it.
  Kind kind_ = Kind::kNil;
  Shape shape_ = Shape::kPlain;
  union {
    int64_t integer_;              // kNil, kInteger
    std::string text_;             // kStatus, kError, kBulk
    std::vector<Reply> elements_;  // kArray
  };
};

// Writes DebugString().
std::ostream& operator<<(std::ostream& out, const Reply& reply);

// Returns `text` in double quotes. Bytes that are not printable ASCII are escaped as in redis-cli:
// \n, \t, \", \\ or \xhh.
std::string QuoteBytes(std::string_view text);

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_REPLY_H_
