// Process: what the operations of one process of the backend, a listener or a worker, work with.
//
//   Process process(store, clock);
//   process.memoizer = &memoizer;  // As deployed processes do; see memoizer.h.
//   MetricStore metrics(process);
//
// Every class of the package takes a Process and keeps a copy; what it points to must outlive them.
// "Now" is always the process's own clock, never that of Redis.
//
// Thread-safety: as Store.
#ifndef REDOUBLE_CORE_THREESCALE_PROCESS_H_
#define REDOUBLE_CORE_THREESCALE_PROCESS_H_

#include "core/base/clock.h"
#include "core/store/store.h"
#include "core/threescale/memoizer.h"
#include "core/threescale/periods.h"

namespace redouble::threescale {

struct Process {
  Process(store::Store& store, const base::Clock& clock) : store(store), clock(clock) {}

  store::Store& store;
  const base::Clock& clock;
  // Null: nothing is memoized.
  Memoizer* memoizer = nullptr;
  // How the keys of usage counters are stamped, for reading and writing.
  StampFormat stamp_format = StampFormat::kFixedWidth;
};

}  // namespace redouble::threescale

#endif  // REDOUBLE_CORE_THREESCALE_PROCESS_H_
