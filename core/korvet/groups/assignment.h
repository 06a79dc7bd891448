// Assignment: which partitions belong to which member of a group, and the ways to distribute them.
//
// The assignors have the names of Kafka's. Each gives every partition to exactly one of the members
// that subscribed to its topic:
//
//   | assignor           | distribution                                               |
//   | ------------------ | ---------------------------------------------------------- |
//   | cooperative sticky | equal numbers; a partition moves only to equal the numbers |
//   | range              | per topic: consecutive; the first members get one more     |
//   | round robin        | over all topics: one by one, in the order of names         |
//
// The script of the Coordinator (coordinator.h) computes the distribution. A partition that moves
// is always taken from its owner first, whatever the assignor.
//
// Thread-safety: plain values and pure functions.
// Source: docs/systems/korvet.md 4.19.
#ifndef REDOUBLE_CORE_KORVET_GROUPS_ASSIGNMENT_H_
#define REDOUBLE_CORE_KORVET_GROUPS_ASSIGNMENT_H_

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace redouble::inline v0_1::korvet {

// A topic and its number of partitions. If members give different numbers, the greatest is used.
struct Subscription {
  std::string topic;
  int32_t partitions = 1;

  friend bool operator==(const Subscription&, const Subscription&) = default;
};

struct AssignedPartition {
  std::string topic;
  int32_t partition = 0;

  friend bool operator==(const AssignedPartition&, const AssignedPartition&) = default;
  friend auto operator<=>(const AssignedPartition&, const AssignedPartition&) = default;
};
// Writes "orders-0", as Kafka's tools do.
std::ostream& operator<<(std::ostream& out, const AssignedPartition& partition);

// The sorted partitions of each member. A member without partitions is included.
using Assignment = std::map<std::string, std::vector<AssignedPartition>>;

enum class Assignor { kCooperativeSticky, kRange, kRoundRobin };

// Return Kafka's name of an assignor ("cooperative-sticky", "range", "roundrobin"), and the
// assignor with a name or nullopt.
std::string_view AssignorName(Assignor assignor);
std::optional<Assignor> FindAssignor(std::string_view name);

}  // namespace redouble::inline v0_1::korvet

#endif  // REDOUBLE_CORE_KORVET_GROUPS_ASSIGNMENT_H_
