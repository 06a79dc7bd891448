#include "redouble/core/gateway/budget.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "redouble/core/base/hash/digest.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/utf8.h"
#include "redouble/core/gateway/budget_commands.h"
#include "redouble/core/gateway/errors.h"
#include "redouble/core/gateway/reservation.h"
#include "redouble/core/gateway/rust_float.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble::inline v0_1::gateway {
namespace {

// How often a settlement starts again because another client changed the reservation. Each retry
// means that another writer succeeded, so only a constant stream of writers can reach the limit.
constexpr int kMaxSettlementAttempts = 16;

absl::Status AsControlState(const absl::Status& status) {
  return status.ok() ? status : ControlStateUnavailable(status);
}

// The spend that a counter's text represents: 0 if it is missing or not a number.
absl::StatusOr<double> SpendOf(const std::optional<std::string>& text) {
  if (!text) return 0.0;
  if (!base::IsValidUtf8(*text)) {
    return absl::InvalidArgumentError("the value of a budget counter is not UTF-8");
  }
  return ParseFloat(*text).value_or(0.0);
}

// False if either side is NaN.
bool HasReached(double spend, std::optional<double> limit) { return limit && spend >= *limit; }

BudgetDecision Decide(double daily, double monthly, const BudgetLimits& limits) {
  BudgetDecision decision;
  decision.daily_spend_usd = daily;
  decision.monthly_spend_usd = monthly;
  if (HasReached(daily, limits.daily_usd) || HasReached(monthly, limits.monthly_usd)) {
    decision.outcome = BudgetDecision::Outcome::kExceeded;
  }
  return decision;
}

// A cost of 0 or less writes nothing. NaN passes, as in the original; Redis refuses it.
bool WritesNothing(double cost_usd) { return cost_usd <= 0; }

// As Rust's max(actual, 0.0) - amount, which is -amount for a NaN cost. Nullopt is a release.
double DeltaOf(std::optional<double> actual_usd, double amount_usd) {
  if (!actual_usd) return -amount_usd;
  return (*actual_usd > 0 ? *actual_usd : 0.0) - amount_usd;
}

}  // namespace

absl::StatusOr<ReservationWrite> BudgetStore::ReservationOf(const BudgetRequest& request,
                                                            double cost_usd, absl::Time now) const {
  std::string hashed;
  BudgetRequest stored = request;
  if (hardening_.hash_request_ids) {
    hashed = base::Sha256Hex(request.request_id);
    stored.request_id = hashed;
  }
  REDOUBLE_ASSIGN_OR_RETURN(std::string key, keys_.Reservation(stored));
  REDOUBLE_ASSIGN_OR_RETURN(BudgetCounterKeys counters, keys_.Counters(request.key_id, now));
  return ReservationWrite{std::move(key), std::move(counters), cost_usd};
}

base::Task<absl::StatusOr<double>> BudgetStore::ReadSpend(std::string_view counter_key) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::optional<std::string> text,
                               co_await store::Get(store_, counter_key));
  co_return SpendOf(text);
}

base::Task<absl::StatusOr<BudgetDecision>> BudgetStore::CheckBudget(std::string_view key_id,
                                                                    BudgetLimits limits,
                                                                    absl::Time now) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const BudgetCounterKeys counters, keys_.Counters(key_id, now));
  if (limits.unlimited()) co_return BudgetDecision();

  const absl::StatusOr<double> daily = co_await ReadSpend(counters.daily);
  if (!daily.ok()) co_return ControlStateUnavailable(daily.status());
  const absl::StatusOr<double> monthly = co_await ReadSpend(counters.monthly);
  if (!monthly.ok()) co_return ControlStateUnavailable(monthly.status());
  co_return Decide(*daily, *monthly, limits);
}

base::Task<absl::Status> BudgetStore::AddToCounter(std::string_view counter_key,
                                                   std::string_view cost, absl::Duration ttl) {
  const absl::StatusOr<std::string> sum = co_await store::IncrByFloat(store_, counter_key, cost);
  if (!sum.ok()) co_return ControlStateUnavailable(sum.status());
  const absl::StatusOr<bool> expires = co_await store::ExpireIn(store_, counter_key, ttl);
  co_return AsControlState(expires.status());
}

