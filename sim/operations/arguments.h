// ArgumentReader reads the JSON arguments of an operation and reports errors with their position.
//
// Each getter returns the value, or a harmless default if it is wrong. Finish() returns all that
// was wrong, and refuses arguments that no getter read. So an operation reads all it needs in a row
// and checks once:
//
//   sim::ArgumentReader reader(arguments);
//   const std::string key_id = reader.String("key_id");
//   const std::optional<int64_t> limit = reader.OptionalInteger("limit");
//   const absl::Time now = reader.TimeOr("now", context.clock.Now());
//   REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
//   // InvalidArgument: /limit: expected an integer, got "70"
//
// It reads what users of this project write, and so it is strict. The readers that the systems use
// for documents of other programs are named in core/base/json/json_reading.h.
//
// An optional argument may be absent or null. Strings have the format of sim/json/bytes.h:
// "bytes:\\xff" is one byte.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_OPERATIONS_ARGUMENTS_H_
#define REDOUBLE_SIM_OPERATIONS_ARGUMENTS_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "redouble/sim/json/json.h"

namespace redouble::inline v0_1::sim {

class ArgumentReader {
 public:
  // `arguments` must outlive the reader and must be an object. `path` is the JSON pointer of
  // `arguments`; the path of each error begins with it.
  explicit ArgumentReader(const Json& arguments, std::string_view path = {});

  // Required arguments. After an error these return "", 0, false or the epoch.
  std::string String(std::string_view name);
  int64_t Integer(std::string_view name);
  bool Bool(std::string_view name);
  // A JSON number, or a text for values that JSON numbers cannot express or spell: "NaN", "inf",
  // "-inf", "1e-7".
  double Double(std::string_view name);
  // A time in RFC 3339: "2026-05-09T14:03:02Z".
  absl::Time Time(std::string_view name);
  std::vector<std::string> Strings(std::string_view name);
  // Any JSON value, owned by `arguments`; after an error, a static null.
  const Json& Any(std::string_view name);

  std::optional<std::string> OptionalString(std::string_view name);
  std::optional<int64_t> OptionalInteger(std::string_view name);
  std::optional<double> OptionalDouble(std::string_view name);
  std::optional<absl::Time> OptionalTime(std::string_view name);

  // Returns the argument, owned by `arguments`, or nullptr if it is absent or JSON null.
  const Json* Find(std::string_view name);
  // As Find, but returns JSON null if the argument is null.
  const Json* FindOrNull(std::string_view name);

  bool BoolOr(std::string_view name, bool otherwise);
  int64_t IntegerOr(std::string_view name, int64_t otherwise);
  absl::Time TimeOr(std::string_view name, absl::Time otherwise);

  // OK, or InvalidArgument that IsArgumentError knows, with a line for each error, in the order in
  // which they were found; a line begins with the JSON pointer of the argument. An argument that no
  // getter named is wrong, too; the line lists those that are known and suggests the nearest.
  absl::Status Finish();

  // Records that the argument is wrong for a reason of the operation's own ("/mode: unknown mode").
  // Later errors of the same argument are ignored: they follow from the first.
  void Refuse(std::string_view name, std::string_view reason);
  // Records the lines of another reader's error, or of any error whose lines begin with a path. An
  // OK status changes nothing.
  void Add(const absl::Status& status);

 private:
  // Records an error of the argument at `path`, unless it has one.
  void AddError(std::string_view path, std::string_view reason);
  // As Find, and absence is an error.
  const Json* Require(std::string_view name);

  std::string ReadString(std::string_view name, const Json& value);
  int64_t ReadInteger(std::string_view name, const Json& value);
  bool ReadBool(std::string_view name, const Json& value);
  double ReadDouble(std::string_view name, const Json& value);
  absl::Time ReadTime(std::string_view name, const Json& value);

  const Json& arguments_;
  const std::string path_;
  std::set<std::string, std::less<>> asked_;
  absl::Status status_;
};

// Returns whether `status` comes from an ArgumentReader, so that the scenario is wrong and not the
// system.
bool IsArgumentError(const absl::Status& status);

// The JSON pointer of what is wrong first, with which the message of an argument error begins;
// empty for any other status.
std::string ArgumentErrorPath(const absl::Status& status);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_OPERATIONS_ARGUMENTS_H_
