// Hardening: options that remove documented hazards of the gateway's budgets.
//
// By default every operation behaves like the original gateway, hazards included, so that both can
// share one Redis. Each option removes the hazards that it names and changes nothing else. All are
// off by default and can be combined.
//
//   gateway::Hardening hardening;
//   hardening.heal_counter_ttl = true;
//   gateway::BudgetStore budgets(store, hardening);
//
// Thread-safety: a plain value.
// Source: docs/systems/gateway.md 1.2; 5, hazards R2, R3, R5, R6 and R10.
#ifndef REDOUBLE_CORE_GATEWAY_HARDENING_H_
#define REDOUBLE_CORE_GATEWAY_HARDENING_H_

namespace redouble::inline v0_1::gateway {

struct Hardening {
  // Removes R10: a settlement whose counter is missing creates it without a TTL, and after the day
  // or month has ended no write sets one. With this option the settlement also sends EXPIRE NX for
  // each counter. Counters that have a TTL keep it. Keys that are not budget counters, which a
  // foreign reservation can name, are not changed.
  bool heal_counter_ttl = false;

  // Removes R5 (two settlements that read the same reservation both apply it) and R6 (a second
  // reconciliation charges the request again). A settlement is then one script, which writes only
  // if the reservation is unchanged since it was read; otherwise the settlement starts again.
  //
  // A reconciliation stores the mark "settled" instead of the reservation for one hour. A later
  // settlement that finds the mark does nothing; a later reservation overwrites it. A release
  // leaves no mark: a reconciliation after a release charges the actual cost, as documented. The
  // original gateway reads the mark as a malformed reservation, which it treats like a missing one.
  //
  // Two requests that share an id (R7) within the hour count as one request: if the second reserved
  // nothing, its cost counts as a repetition and is not charged.
  bool idempotent_settlement = false;

  // Removes R3: between the budget check and the reservation, other requests pass the same check.
  // CheckAndReserveBudget then does both in one script. The estimate is not added before the
  // comparison, as documented, so the last admitted request can still exceed the budget.
  bool atomic_check_and_reserve = false;

  // Removes R2: added spend is four commands, and a crash between them leaves the counters of the
  // day and of the month apart, or one of them without a TTL. With this option they are one
  // transaction. It also keeps the two counters equal if the reply is lost (R12).
  bool atomic_spend = false;

  // Keeps secrets out of Redis: a client chooses its request id and can send a secret as one. With
  // this option the key of a reservation has the SHA-256 of the request id, 64 hexadecimal digits,
  // instead of the id. All gateways that share a Redis must have the same value; a settlement
  // does not find a reservation that was made with the other one.
  bool hash_request_ids = false;
};

}  // namespace redouble::inline v0_1::gateway

#endif  // REDOUBLE_CORE_GATEWAY_HARDENING_H_
