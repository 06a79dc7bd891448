// HostileEngine: an engine that fuzz targets send commands to.
//
//   HostileEngine engine;
//   if (engine.Run({"RESTORE", "k", "0", Sealed(bytes)}).is_error()) return;
//   engine.Require(engine.Run({"TYPE", "k"}) == store::Reply::Status("string"), "a string");
//
// Thread-safety: one thread.
#ifndef REDOUBLE_TESTS_FUZZ_HOSTILE_ENGINE_H_
#define REDOUBLE_TESTS_FUZZ_HOSTILE_ENGINE_H_

#include <string>
#include <string_view>

#include "redouble/core/store/reply.h"
#include "redouble/tests/support/target/memory_target.h"
#include "redouble/tests/support/target/words.h"

namespace redouble::inline v0_1::tests {

// Returns the payload of RESTORE or FUNCTION RESTORE with these bytes: Redis's version and the
// right checksum follow them, so that a reader looks at the bytes.
std::string Sealed(std::string_view bytes);

// Returns the bytes of a payload without version and checksum.
std::string_view Unsealed(std::string_view payload);

class HostileEngine {
 public:
  HostileEngine();

  // Returns the reply of a command that does not block. A script that is busy or runs forever is
  // killed, and the reply is that of the killed call.
  store::Reply Run(const Words& command);

  // Ends the process, which the fuzzer reports, if `holds` is false.
  static void Require(bool holds, std::string_view what);

 private:
  MemoryTarget target_;
};

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_FUZZ_HOSTILE_ENGINE_H_
