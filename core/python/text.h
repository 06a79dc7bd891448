// Python's strip(), lower() and str(value), byte for byte.
//
// The documented systems build keys and stored fields with them; all follow CPython 3.13's Unicode
// tables.
//
//   Strip(" t1\u00a0")       // "t1"
//   Lower("QUEUED")          // "queued"
//   *TextOf(Value(1e16))     // "1e+16"
//
// Thread-safety: pure functions.
// Source: docs/systems/relayna.md 2.3; CPython 3.13.
#ifndef REDOUBLE_CORE_PYTHON_TEXT_H_
#define REDOUBLE_CORE_PYTHON_TEXT_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "redouble/core/python/value.h"

namespace redouble::inline v0_1::python {

// Returns `text` without the white space at both ends: Unicode's, and U+001C to U+001F. The result
// is a view into `text`.
std::string_view Strip(std::string_view text);

// Returns `text` in lower case by Unicode's rules: some characters become two, and a capital sigma
// at the end of a word becomes a final sigma. Bytes that are not UTF-8 are kept.
std::string Lower(std::string_view text);

// Returns str(value): a text unchanged, "None", "True", "False", digits, a float's repr, a datetime
// with a space, or the text of an Opaque. Errors: InvalidArgument for an array or an object, whose
// str() the documented systems do not use.
absl::StatusOr<std::string> TextOf(const Value& value);

// Returns the stripped text of an optional field, or nullopt if `value` is null, is JSON's null, or
// has no text other than white space. Errors: as TextOf.
absl::StatusOr<std::optional<std::string>> NormalizedText(const Value* value);

}  // namespace redouble::inline v0_1::python

#endif  // REDOUBLE_CORE_PYTHON_TEXT_H_
