// JSON byte for byte as Python's json module (PYJSON) and pydantic (PYDJSON) write it; and the
// reader of Python's json module.
//
// The documented systems store, publish and hash JSON texts, so every byte matters: one more space
// changes a hash, and therefore a key.
//
//   |                | PYJSON                                 | PYDJSON                        |
//   | -------------- | -------------------------------------- | ------------------------------ |
//   | separators     | ", " and ": "; "," and ":" if compact  | "," and ":"                    |
//   | members        | in order, or sorted by code point      | in order                       |
//   | beyond ASCII   | unchanged, or \uXXXX if `ascii` is set | unchanged                      |
//   | floats         | float_text.h FloatRepr                 | float_text.h PydanticFloatText |
//   | not finite     | NaN, Infinity, -Infinity               | null                           |
//   | date-times     | an error, or text: see Foreign         | ISO with Z or an offset        |
//
// Both escape the quotation mark, the backslash and characters below U+0020: \b \t \n \f \r, the
// others as \u00xx. `ascii` escapes U+007F too.
//
//   PyJson(event)                                         // an entry of the history
//   HashOfPyJson(event, {.sorted = true})                 // a dedupe token
//   PydanticJson(record)                                  // a DLQ record
//
// ParseJson is a parser of its own, because nlohmann's, which the rest of the project uses, cannot
// read Python's dialect: NaN and infinities, integers of any size, the difference between 1
// and 1.0, lone surrogates, and error messages that callers compare.
//
// Thread-safety: pure functions.
// Source: docs/systems/relayna.md 2.1 and 2.2; CPython 3.13.
#ifndef REDOUBLE_CORE_PYTHON_JSON_H_
#define REDOUBLE_CORE_PYTHON_JSON_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "redouble/core/python/value.h"

namespace redouble::inline v0_1::python {

struct PyJsonOptions {
  bool sorted = false;   // Sorts members by name, at every depth.
  bool compact = false;  // "," and ":" instead of ", " and ": ".
  bool ascii = false;    // \uXXXX for U+007F and beyond ASCII, surrogate pairs above U+FFFF.
  // How values are written that JSON does not have.
  enum class Foreign {
    kRefuse,     // TypeError.
    kIsoOrText,  // A datetime in ISO form, such as "+00:00"; anything else as its str().
    kText,       // The value's str(), which for a datetime has a space instead of the T.
  };
  Foreign date_times = Foreign::kRefuse;
  Foreign others = Foreign::kRefuse;
};

// Returns the text of json.dumps. Errors: TypeError for a value that JSON does not have, if the
// options refuse it; UnicodeEncodeError for text that is not UTF-8, including lone surrogates,
// which `ascii` writes as escapes instead. O(n), O(n log n) if sorted.
absl::StatusOr<std::string> PyJson(const Value& value, const PyJsonOptions& options = {});

// Returns the SHA-256 of PyJson's text in lower-case hexadecimal. Errors: as PyJson.
absl::StatusOr<std::string> HashOfPyJson(const Value& value, const PyJsonOptions& options);

// Returns the text of pydantic's model_dump_json. Errors: PydanticSerializationError for an Opaque
// value or text that is not UTF-8.
absl::StatusOr<std::string> PydanticJson(const Value& value);

// Returns the value that json.loads reads. NaN, Infinity and -Infinity are numbers; integers have
// up to 4,300 digits; escaped lone surrogates are kept; if a name occurs twice, the last value
// counts, at the position of the first.
//
// Errors, all InvalidArgument: UnicodeDecodeError if `text` is not UTF-8; JSONDecodeError with
// CPython 3.13's message ("Expecting value: line 1 column 1 (char 0)"); ValueError for an integer
// with too many digits; RecursionError for more than 500 levels.
absl::StatusOr<Value> ParseJson(std::string_view text);

}  // namespace redouble::inline v0_1::python

#endif  // REDOUBLE_CORE_PYTHON_JSON_H_
