#include "redouble/core/korvet/groups/assignment.h"

#include <algorithm>

namespace redouble::korvet {
namespace {

// The number of partitions of a topic, and its members in ascending order.
struct Readers {
  int32_t partitions = 0;
  std::vector<std::string> members;
};
using Topics = std::map<std::string, Readers>;

Topics TopicsOf(const Subscriptions& members) {
  Topics topics;
  for (const auto& [member, subscriptions] : members) {
    for (const Subscription& subscription : subscriptions) {
      Readers& readers = topics[subscription.topic];
      readers.partitions = std::max(readers.partitions, subscription.partitions);
      if (readers.members.empty() || readers.members.back() != member) {
        readers.members.push_back(member);
      }
    }
  }
  return topics;
}

void AssignRanges(const Topics& topics, Assignment& assignment) {
  for (const auto& [topic, readers] : topics) {
    const auto count = static_cast<int32_t>(readers.members.size());
    int32_t next = 0;
    for (int32_t i = 0; i < count; ++i) {
      const int32_t end = next + readers.partitions / count + (i < readers.partitions % count);
      for (; next < end; ++next) assignment[readers.members[i]].push_back({topic, next});
    }
  }
}

void AssignRoundRobin(const Topics& topics, Assignment& assignment) {
  auto next_member = assignment.begin();
  for (const auto& [topic, readers] : topics) {
    for (int32_t partition = 0; partition < readers.partitions; ++partition) {
      while (
          !std::binary_search(readers.members.begin(), readers.members.end(), next_member->first)) {
        if (++next_member == assignment.end()) next_member = assignment.begin();
      }
      next_member->second.push_back({topic, partition});
      if (++next_member == assignment.end()) next_member = assignment.begin();
    }
  }
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const AssignedPartition& partition) {
  return out << partition.topic << "-" << partition.partition;
}

Assignment Assign(Assignor assignor, const Subscriptions& members) {
  Assignment assignment;
  for (const auto& [member, subscriptions] : members) assignment[member];
  const Topics topics = TopicsOf(members);
  if (assignor == Assignor::kRange) {
    AssignRanges(topics, assignment);
  } else {
    AssignRoundRobin(topics, assignment);
  }
  return assignment;
}

}  // namespace redouble::korvet
