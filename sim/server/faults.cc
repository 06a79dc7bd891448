#include "sim/server/faults.h"

#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "core/base/redis_number.h"
#include "core/base/string_bridge.h"

namespace redouble::sim {
namespace {

using store::Reply;

// By Kind.
constexpr std::string_view kKinds[] = {"ERROR", "DROP", "LOSE"};

bool IsWord(std::string_view word, std::string_view other) {
  return absl::EqualsIgnoreCase(base::ToAbsl(word), base::ToAbsl(other));
}

Reply WrongUse() {
  return Reply::Error("ERR unknown subcommand or wrong number of arguments. Try SIM HELP.");
}

}  // namespace

Reply Faults::Run(std::span<const std::string_view> arguments) {
  if (arguments.size() == 1 && IsWord(arguments[0], "LIST")) return List();
  if (arguments.size() == 1 && IsWord(arguments[0], "CLEAR")) {
    rules_.clear();
    return Reply::Ok();
  }
  for (size_t i = 0; i < std::size(kKinds); ++i) {
    if (!arguments.empty() && IsWord(arguments[0], kKinds[i])) {
      return Add(static_cast<Kind>(i), arguments.subspan(1));
    }
  }
  return WrongUse();
}

Reply Faults::Add(Kind kind, std::span<const std::string_view> arguments) {
  const size_t own = kind == Kind::kError ? 2 : 1;
  if (arguments.size() != own && arguments.size() != own + 2) return WrongUse();
  int64_t count = 1;
  if (arguments.size() == own + 2) {
    const std::optional<int64_t> asked = base::ParseInt64(arguments[own + 1]);
    if (!IsWord(arguments[own], "COUNT") || !asked || *asked < 1) {
      return Reply::Error("ERR COUNT must be followed by a positive number");
    }
    count = *asked;
  }
  std::string text = kind == Kind::kError ? std::string(arguments[1]) : std::string();
  rules_.push_back({{kind, std::move(text)}, std::string(arguments[0]), count});
  return Reply::Ok();
}

Reply Faults::List() const {
  std::vector<Reply> rows;
  for (const Rule& rule : rules_) {
    rows.push_back(Reply::Array({Reply::Bulk(kKinds[static_cast<size_t>(rule.fault.kind)]),
                                 Reply::Bulk(rule.command), Reply::Bulk(rule.fault.text),
                                 Reply::Integer(rule.left)}));
  }
  return Reply::Array(std::move(rows));
}

std::optional<Faults::Fault> Faults::Next(std::string_view command) {
  for (auto rule = rules_.begin(); rule != rules_.end(); ++rule) {
    if (rule->command != "*" && !IsWord(command, rule->command)) continue;
    Fault fault = rule->fault;
    if (--rule->left == 0) rules_.erase(rule);
    return fault;
  }
  return std::nullopt;
}

}  // namespace redouble::sim
