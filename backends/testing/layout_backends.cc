#include "redouble/backends/testing/layout_backends.h"

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/keyspace/key_translator.h"

namespace redouble::tests {

absl::Status MemoryClusterBackend::Start(absl::Time start) {
  memory::EngineOptions options;
  options.cluster = memory::ClusterOptions();
  clock_ = std::make_unique<base::VirtualClock>(start);
  engine_ = std::make_unique<memory::Engine>(*clock_, options);
  return absl::OkStatus();
}

std::unique_ptr<store::Store> MemoryClusterBackend::Connect() { return engine_->Connect(); }

absl::Time MemoryClusterBackend::Now() const { return clock_->Now(); }

void MemoryClusterBackend::AdvanceTo(absl::Time time) { clock_->AdvanceTo(time); }

std::string SpellInCluster(std::string_view text, const SystemFamilies& families) {
  const auto to_cluster =
      store::KeyTranslator::Create(families.documented, families.cluster, families.bindings);
  const auto to_documented =
      store::KeyTranslator::Create(families.cluster, families.documented, families.bindings);
  if (!to_cluster.ok() || !to_documented.ok()) {
    std::fprintf(stderr, "the families of a system are malformed\n");
    std::abort();
  }
  std::vector<std::string> words = absl::StrSplit(base::ToAbsl(text), ' ');
  for (std::string& word : words) {
    if (to_documented->Translate(word)) continue;
    word = to_cluster->Translate(word).value_or(word);
  }
  return absl::StrJoin(words, " ");
}

store::KeyLayout LiveKeyLayout() {
  const char* const name = std::getenv("REDOUBLE_LIVE_LAYOUT");
  if (name == nullptr) return store::KeyLayout::kDocumented;
  const absl::StatusOr<store::KeyLayout> layout = store::ParseKeyLayout(name);
  if (layout.ok()) return *layout;
  std::fprintf(stderr, "REDOUBLE_LIVE_LAYOUT: %s\n", layout.status().ToString().c_str());
  std::abort();
}

}  // namespace redouble::tests
