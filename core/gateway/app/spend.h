// ReadKeySpend, AdjustKeySpend and SetKeySpend: an operator's view of the spend of one virtual key.
//
// Both counters are read and written together, so that the day and the month stay consistent.
//
//   absl::StatusOr<KeySpend> spend = co_await gateway::ReadKeySpend(store, key_id, clock.Now());
//   // Refund 2.50 dollars, or replace both counters by what the usage ledger says:
//   co_await gateway::AdjustKeySpend(store, key_id, -2.50, clock.Now());
//   co_await gateway::SetKeySpend(store, key_id, {.daily_usd = 1.25, .monthly_usd = 30}, now);
//
// `now` selects the UTC day and month, and `keys` the layout. Errors of every operation:
// InvalidArgument if the key id is not a UUID in lower case or the year of `now` does not have four
// digits, before a command is sent; otherwise ControlStateUnavailable (errors.h).
//
// Thread-safety: as Store.
// Source: docs/systems/gateway.md 4.12, 4.13 and D9.
#ifndef REDOUBLE_CORE_GATEWAY_APP_SPEND_H_
#define REDOUBLE_CORE_GATEWAY_APP_SPEND_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/gateway/keys.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::gateway {

// One budget counter.
struct SpendCounter {
  std::string key;
  // The stored text; nullopt if the counter is missing or is not a string.
  std::optional<std::string> text;
  // What a budget check reads: 0 if the counter is missing or not a number.
  double usd = 0;
  // Whether the counter exists and is a number. Writes fail if it exists and is not.
  bool is_number = false;
  // Nullopt: the counter is missing or never expires (hazard R10).
  std::optional<absl::Duration> ttl;
};

struct KeySpend {
  SpendCounter daily;
  SpendCounter monthly;
};

// Reads both counters and their TTLs, and changes nothing. One round trip; not a snapshot.
base::Task<absl::StatusOr<KeySpend>> ReadKeySpend(store::Store& store, std::string_view key_id,
                                                  absl::Time now, Keys keys = Keys());

// Adds an amount, which may be negative, to both counters and restarts their TTLs, in one
// transaction. A repetition after a lost reply adds it twice (hazard R12). Errors also:
// InvalidArgument for an amount that is not finite; ControlStateUnavailable if a counter is not a
// number, while the other one has changed. One round trip.
base::Task<absl::Status> AdjustKeySpend(store::Store& store, std::string_view key_id,
                                        double delta_usd, absl::Time now, Keys keys = Keys());

struct SpendAmounts {
  double daily_usd = 0;
  double monthly_usd = 0;
};

// Replaces both counters and restarts their TTLs, in one transaction; negative amounts count as 0.
// Repairs counters that are not numbers, and discards what requests in flight have reserved. May be
// repeated. Errors also: InvalidArgument for an amount that is not finite. One round trip.
base::Task<absl::Status> SetKeySpend(store::Store& store, std::string_view key_id,
                                     SpendAmounts amounts, absl::Time now, Keys keys = Keys());

}  // namespace redouble::inline v0_1::gateway

#endif  // REDOUBLE_CORE_GATEWAY_APP_SPEND_H_
