// The allocations of a program that links this library, which replaces operator new and delete.
//
//   const int64_t before = bench::Allocations();
//   ...
//   const int64_t made = bench::Allocations() - before;
//
// Thread-safety: safe.
#ifndef REDOUBLE_BENCH_ALLOCATIONS_H_
#define REDOUBLE_BENCH_ALLOCATIONS_H_

#include <cstdint>

namespace redouble::inline v0_1::bench {

// The number of allocations by operator new since the program started.
int64_t Allocations();

}  // namespace redouble::inline v0_1::bench

#endif  // REDOUBLE_BENCH_ALLOCATIONS_H_
