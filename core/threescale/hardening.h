// Hardening: options that remove documented hazards of the 3scale backend, one by one.
//
// By default every operation does what the original does, hazards included, so that both can work
// on one Redis. Each option removes the hazards that it names and leaves the rest as it was; values
// and keys stay those of the original. All are off by default and can be combined.
//
//   threescale::Hardening hardening;
//   hardening.publish_events_atomically = true;
//   EventQueue events(process, hardening);
//
// Thread-safety: a plain value.
// Source: reference/threescale.md 9.
#ifndef REDOUBLE_CORE_THREESCALE_HARDENING_H_
#define REDOUBLE_CORE_THREESCALE_HARDENING_H_

namespace redouble::threescale {

struct Hardening {
  // An event gets its id and stands in the queue in one script. Without it a consumer that deletes
  // a range of ids deletes an event that is published late, and events can appear out of order.
  bool publish_events_atomically = false;
  // An alert is looked for, counted, marked and published in one script. Without it two workers
  // raise one alert twice, and a worker that dies in between silences a level for a day.
  bool raise_alerts_atomically = false;
  // Counters that expire are written together with their expiry, in a transaction. Without it a
  // worker that dies in between leaves a minute's or a day's counter for ever.
  bool expire_atomically = false;
  // A full batch of notifications is read and removed in a transaction. Without it two listeners
  // that find it full report some notifications twice and lose others.
  bool take_notifications_atomically = false;
  // authrep checks the limits and reports the usage in one script, in the listener. Without it
  // requests that are checked before a worker has counted them exceed the limits.
  bool check_and_report_atomically = false;
};

}  // namespace redouble::threescale

#endif  // REDOUBLE_CORE_THREESCALE_HARDENING_H_
