// Hardening: options that remove documented hazards of the 3scale backend.
//
// By default every operation behaves as the original, including its hazards, so that both can share
// one Redis. Each option removes the hazards that it names and changes nothing else: keys and
// values stay those of the original, and only count_jobs_once adds a key. All options are off by
// default and can be combined. An option protects only if all writers use it (D25).
//
//   threescale::Hardening hardening;
//   hardening.publish_events_atomically = true;
//   EventQueue events(process, hardening);
//
// Thread-safety: a plain value.
// Source: docs/systems/threescale.md 5, D25.
#ifndef REDOUBLE_CORE_THREESCALE_HARDENING_H_
#define REDOUBLE_CORE_THREESCALE_HARDENING_H_

namespace redouble::inline v0_1::threescale {

struct Hardening {
  // Removes H1 (a consumer deletes an event that it never listed) and H2 (events appear out of
  // order). One script takes the id of an event and adds the event to the queue.
  bool publish_events_atomically = false;
  // Removes H3 (two workers raise one alert twice) and H4 (a crash after the mark loses an alert).
  // One script checks the mark, takes the id, sets the mark and publishes the event.
  bool raise_alerts_atomically = false;
  // Removes H9 (a minute counter without TTL), the missing TTL of H5, and H13 within one slice.
  // Counters are written in transactions, together with their TTL.
  bool expire_atomically = false;
  // Removes H7: two listeners take one batch of notifications, so that some are counted twice and
  // others are lost. A transaction reads and removes the batch.
  bool take_notifications_atomically = false;
  // Removes H10 (concurrent authrep requests exceed a limit) and H23 (a request is checked in one
  // period and counted in the next). One script of the listener compares the limits and counts the
  // usage.
  bool check_and_report_atomically = false;
  // Removes H6 (a crash after SADD loses the first traffic), what expire_atomically leaves of H5,
  // and the second first traffic of a day of H26. One script notes the traffic and publishes its
  // event. The day is taken from the clock of Redis, which also expires the counter of the day. Has
  // no effect in the cluster layout, where events are in another slot.
  bool note_traffic_atomically = false;
  // Removes H11 for jobs with an id (a repeated job counts twice). One script counts a slice and
  // marks it, and counts no marked slice. Includes the transactions of expire_atomically for
  // counters.
  bool count_jobs_once = false;
  // Removes H18 (a deleted application is counted). The scripts that count, note traffic and raise
  // alerts check that the application exists. Includes raise_alerts_atomically and
  // note_traffic_atomically, and the transactions of expire_atomically for counters. In the cluster
  // layout the traffic is not checked.
  bool check_applications_atomically = false;
  // Removes H15 (a rename deletes the name of another metric). One script saves or deletes a metric
  // and deletes its old name only if that leads to this metric.
  bool change_metrics_atomically = false;
  // Removes H16 (a change of provider key loses services), H17 (saves of services interleave) and
  // H30 (the last service is not the last). One script saves or deletes a service, or changes a
  // provider key, if nothing that the decision was based on has changed. Has no effect in the
  // cluster layout, where the keys of providers and services are in several slots.
  bool change_services_atomically = false;
  // Removes H29: an errors list exceeds 1000 entries. A transaction adds and trims.
  bool trim_errors_atomically = false;
};

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_HARDENING_H_
