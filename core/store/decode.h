// Turns replies into the domain types of the typed commands.
//
// Each function takes what Store::Execute gives, passes a failure on, makes an error reply the
// status of errors.h, and answers a reply of any other kind than the expected with a protocol
// error that says what came. Public, so that users can type commands of their own:
//
//   base::Task<absl::StatusOr<int64_t>> MyCommand(Store& store, std::string_view key) {
//     const Command command = Command::Named("MY.COMMAND", ...);
//     co_return DecodeInteger(co_await store.Execute(command));
//   }
//
// Thread-safety: free functions on values.
#ifndef REDOUBLE_CORE_STORE_DECODE_H_
#define REDOUBLE_CORE_STORE_DECODE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/store/reply.h"

namespace redouble::store {

// The reply itself, unless it is an error.
absl::StatusOr<Reply> DecodeAny(absl::StatusOr<Reply> reply);
// A status, whatever its text ("OK", "PONG").
absl::Status DecodeStatus(absl::StatusOr<Reply> reply);
// True for a status, false for nil: SET NX and its like.
absl::StatusOr<bool> DecodeStatusOrNil(absl::StatusOr<Reply> reply);
absl::StatusOr<int64_t> DecodeInteger(absl::StatusOr<Reply> reply);
absl::StatusOr<std::optional<int64_t>> DecodeIntegerOrNil(absl::StatusOr<Reply> reply);
// An integer, true when it is not 0.
absl::StatusOr<bool> DecodeBool(absl::StatusOr<Reply> reply);
// A bulk string or a status.
absl::StatusOr<std::string> DecodeString(absl::StatusOr<Reply> reply);
absl::StatusOr<std::optional<std::string>> DecodeStringOrNil(absl::StatusOr<Reply> reply);
absl::StatusOr<std::vector<Reply>> DecodeArray(absl::StatusOr<Reply> reply);
absl::StatusOr<std::vector<std::string>> DecodeStrings(absl::StatusOr<Reply> reply);
absl::StatusOr<std::vector<std::optional<std::string>>> DecodeStringsOrNil(
    absl::StatusOr<Reply> reply);
// A bulk string with a finite or infinite number.
absl::StatusOr<double> DecodeDouble(absl::StatusOr<Reply> reply);

// The status of the first error among a batch's replies; OK when there is none.
absl::Status FirstError(std::span<const Reply> replies);

}  // namespace redouble::store

#endif  // REDOUBLE_CORE_STORE_DECODE_H_
