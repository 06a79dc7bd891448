#include "redouble/sim/migrate/stream_parts.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::sim {
namespace {

using store::Reply;

// The members that make a difference, of the stream, a group and a consumer. A group's pending
// entries name their consumers.
constexpr std::array<std::string_view, 5> kOfStream = {"last-generated-id", "max-deleted-entry-id",
                                                       "entries-added", "entries", "groups"};
constexpr std::array<std::string_view, 5> kOfGroup = {"name", "last-delivered-id", "entries-read",
                                                      "pending", "consumers"};
constexpr std::array<std::string_view, 2> kOfConsumer = {"name", "seen-time"};

// Each array is preceded by its size, so that different values have different parts.
void Flatten(const Reply& reply, std::vector<std::string>& parts) {
  if (!reply.is_array()) {
    parts.push_back(reply.is_integer() ? absl::StrCat(reply.integer())
                                       : (reply.is_nil() ? std::string("nil") : reply.text()));
    return;
  }
  parts.push_back(absl::StrCat(reply.elements().size()));
  for (const Reply& element : reply.elements()) Flatten(element, parts);
}

// The values of the members of a map, in the order of `names`.
absl::StatusOr<std::vector<const Reply*>> MembersOf(const Reply& map,
                                                    std::span<const std::string_view> names) {
  std::vector<const Reply*> members(names.size());
  if (!map.is_array()) return store::ProtocolError("XINFO STREAM answered no map");
  const std::vector<Reply>& flat = map.elements();
  for (size_t i = 0; i + 1 < flat.size(); i += 2) {
    if (!flat[i].is_bulk() && !flat[i].is_status()) continue;
    const auto name = std::find(names.begin(), names.end(), flat[i].text());
    if (name != names.end()) members[static_cast<size_t>(name - names.begin())] = &flat[i + 1];
  }
  if (std::find(members.begin(), members.end(), nullptr) == members.end()) return members;
  return store::ProtocolError("XINFO STREAM FULL answered without a member of Redis 7.0");
}

absl::Status AddGroup(const Reply& group, std::vector<std::string>& parts) {
  REDOUBLE_ASSIGN_OR_RETURN(const auto members, MembersOf(group, kOfGroup));
  for (size_t i = 0; i + 1 < members.size(); ++i) Flatten(*members[i], parts);
  const Reply& consumers = *members.back();
  if (!consumers.is_array()) return store::ProtocolError("XINFO STREAM answered no consumers");
  parts.push_back(absl::StrCat(consumers.elements().size()));
  for (const Reply& consumer : consumers.elements()) {
    REDOUBLE_ASSIGN_OR_RETURN(const auto of_consumer, MembersOf(consumer, kOfConsumer));
    for (const Reply* member : of_consumer) Flatten(*member, parts);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<std::string>> DecodeStreamParts(Reply reply) {
  std::vector<std::string> parts;
  REDOUBLE_ASSIGN_OR_RETURN(const Reply stream, store::DecodeAny(std::move(reply)));
  REDOUBLE_ASSIGN_OR_RETURN(const auto members, MembersOf(stream, kOfStream));
  for (size_t i = 0; i + 1 < members.size(); ++i) Flatten(*members[i], parts);
  const Reply& groups = *members.back();
  if (!groups.is_array()) return store::ProtocolError("XINFO STREAM answered no groups");
  parts.push_back(absl::StrCat(groups.elements().size()));
  for (const Reply& group : groups.elements()) REDOUBLE_RETURN_IF_ERROR(AddGroup(group, parts));
  return parts;
}

}  // namespace redouble::inline v0_1::sim
