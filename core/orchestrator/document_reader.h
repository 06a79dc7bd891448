// DocumentReader: reads the members of a JSON object that another program wrote, and reports an
// error with its position.
//
// The formats of core/orchestrator are read with it; ParseObject and JsonText convert from and to
// text. For this folder only.
//
//   DocumentReader reader(json, "", status);
//   token.run_id = reader.Id("run_id");
//   // InvalidArgument: /run_id: expected an id of letters, digits, _ and -, got "a:b"
//
// The first error is kept in `status`, which the readers of nested objects share; later getters
// return a default value. Members that are not read are ignored, because a newer program may add
// some. core/base/json/json_reading.h names the other readers, which are strict or read Python's
// values.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_DOCUMENT_READER_H_
#define REDOUBLE_CORE_ORCHESTRATOR_DOCUMENT_READER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/json/json_reading.h"
#include "redouble/core/orchestrator/errors.h"

namespace redouble::inline v0_1::orchestrator {

using base::Json;

// Parses a text that must be an object. Errors: `error`, also for a text nested deeper than 500.
absl::StatusOr<Json> ParseObject(std::string_view text, ErrorCode error);

// Compact text; members keep their order, and characters outside of ASCII are not escaped. Errors:
// InvalidArgument if a string is not UTF-8, or if ParseObject would refuse the text as nested too
// deeply.
absl::StatusOr<std::string> JsonText(const Json& json);

// Adds the JSON value `text` as the member `name`; does nothing if `text` is empty. Errors:
// InvalidArgument if `text` is not JSON.
absl::Status AddJsonText(Json& object, std::string_view name, std::string_view text);

// As AddJsonText, for a member that readers require to be an object. Errors: InvalidArgument also
// if `text` is neither an object nor null.
absl::Status AddObjectText(Json& object, std::string_view name, std::string_view text);

// Whether a text matches `[A-Za-z0-9_-]+`. Source: docs/systems/orchestrator.md D7.
bool IsId(std::string_view text);

class DocumentReader {
 public:
  // `json` and `status` must outlive this. A value that is not an object is an error in `status`.
  DocumentReader(const Json& json, std::string path, absl::Status& status);

  const std::string& path() const { return path_; }
  // Null if the member is missing or JSON's null.
  const Json* Find(std::string_view name) const;

  // Required members.
  std::string String(std::string_view name);
  std::string Id(std::string_view name);
  absl::Time Time(std::string_view name);

  std::string StringOr(std::string_view name, std::string_view otherwise);
  int64_t IntegerOr(std::string_view name, int64_t otherwise, int64_t least);
  bool BoolOr(std::string_view name, bool otherwise);
  std::optional<absl::Time> OptionalTime(std::string_view name);
  // An array of strings; empty if the member is missing.
  std::vector<std::string> Strings(std::string_view name);
  // The member as compact JSON; empty if it is missing.
  std::string JsonTextOf(std::string_view name);
  // As JsonTextOf, for a member that must be an object.
  std::string ObjectTextOf(std::string_view name);

  // Records the error `/path/name: reason`, unless there is an earlier error.
  void Refuse(std::string_view name, std::string_view reason);
  // Records the error `/path/name: expected <expected>, got <got>`.
  void Expected(std::string_view name, std::string_view expected, const Json& got);

 private:
  const Json* Require(std::string_view name);

  const Json& json_;
  const std::string path_;
  absl::Status& status_;
};

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_DOCUMENT_READER_H_
