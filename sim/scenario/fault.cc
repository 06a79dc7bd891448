#include "sim/scenario/fault.h"

#include <array>

namespace redouble::sim {
namespace {

constexpr std::array kFaults = {
    FaultKind{"flush", false, &ScenarioBackend::Flush},
    FaultKind{"restart", true, &ScenarioBackend::Restart},
};

}  // namespace

std::span<const FaultKind> FaultKinds() { return kFaults; }

const FaultKind* FindFault(std::string_view name) {
  for (const FaultKind& kind : kFaults) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

}  // namespace redouble::sim
