#include "redouble/core/gateway/key_rules.h"

#include <array>

#include "redouble/core/gateway/keys.h"

namespace redouble::inline v0_1::gateway {
namespace {

using store::KeyRelation;

constexpr std::array kRelations = {
    KeyRelation{"gateway.reservation", "gateway.daily_budget",
                "its settlement makes a counter that never expires"},
    KeyRelation{"gateway.reservation", "gateway.monthly_budget",
                "its settlement makes a counter that never expires"},
};

}  // namespace

store::KeyRules KeyRules(store::KeyLayout layout) {
  return {.families = KeyFamilies(layout), .defaults = {}, .relations = kRelations, .expiring = {}};
}

}  // namespace redouble::inline v0_1::gateway
