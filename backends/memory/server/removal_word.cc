#include "redouble/backends/memory/server/removal_word.h"

#include "redouble/backends/memory/server/kept_parameters.h"

namespace redouble::inline v0_1::memory {
namespace {

std::string_view ParameterOf(LazyFree operation) {
  switch (operation) {
    case LazyFree::kExpire:
      return "lazyfree-lazy-expire";
    case LazyFree::kEviction:
      return "lazyfree-lazy-eviction";
    case LazyFree::kServerDel:
      return "lazyfree-lazy-server-del";
    case LazyFree::kUserDel:
      return "lazyfree-lazy-user-del";
  }
  return {};
}

}  // namespace

std::string_view RemovalWord(const EngineOptions& options, LazyFree operation) {
  const bool is_lazy = KeptValue(ParameterOf(operation), options) == "yes";
  return is_lazy ? "UNLINK" : "DEL";
}

}  // namespace redouble::inline v0_1::memory