base::Task<absl::Status> BudgetStore::AddBudgetSpend(std::string_view key_id, double cost_usd,
                                                     absl::Time now) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const BudgetCounterKeys counters, keys_.Counters(key_id, now));
  if (WritesNothing(cost_usd)) co_return absl::OkStatus();

  const std::string cost = FormatFloatArgument(cost_usd);
  if (hardening_.atomic_spend) {
    store::Batch batch(store::Batch::Atomicity::kTransaction);
    const auto add = [&](std::string_view key, absl::Duration ttl) {
      batch.Add(store::CommandId::kIncrByFloat, {key, cost});
      batch.Add(store::CommandId::kExpire, {key}).AddInteger(absl::ToInt64Seconds(ttl));
    };
    add(counters.daily, DailyBudgetTtl());
    add(counters.monthly, MonthlyBudgetTtl());
    const auto replies = co_await store::Execute(store_, batch);
    if (!replies.ok()) co_return ControlStateUnavailable(replies.status());
    co_return AsControlState(store::FirstError(*replies));
  }
  REDOUBLE_CO_RETURN_IF_ERROR(co_await AddToCounter(counters.daily, cost, DailyBudgetTtl()));
  co_return co_await AddToCounter(counters.monthly, cost, MonthlyBudgetTtl());
}

base::Task<absl::Status> BudgetStore::ReserveBudget(BudgetRequest request, double cost_usd,
                                                    absl::Time now) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const ReservationWrite write, ReservationOf(request, cost_usd, now));
  if (WritesNothing(cost_usd)) co_return absl::OkStatus();
  co_return AsControlState(co_await ReserveByTransaction(store_, write));
}

base::Task<absl::StatusOr<BudgetDecision>> BudgetStore::CheckAndReserveBudget(BudgetRequest request,
                                                                              BudgetLimits limits,
                                                                              double cost_usd,
                                                                              absl::Time now) {
  const bool one_step = hardening_.atomic_check_and_reserve && !limits.unlimited();
  if (!one_step || WritesNothing(cost_usd)) {
    const absl::StatusOr<BudgetDecision> decision =
        co_await CheckBudget(request.key_id, limits, now);
    if (!decision.ok() || decision->outcome == BudgetDecision::Outcome::kExceeded) {
      co_return decision;
    }
    REDOUBLE_CO_RETURN_IF_ERROR(co_await ReserveBudget(request, cost_usd, now));
    co_return decision;
  }

  REDOUBLE_CO_ASSIGN_OR_RETURN(const ReservationWrite write, ReservationOf(request, cost_usd, now));
  const absl::StatusOr<CheckedSpend> spend =
      co_await CheckAndReserveByScript(store_, write, limits);
  if (!spend.ok()) co_return ControlStateUnavailable(spend.status());
  const absl::StatusOr<double> daily = SpendOf(spend->daily);
  if (!daily.ok()) co_return ControlStateUnavailable(daily.status());
  const absl::StatusOr<double> monthly = SpendOf(spend->monthly);
  if (!monthly.ok()) co_return ControlStateUnavailable(monthly.status());
  BudgetDecision decision = Decide(*daily, *monthly, limits);
  decision.outcome =
      spend->exceeded ? BudgetDecision::Outcome::kExceeded : BudgetDecision::Outcome::kAllowed;
  co_return decision;
}

base::Task<absl::Status> BudgetStore::ReconcileBudgetReservation(BudgetRequest request,
                                                                 double actual_usd,
                                                                 absl::Time now) {
  return Settle(request, actual_usd, now);
}

base::Task<absl::Status> BudgetStore::ReleaseBudgetReservation(BudgetRequest request,
                                                               absl::Time now) {
  return Settle(request, std::nullopt, now);
}

