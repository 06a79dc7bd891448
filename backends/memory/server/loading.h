// LoadingFigures: what a server that loads keys tells about it: INFO persistence, and LOADING.
//
//   engine.core().SetLoading(LoadingFigures{.since_s = now_s, .total_bytes = size});
//   engine.core().SetLoading(std::nullopt);   // The keys are there.
//
// Thread-safety: a plain value.
// Source: Redis 7.0 rdb.c, startLoading.
#ifndef REDOUBLE_BACKENDS_MEMORY_SERVER_LOADING_H_
#define REDOUBLE_BACKENDS_MEMORY_SERVER_LOADING_H_

#include <cstdint>

namespace redouble::inline v0_1::memory {

struct LoadingFigures {
  // The keys of before are served until the others are there. Otherwise most commands are refused.
  bool is_async = false;
  int64_t since_s = 0;
  uint64_t total_bytes = 0;  // 0: not known.
  uint64_t loaded_bytes = 0;
  uint64_t used_memory_bytes = 0;  // Of the server that wrote them; 0: not known.
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SERVER_LOADING_H_
