// Prints the SHA-256 over all replies of the memory engine to random programs of every group. The
// output is one line, equal for equal seeds in every process, at every optimization level and with
// every compiler.
//
//   trace_hash [PROGRAMS [SEED]]
#include <cstdlib>
#include <iostream>
#include <string>

#include "redouble/core/base/hash/digest.h"
#include "redouble/tests/differential/groups.h"
#include "redouble/tests/differential/make_program.h"
#include "redouble/tests/differential/run_program.h"
#include "redouble/tests/support/target/memory_target.h"
#include "redouble/tests/support/target/reply_text.h"

namespace redouble::inline v0_1::tests {
namespace {

std::string TextOf(const std::optional<store::Reply>& reply) {
  return (reply ? ReplyText(*reply) : "(blocked)") + "\n";
}

void HashProgram(Program program, MemoryTarget& target, base::Sha256& hash) {
  const RunOptions exact{.canonical = false};
  for (const StepResult& result : RunProgram(target, program, exact)) {
    hash.Update(TextOf(result.reply));
    for (const LateReply& late : result.late) {
      hash.Update(std::to_string(late.connection) + " " + TextOf(late.reply));
    }
  }
  for (const ProgramStep& step : program.steps) hash.Update(std::to_string(step.amount_us) + "\n");
  const std::vector<Words> queries = KeyspaceQueries(target);
  for (const Words& query : queries) hash.Update(JoinWords(query) + "\n");
  for (const store::Reply& reply : RunQueries(target, queries, exact)) {
    hash.Update(TextOf(reply));
  }
}

// What scripts see of addresses. No redis-server gives the same replies twice.
constexpr std::string_view kScriptsOfPlaces[] = {
    "return {tostring({}), tostring(tostring), tostring(coroutine.create(function() end))}",
    "local t, order = {}, {} for i = 1, 100 do t[{}] = i end "
    "for _, i in pairs(t) do order[#order + 1] = i end return order",
    "local t, order = {}, {} for i = 1, 100 do t[function() return i end] = i end "
    "for _, i in pairs(t) do order[#order + 1] = i end return order",
};

std::string TraceHash(uint64_t programs, uint64_t seed) {
  base::Sha256 hash;
  memory::EngineOptions options;
  options.seed = seed;
  MemoryTarget target(options);
  for (const std::string_view group : GroupNames()) {
    if (GeneratorsOf(group).empty()) continue;
    for (uint64_t i = 0; i < programs; ++i) {
      HashProgram(MakeProgram({.group = group, .seed = seed + i, .max_commands = 60}), target,
                  hash);
    }
  }
  for (const std::string_view script : kScriptsOfPlaces) {
    hash.Update(TextOf(target.Run(0, {"EVAL", std::string(script), "0"})));
  }
  return hash.HexDigest();
}

}  // namespace
}  // namespace redouble::inline v0_1::tests

int main(int argc, char** argv) {
  const uint64_t programs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100;
  const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  std::cout << redouble::tests::TraceHash(programs, seed) << "\n";
}
