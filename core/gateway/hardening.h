// Hardening: options that remove documented hazards of the gateway's budgets, one by one.
//
// By default every operation does what the original gateway does, hazards included, so that both
// can work on one Redis. Each option here removes the hazards that it names and leaves everything
// else as it was; all are off by default and can be combined.
//
//   gateway::Hardening hardening;
//   hardening.heal_counter_ttl = true;
//   gateway::BudgetStore budgets(store, hardening);
//
// Thread-safety: a plain value.
// Source: reference/gateway.md section 7, the rows R3, R5, R6 and R10.
#ifndef REDOUBLE_CORE_GATEWAY_HARDENING_H_
#define REDOUBLE_CORE_GATEWAY_HARDENING_H_

namespace redouble::gateway {

struct Hardening {
  // Removes R10: a settlement whose counter is absent creates it without a TTL, and no later
  // write of a closed day or month gives it one. With this option the settlement's transaction also
  // sets the counter's TTL where there is none (EXPIRE NX). Counters that have a TTL keep it; keys
  // that are no budget counters, which a foreign reservation can name, are left alone.
  bool heal_counter_ttl = false;

  // Removes R5 (two settlements that both read the reservation both apply it) and R6 (a second
  // reconciliation charges the request again). A settlement then applies itself by one script, only
  // if the reservation is still what it read, and starts over when it is not. A reconciliation
  // leaves the mark "settled" in place of the reservation for an hour; a later settlement that
  // finds the mark does nothing, a later reservation overwrites it. A release leaves no mark: a
  // reconciliation behind it charges the actual cost, as documented. The original gateway reads the
  // mark as a malformed reservation, which is to it the same as none.
  // Two requests that share an id (R7) within the hour are one request to this option: when the
  // second reserved nothing, its cost is taken for a repetition and not charged.
  bool idempotent_settlement = false;

  // Removes R3: between the check of a budget and the reservation, others pass the same check.
  // CheckAndReserveBudget then does both in one script. As documented, the estimate itself is not
  // added before comparing, so the last request let in may still exceed the budget.
  bool atomic_check_and_reserve = false;
};

}  // namespace redouble::gateway

#endif  // REDOUBLE_CORE_GATEWAY_HARDENING_H_
