// Whatever text or bytes a client gives as code, nothing but an error or a library that works comes
// of it. The first byte of an input decides by which command the rest reaches the engine.
//
// CONTRIBUTING.md has the commands that build and run a fuzz target.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "redouble/tests/fuzz/hostile_engine.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::Reply;

// Calls every function of every library.
void CallAll(HostileEngine& engine) {
  const Reply libraries = engine.Run({"FUNCTION", "LIST"});
  for (const Reply& library : libraries.elements()) {
    for (const Reply& function : library.elements()[5].elements()) {
      const std::string name = function.elements()[1].text();
      engine.Run({"FCALL", name, "1", "key", "argument"});
      engine.Run({"FCALL_RO", name, "0"});
    }
  }
}

// What was dumped is restored, and is the same.
void Reload(HostileEngine& engine) {
  const Reply before = engine.Run({"FUNCTION", "LIST", "WITHCODE"});
  const std::string dump = engine.Run({"FUNCTION", "DUMP"}).text();
  HostileEngine::Require(engine.Run({"FUNCTION", "RESTORE", dump, "FLUSH"}) == Reply::Ok(),
                         "libraries that were dumped are restored");
  HostileEngine::Require(engine.Run({"FUNCTION", "LIST", "WITHCODE"}) == before,
                         "restored libraries are those that were dumped");
}

void Give(uint8_t door, const std::string& bytes) {
  HostileEngine engine;
  switch (door % 4) {
    case 0:
      engine.Run({"FUNCTION", "LOAD", "#!lua name=fuzz\n" + bytes});
      break;
    case 1:
      engine.Run({"FUNCTION", "LOAD", bytes});
      break;
    case 2:
      engine.Run({"FUNCTION", "RESTORE", Sealed(bytes)});
      break;
    default:
      engine.Run({"EVAL", bytes, "1", "key", "argument"});
      return;
  }
  Reload(engine);
  CallAll(engine);
}

}  // namespace
}  // namespace redouble::inline v0_1::tests

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  redouble::tests::Give(data[0], std::string(reinterpret_cast<const char*>(data) + 1, size - 1));
  return 0;
}
