// The calls that bench/typed measures: one row for each typed function of core/store/typed.
//
//   for (const TypedRow& row : TypedRows()) ...
//
// Thread-safety: constant data.
#ifndef REDOUBLE_BENCH_TYPED_ROWS_H_
#define REDOUBLE_BENCH_TYPED_ROWS_H_

#include <span>
#include <string>
#include <string_view>

#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::bench {

// The keys of one call, named as in command_rows.h; the second key of a kind ends with 2.
struct TypedKeys {
  std::string s, s2, i, l, h, t, t2, z, x, n;
};

struct TypedRow {
  std::string_view name;
  void (*call)(store::Store& store, const TypedKeys& keys);
  // Called before each measured call, outside the measured time (see CommandRow).
  std::string_view prepare = {};
};

// The names of functions that examine every key end with "(all keys)".
std::span<const TypedRow> TypedRows();

}  // namespace redouble::inline v0_1::bench

#endif  // REDOUBLE_BENCH_TYPED_ROWS_H_
