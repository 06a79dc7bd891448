// How each typed function of core/store is called by bench/typed: a row per function.
#ifndef REDOUBLE_BENCH_TYPED_ROWS_H_
#define REDOUBLE_BENCH_TYPED_ROWS_H_

#include <span>
#include <string>
#include <string_view>

#include "core/store/store.h"

namespace redouble::bench {

// The keys of one call, named as in command_rows.h; a second key of a kind ends with 2.
struct TypedKeys {
  std::string s, s2, i, l, h, t, t2, z, x, n;
};

struct TypedRow {
  std::string_view name;
  void (*call)(store::Store& store, const TypedKeys& keys);
  // Called before each call, outside the time; see CommandRow.
  std::string_view prepare = {};
};

// Names of functions that look at every key end with "(all keys)".
std::span<const TypedRow> TypedRows();

}  // namespace redouble::bench

#endif  // REDOUBLE_BENCH_TYPED_ROWS_H_
