#include "redouble/sim/fault/fault_page.h"

#include <string_view>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/sim/fault/fault.h"

namespace redouble::inline v0_1::sim {
namespace {

constexpr std::string_view kIntroduction = R"(# Faults

Generated from the table in sim/fault/fault.cc; do not edit.

A fault is something that goes wrong on purpose. The same names are used in world files, in
scenarios, by `SIM FAULT`, and in C++:

* worlds: a rule in the `faults` of a world file, or of `sim::WorldOptions`. Every fault applies.
* scenarios: a step `{"kind": "fault", "fault": "restart"}`.
* `SIM FAULT`: `SIM FAULT drop_reply INCR COUNT 2` on a server that `redouble serve` started. Names
  are accepted in any case.
* stores: `sim::FaultyStore` around any store, embedded or live.

A rule of a world or a store says which requests the fault applies to (`actor`, `command`, `key`,
`from`, `until`) and how often (`nth`, `probability`, `limit`). The parameter is a further member of
the rule; with `SIM FAULT` it is the argument after the command.

| fault | affects | effect | parameter | scenarios | `SIM FAULT` | stores |
| --- | --- | --- | --- | --- | --- | --- |
)";

std::string_view Mark(bool applies) { return applies ? "yes" : ""; }

std::string ServerCell(const FaultSpec& spec) {
  std::string cell(Mark(spec.in_server));
  if (!spec.alias.empty()) {
    absl::StrAppend(&cell, " (also `", base::ToAbsl(spec.alias), "`)");
  }
  return cell;
}

std::string ParameterCell(const FaultSpec& spec) {
  if (spec.parameter == FaultParameter::kNone) return "";
  return absl::StrCat("`", base::ToAbsl(FaultParameterName(spec.parameter)), "`");
}

}  // namespace

std::string FaultsPage() {
  std::string page(kIntroduction);
  for (const FaultSpec& spec : AllFaults()) {
    absl::StrAppend(&page, "| `", base::ToAbsl(spec.name), "` | ",
                    base::ToAbsl(FaultScopeName(spec.scope)), " | ", base::ToAbsl(spec.effect),
                    " | ", ParameterCell(spec), " | ", base::ToAbsl(Mark(spec.in_scenarios)), " | ",
                    ServerCell(spec), " | ", base::ToAbsl(Mark(spec.in_stores)), " |\n");
  }
  return page;
}

}  // namespace redouble::inline v0_1::sim
