#include "core/korvet/assignment.h"

#include <algorithm>

namespace redouble::korvet {
namespace {

// By topic: its partitions, and who reads them, by name.
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

void DealOut(const Topics& topics, Assignment& assignment) {
  auto dealt_to = assignment.begin();
  for (const auto& [topic, readers] : topics) {
    for (int32_t partition = 0; partition < readers.partitions; ++partition) {
      while (!std::binary_search(readers.members.begin(), readers.members.end(), dealt_to->first)) {
        if (++dealt_to == assignment.end()) dealt_to = assignment.begin();
      }
      dealt_to->second.push_back({topic, partition});
      if (++dealt_to == assignment.end()) dealt_to = assignment.begin();
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
    DealOut(topics, assignment);
  }
  return assignment;
}

}  // namespace redouble::korvet
