// Byte strings in JSON: how a scenario, a golden or a trace writes bytes that are not text.
//
// Redis strings are arbitrary bytes; JSON strings are Unicode. Valid UTF-8 is written unchanged.
// Any other byte string is written after the prefix "bytes:", where \xhh is the byte hh, a doubled
// backslash is one backslash, and every other character is itself. A text that begins with "bytes:"
// is also written in that form. Keys, values, fields and arguments use this encoding:
//
//   | bytes              | JSON                   |
//   | ------------------ | ---------------------- |
//   | "caf\xc3\xa9"      | "café"                 |
//   | "\x00\xff"         | "bytes:\\x00\\xff"     |
//   | "bytes:1"          | "bytes:bytes:1"        |
//
// EncodeBytes is canonical: equal byte strings have equal text. JsonText (sim/json/json_text.h)
// writes JSON with such strings.
//
// Thread-safety: pure functions.
#ifndef REDOUBLE_SIM_JSON_BYTES_H_
#define REDOUBLE_SIM_JSON_BYTES_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace redouble::inline v0_1::sim {

inline constexpr std::string_view kBytesPrefix = "bytes:";

// Returns the bytes that `text` represents. InvalidArgument for a text that begins with "bytes:"
// and has a backslash that is neither \\ nor \x with two hexadecimal digits.
absl::StatusOr<std::string> DecodeBytes(std::string_view text);

// Returns the text of `bytes`: valid UTF-8, and DecodeBytes of it is `bytes`.
std::string EncodeBytes(std::string_view bytes);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_JSON_BYTES_H_
