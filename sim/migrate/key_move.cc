#include "redouble/sim/migrate/key_move.h"

#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/gateway/keys.h"
#include "redouble/core/gateway/reservation.h"
#include "redouble/core/relayna/keys.h"

namespace redouble::inline v0_1::sim {
namespace {

using store::KeyFamily;
using store::KeyTranslator;

absl::Status RewriteGatewayValue(const KeyFamily& family, const KeyTranslator& translator,
                                 KeyValue& value) {
  if (family.id != "gateway.reservation" || value.type != store::KeyType::kString) {
    return absl::OkStatus();
  }
  const auto respell = [&translator](std::string_view key) { return translator.Translate(key); };
  REDOUBLE_ASSIGN_OR_RETURN(value.parts[0], gateway::RespellReservation(value.parts[0], respell));
  return absl::OkStatus();
}

constexpr std::array kSystems = {
    MovedSystem{"gateway", gateway::KeyFamilies, RewriteGatewayValue},
    MovedSystem{"relayna", relayna::KeyFamilies, nullptr},
};

absl::Status CannotMove(std::string_view key, absl::string_view reason) {
  return absl::FailedPreconditionError(
      absl::StrCat("cannot move \"", base::ToAbsl(key), "\": ", reason));
}

}  // namespace

std::string MovedSystemNames() {
  return absl::StrJoin(kSystems, ", ", [](std::string* out, const MovedSystem& system) {
    absl::StrAppend(out, base::ToAbsl(system.name));
  });
}

absl::StatusOr<const MovedSystem*> FindMovedSystem(std::string_view name) {
  for (const MovedSystem& system : kSystems) {
    if (system.name == name) return &system;
  }
  return absl::UnimplementedError(absl::StrCat(
      "system \"", base::ToAbsl(name), "\" is not supported yet; supported: ", MovedSystemNames()));
}

absl::StatusOr<KeyMove> KeyMove::Create(const MovedSystem& system, LayoutPair layouts,
                                        std::span<const store::KeyBinding> bindings) {
  REDOUBLE_ASSIGN_OR_RETURN(
      KeyTranslator translator,
      KeyTranslator::Create(system.families(layouts.from), system.families(layouts.to), bindings));
  return KeyMove(system, std::move(translator));
}

absl::StatusOr<std::optional<KeyMove::Target>> KeyMove::Translate(std::string_view key) const {
  std::optional<Target> target;
  for (KeyTranslator::Translation& translation : translator_.Translations(key)) {
    const KeyFamily& family = *translation.family;
    if (family.type == store::KeyType::kNone) continue;  // The name of a channel.
    const absl::string_view id = base::ToAbsl(family.id);
    if (translation.is_ambiguous) {
      return CannotMove(key, absl::StrCat("it has two readings as ", id,
                                          ", because an id contains the text that ends it"));
    }
    if (!translation.key) {
      return CannotMove(key, absl::StrCat("the other layout has no such key of ", id));
    }
    if (target && target->key != *translation.key) {
      return CannotMove(key, absl::StrCat("it is a key of ", base::ToAbsl(target->family->id),
                                          " and of ", id, "; bind their prefixes"));
    }
    if (!target) target = Target{&family, *std::move(translation.key)};
  }
  return target;
}

absl::StatusOr<KeyValue> KeyMove::Rewrite(const Target& target, KeyValue value) const {
  if (system_->rewrite == nullptr) return value;
  const absl::Status status = system_->rewrite(*target.family, translator_, value);
  if (!status.ok()) return CannotMove(target.key, status.message());
  return value;
}

}  // namespace redouble::inline v0_1::sim
