#include "redouble/core/store/decode.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::store {
namespace {

absl::Status Unexpected(const Reply& reply, std::string_view expected) {
  return ProtocolError(base::ToStd(absl::StrCat("expected ", base::ToAbsl(expected),
                                                " as the reply, got ", reply.DebugString())));
}

// Returns the error of a reply that is not of the expected kind: its status, its error reply, or a
// protocol error.
absl::Status NotExpected(const absl::StatusOr<Reply>& reply, std::string_view expected) {
  REDOUBLE_RETURN_IF_ERROR(reply.status());
  if (reply->is_error()) return ServerError(reply->text());
  return Unexpected(*reply, expected);
}

bool IsString(const Reply& reply) { return reply.is_bulk() || reply.is_status(); }

}  // namespace

absl::StatusOr<Reply> DecodeAny(absl::StatusOr<Reply> reply) {
  if (reply.ok() && reply->is_error()) return ServerError(reply->text());
  return reply;
}

absl::Status DecodeStatus(absl::StatusOr<Reply> reply) {
  if (reply.ok() && reply->is_status()) return absl::OkStatus();
  return NotExpected(reply, "a status");
}

absl::StatusOr<bool> DecodeStatusOrNil(absl::StatusOr<Reply> reply) {
  if (reply.ok() && reply->is_status()) return true;
  if (reply.ok() && reply->is_nil()) return false;
  return NotExpected(reply, "a status or nil");
}

absl::StatusOr<int64_t> DecodeInteger(absl::StatusOr<Reply> reply) {
  if (reply.ok() && reply->is_integer()) return reply->integer();
  return NotExpected(reply, "an integer");
}

absl::StatusOr<std::optional<int64_t>> DecodeIntegerOrNil(absl::StatusOr<Reply> reply) {
  if (reply.ok() && reply->is_integer()) return std::optional<int64_t>(reply->integer());
  if (reply.ok() && reply->is_nil()) return std::optional<int64_t>();
  return NotExpected(reply, "an integer or nil");
}

absl::StatusOr<bool> DecodeBool(absl::StatusOr<Reply> reply) {
  if (reply.ok() && reply->is_integer()) return reply->integer() != 0;
  return NotExpected(reply, "an integer");
}

absl::StatusOr<std::string> DecodeString(absl::StatusOr<Reply> reply) {
  if (reply.ok() && IsString(*reply)) return std::move(*reply).text();
  return NotExpected(reply, "a string");
}

absl::StatusOr<std::optional<std::string>> DecodeStringOrNil(absl::StatusOr<Reply> reply) {
  using Result = absl::StatusOr<std::optional<std::string>>;
  if (reply.ok() && IsString(*reply)) return Result(absl::in_place, std::move(*reply).text());
  if (reply.ok() && reply->is_nil()) return Result(absl::in_place);
  return NotExpected(reply, "a string or nil");
}

absl::StatusOr<std::vector<Reply>> DecodeArray(absl::StatusOr<Reply> reply) {
  if (reply.ok() && reply->is_array()) return std::move(*reply).elements();
  return NotExpected(reply, "an array");
}

absl::StatusOr<std::vector<std::string>> DecodeStrings(absl::StatusOr<Reply> reply) {
  if (!reply.ok() || !reply->is_array()) return NotExpected(reply, "an array of strings");
  std::vector<std::string> strings;
  strings.reserve(reply->elements().size());
  for (Reply& element : std::move(*reply).elements()) {
    if (!IsString(element)) return Unexpected(element, "a string in an array");
    strings.push_back(std::move(element).text());
  }
  return strings;
}

absl::StatusOr<std::vector<std::optional<std::string>>> DecodeStringsOrNil(
    absl::StatusOr<Reply> reply) {
  if (!reply.ok() || !reply->is_array()) return NotExpected(reply, "an array of strings or nils");
  std::vector<std::optional<std::string>> strings;
  strings.reserve(reply->elements().size());
  for (Reply& element : std::move(*reply).elements()) {
    if (element.is_nil()) {
      strings.emplace_back();
    } else if (IsString(element)) {
      strings.emplace_back(std::move(element).text());
    } else {
      return Unexpected(element, "a string or nil in an array");
    }
  }
  return strings;
}

absl::StatusOr<std::vector<std::pair<std::string, std::string>>> DecodePairs(
    absl::StatusOr<Reply> reply) {
  REDOUBLE_ASSIGN_OR_RETURN(std::vector<std::string> flat, DecodeStrings(std::move(reply)));
  std::vector<std::pair<std::string, std::string>> pairs;
  for (size_t i = 0; i + 1 < flat.size(); i += 2) {
    pairs.emplace_back(std::move(flat[i]), std::move(flat[i + 1]));
  }
  return pairs;
}

absl::StatusOr<double> DecodeDouble(absl::StatusOr<Reply> reply) {
  if (!reply.ok() || !reply->is_bulk()) return NotExpected(reply, "a double");
  const std::optional<double> value = base::ParseDouble(reply->text());
  if (!value) return Unexpected(*reply, "a double");
  return *value;
}

absl::Status FirstError(std::span<const Reply> replies) {
  for (const Reply& reply : replies) {
    if (reply.is_error()) return ServerError(reply.text());
  }
  return absl::OkStatus();
}

}  // namespace redouble::inline v0_1::store
