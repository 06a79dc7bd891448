// FunctionLibraries: the libraries of functions that the engine knows (FUNCTION LOAD and its like).
//
// A library is a text whose first line names it ("#!lua name=mylib"); running it registers its
// functions, whose names are unique among all libraries, whatever their case. Libraries and their
// functions are listed by name, where Redis lists them in no order.
//
//   FunctionLibraries libraries;
//   libraries.Load(code, {.replace = true});          // The name, or the error reply.
//   const FunctionLibraries::Function* f = libraries.Find("f");
//
// Thread-safety: one thread.
// Source: Redis 7.0 FUNCTION LOAD, FUNCTION DUMP, FUNCTION RESTORE.
#ifndef REDOUBLE_BACKENDS_MEMORY_FUNCTION_LIBRARIES_H_
#define REDOUBLE_BACKENDS_MEMORY_FUNCTION_LIBRARIES_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
#include "backends/memory/scripting/function_interpreter.h"
#include "core/store/reply.h"

namespace redouble::memory {

class FunctionLibraries {
 public:
  using Function = RegisteredFunction;

  struct Library {
    std::string name;
    std::string code;                 // With its first line.
    std::vector<Function> functions;  // By name.
  };

  struct LoadOptions {
    // A library of this name goes; without, it is an error.
    bool replace = false;
  };
  enum class RestorePolicy { kFlush, kAppend, kReplace };

  FunctionLibraries();
  ~FunctionLibraries();

  // Adds the library; its name, or the error reply, and then nothing has changed.
  store::Reply Load(std::string_view code, LoadOptions options);
  // False when there is none of this name.
  bool Delete(std::string_view name);
  void Flush();

  // The function of this name in any case; null when there is none.
  const Function* Find(std::string_view name) const;
  // By name.
  std::vector<const Library*> List() const;
  size_t library_count() const;
  size_t function_count() const;
  // Of the libraries' code and all names.
  size_t text_bytes() const;
  // What their Lua has taken.
  size_t lua_bytes() const;

  // All libraries as FUNCTION RESTORE of a redis-server 7.0 takes them.
  std::string Dump() const;
  // Adds the libraries of a dump. OK, or the error reply, and then nothing has changed.
  store::Reply Restore(std::string_view payload, RestorePolicy policy);

  // Calls a function that Find gave.
  ScriptResult Run(const Function& function, std::span<const std::string_view> keys,
                   std::span<const std::string_view> arguments, ScriptHost& host, int64_t limit_ms);

 private:
  // Libraries with the index of their functions.
  class Shelf;

  std::optional<std::string> LoadInto(Shelf& shelf, std::string_view code, bool replace,
                                      std::string& name);
  std::optional<std::string> Join(Shelf& from, bool replace);

  std::unique_ptr<FunctionInterpreter> interpreter_;
  std::unique_ptr<Shelf> shelf_;
};

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_FUNCTION_LIBRARIES_H_
