// FunctionLibraries: the loaded function libraries of an engine (FUNCTION LOAD, DELETE, LIST, DUMP
// and RESTORE).
//
// A library is a text whose first line names it ("#!lua name=mylib"). Running the text registers
// its functions. The names of functions are unique among all libraries, ignoring case. Libraries
// and their functions are listed by name; Redis lists them in unspecified order.
//
//   FunctionLibraries libraries;
//   libraries.Load(code, {.replace = true});          // The name, or the error reply.
//   const FunctionLibraries::Function* f = libraries.Find("f");
//
// Thread-safety: one thread.
// Source: Redis 7.0 FUNCTION LOAD, FUNCTION DUMP, FUNCTION RESTORE.
#ifndef REDOUBLE_BACKENDS_MEMORY_SCRIPTING_FUNCTION_LIBRARIES_H_
#define REDOUBLE_BACKENDS_MEMORY_SCRIPTING_FUNCTION_LIBRARIES_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
#include "redouble/backends/memory/compatibility/compatibility.h"
#include "redouble/backends/memory/scripting/function_interpreter.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::memory {

class FunctionLibraries {
 public:
  using Function = RegisteredFunction;

  struct Library {
    std::string name;
    std::string code;                 // Including its first line.
    std::vector<Function> functions;  // Sorted by name.
  };

  struct LoadOptions {
    // Replaces a library of the same name; otherwise an existing library is an error.
    bool replace = false;
  };
  enum class RestorePolicy { kFlush, kAppend, kReplace };

  // The libraries of an engine of this version, which must outlive them.
  explicit FunctionLibraries(const Compatibility& compatibility);
  ~FunctionLibraries();

  // Loads a library. Returns its name, or an error reply if nothing was changed.
  store::Reply Load(std::string_view code, LoadOptions options);
  // Deletes a library. Returns false if it does not exist.
  bool Delete(std::string_view name);
  void Flush();

  // The function of this name, ignoring case; null if it does not exist.
  const Function* Find(std::string_view name) const;
  // The libraries, sorted by name.
  std::vector<const Library*> List() const;
  size_t library_count() const;
  size_t function_count() const;
  // The size of the code of all libraries and of all names.
  size_t text_bytes() const;
  // The memory used by Lua for them.
  size_t lua_bytes() const;

  // All libraries as a payload for FUNCTION RESTORE of redis-server 7.0.
  std::string Dump() const;
  // Adds the libraries of a payload. Returns OK, or an error reply if nothing was changed.
  store::Reply Restore(std::string_view payload, RestorePolicy policy);

  // Calls a function returned by Find.
  ScriptResult Run(const Function& function, std::span<const std::string_view> keys,
                   std::span<const std::string_view> arguments, ScriptHost& host, int64_t limit_ms);

 private:
  // A set of libraries with an index of their functions.
  class LibrarySet;

  std::optional<std::string> LoadInto(LibrarySet& set, std::string_view code, bool replace,
                                      std::string& name);
  std::optional<std::string> Merge(LibrarySet& from, bool replace);

  const Compatibility& compatibility_;
  std::unique_ptr<FunctionInterpreter> interpreter_;
  std::unique_ptr<LibrarySet> loaded_;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SCRIPTING_FUNCTION_LIBRARIES_H_
