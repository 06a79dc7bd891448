// ModelReader: reads the members of a JSON object as Studio's pydantic models do, with a
// ValidationError for members that do not fit.
//
//   ModelReader reader(value, "StudioTaskSearchDocument");
//   document.service_id = reader.Text("service_id");
//   document.status = reader.OptionalText("status");
//   if (absl::Status status = reader.status(); !status.ok()) return status;
//
// The reader keeps the first error; getters that fail return an empty value. Members that are not
// read are ignored. For this folder and the folders below it.
//
// Thread-safety: not thread-safe; the functions are pure.
// Source: docs/systems/studio.md 2.
#ifndef REDOUBLE_CORE_STUDIO_MODEL_H_
#define REDOUBLE_CORE_STUDIO_MODEL_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/python/value.h"

namespace redouble::studio {

// Parses the JSON text of a `model` in Redis. Errors: InvalidArgument (ValidationError) if it is
// not JSON.
absl::StatusOr<python::Value> ParseModelJson(std::string_view text, std::string_view model);

// The JSON text of a model (PYDJSON). Errors: InvalidArgument if a text in it is not UTF-8.
absl::StatusOr<std::string> ModelJson(const python::Value& value);

// A date-time; null for nullopt.
python::Value OptionalTimeValue(const std::optional<python::DateTime>& time);

class ModelReader {
 public:
  // Both arguments must outlive the reader. A value that is not an object is an error.
  ModelReader(const python::Value& value, std::string_view model);

  // A required text. Here and below, null is an error unless the getter says otherwise.
  std::string Text(std::string_view name);
  // A text; `otherwise` if the member is missing.
  std::string TextOr(std::string_view name, std::string_view otherwise);
  // A required text that is not blank, stripped.
  std::string StrippedText(std::string_view name);
  // A text, or nullopt if the member is missing or null.
  std::optional<std::string> OptionalText(std::string_view name);
  // The same, stripped; nullopt if it is blank.
  std::optional<std::string> OptionalStrippedText(std::string_view name);
  // A list of texts; empty if the member is missing.
  std::vector<std::string> Texts(std::string_view name);
  // A boolean, or a value that pydantic accepts as one (python/pydantic.h).
  bool Bool(std::string_view name);
  bool BoolOr(std::string_view name, bool otherwise);
  int64_t IntegerOr(std::string_view name, int64_t otherwise);
  // A value that pydantic accepts as a date-time (python/pydantic.h), with its offset; nullopt if
  // the member is missing or null.
  std::optional<python::DateTime> OptionalTime(std::string_view name);
  // An object; an empty object if the member is missing.
  python::Value Object(std::string_view name);
  // The member; nullptr if it is missing or null.
  const python::Value* Find(std::string_view name) const;
  // The member, which may be null; nullptr if it is missing.
  const python::Value* FindGiven(std::string_view name) const { return value_.Find(name); }

  // Records the error `name: reason`, or only the reason if `name` is empty, unless there is an
  // error already.
  void Refuse(std::string_view name, std::string_view reason);
  // Records the error of a nested model, under its own class.
  void Update(const absl::Status& status);

  const absl::Status& status() const { return status_; }

 private:
  const python::Value& value_;
  std::string_view model_;
  absl::Status status_;
};

}  // namespace redouble::studio

#endif  // REDOUBLE_CORE_STUDIO_MODEL_H_
