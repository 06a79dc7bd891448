#include "redouble/backends/testing/layout_backends.h"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/keyspace/key_translator.h"

namespace redouble::inline v0_1::tests {

absl::Status MemoryClusterBackend::Start(absl::Time start) {
  memory::EngineOptions options;
  options.cluster = memory::ClusterOptions{.migrates_in_scripts = true};
  clock_ = std::make_unique<base::VirtualClock>(start);
  engine_ = std::make_unique<memory::Engine>(*clock_, options);
  return absl::OkStatus();
}

std::unique_ptr<store::Store> MemoryClusterBackend::Connect() { return engine_->Connect(); }

absl::Time MemoryClusterBackend::Now() const { return clock_->Now(); }

void MemoryClusterBackend::AdvanceTo(absl::Time time) { clock_->AdvanceTo(time); }

namespace {

// The translators of a system's keys.
struct Translators {
  explicit Translators(const SystemFamilies& families)
      : to_cluster(Make(families.documented, families.cluster, families.bindings)),
        to_documented(Make(families.cluster, families.documented, families.bindings)) {}

  static store::KeyTranslator Make(std::span<const store::KeyFamily> from,
                                   std::span<const store::KeyFamily> to,
                                   std::span<const store::KeyBinding> bindings) {
    auto translator = store::KeyTranslator::Create(from, to, bindings);
    if (translator.ok()) return *std::move(translator);
    std::fprintf(stderr, "%s\n", translator.status().ToString().c_str());
    std::abort();
  }

  store::KeyTranslator to_cluster;
  store::KeyTranslator to_documented;
};

// Compiling the patterns of a system takes longer than a command of the memory engine.
const Translators& TranslatorsOf(const SystemFamilies& families) {
  static auto& known = *new std::map<std::string, std::unique_ptr<Translators>>();
  std::string name(families.documented.front().system);
  for (const store::KeyBinding& binding : families.bindings) {
    absl::StrAppend(&name, " ", base::ToAbsl(binding.placeholder), "=",
                    base::ToAbsl(binding.value));
  }
  std::unique_ptr<Translators>& translators = known[name];
  if (translators == nullptr) translators = std::make_unique<Translators>(families);
  return *translators;
}

// Replaces each word of a text.
std::string ForEachWord(std::string_view text,
                        const std::function<std::string(const std::string&)>& replace) {
  std::vector<std::string> words = absl::StrSplit(base::ToAbsl(text), ' ');
  for (std::string& word : words) word = replace(word);
  return absl::StrJoin(words, " ");
}

}  // namespace

std::string SpellInCluster(std::string_view text, const SystemFamilies& families) {
  const Translators& translators = TranslatorsOf(families);
  return ForEachWord(text, [&](const std::string& word) {
    if (translators.to_documented.Translate(word)) return word;
    return translators.to_cluster.Translate(word).value_or(word);
  });
}

std::string SpellAsDocumented(std::string_view text, const SystemFamilies& families) {
  const Translators& translators = TranslatorsOf(families);
  return ForEachWord(text, [&](const std::string& word) {
    return translators.to_documented.Translate(word).value_or(word);
  });
}

store::KeyLayout LiveKeyLayout() {
  const char* const name = std::getenv("REDOUBLE_LIVE_LAYOUT");
  if (name == nullptr) return store::KeyLayout::kDocumented;
  const absl::StatusOr<store::KeyLayout> layout = store::ParseKeyLayout(name);
  if (layout.ok()) return *layout;
  std::fprintf(stderr, "REDOUBLE_LIVE_LAYOUT: %s\n", layout.status().ToString().c_str());
  std::abort();
}

}  // namespace redouble::inline v0_1::tests
