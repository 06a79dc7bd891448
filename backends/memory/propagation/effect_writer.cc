#include "redouble/backends/memory/propagation/effect_writer.h"

#include <string_view>
#include <vector>

#include "redouble/core/store/command.h"
#include "redouble/core/store/resp/command_writer.h"

namespace redouble::inline v0_1::memory {
namespace {

void AppendWords(std::string_view name, std::span<const std::string_view> arguments,
                 std::string& out) {
  store::AppendCommand(store::Command::Named(name, arguments), out);
}

}  // namespace

void EffectWriter::Append(std::span<const Effect> effects, bool is_atomic, std::string& out) {
  if (is_atomic) {
    Select(effects[0].db, out);
    AppendWords("MULTI", {}, out);
  }
  std::vector<std::string_view> arguments;
  for (const Effect& effect : effects) {
    if ((effect.targets & target_) == EffectTargets::kNobody) continue;
    Select(effect.db, out);
    arguments.assign(effect.words.begin() + 1, effect.words.end());
    AppendWords(effect.words[0], arguments, out);
  }
  if (is_atomic) AppendWords("EXEC", {}, out);
}

void EffectWriter::Select(int db, std::string& out) {
  if (db_ == db) return;
  const std::string text = std::to_string(db);
  const std::string_view arguments[] = {text};
  AppendWords("SELECT", arguments, out);
  db_ = db;
}

}  // namespace redouble::inline v0_1::memory
