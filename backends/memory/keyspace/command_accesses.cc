#include "redouble/backends/memory/keyspace/command_accesses.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace redouble::inline v0_1::memory {
namespace {

using store::CommandId;

// Commands without keys that read and change nothing but their own connection. EXEC and functions
// run commands that are reported one by one.
bool ConcernsConnectionOnly(CommandId id) {
  switch (id) {
    case CommandId::kPing:
    case CommandId::kEcho:
    case CommandId::kSelect:
    case CommandId::kMulti:
    case CommandId::kExec:
    case CommandId::kDiscard:
    case CommandId::kUnwatch:
    case CommandId::kTime:
    case CommandId::kAsking:
    case CommandId::kReadOnly:
    case CommandId::kReadWrite:
    case CommandId::kFCall:
    case CommandId::kFCallRo:
      return true;
    default:
      return false;
  }
}

// The commands of a script are reported one by one.
bool CallsCachedScript(CommandId id) {
  switch (id) {
    case CommandId::kEval:
    case CommandId::kEvalRo:
    case CommandId::kEvalSha:
    case CommandId::kEvalShaRo:
      return true;
    default:
      return false;
  }
}

// Subcommands of CLUSTER that tell what a node knows of the slots.
bool TellsSlots(CommandId id) {
  switch (id) {
    case CommandId::kClusterInfo:
    case CommandId::kClusterNodes:
    case CommandId::kClusterShards:
    case CommandId::kClusterSlots:
      return true;
    default:
      return false;
  }
}

}  // namespace

void ReportAccesses(CommandId id, std::span<const std::string_view> arguments,
                    AccessObserver& observer) {
  if (ConcernsConnectionOnly(id)) return;
  if (CallsCachedScript(id)) return observer.OnRead(AccessObserver::State::kScripts);
  if (TellsSlots(id)) return observer.OnRead(AccessObserver::State::kSlots);
  const store::CommandSpec& spec = store::SpecOf(id);
  const std::optional<std::vector<size_t>> keys = store::KeyIndexes(spec, arguments);
  if (!keys || keys->empty()) return observer.OnAll();
  const bool writes = spec.Has(store::command_flag::kWrite);
  for (const size_t index : *keys) {
    if (writes) {
      observer.OnWrite(arguments[index]);
    } else {
      observer.OnRead(arguments[index]);
    }
  }
}

}  // namespace redouble::inline v0_1::memory
