// What the readers of JSON objects share: integers, and the parts of error messages.
//
// A message names the member by its JSON pointer, says what is expected, and shows what was found:
//
//   absl::StrCat("/steps/3", PointerPart("a/b"), ": ", Expected("a number", value))
//   // /steps/3/a~1b: expected a number, got {"a":1}
//
// There are three readers, with getters of the same names:
//   sim/operations/arguments.h               the files of this project: reports every error, and
//                                            members that no getter read
//   core/orchestrator/document_reader.h      documents of other programs: keeps the first error,
//                                            ignores members that it does not know
//   core/python/model_reader.h               models of Python programs, with pydantic's conversions
//                                            and messages; it reads python::Value
//
// Only nlohmann's forward declarations are included here.
//
// Thread-safety: pure functions.
#ifndef REDOUBLE_CORE_BASE_JSON_JSON_READING_H_
#define REDOUBLE_CORE_BASE_JSON_JSON_READING_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace redouble::inline v0_1::base {

// An object keeps its members in the order of insertion.
using Json = nlohmann::ordered_json;

// Returns an integer that fits; nullopt for any other value, including 1.0.
std::optional<int64_t> AsInt64(const Json& value);

// Returns `name` as one more part of a JSON pointer: "/a~1b" for "a/b".
std::string PointerPart(std::string_view name);

// Returns `value` as one line of JSON, cut to about 80 bytes and "...", at the end of a character.
// Bytes that are not UTF-8 are replaced.
std::string Abbreviated(const Json& value);

// Returns "expected <what>, got <value>", with the value abbreviated.
std::string Expected(std::string_view what, const Json& got);

}  // namespace redouble::inline v0_1::base

#endif  // REDOUBLE_CORE_BASE_JSON_JSON_READING_H_
