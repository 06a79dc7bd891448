// Prints the SHA-256 over all replies of the memory engine to random programs of every group. The
// output is one line, equal for equal seeds in every process, at every optimization level and with
// every compiler.
//
//   trace_hash [PROGRAMS [SEED [text]]]
//
// With "text" it prints the text instead of its hash. Compare the texts of two builds to find where
// they differ.
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

// Hashes texts, or prints them.
class Trace {
 public:
  explicit Trace(bool prints) : prints_(prints) {}

  void Add(std::string_view text) {
    if (prints_) {
      std::cout << text;
    } else {
      hash_.Update(text);
    }
  }
  void Finish() {
    if (!prints_) std::cout << hash_.HexDigest() << "\n";
  }

 private:
  const bool prints_;
  base::Sha256 hash_;
};

void AddProgram(Program program, MemoryTarget& target, Trace& trace) {
  const RunOptions exact{.canonical = false};
  for (const StepResult& result : RunProgram(target, program, exact)) {
    trace.Add(TextOf(result.reply));
    for (const LateReply& late : result.late) {
      trace.Add(std::to_string(late.connection) + " " + TextOf(late.reply));
    }
  }
  for (const ProgramStep& step : program.steps) trace.Add(std::to_string(step.amount_us) + "\n");
  const std::vector<Words> queries = KeyspaceQueries(target);
  for (const Words& query : queries) trace.Add(JoinWords(query) + "\n");
  for (const store::Reply& reply : RunQueries(target, queries, exact)) {
    trace.Add(TextOf(reply));
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

void PrintTrace(uint64_t programs, uint64_t seed, Trace& trace) {
  memory::EngineOptions options;
  options.seed = seed;
  MemoryTarget target(options);
  for (const std::string_view group : GroupNames()) {
    if (GeneratorsOf(group).empty()) continue;
    for (uint64_t i = 0; i < programs; ++i) {
      AddProgram(MakeProgram({.group = group, .seed = seed + i, .max_commands = 60}), target,
                 trace);
    }
  }
  for (const std::string_view script : kScriptsOfPlaces) {
    trace.Add(TextOf(target.Run(0, {"EVAL", std::string(script), "0"})));
  }
  trace.Finish();
}

}  // namespace
}  // namespace redouble::inline v0_1::tests

int main(int argc, char** argv) {
  const uint64_t programs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100;
  const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  redouble::tests::Trace trace(argc > 3 && std::string_view(argv[3]) == "text");
  redouble::tests::PrintTrace(programs, seed, trace);
}
