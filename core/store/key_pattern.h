// KeyPattern: the shape of a family's keys, from which a key is built, checked and taken apart.
//
// Why it exists: a key is text put together from ids that somebody else chose. One pattern per
// family says what the text is; builder and parser follow from it, so that they cannot disagree,
// and an id that would make the key ambiguous is refused where it enters.
//
//   const KeyPattern pattern =
//       KeyPattern::MustCompile("budget:daily:{key_id:uuid}:{day:d8}", "gateway.daily_budget");
//   absl::StatusOr<std::string> key = pattern.Build(key_id, "20260509");
//   std::optional<KeyValues> values = pattern.Parse(*key);  // {key_id, "20260509"}
//
// The language: text stands for itself, `{{` and `}}` for one brace, `{name:kind}` for a value.
//
//   | placeholder     | takes                                                                    |
//   | --------------- | ------------------------------------------------------------------------ |
//   | `{x}`           | text: not empty                                                          |
//   | `{x:any}`       | anything, also nothing: for systems known to take the value verbatim     |
//   | `{x:id}`        | an id of letters, digits, `_` and `-`: not empty                         |
//   | `{x:uuid}`      | a hyphenated UUID in lower case, 36 characters                           |
//   | `{x:int}`       | a decimal int64 as Redis writes it: no plus sign, no leading zero        |
//   | `{x:d12}`       | exactly 12 digits (any count from 1 to 64)                               |
//   | `{x:d8-12}`     | 8 to 12 digits                                                           |
//   | `{x:a|b|c}`     | one of the words                                                         |
//
// The text between two placeholders ends the value before it, at its first occurrence, so a value
// of any kind but `any` must not contain it (nor run into it: "a:" before "::"). A placeholder at
// the end takes the rest of the key, whatever stands there. Two placeholders never touch.
//
// Round trips: Build(Parse(key)) is the key, always. Parse(Build(values)) are the values, unless an
// `any` value contains the text that follows it; the key then still parses, with that value cut as
// short as the rest of the pattern allows.
//
// Thread-safety: a plain value; const functions are safe from any thread.
#ifndef REDOUBLE_CORE_STORE_KEY_PATTERN_H_
#define REDOUBLE_CORE_STORE_KEY_PATTERN_H_

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
#include "core/base/redis_number.h"

namespace redouble::store {

// The values of a key in the order of the pattern's placeholders: views into the key.
using KeyValues = absl::InlinedVector<std::string_view, 6>;

// One value for Build: text, which must outlive it, or an integer, whose digits it keeps.
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
    std::string written_kind;  // What stands behind the colon; empty without one.
    Kind kind = Kind::kText;
    size_t least_digits = 0;         // kDigits
    size_t most_digits = 0;          // kDigits
    std::vector<std::string> words;  // kWord
  };

  // Reads a pattern. `family` is the id that error messages name. Errors: InvalidArgument, naming
  // the pattern and what is wrong: an empty pattern, a single brace, a name that is empty or holds
  // anything but [a-z0-9_], a name used twice, an unknown kind, two placeholders that touch.
  static absl::StatusOr<KeyPattern> Compile(std::string_view pattern, std::string_view family = {});
  // The same for a pattern that is part of the program: ends it when the pattern is malformed.
  static KeyPattern MustCompile(std::string_view pattern, std::string_view family = {});

  // The pattern with one placeholder replaced by a constant, as a configured prefix is:
  // "{prefix}:{service_id}" bound to "studio:health" has one placeholder left. The constant may
  // contain what follows it; nothing is ambiguous about a constant. Errors: InvalidArgument when
  // there is no such placeholder or the value is not of its kind.
  absl::StatusOr<KeyPattern> Bind(std::string_view placeholder, std::string_view value) const;

  // The key of the values, in the order of the placeholders: strings, or integers for `int`. One
  // allocation. Errors: InvalidArgument, naming family, placeholder, value and rule: a value that
  // is not of its placeholder's kind or would make the key ambiguous; a wrong count of values.
  template <typename... Values>
  absl::StatusOr<std::string> Build(const Values&... values) const {
    return BuildFrom(
        std::array<std::string_view, sizeof...(values)>{KeyArgument(values).text()...});
  }
  absl::StatusOr<std::string> BuildFrom(std::span<const std::string_view> values) const;

  // OK when Build would take `value` for the placeholder at `index`; otherwise Build's error.
  absl::Status Check(size_t index, std::string_view value) const;

  // The values of `key`, as views into it; none when it is not a key of this pattern. Linear, times
  // the length of the key for each `any` placeholder that is not the last.
  std::optional<KeyValues> Parse(std::string_view key) const;

  // The pattern as it was written, bound placeholders filled in.
  const std::string& text() const { return text_; }
  const std::string& family() const { return family_; }
  std::span<const Placeholder> placeholders() const { return placeholders_; }
  // The position of a placeholder; none when there is no such name.
  std::optional<size_t> IndexOf(std::string_view placeholder) const;
  // The text behind the placeholder at `index`, up to the next one or the end.
  std::string_view LiteralAfter(size_t index) const { return Literal(index + 1); }
  // The text before the first placeholder: every key of the pattern starts with it.
  std::string_view prefix() const { return Literal(0); }

 private:
  friend class KeyPatternReader;

  KeyPattern() = default;

  std::string_view Literal(size_t index) const;
  bool Accepts(size_t index, std::string_view value) const;
  bool Match(size_t index, std::string_view rest, KeyValues& values) const;

  std::string family_;
  std::string text_;
  std::vector<Placeholder> placeholders_;
  // The texts around the placeholders, one after the other, and where each ends: one more than
  // there are placeholders.
  std::string literals_;
  std::vector<size_t> literal_ends_;
};

}  // namespace redouble::store

#endif  // REDOUBLE_CORE_STORE_KEY_PATTERN_H_