// `actual_usd` is nullopt for a release.
base::Task<absl::Status> BudgetStore::Settle(BudgetRequest request,
                                             std::optional<double> actual_usd, absl::Time now) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const ReservationWrite current, ReservationOf(request, 0, now));
  SettlementWrite write;
  write.key = current.key;
  write.keys = keys_;
  write.heal_counter_ttl = hardening_.heal_counter_ttl;
  write.leave_mark = hardening_.idempotent_settlement && actual_usd.has_value();

  for (int attempt = 0; attempt < kMaxSettlementAttempts; ++attempt) {
    absl::StatusOr<std::optional<std::string>> value = co_await store::Get(store_, write.key);
    if (!value.ok()) co_return ControlStateUnavailable(value.status());
    write.seen = *std::move(value);
    if (hardening_.idempotent_settlement && write.seen == kSettledMark) {
      co_return absl::OkStatus();
    }
    absl::StatusOr<Reservation> reservation = DecodeReservation(write.seen, current.counters);
    if (!reservation.ok()) co_return ControlStateUnavailable(reservation.status());
    if (!keys_.SettleTogether(write.key, reservation->counters)) {
      *reservation = Reservation{0, current.counters};
    }
    write.counters = std::move(reservation->counters);
    write.delta_usd = DeltaOf(actual_usd, reservation->amount_usd);

    if (!hardening_.idempotent_settlement) {
      co_return AsControlState(co_await SettleByTransaction(store_, write));
    }
    const absl::StatusOr<bool> applied = co_await SettleByScript(store_, write);
    if (!applied.ok()) co_return ControlStateUnavailable(applied.status());
    if (*applied) co_return absl::OkStatus();
  }
  co_return ControlStateUnavailable(
      absl::AbortedError("the reservation kept changing while it was settled"));
}

base::Task<absl::StatusOr<BudgetStore::Sweep>> BudgetStore::SweepReservations(absl::Duration age) {
  store::ScanOptions scan;
  scan.match = keys_.ReservationPattern();
  absl::StatusOr<std::vector<std::string>> keys = co_await store::ScanAll(store_, scan);
  if (!keys.ok()) co_return ControlStateUnavailable(keys.status());
  std::sort(keys->begin(), keys->end());
  Sweep sweep;
  for (const std::string& key : *keys) {
    if (!keys_.IsReservation(key)) continue;
    const absl::Status swept = co_await SweepOne(key, age, sweep);
    if (!swept.ok()) co_return ControlStateUnavailable(swept);
  }
  co_return sweep;
}

// Releases one reservation if it is old enough. Errors are those of the store.
base::Task<absl::Status> BudgetStore::SweepOne(const std::string& key, absl::Duration age,
                                               Sweep& sweep) {
  store::Batch batch(store::Batch::Atomicity::kPipeline);
  batch.Add(store::CommandId::kGet, {key});
  batch.Add(store::CommandId::kPTtl, {key});
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<store::Reply> replies,
                               co_await store::Execute(store_, batch));
  // A value that is not a string is no reservation.
  if (!replies[0].is_bulk()) co_return absl::OkStatus();
  REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t left_ms, store::DecodeInteger(replies[1]));
  ++sweep.seen;
  const bool expires = left_ms >= 0;
  if (expires && ReservationTtl() - absl::Milliseconds(left_ms) < age) co_return absl::OkStatus();
  const absl::StatusOr<Reservation> reservation = DecodeReservation(replies[0].text(), {});
  // A value that does not name the counters that it was charged to is left to expire.
  if (!reservation.ok() || reservation->amount_usd == 0 || reservation->counters.daily.empty() ||
      !keys_.SettleTogether(key, reservation->counters)) {
    co_return absl::OkStatus();
  }
  SettlementWrite write;
  write.key = key;
  write.keys = keys_;
  write.seen = replies[0].text();
  write.counters = reservation->counters;
  write.delta_usd = -reservation->amount_usd;
  write.heal_counter_ttl = hardening_.heal_counter_ttl;
  REDOUBLE_CO_ASSIGN_OR_RETURN(const bool released, co_await SettleByScript(store_, write));
  if (!released) co_return absl::OkStatus();
  ++sweep.released;
  sweep.released_usd += reservation->amount_usd;
  co_return absl::OkStatus();
}

}  // namespace redouble::inline v0_1::gateway
