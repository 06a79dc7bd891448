// ModelReader: reads the members of a JSON object as pydantic models do, with a ValidationError for
// members that do not fit.
//
//   ModelReader reader(value, "StudioTaskSearchDocument");
//   document.service_id = reader.String("service_id");
//   document.status = reader.OptionalString("status");
//   REDOUBLE_RETURN_IF_ERROR(reader.status());
//   // InvalidArgument (ValidationError): service_id: Field required
//
// The reader keeps the first error; getters that fail return an empty value. Members that are not
// read are ignored. The other two readers have getters of the same names, and are for
// nlohmann's JSON: orchestrator/document_reader.h reads documents of other programs, and the
// simulator's ArgumentReader reads this project's own files. This one reads Value, where
// null is a value of its own, and converts as pydantic does.
//
// Thread-safety: not thread-safe; the functions are pure.
// Source: docs/systems/relayna.md 2.4; docs/systems/studio.md 2.
#ifndef REDOUBLE_CORE_PYTHON_MODEL_READER_H_
#define REDOUBLE_CORE_PYTHON_MODEL_READER_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/python/value.h"

namespace redouble::inline v0_1::python {

// Parses the JSON text of a `model` in Redis. Errors: InvalidArgument (ValidationError) if it is
// not JSON.
absl::StatusOr<Value> ParseModelJson(std::string_view text, std::string_view model);

class ModelReader {
 public:
  // Both arguments must outlive the reader. A value that is not an object is an error.
  ModelReader(const Value& value, std::string_view model);

  // A required string. Here and below, null is an error unless the getter says otherwise.
  std::string String(std::string_view name);
  // A string; `otherwise` if the member is missing.
  std::string StringOr(std::string_view name, std::string_view otherwise);
  // A required string that is not blank, stripped.
  std::string StrippedString(std::string_view name);
  // A string, or nullopt if the member is missing or null.
  std::optional<std::string> OptionalString(std::string_view name);
  // The same, stripped; nullopt if it is blank.
  std::optional<std::string> OptionalStrippedString(std::string_view name);
  // A list of strings; empty if the member is missing.
  std::vector<std::string> Strings(std::string_view name);
  // A boolean, or a value that pydantic accepts as one (python/pydantic.h).
  bool Bool(std::string_view name);
  bool BoolOr(std::string_view name, bool otherwise);
  // A value that pydantic accepts as an integer (python/pydantic.h).
  int64_t Integer(std::string_view name);
  int64_t IntegerOr(std::string_view name, int64_t otherwise);
  // An integer, or nullopt if the member is missing or null.
  std::optional<int64_t> OptionalInteger(std::string_view name);
  // A required date-time; the epoch after an error.
  DateTime Time(std::string_view name);
  // A value that pydantic accepts as a date-time (python/pydantic.h), with its offset; nullopt if
  // the member is missing or null.
  std::optional<DateTime> OptionalTime(std::string_view name);
  // An object; an empty object if the member is missing.
  Value Object(std::string_view name);
  // The member; nullptr if it is missing or null.
  const Value* Find(std::string_view name) const;
  // The member, which may be null; nullptr if it is missing.
  const Value* FindGiven(std::string_view name) const { return value_.Find(name); }

  // Records the error `name: reason`, or only the reason if `name` is empty, unless there is an
  // error already.
  void Refuse(std::string_view name, std::string_view reason);
  // Records the error of a nested model, under its own class.
  void Update(const absl::Status& status);

  const absl::Status& status() const { return status_; }

 private:
  const Value& value_;
  std::string_view model_;
  absl::Status status_;
};

}  // namespace redouble::inline v0_1::python

#endif  // REDOUBLE_CORE_PYTHON_MODEL_READER_H_
