// The two JSON dialects of the documented systems: Python's json module (PYJSON) and pydantic's
// model serialisation (PYDJSON), byte for byte; and Python's reader.
//
// Why it exists: what is stored, published and hashed is text, and one space more is another key.
//
//   |                | PYJSON                                 | PYDJSON                        |
//   | -------------- | -------------------------------------- | ------------------------------ |
//   | separators     | ", " and ": "; "," and ":" if compact  | "," and ":"                    |
//   | members        | as they come, or sorted by code point  | as they come                   |
//   | beyond ASCII   | as it is, or \uXXXX if ASCII is asked  | as it is                       |
//   | floats         | float_text.h FloatRepr                 | float_text.h PydanticFloatText |
//   | not finite     | NaN, Infinity, -Infinity               | null                           |
//   | date-times     | an error, or text, as asked            | ISO with Z                     |
//
// Both escape the quotation mark, the backslash and what is below U+0020 (\b \t \n \f \r by name,
// the rest as \u00xx), nothing else.
//
//   PyJson(event)                                         // what the history holds
//   HashOfPyJson(event, {.sorted = true})                 // a dedupe token
//   PydanticJson(record)                                  // what the DLQ holds
//
// Thread-safety: pure functions.
// Source: reference/relayna.md 0.1 and 14; CPython 3.13.
#ifndef REDOUBLE_CORE_PYTHON_JSON_H_
#define REDOUBLE_CORE_PYTHON_JSON_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "core/python/value.h"

namespace redouble::python {

struct PyJsonOptions {
  bool sorted = false;   // Members by name, at every depth.
  bool compact = false;  // "," and ":" in place of ", " and ": ".
  bool ascii = false;    // \uXXXX beyond ASCII, surrogate pairs beyond U+FFFF.
  // What becomes of a value that JSON does not have.
  enum class Foreign {
    kRefuse,     // TypeError.
    kIsoOrText,  // A date-time in ISO form with "+00:00"; anything else as its str().
    kText,       // Its str(): a date-time has a space in place of the T.
  };
  Foreign date_times = Foreign::kRefuse;
  Foreign others = Foreign::kRefuse;
};

// Errors: TypeError for a value that JSON does not have, where the options refuse it;
// UnicodeEncodeError for text that is no UTF-8, lone surrogates included, unless ASCII is asked,
// which writes them as escapes. Linear, n log n when sorted.
absl::StatusOr<std::string> PyJson(const Value& value, const PyJsonOptions& options = {});

// The SHA-256 of that text in lower-case hexadecimal. Errors: as PyJson.
absl::StatusOr<std::string> HashOfPyJson(const Value& value, const PyJsonOptions& options);

// Errors: PydanticSerializationError for an Opaque value or text that is no UTF-8.
absl::StatusOr<std::string> PydanticJson(const Value& value);

// The value that json.loads reads: NaN, Infinity and -Infinity are numbers, integers have any size
// up to 4,300 digits, escaped lone surrogates stay; of two members with one name the last value
// counts, in the place of the first.
// Errors, all InvalidArgument: UnicodeDecodeError when `text` is no UTF-8; JSONDecodeError with
// CPython 3.13's message, "Expecting value: line 1 column 1 (char 0)"; ValueError for an integer
// that is too long; RecursionError for more than 500 levels.
absl::StatusOr<Value> ParseJson(std::string_view text);

}  // namespace redouble::python

#endif  // REDOUBLE_CORE_PYTHON_JSON_H_
