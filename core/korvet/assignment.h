// Assignment: which member of a group reads which partitions.
//
// The two ways of Kafka's clients. Both give every partition to exactly one of the members that
// subscribed to its topic, depend on nothing but the members' names and the partitions, and differ
// in where the rest goes:
//
//   | way         | how                                                                         |
//   | ----------- | --------------------------------------------------------------------------- |
//   | range       | topic by topic: runs of neighbours, the first members one longer            |
//   | round robin | over all topics: dealt out one by one, topics and members in order of names |
//
// Thread-safety: plain values and pure functions.
// Source: reference/korvet.md 8.7 (the assignment is Kafka's).
#ifndef REDOUBLE_CORE_KORVET_ASSIGNMENT_H_
#define REDOUBLE_CORE_KORVET_ASSIGNMENT_H_

#include <compare>
#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <vector>

namespace redouble::korvet {

// A topic and how many partitions it has.
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

// What each member subscribed to, by its id. Where two name different counts for a topic, the
// greater holds.
using Subscriptions = std::map<std::string, std::vector<Subscription>>;
// What each member reads, sorted; a member without partitions is there, too.
using Assignment = std::map<std::string, std::vector<AssignedPartition>>;

// O(partitions * members) at worst.
Assignment Assign(Assignor assignor, const Subscriptions& members);

}  // namespace redouble::korvet

#endif  // REDOUBLE_CORE_KORVET_ASSIGNMENT_H_
