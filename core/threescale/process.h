// Process: the store, the clock and the settings that the operations of one backend process share.
//
//   Process process(store, clock);
//   process.memoizer = &memoizer;  // As deployed processes do; see memoizer.h.
//   MetricStore metrics(process);
//
// A process is a listener or a worker. Every class of the package copies a Process; the objects
// that it refers to must outlive them. "Now" is the time of the process, not the time of Redis.
// Only Hardening::note_traffic_atomically uses the time of Redis.
//
// Thread-safety: as Store.
// Source: docs/systems/threescale.md 1.3.
#ifndef REDOUBLE_CORE_THREESCALE_PROCESS_H_
#define REDOUBLE_CORE_THREESCALE_PROCESS_H_

#include "redouble/core/base/time/clock.h"
#include "redouble/core/store/store.h"
#include "redouble/core/threescale/keys.h"
#include "redouble/core/threescale/memoizer.h"
#include "redouble/core/threescale/text/periods.h"

namespace redouble::inline v0_1::threescale {

struct Process {
  Process(store::Store& connection, const base::Clock& time) : store(connection), clock(time) {}

  store::Store& store;
  const base::Clock& clock;
  Keys keys;
  // Null: no read cache.
  Memoizer* memoizer = nullptr;
  // The format of the stamps in counter keys, for reading and writing.
  StampFormat stamp_format = StampFormat::kFixedWidth;
};

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_PROCESS_H_
