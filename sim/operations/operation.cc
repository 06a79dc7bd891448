#include "redouble/sim/operations/operation.h"

#include <cassert>
#include <utility>

namespace redouble::inline v0_1::sim {

void OperationTable::Add(std::string name, Operation operation) {
  [[maybe_unused]] const bool added =
      operations_.emplace(std::move(name), std::move(operation)).second;
  assert(added);
}

const Operation* OperationTable::Find(std::string_view name) const {
  const auto found = operations_.find(name);
  return found == operations_.end() ? nullptr : &found->second;
}

std::vector<std::string> OperationTable::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, operation] : operations_) names.push_back(name);
  return names;
}

}  // namespace redouble::inline v0_1::sim
