#include "redouble/sim/server/faults.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::sim {
namespace {

using store::Reply;

bool IsWord(std::string_view word, std::string_view other) {
  return absl::EqualsIgnoreCase(base::ToAbsl(word), base::ToAbsl(other));
}

// The row with that name or alias, in any case; null if a server cannot inject such a fault.
const FaultSpec* FindServerFault(std::string_view word) {
  for (const FaultSpec* spec : FaultsOf(FaultSite::kServer)) {
    if (IsWord(word, spec->name) || IsWord(word, spec->alias)) return spec;
  }
  return nullptr;
}

}  // namespace

Reply WrongSimUse() {
  return Reply::Error("ERR unknown subcommand or wrong number of arguments. Try SIM HELP.");
}

Reply Faults::Run(std::span<const std::string_view> arguments) {
  if (arguments.size() == 1 && IsWord(arguments[0], "LIST")) return List();
  if (arguments.size() == 1 && IsWord(arguments[0], "CLEAR")) {
    rules_.clear();
    return Reply::Ok();
  }
  if (arguments.empty()) return WrongSimUse();
  const FaultSpec* spec = FindServerFault(arguments[0]);
  return spec == nullptr ? WrongSimUse() : Add(*spec, arguments.subspan(1));
}

Reply Faults::Add(const FaultSpec& spec, std::span<const std::string_view> arguments) {
  const bool has_error = spec.parameter == FaultParameter::kError;
  const size_t own = has_error ? 2 : 1;
  if (arguments.size() != own && arguments.size() != own + 2) return WrongSimUse();
  int64_t count = 1;
  if (arguments.size() == own + 2) {
    const std::optional<int64_t> parsed = base::ParseInt64(arguments[own + 1]);
    if (!IsWord(arguments[own], "COUNT") || !parsed || *parsed < 1) {
      return Reply::Error("ERR COUNT must be followed by a positive number");
    }
    count = *parsed;
  }
  rules_.push_back({.fault = spec.fault,
                    .command = std::string(arguments[0]),
                    .limit = count,
                    .error = has_error ? std::string(arguments[1]) : std::string()});
  return Reply::Ok();
}

Reply Faults::List() const {
  std::vector<Reply> rows;
  for (const FaultRule& rule : rules_) {
    rows.push_back(Reply::Array({Reply::Bulk(SpecOf(rule.fault).name), Reply::Bulk(rule.command),
                                 Reply::Bulk(rule.error), Reply::Integer(rule.limit)}));
  }
  return Reply::Array(std::move(rows));
}

std::optional<FaultRule> Faults::Next(std::string_view command) {
  for (auto rule = rules_.begin(); rule != rules_.end(); ++rule) {
    if (rule->command != "*" && !IsWord(command, rule->command)) continue;
    const FaultRule injected = *rule;
    if (--rule->limit == 0) rules_.erase(rule);
    return injected;
  }
  return std::nullopt;
}

}  // namespace redouble::inline v0_1::sim
