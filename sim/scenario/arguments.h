// ArgumentReader: takes an operation's JSON arguments apart, strictly, with errors that say where.
//
// Each getter gives the value, or a harmless default once anything was wrong; Finish() tells the
// first thing that was wrong, and refuses arguments that nobody asked for. So an operation reads
// all it needs in a row and checks once:
//
//   sim::ArgumentReader reader(arguments);
//   const std::string key_id = reader.String("key_id");
//   const std::optional<int64_t> limit = reader.OptionalInteger("limit");
//   const absl::Time now = reader.TimeOr("now", context.clock.Now());
//   if (absl::Status status = reader.Finish(); !status.ok()) co_return status;
//   // InvalidArgument: /limit: expected an integer, got "70"
//
// "Optional" means absent or null. Strings follow bytes.h: "bytes:\\xff" is one byte.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_SCENARIO_ARGUMENTS_H_
#define REDOUBLE_SIM_SCENARIO_ARGUMENTS_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "sim/scenario/operation.h"

namespace redouble::sim {

class ArgumentReader {
 public:
  // `arguments` must outlive the reader. Anything but an object is an error. `path` is the JSON
  // pointer of `arguments` itself, which each error's path begins with.
  explicit ArgumentReader(const Json& arguments, std::string_view path = {});

  // Required; the default after an error is empty, 0, false or the epoch.
  std::string String(std::string_view name);
  int64_t Integer(std::string_view name);
  bool Bool(std::string_view name);
  // A JSON number, or a text for what JSON numbers cannot say: "NaN", "inf", "-inf", "1e-7".
  double Double(std::string_view name);
  // An RFC 3339 text: "2026-05-09T14:03:02Z".
  absl::Time Time(std::string_view name);
  std::vector<std::string> Strings(std::string_view name);
  // Any JSON, owned by `arguments`; a static null after an error.
  const Json& Any(std::string_view name);

  std::optional<std::string> OptionalString(std::string_view name);
  std::optional<int64_t> OptionalInteger(std::string_view name);
  std::optional<double> OptionalDouble(std::string_view name);
  std::optional<absl::Time> OptionalTime(std::string_view name);

  // The argument, owned by `arguments`; null when it is absent or JSON's null.
  const Json* Find(std::string_view name);
  // The same, but a null that is there is found as JSON's null.
  const Json* FindOrNull(std::string_view name);

  bool BoolOr(std::string_view name, bool otherwise);
  int64_t IntegerOr(std::string_view name, int64_t otherwise);
  absl::Time TimeOr(std::string_view name, absl::Time otherwise);

  // OK, or what was wrong first: InvalidArgument that IsArgumentError knows, whose message begins
  // with the JSON pointer of the argument. An argument that no getter named is wrong, too; the
  // message lists those that are known.
  absl::Status Finish();

  // Records that the argument is wrong for a reason of the operation's own ("/mode: unknown mode").
  void Refuse(std::string_view name, std::string_view reason);

 private:
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

// Whether `status` came from ArgumentReader: the scenario is wrong, not the system.
bool IsArgumentError(const absl::Status& status);

// The JSON pointer of what is wrong, with which the message of an argument error begins; empty for
// any other status.
std::string ArgumentErrorPath(const absl::Status& status);

// A double for a result: a number, or "NaN", "inf", "-inf", for which JSON has none.
Json JsonDouble(double value);

// `value` for an error message: one line of JSON, cut to about 80 characters.
std::string Abbreviated(const Json& value);

// `name` as one more part of a JSON pointer: "/a~1b" for "a/b".
std::string PointerPart(std::string_view name);

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_SCENARIO_ARGUMENTS_H_
