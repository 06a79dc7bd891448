// Replies in JSON: how a scenario says what a command answers, and how a trace records it.
//
//   | reply                     | JSON                       |
//   | ------------------------- | -------------------------- |
//   | nil                       | null                       |
//   | integer                   | 7                          |
//   | bulk string               | "text", "bytes:\\x00\\xff" |
//   | status                    | {"status": "OK"}           |
//   | error                     | {"error": "ERR no"}        |
//   | array                     | [1, "a", null]             |
//   | no reply (lost, not sent) | {"failure": "not sent"}    |
//
// A failure is not a reply: the connection went away. Its text is that of store::ErrorKindName.
//
// Thread-safety: pure functions.
#ifndef REDOUBLE_SIM_JSON_REPLY_JSON_H_
#define REDOUBLE_SIM_JSON_REPLY_JSON_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "redouble/core/store/reply.h"
#include "redouble/sim/json/json.h"
#include "redouble/sim/json/json_text.h"

namespace redouble::inline v0_1::sim {

// Adds the result of Store::Execute as JSON: the reply, or the kind of the failure ("protocol" if
// the status names none). The one place that writes the table above; linear in its size.
void AddResult(JsonText& json, const absl::StatusOr<store::Reply>& result);

// The same as values. The JSON of a reply. Linear in its size.
Json ReplyToJson(const store::Reply& reply);

Json ResultToJson(const absl::StatusOr<store::Reply>& result);

// Returns `json` in the one form that ResultToJson writes, so that equal replies have equal JSON
// ("bytes:a" becomes "a"). InvalidArgument, with the path of what is wrong below `path`, for JSON
// that is no reply: a fraction, true, an object other than those of the table.
absl::StatusOr<Json> NormalizeReplyJson(const Json& json, std::string_view path);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_JSON_REPLY_JSON_H_
