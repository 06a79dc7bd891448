// NoteFirstTraffic, NoteDailyTraffic: traffic and its event in one script.
//
// This is a part of aggregator.h; use Aggregator with Hardening::note_traffic_atomically.
//
//   absl::Status noted = co_await NoteFirstTraffic(process, {{"2", "app"}});
//
// Thread-safety: as Store.
// Source: docs/systems/threescale.md 4.20, H5, H6, H18, H26.
#ifndef REDOUBLE_CORE_THREESCALE_REPORT_TRAFFIC_H_
#define REDOUBLE_CORE_THREESCALE_REPORT_TRAFFIC_H_

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/threescale/keys.h"
#include "redouble/core/threescale/process.h"
#include "redouble/core/threescale/text/json_text.h"

namespace redouble::inline v0_1::threescale {

struct Traffic {
  ApplicationRef application;
  // Whether nothing is noted for an application that does not exist.
  bool must_exist = false;
};

// The object of the events of traffic.
JsonObject TrafficObject(ApplicationRef application, absl::Time time);

// Adds the application to those that ever had traffic, and publishes the event of the first. One
// round trip.
base::Task<absl::Status> NoteFirstTraffic(Process process, Traffic traffic);

// Counts traffic of the day, and publishes the event of the first. The day, and the time of the
// event, are those of the process if Redis has the same day, and otherwise those of Redis. One
// round trip, and one more for another day.
base::Task<absl::Status> NoteDailyTraffic(Process process, Traffic traffic);

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_REPORT_TRAFFIC_H_
