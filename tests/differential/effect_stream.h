// EffectStreamPair: what the engine and a redis-server propagate while they run the same program.
//
// The server's stream is the incremental file of its append-only log, the engine's is made by an
// EffectSink. Both expire keys lazily, when a command finds them, because a server's own expiry
// cycle runs at an unknown time. A server removes the expired keys that one SCAN or KEYS visits in
// the order of its hash tables; such runs of removals are sorted before they are compared.
//
//   EffectStreamPair streams;
//   const auto run = [&](Target& target) { RunProgram(target, program); };
//   if (std::optional<std::string> difference = streams.Compare(run)) std::cerr << *difference;
//
// Thread-safety: one thread.
#ifndef REDOUBLE_TESTS_DIFFERENTIAL_EFFECT_STREAM_H_
#define REDOUBLE_TESTS_DIFFERENTIAL_EFFECT_STREAM_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "redouble/tests/support/target/target.h"

namespace redouble::inline v0_1::tests {

class EffectStreamPair {
 public:
  // `config`: further lines of redis.conf, which the engine gets by CONFIG SET.
  explicit EffectStreamPair(std::vector<Words> config = {});
  ~EffectStreamPair();

  // Calls `run` for the engine and then for the server, which it must reset. Returns nullopt if the
  // streams since the last reset are equal.
  std::optional<std::string> Compare(absl::FunctionRef<void(Target&)> run);

 private:
  class Engine;
  class Server;

  const std::unique_ptr<Engine> engine_;
  const std::unique_ptr<Server> server_;
};

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_DIFFERENTIAL_EFFECT_STREAM_H_
