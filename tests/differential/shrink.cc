#include "redouble/tests/differential/shrink.h"

#include <utility>
#include <vector>

#include "rapidcheck.h"
#include "redouble/core/store/table/command_table.h"

namespace redouble::inline v0_1::tests {
namespace {

using Steps = std::vector<ProgramStep>;

// The number of words that stay unchanged. A replaced name could be that of a command that stops
// the server, and a container without its subcommand could be an excluded command (COMMAND).
size_t WordsOfName(const Words& words) {
  const bool has_subcommand = words.size() > 1 && store::IsContainer(store::FindCommand(words[0]));
  return has_subcommand ? 2 : 1;
}

// Simpler forms of a step: fewer and shorter words, a smaller clock step, the first connection.
rc::Seq<ProgramStep> PlainerSteps(const ProgramStep& step) {
  const auto time = rc::seq::map(rc::shrink::integral(step.amount_us), [step](int64_t amount_us) {
    ProgramStep plainer = step;
    plainer.amount_us = amount_us;
    return plainer;
  });
  if (step.kind != ProgramStep::Kind::kCommand) {
    const bool may_go_back = step.kind == ProgramStep::Kind::kAdvanceToDeadline;
    return rc::seq::filter(time, [may_go_back](const ProgramStep& plainer) {
      return may_go_back || plainer.amount_us >= 0;
    });
  }
  const size_t names = WordsOfName(step.words);
  const auto to_step = [step, names](Words arguments) {
    ProgramStep plainer = step;
    plainer.words.resize(names);
    plainer.words.insert(plainer.words.end(), arguments.begin(), arguments.end());
    return plainer;
  };
  const Words arguments(step.words.begin() + static_cast<ptrdiff_t>(names), step.words.end());
  auto fewer = rc::seq::map(rc::shrink::removeChunks(arguments), to_step);
  auto shorter = rc::seq::map(
      rc::shrink::eachElement(
          arguments, [](const std::string& word) { return rc::shrink::removeChunks(word); }),
      to_step);
  ProgramStep first = step;
  first.connection = 0;
  auto moved = step.connection == 0 ? rc::Seq<ProgramStep>() : rc::seq::just(first);
  return rc::seq::concat(std::move(moved), std::move(fewer), std::move(shorter));
}

// Takes the first candidate that fails. Returns false if none fails.
bool Improve(Program& program, rc::Seq<Steps> candidates,
             absl::FunctionRef<bool(const Program&)> fails, int& attempts) {
  while (attempts > 0) {
    rc::Maybe<Steps> candidate = candidates.next();
    if (!candidate) return false;
    --attempts;
    Program plainer = program;
    plainer.steps = *std::move(candidate);
    if (!fails(plainer)) continue;
    program = std::move(plainer);
    return true;
  }
  return false;
}

}  // namespace

Program Shrink(Program failing, absl::FunctionRef<bool(const Program&)> fails, int attempts) {
  bool improved = true;
  while (improved && attempts > 0) {
    while (Improve(failing, rc::shrink::removeChunks(failing.steps), fails, attempts)) {
    }
    improved =
        Improve(failing, rc::shrink::eachElement(failing.steps, PlainerSteps), fails, attempts);
  }
  return failing;
}

}  // namespace redouble::inline v0_1::tests
