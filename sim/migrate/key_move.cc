#include "redouble/sim/migrate/key_move.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/gateway/keys.h"
#include "redouble/core/korvet/key_rules.h"
#include "redouble/core/korvet/keys.h"
#include "redouble/core/orchestrator/keys.h"
#include "redouble/core/relayna/keys.h"
#include "redouble/core/studio/key_rules.h"
#include "redouble/core/studio/keys.h"
#include "redouble/core/threescale/keys.h"

namespace redouble::inline v0_1::sim {
namespace {

using store::KeyBinding;
using store::KeyLayout;
using store::KeyTranslator;

// Keys of two services would become one key.
std::string_view RefuseSpaceInTag(std::string_view key) {
  const size_t begin = key.find('{');
  if (begin == key.npos || key.substr(begin, key.find('}') - begin).find(' ') == key.npos) {
    return {};
  }
  return "the id of its service has a space, which the cluster layout encodes";
}

const std::array<MovedSystem, 6>& Systems() {
  static const auto& systems = *new std::array<MovedSystem, 6>{{
      {"gateway", gateway::KeyFamilies, {}, GatewayMoves, nullptr},
      {"korvet", korvet::KeyFamilies, korvet::KeyRules().defaults, KorvetMoves, nullptr},
      {"orchestrator", orchestrator::KeyFamilies, {}, OrchestratorMoves, nullptr},
      {"relayna", relayna::KeyFamilies, {}, nullptr, nullptr},
      {"studio", studio::KeyFamilies, studio::KeyRules().defaults, StudioMoves, nullptr},
      {"threescale", threescale::KeyFamilies, {}, ThreescaleMoves, RefuseSpaceInTag},
  }};
  return systems;
}

std::vector<KeyBinding> WithDefaults(std::span<const KeyBinding> bindings,
                                     std::span<const KeyBinding> defaults) {
  std::vector<KeyBinding> all(bindings.begin(), bindings.end());
  for (const KeyBinding& each : defaults) {
    const bool is_bound = std::any_of(bindings.begin(), bindings.end(), [&](const KeyBinding& own) {
      return own.placeholder == each.placeholder;
    });
    if (!is_bound) all.push_back(each);
  }
  return all;
}

absl::Status CannotMove(std::string_view key, absl::string_view reason) {
  return absl::FailedPreconditionError(
      absl::StrCat("cannot move \"", base::ToAbsl(key), "\": ", reason));
}

}  // namespace

std::string MovedSystemNames() {
  return absl::StrJoin(Systems(), ", ", [](std::string* out, const MovedSystem& system) {
    absl::StrAppend(out, base::ToAbsl(system.name));
  });
}

absl::StatusOr<const MovedSystem*> FindMovedSystem(std::string_view name) {
  for (const MovedSystem& system : Systems()) {
    if (system.name == name) return &system;
  }
  return absl::InvalidArgumentError(absl::StrCat("there is no system \"", base::ToAbsl(name),
                                                 "\"; expected one of ", MovedSystemNames()));
}

absl::StatusOr<KeyMove> KeyMove::Create(const MovedSystem& system, LayoutPair layouts,
                                        std::span<const KeyBinding> bindings) {
  REDOUBLE_ASSIGN_OR_RETURN(
      KeyTranslator translator,
      KeyTranslator::Create(system.families(layouts.from), system.families(layouts.to),
                            WithDefaults(bindings, system.defaults)));
  return KeyMove(system, layouts.to, std::move(translator));
}

std::vector<std::string> KeyMove::Target::SourcesOf(std::string_view own_key) const {
  if (move == nullptr || move->sources == nullptr) return {std::string(own_key)};
  const std::span<const std::string> sources = move->sources();
  return {sources.begin(), sources.end()};
}

const FamilyMove* KeyMove::FindMove(std::string_view family) const {
  if (system_->moves == nullptr) return nullptr;
  for (const FamilyMove& move : system_->moves()) {
    if (move.family == family && move.to == to_) return &move;
  }
  return nullptr;
}

absl::StatusOr<KeyMove::Target> KeyMove::TargetOf(std::string_view key,
                                                  KeyTranslator::Translation translation) const {
  const absl::string_view id = base::ToAbsl(translation.family->id);
  if (translation.is_ambiguous) {
    return CannotMove(key, absl::StrCat("it has two readings as ", id,
                                        ", because an id contains the text that ends it"));
  }
  if (const FamilyMove* const move = FindMove(translation.family->id)) {
    return Target{translation.family, {}, move};
  }
  if (!translation.key) {
    return CannotMove(key, absl::StrCat("the other layout has no such key of ", id));
  }
  if (to_ == KeyLayout::kCluster && system_->refuse_cluster_key != nullptr) {
    const std::string_view reason = system_->refuse_cluster_key(*translation.key);
    if (!reason.empty()) return CannotMove(key, base::ToAbsl(reason));
  }
  return Target{translation.family, *std::move(translation.key), nullptr};
}

absl::StatusOr<std::optional<KeyMove::Target>> KeyMove::Translate(std::string_view key) const {
  std::optional<Target> target;
  for (KeyTranslator::Translation& translation : translator_.Translations(key)) {
    if (translation.family->type == store::KeyType::kNone) continue;  // The name of a channel.
    REDOUBLE_ASSIGN_OR_RETURN(Target next, TargetOf(key, std::move(translation)));
    if (target && (target->key != next.key || target->move != next.move)) {
      return CannotMove(
          key, absl::StrCat("it is a key of ", base::ToAbsl(target->family->id), " and of ",
                            base::ToAbsl(next.family->id), "; bind their prefixes"));
    }
    if (!target) target = std::move(next);
  }
  return target;
}

absl::StatusOr<std::vector<MovedKey>> KeyMove::Convert(
    const Target& target, std::string_view key,
    std::span<const std::optional<KeyValue>> values) const {
  absl::StatusOr<std::vector<MovedKey>> moved =
      target.move->convert({translator_, target.family->id, key, values});
  if (!moved.ok()) return CannotMove(key, moved.status().message());
  return moved;
}

std::optional<std::string> KeyMove::OriginOf(const Target& target, std::string_view key) const {
  const std::string_view family =
      target.is_derived() ? target.move->follows_from : target.family->id;
  return translator_.Spell(key, target.family->id, family, {});
}

}  // namespace redouble::inline v0_1::sim
