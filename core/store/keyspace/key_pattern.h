// KeyPattern: the format of a family's keys; builds, checks and parses keys.
//
// A key contains ids that callers choose. Builder and parser follow from one pattern, so that they
// cannot disagree, and an id that would make the key ambiguous is refused when the key is built.
//
//   const KeyPattern pattern =
//       KeyPattern::MustCompile("budget:daily:{key_id:uuid}:{day:d8}", "gateway.daily_budget");
//   absl::StatusOr<std::string> key = pattern.Build(key_id, "20260509");
//   std::optional<KeyValues> values = pattern.Parse(*key);  // {key_id, "20260509"}
//
// In a pattern, `{name:kind}` is a placeholder, `{{` and `}}` mean one brace, and other text is
// literal.
//
//   | placeholder     | accepts                                                                  |
//   | --------------- | ------------------------------------------------------------------------ |
//   | `{x}`           | text that is not empty                                                   |
//   | `{x:any}`       | any text, also empty: for systems that are known to accept any value     |
//   | `{x:id}`        | letters, digits, `_` and `-`; not empty                                  |
//   | `{x:uuid}`      | a hyphenated UUID in lower case, 36 characters                           |
//   | `{x:int}`       | a decimal int64 as Redis writes it: no plus sign, no leading zero        |
//   | `{x:d12}`       | exactly 12 digits (any number from 1 to 64)                              |
//   | `{x:d8-12}`     | 8 to 12 digits                                                           |
//   | `{x:a|b|c}`     | one of the words                                                         |
//
// A value ends at the first occurrence of the literal text that follows its placeholder. A value of
// any kind but `any` must therefore not contain that text, nor combine with it ("a:" before "::").
// A placeholder at the end takes the rest of the key. Two placeholders cannot be adjacent.
//
// Build(Parse(key)) is always the key. Parse(Build(values)) are the values unless an `any` value
// contains the text that follows it; the key then still parses, with the shortest such value that
// the rest of the pattern allows.
//
// Thread-safety: a plain value; const functions may be called from any thread.
#ifndef REDOUBLE_CORE_STORE_KEYSPACE_KEY_PATTERN_H_
#define REDOUBLE_CORE_STORE_KEYSPACE_KEY_PATTERN_H_

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::store {

// The values of a key, in the order of the pattern's placeholders. Views into the key.
using KeyValues = absl::InlinedVector<std::string_view, 6>;

// A value for Build: a text, which must outlive this object, or an integer.
class KeyArgument {
 public:
  explicit KeyArgument(std::string_view text) : text_(text) {}
  explicit KeyArgument(std::integral auto number)
      : text_(base::FormatInt64(static_cast<int64_t>(number), digits_)) {}
  KeyArgument(const KeyArgument&) = delete;
  KeyArgument& operator=(const KeyArgument&) = delete;

  std::string_view text() const { return text_; }

 private:
  base::Int64Buffer digits_;
  std::string_view text_;
};

class KeyPattern {
 public:
  enum class Kind : uint8_t { kText, kAny, kId, kUuid, kInt, kDigits, kWord };

  struct Placeholder {
    std::string name;
    std::string written_kind;  // The text after the colon; empty without a colon.
    Kind kind = Kind::kText;
    size_t least_digits = 0;         // kDigits
    size_t most_digits = 0;          // kDigits
    std::vector<std::string> words;  // kWord
  };

  // Parses a pattern. `family` is the id for error messages. Errors: InvalidArgument, with the
  // pattern and the mistake, for an empty pattern, a single brace, a name that is empty or contains
  // characters other than [a-z0-9_], a name that is used twice, an unknown kind, or adjacent
  // placeholders.
  static absl::StatusOr<KeyPattern> Compile(std::string_view pattern, std::string_view family = {});
  // As Compile, for a constant pattern; aborts the program if the pattern is malformed.
  static KeyPattern MustCompile(std::string_view pattern, std::string_view family = {});

  // Returns the pattern with one placeholder replaced by a constant, such as a configured prefix:
  // "{prefix}:{service_id}" with "studio:health" has one placeholder left. The constant may contain
  // the text that follows it. Errors: InvalidArgument if there is no such placeholder or the value
  // is not of its kind.
  absl::StatusOr<KeyPattern> Bind(std::string_view placeholder, std::string_view value) const;

  // Returns the key with these values, in the order of the placeholders: strings, or integers for
  // `int`. One allocation. Errors: InvalidArgument, with family, placeholder, value and rule, for a
  // value that is not of its placeholder's kind or would make the key ambiguous, or for a wrong
  // number of values.
  template <typename... Values>
  absl::StatusOr<std::string> Build(const Values&... values) const {
    return BuildFrom(
        std::array<std::string_view, sizeof...(values)>{KeyArgument(values).text()...});
  }
  absl::StatusOr<std::string> BuildFrom(std::span<const std::string_view> values) const;

  // Returns OK if Build accepts `value` for the placeholder at `index`, otherwise Build's error.
  absl::Status Check(size_t index, std::string_view value) const;

  // Returns the values of `key` as views into it, or nullopt if the key does not match the pattern.
  // O(key), times the length of the key for each `any` placeholder that is not the last.
  std::optional<KeyValues> Parse(std::string_view key) const;

  // Returns whether `key` has values other than those of Parse, because an `any` value may continue
  // beyond the text that ends it: "x:event:a:b:c" is event "b:c" of "a", or event "c" of "a:b".
  // Cost as Parse.
  bool IsAmbiguous(std::string_view key) const;

  // The text of the pattern, with bound placeholders filled in.
  const std::string& text() const { return text_; }
  const std::string& family() const { return family_; }
  std::span<const Placeholder> placeholders() const { return placeholders_; }
  // Returns the index of a placeholder, or nullopt if there is none with that name.
  std::optional<size_t> IndexOf(std::string_view placeholder) const;
  // Returns the literal text after the placeholder at `index`, up to the next placeholder or the
  // end.
  std::string_view LiteralAfter(size_t index) const { return Literal(index + 1); }
  // Returns the literal text before the first placeholder, with which all keys start.
  std::string_view prefix() const { return Literal(0); }

 private:
  friend class KeyPatternReader;

  KeyPattern() = default;

  std::string_view Literal(size_t index) const;
  bool Accepts(size_t index, std::string_view value) const;
  // Finds values for the placeholders from `index` on, after skipping as many other ways to read
  // `rest` as `skipped` says.
  bool Match(size_t index, std::string_view rest, size_t& skipped, KeyValues& values) const;

  std::string family_;
  std::string text_;
  std::vector<Placeholder> placeholders_;
  // The literal texts around the placeholders, concatenated, and the end of each. There is one more
  // than there are placeholders.
  std::string literals_;
  std::vector<size_t> literal_ends_;
};

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_KEYSPACE_KEY_PATTERN_H_
