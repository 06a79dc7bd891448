// Python's str methods that decide keys and stored fields: strip(), lower(), str(value).
//
//   Strip(" t1\u00a0")       // "t1"
//   Lower("QUEUED")          // "queued"
//   *TextOf(Value(1e16))     // "1e+16"
//
// Thread-safety: pure functions.
// Source: reference/relayna.md 14; CPython 3.13.
#ifndef REDOUBLE_CORE_PYTHON_TEXT_H_
#define REDOUBLE_CORE_PYTHON_TEXT_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "core/python/value.h"

namespace redouble::python {

// `text` without the white space at both ends: Unicode's, and U+001C to U+001F. A view into it.
std::string_view Strip(std::string_view text);

// `text` in lower case, all of Unicode: some characters become two, a capital sigma at the end of a
// word becomes a final one. Bytes that are no UTF-8 stay.
std::string Lower(std::string_view text);

// str(value): a text itself, "None", "True" and "False", digits, a float's repr, a date-time with
// a space, an Opaque's own. InvalidArgument for an array or an object, whose Python form the
// documented systems never mean to use.
absl::StatusOr<std::string> TextOf(const Value& value);

// What the systems make of an optional field: none for null and for no value; otherwise its text,
// stripped, and none when nothing is left. Errors: as TextOf.
absl::StatusOr<std::optional<std::string>> NormalizedText(const Value* value);

}  // namespace redouble::python

#endif  // REDOUBLE_CORE_PYTHON_TEXT_H_
