// ModelReader: takes a JSON object apart as Studio's models do, with a ValidationError for what
// does not fit.
//
//   ModelReader reader(value, "StudioTaskSearchDocument");
//   document.service_id = reader.Text("service_id");
//   document.status = reader.OptionalText("status");
//   if (absl::Status status = reader.status(); !status.ok()) return status;
//
// The first error stays; getters give a harmless default after it. Members that nobody asks for are
// ignored. For this folder only.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_CORE_STUDIO_MODEL_H_
#define REDOUBLE_CORE_STUDIO_MODEL_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/python/value.h"

namespace redouble::studio {

// The JSON text that Redis holds for `model`. Errors: InvalidArgument (ValidationError) when it is
// no JSON.
absl::StatusOr<python::Value> ParseModelJson(std::string_view text, std::string_view model);

// A model's JSON text, members in their order: PYDJSON. Errors: InvalidArgument when a text in it
// is not UTF-8.
absl::StatusOr<std::string> ModelJson(const python::Value& value);

// An optional moment, with `Z`; null when there is none.
python::Value OptionalTimeValue(std::optional<absl::Time> time);

class ModelReader {
 public:
  // Both must outlive the reader. Anything but an object is an error.
  ModelReader(const python::Value& value, std::string_view model);

  // A text that is there.
  std::string Text(std::string_view name);
  // The same without the white space around it, which must leave something.
  std::string StrippedText(std::string_view name);
  // A text that may be absent or null.
  std::optional<std::string> OptionalText(std::string_view name);
  // The same, stripped; blank is none.
  std::optional<std::string> OptionalStrippedText(std::string_view name);
  std::vector<std::string> Texts(std::string_view name);
  bool Bool(std::string_view name);
  bool BoolOr(std::string_view name, bool otherwise);
  int64_t IntegerOr(std::string_view name, int64_t otherwise);
  // A moment, or its text; one without an offset is UTC.
  std::optional<absl::Time> OptionalTime(std::string_view name);
  // An object; empty when absent.
  python::Value Object(std::string_view name);
  // The member when it is there and not null.
  const python::Value* Find(std::string_view name) const;

  // Records `name: reason`, or only the reason without a name, unless something was wrong before.
  void Refuse(std::string_view name, std::string_view reason);
  // Records an error of a part, under its own class.
  void Adopt(const absl::Status& status);

  const absl::Status& status() const { return status_; }

 private:
  const python::Value& value_;
  std::string_view model_;
  absl::Status status_;
};

}  // namespace redouble::studio

#endif  // REDOUBLE_CORE_STUDIO_MODEL_H_
