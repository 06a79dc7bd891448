#include "redouble/tests/support/target/canonical_reply.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::Reply;

struct Row {
  std::string_view command;
  ReplyOrder order;
};

// The replies of all other commands are exact. A subcommand is written with its container:
// "config|get".
constexpr Row kRows[] = {
    {"command|list", ReplyOrder::kAnyOrder},
    {"config|get", ReplyOrder::kAnyPairs},
    {"function|list", ReplyOrder::kAnyOrder},
    {"hgetall", ReplyOrder::kAnyPairs},
    {"hkeys", ReplyOrder::kAnyOrder},
    {"hrandfield", ReplyOrder::kChance},
    {"hscan", ReplyOrder::kScanPairs},
    {"hvals", ReplyOrder::kAnyOrder},
    {"keys", ReplyOrder::kAnyOrder},
    {"randomkey", ReplyOrder::kChance},
    {"scan", ReplyOrder::kScan},
    {"sdiff", ReplyOrder::kAnyOrder},
    {"sinter", ReplyOrder::kAnyOrder},
    {"smembers", ReplyOrder::kAnyOrder},
    {"spop", ReplyOrder::kChance},
    {"srandmember", ReplyOrder::kChance},
    {"sscan", ReplyOrder::kScan},
    {"sunion", ReplyOrder::kAnyOrder},
    {"zrandmember", ReplyOrder::kChance},
    {"zscan", ReplyOrder::kScanPairs},
};

// One call of a scan with this COUNT returns all elements of a small collection.
constexpr int64_t kWholeCount = 1000;

bool ListsEverything(const Words& scan) {
  // The meaning of a cursor other than 0 depends on the store.
  const size_t cursor = absl::EqualsIgnoreCase(scan[0], "SCAN") ? 1 : 2;
  if (scan.size() <= cursor || scan[cursor] != "0") return false;
  for (size_t i = 2; i + 1 < scan.size(); ++i) {
    if (!absl::EqualsIgnoreCase(scan[i], "COUNT")) continue;
    return base::ParseInt64(scan[i + 1]).value_or(0) >= kWholeCount;
  }
  return false;
}

// Returns whether SPOP or SRANDMEMBER has a count above the size of the sets in tests, so that it
// returns all members.
bool DrawsEverything(const Words& command) {
  const bool draws = absl::EqualsIgnoreCase(command[0], "SPOP") ||
                     absl::EqualsIgnoreCase(command[0], "SRANDMEMBER");
  return draws && command.size() == 3 && base::ParseInt64(command[2]).value_or(0) >= kWholeCount;
}

bool Before(const Reply& a, const Reply& b) { return a.DebugString() < b.DebugString(); }

Reply Sorted(const Reply& array) {
  std::vector<Reply> elements = array.elements();
  std::sort(elements.begin(), elements.end(), Before);
  // Keeps the shape.
  return array.shape() == Reply::Shape::kSet ? Reply::Set(std::move(elements))
                                             : Reply::Array(std::move(elements));
}

// The result is a flat array.
Reply SortedPairs(const Reply& array) {
  if (array.elements().size() % 2 != 0) return array;
  std::vector<Reply> pairs;
  for (size_t i = 0; i < array.elements().size(); i += 2) {
    pairs.push_back(Reply::Array({array.elements()[i], array.elements()[i + 1]}));
  }
  std::sort(pairs.begin(), pairs.end(), Before);
  std::vector<Reply> flat;
  for (const Reply& pair : pairs) {
    flat.insert(flat.end(), pair.elements().begin(), pair.elements().end());
  }
  return array.shape() == Reply::Shape::kMap ? Reply::Map(std::move(flat))
                                             : Reply::Array(std::move(flat));
}

// HSCAN with NOVALUES has no pairs.
bool HasPairs(const Words& scan) {
  return std::none_of(scan.begin(), scan.end(), [](const std::string& word) {
    return absl::EqualsIgnoreCase(word, "NOVALUES");
  });
}

Reply ScanResult(const Words& command, const Reply& reply, bool pairs) {
  const bool shaped = reply.is_array() && reply.elements().size() == 2 &&
                      reply.elements()[0].is_bulk() && reply.elements()[1].is_array();
  if (!shaped) return reply;
  if (!ListsEverything(command)) return Reply::Status("(a cursor and elements)");
  const Reply& elements = reply.elements()[1];
  pairs = pairs && HasPairs(command);
  return Reply::Array({reply.elements()[0], pairs ? SortedPairs(elements) : Sorted(elements)});
}

// Returns "(one of several)" for any random element.
Reply Drawn(const Reply& reply) {
  if (reply.is_nil() || reply.is_error()) return reply;
  if (reply.is_array()) {
    return Reply::Status("(several drawn: " + std::to_string(reply.elements().size()) + ")");
  }
  return Reply::Status("(drawn)");
}

}  // namespace

ReplyOrder OrderOf(const Words& command) {
  if (!command.empty() && DrawsEverything(command)) return ReplyOrder::kAnyOrder;
  if (command.empty()) return ReplyOrder::kExact;
  const std::string with_subcommand = command.size() > 1 ? command[0] + "|" + command[1] : "";
  for (const Row& row : kRows) {
    const absl::string_view name = base::ToAbsl(row.command);
    if (absl::EqualsIgnoreCase(command[0], name) || absl::EqualsIgnoreCase(with_subcommand, name)) {
      return row.order;
    }
  }
  return ReplyOrder::kExact;
}

Reply CanonicalReplies::Canonical(const Words& command, Reply reply) const {
  switch (OrderOf(command)) {
    case ReplyOrder::kExact:
      return reply;
    case ReplyOrder::kAnyOrder:
      return reply.is_array() ? Sorted(reply) : reply;
    case ReplyOrder::kAnyPairs:
      return reply.is_array() ? SortedPairs(reply) : reply;
    case ReplyOrder::kScan:
      return ScanResult(command, reply, false);
    case ReplyOrder::kScanPairs:
      return ScanResult(command, reply, true);
    case ReplyOrder::kChance:
      return keep_chance_ ? reply : Drawn(reply);
  }
  return reply;
}

Reply CanonicalReplies::Of(const Words& command, Reply reply) {
  const bool is_exec = absl::EqualsIgnoreCase(command[0], "EXEC");
  if (reply.is_status() && reply.text() == "QUEUED") {
    queued_.push_back(command);
    return reply;
  }
  if (!is_exec) {
    if (absl::EqualsIgnoreCase(command[0], "DISCARD") && !reply.is_error()) queued_.clear();
    return Canonical(command, std::move(reply));
  }
  const std::vector<Words> queued = std::exchange(queued_, {});
  if (!reply.is_array() || reply.elements().size() != queued.size()) return reply;
  std::vector<Reply> elements;
  for (size_t i = 0; i < queued.size(); ++i) {
    elements.push_back(Canonical(queued[i], reply.elements()[i]));
  }
  return Reply::Array(std::move(elements));
}

}  // namespace redouble::inline v0_1::tests
