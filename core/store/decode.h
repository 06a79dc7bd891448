// Turns replies into the C++ types of the typed commands.
//
// Use these functions to write typed functions for commands of your own:
//
//   base::Task<absl::StatusOr<int64_t>> MyCommand(Store& store, std::string_view key) {
//     Command command = Command::Named("MY.COMMAND");
//     command.Add(key);
//     co_return DecodeInteger(co_await store.Execute(command));
//   }
//
// Each function takes the result of Store::Execute. A status is returned unchanged; an error reply
// becomes the status ServerError(text) of errors.h; a reply of an unexpected kind becomes a
// ProtocolError that describes it.
//
// Thread-safety: free functions on values.
#ifndef REDOUBLE_CORE_STORE_DECODE_H_
#define REDOUBLE_CORE_STORE_DECODE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::store {

// Accepts any reply that is not an error.
absl::StatusOr<Reply> DecodeAny(absl::StatusOr<Reply> reply);
// Accepts a status reply with any text ("OK", "PONG").
absl::Status DecodeStatus(absl::StatusOr<Reply> reply);
// Returns true for a status and false for nil, as SET with NX or XX replies.
absl::StatusOr<bool> DecodeStatusOrNil(absl::StatusOr<Reply> reply);
absl::StatusOr<int64_t> DecodeInteger(absl::StatusOr<Reply> reply);
// Returns nullopt for a nil reply, as does DecodeStringOrNil.
absl::StatusOr<std::optional<int64_t>> DecodeIntegerOrNil(absl::StatusOr<Reply> reply);
// Accepts an integer; returns whether it is not 0.
absl::StatusOr<bool> DecodeBool(absl::StatusOr<Reply> reply);
// Accepts a bulk string or a status.
absl::StatusOr<std::string> DecodeString(absl::StatusOr<Reply> reply);
absl::StatusOr<std::optional<std::string>> DecodeStringOrNil(absl::StatusOr<Reply> reply);
// Accepts an array. The Strings functions accept elements that are bulk strings or statuses.
absl::StatusOr<std::vector<Reply>> DecodeArray(absl::StatusOr<Reply> reply);
absl::StatusOr<std::vector<std::string>> DecodeStrings(absl::StatusOr<Reply> reply);
absl::StatusOr<std::vector<std::optional<std::string>>> DecodeStringsOrNil(
    absl::StatusOr<Reply> reply);
// Accepts the flat array of HGETALL: a name, then its value, and so on.
absl::StatusOr<std::vector<std::pair<std::string, std::string>>> DecodePairs(
    absl::StatusOr<Reply> reply);
// Accepts a bulk string with a finite or infinite number.
absl::StatusOr<double> DecodeDouble(absl::StatusOr<Reply> reply);

// Returns the status of the first error reply of a batch, or OK if no reply is an error.
absl::Status FirstError(std::span<const Reply> replies);

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_DECODE_H_
