// Assignment: the distribution of partitions among the members of a group.
//
// Both assignors are those of Kafka's clients. Each gives every partition to exactly one of the
// members that subscribed to its topic. The result depends only on the member ids and the
// partitions:
//
//   | assignor    | distribution                                                                |
//   | ----------- | --------------------------------------------------------------------------- |
//   | range       | per topic: consecutive partitions; the first members get one more           |
//   | round robin | over all topics: one by one, with topics and members in the order of names  |
//
//   Assignment assignment = Assign(Assignor::kRange, {{"m1", {{"orders", 3}}}});
//
// Thread-safety: plain values and pure functions.
// Source: docs/systems/korvet.md 4.19.
#ifndef REDOUBLE_CORE_KORVET_GROUPS_ASSIGNMENT_H_
#define REDOUBLE_CORE_KORVET_GROUPS_ASSIGNMENT_H_

#include <compare>
#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <vector>

namespace redouble::korvet {

// A topic and its number of partitions.
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
// Writes "orders-0".
std::ostream& operator<<(std::ostream& out, const AssignedPartition& partition);

enum class Assignor { kRange, kRoundRobin };

// The subscriptions of each member, by member id. If two members give different numbers of
// partitions for a topic, the greater one is used.
using Subscriptions = std::map<std::string, std::vector<Subscription>>;
// The sorted partitions of each member. A member without partitions is included.
using Assignment = std::map<std::string, std::vector<AssignedPartition>>;

// Assigns all partitions. O(partitions * members) in the worst case.
Assignment Assign(Assignor assignor, const Subscriptions& members);

}  // namespace redouble::korvet

#endif  // REDOUBLE_CORE_KORVET_GROUPS_ASSIGNMENT_H_
