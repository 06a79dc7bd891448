#include "redouble/sim/server/load_keys.h"

#include <string_view>
#include <utility>

#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/server/kept_parameters.h"
#include "redouble/backends/memory/server/removal_word.h"
#include "redouble/core/base/status/status_macros.h"

namespace redouble::inline v0_1::sim {

using memory::EngineCore;

absl::StatusOr<std::vector<std::string>> LoadKeysAtStart(memory::Engine& engine,
                                                         RdbKeyFile& key_file,
                                                         AppendOnlyFile& append_log,
                                                         ReplicationNode& replication,
                                                         const std::function<bool()>& after_part) {
  if (engine.options().server.appendonly) {
    REDOUBLE_RETURN_IF_ERROR(append_log.Load());
    return std::vector<std::string>();
  }
  EngineCore& core = engine.core();
  const bool will_follow = !memory::KeptValue("replicaof", engine.options()).empty();
  // Its master decides when keys expire.
  if (will_follow) core.SetAuthority(EngineCore::Authority::kMaster);
  std::vector<std::pair<int, std::string>> expired;
  RdbKeyFile::LoadOptions options;
  options.keeps_expired = will_follow;
  options.after_part = after_part;
  options.on_expired = [&](int db, std::string_view key) { expired.emplace_back(db, key); };
  REDOUBLE_ASSIGN_OR_RETURN(std::vector<std::string> lines, key_file.Load(options));
  if (!key_file.loaded_stream()) return lines;
  replication.Resume(*key_file.loaded_stream(), will_follow);
  // The replicas have those keys.
  const std::string_view word = RemovalWord(engine.options(), memory::LazyFree::kExpire);
  for (const auto& [db, key] : expired) core.propagation().AddRemoval(db, word, key);
  return lines;
}

}  // namespace redouble::inline v0_1::sim
