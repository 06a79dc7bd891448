// JsonObject: takes a JSON object apart, with errors that say where and what was expected; and the
// way back to text. For the formats of this folder only.
//
//   JsonObject object(json, "", status);
//   token.run_id = object.Id("run_id");
//   // InvalidArgument: /run_id: expected an id of letters, digits, _ and -, got "a:b"
//
// The first error stays in `status`; getters give a harmless default after it. Members that nobody
// asks for are ignored.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_JSON_OBJECT_H_
#define REDOUBLE_CORE_ORCHESTRATOR_JSON_OBJECT_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace redouble::orchestrator {

using Json = nlohmann::ordered_json;

// The text's value, which must be an object. Errors: InvalidArgument that begins with `what`,
// also for a text nested deeper than 500.
absl::StatusOr<Json> ParseObject(std::string_view text, std::string_view what);

// Compact text, members in their order, characters beyond ASCII as they are. Errors:
// InvalidArgument when a text in it is not UTF-8.
absl::StatusOr<std::string> JsonText(const Json& json);

// Adds the value that `text` is, unless it is empty. Errors: InvalidArgument when it is no JSON.
absl::Status AddJsonText(Json& object, std::string_view name, std::string_view text);

// Letters, digits, `_` and `-`, not empty: reference/orchestrator.md D7.
bool IsId(std::string_view text);

// `/name` as a JSON pointer writes it.
std::string PointerPart(std::string_view name);

class JsonObject {
 public:
  // `json` and `status` must outlive this. Anything but an object is an error.
  JsonObject(const Json& json, std::string path, absl::Status& status);

  const std::string& path() const { return path_; }
  // Null when the member is absent or JSON's null.
  const Json* Find(std::string_view name) const;

  // Required.
  std::string Text(std::string_view name);
  std::string Id(std::string_view name);
  absl::Time Time(std::string_view name);

  std::string TextOr(std::string_view name, std::string_view otherwise);
  int64_t IntegerOr(std::string_view name, int64_t otherwise, int64_t least);
  bool BoolOr(std::string_view name, bool otherwise);
  std::optional<absl::Time> OptionalTime(std::string_view name);
  // Empty when absent.
  std::vector<std::string> Texts(std::string_view name);
  // The member's own JSON, compact; empty when absent.
  std::string JsonTextOf(std::string_view name);
  // The same for a member that has to be an object.
  std::string ObjectTextOf(std::string_view name);

  // Records `/path/name: reason` unless something was wrong before.
  void Refuse(std::string_view name, std::string_view reason);
  // Records that `expected` was expected and `got` came.
  void Expected(std::string_view name, std::string_view expected, const Json& got);

 private:
  const Json* Require(std::string_view name);

  const Json& json_;
  const std::string path_;
  absl::Status& status_;
};

}  // namespace redouble::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_JSON_OBJECT_H_
