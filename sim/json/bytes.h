// Byte strings in JSON: how a scenario, a golden or a trace writes bytes that are not text.
//
// Redis's strings are arbitrary bytes, JSON's are Unicode. A byte string that is valid UTF-8 is
// written as it is. Any other is written behind the prefix "bytes:", where \xhh is the byte hh, a
// doubled backslash is a backslash, and every other character is itself. The same form
// serves keys, values, fields and arguments. A text that really begins with "bytes:" is written in
// that form, too:
//
//   | bytes              | JSON                   |
//   | ------------------ | ---------------------- |
//   | "caf\xc3\xa9"      | "café"                 |
//   | "\x00\xff"         | "bytes:\\x00\\xff"     |
//   | "bytes:1"          | "bytes:bytes:1"        |
//
// EncodeBytes has one answer per byte string, so that equal strings have equal text.
//
// Thread-safety: pure functions.
#ifndef REDOUBLE_SIM_JSON_BYTES_H_
#define REDOUBLE_SIM_JSON_BYTES_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace redouble::sim {

// Returns the bytes that `text` represents. InvalidArgument for a text that begins with "bytes:"
// and has a backslash that is neither \\ nor \x with two hexadecimal digits.
absl::StatusOr<std::string> DecodeBytes(std::string_view text);

// Returns the text of `bytes`: valid UTF-8, and DecodeBytes of it is `bytes`.
std::string EncodeBytes(std::string_view bytes);

// Appends that text to `json` as a JSON string, quotes included: what a trace needs for each word.
void AppendBytesJson(std::string& json, std::string_view bytes);

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_JSON_BYTES_H_
