#include "redouble/core/gateway/budget_commands.h"

#include <array>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/utf8.h"
#include "redouble/core/gateway/reservation.h"
#include "redouble/core/gateway/rust_float.h"
#include "redouble/core/gateway/scripts/script_texts.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/script.h"

namespace redouble::inline v0_1::gateway {
namespace {

using store::Batch;
using store::CommandId;
using store::Reply;

std::string SecondsText(absl::Duration duration) {
  return absl::StrCat(absl::ToInt64Seconds(duration));
}

// The first error among the replies; the values are not used.
absl::Status OutcomeOf(const absl::StatusOr<std::vector<Reply>>& replies) {
  return replies.ok() ? store::FirstError(*replies) : replies.status();
}

// check_and_reserve.lua. Like the transaction, the script performs all of its writes even if one of
// them fails, and then returns the first error.
//
// KEYS: daily counter, monthly counter, reservation.
// ARGV: daily limit and monthly limit (empty: no limit), the value of the reservation, the cost,
// the TTLs of daily counter, monthly counter and reservation in seconds, and "1" if values with
// bytes above 127 are known to be UTF-8. Reply: {verdict, daily, monthly}. The verdict is 1 if
// reserved, 0 if a limit is reached, and -1 if a counter may not be UTF-8; with -1 and 0 nothing
// was written.
const store::Script& CheckAndReserveScript() {
  static const store::Script& script = *new store::Script(std::string(kCheckAndReserveText));
  return script;
}

// settle.lua.
//
// KEYS: reservation, daily counter, monthly counter.
// ARGV: "1" if there was a reservation, its value, the amount to add to the counters, the mark to
// leave (empty: delete the reservation) and its TTL in seconds, and the TTLs that the daily and the
// monthly counter get if they have none, in seconds (empty: leave the counter as it is).
// Reply: 1 if the script settled, 0 if the reservation has another value.
const store::Script& SettleScript() {
  static const store::Script& script = *new store::Script(std::string(kSettleText));
  return script;
}

std::string LimitText(std::optional<double> limit) {
  return limit ? FormatFloatArgument(*limit) : std::string();
}

std::string HealingTtlText(const SettlementWrite& write, std::string_view counter_key) {
  const std::optional<absl::Duration> ttl = write.keys.CounterTtl(counter_key);
  return write.heal_counter_ttl && ttl ? SecondsText(*ttl) : std::string();
}

// Sets the TTL of its family for each counter that has no TTL.
void AddHealing(const SettlementWrite& write, Batch& batch) {
  for (const std::string* counter : {&write.counters.daily, &write.counters.monthly}) {
    const std::optional<absl::Duration> ttl = write.keys.CounterTtl(*counter);
    if (!ttl) continue;
    batch.Add(CommandId::kExpire, {*counter}).AddInteger(absl::ToInt64Seconds(*ttl)).Add("NX");
  }
}

bool IsText(const std::optional<std::string>& value) { return !value || base::IsValidUtf8(*value); }

std::optional<std::string> TextOf(const Reply& reply) {
  return reply.is_bulk() ? std::optional<std::string>(reply.text()) : std::nullopt;
}

// The decoded reply of check_and_reserve.lua.
struct ScriptVerdict {
  int64_t verdict = 0;
  CheckedSpend spend;
};
absl::StatusOr<ScriptVerdict> DecodeVerdict(absl::StatusOr<Reply> reply) {
  REDOUBLE_ASSIGN_OR_RETURN(std::vector<Reply> parts, store::DecodeArray(std::move(reply)));
  // Redis truncates a table at its first nil. A missing counter is `false`, which becomes nil.
  if (parts.size() != 3 || !parts[0].is_integer()) {
    return store::ProtocolError("the script that checks a budget answered something else");
  }
  ScriptVerdict result;
  result.verdict = parts[0].integer();
  result.spend.exceeded = result.verdict == 0;
  result.spend.daily = TextOf(parts[1]);
  result.spend.monthly = TextOf(parts[2]);
  return result;
}

}  // namespace

base::Task<absl::Status> ReserveByTransaction(store::Store& store, const ReservationWrite& write) {
  const std::string value = EncodeReservation({write.cost_usd, write.counters});
  const std::string cost = FormatFloatArgument(write.cost_usd);
  const auto& [daily, monthly] = write.counters;
  Batch batch(Batch::Atomicity::kTransaction);
  batch.Add(CommandId::kSet, {write.key, value, "EX"})
      .AddInteger(absl::ToInt64Seconds(ReservationTtl()));
  batch.Add(CommandId::kIncrByFloat, {daily, cost});
  batch.Add(CommandId::kExpire, {daily}).AddInteger(absl::ToInt64Seconds(DailyBudgetTtl()));
  batch.Add(CommandId::kIncrByFloat, {monthly, cost});
  batch.Add(CommandId::kExpire, {monthly}).AddInteger(absl::ToInt64Seconds(MonthlyBudgetTtl()));
  co_return OutcomeOf(co_await store::Execute(store, batch));
}

base::Task<absl::StatusOr<CheckedSpend>> CheckAndReserveByScript(store::Store& store,
                                                                 const ReservationWrite& write,
                                                                 const BudgetLimits& limits) {
  const std::array<std::string_view, 3> keys = {write.counters.daily, write.counters.monthly,
                                                write.key};
  const std::string value = EncodeReservation({write.cost_usd, write.counters});
  const std::array<std::string, 7> texts = {LimitText(limits.daily_usd),
                                            LimitText(limits.monthly_usd),
                                            value,
                                            FormatFloatArgument(write.cost_usd),
                                            SecondsText(DailyBudgetTtl()),
                                            SecondsText(MonthlyBudgetTtl()),
                                            SecondsText(ReservationTtl())};
  std::vector<std::string_view> arguments(texts.begin(), texts.end());
  for (const std::string_view known_to_be_text : {"0", "1"}) {
    arguments.resize(texts.size());
    arguments.push_back(known_to_be_text);
    REDOUBLE_CO_ASSIGN_OR_RETURN(
        const ScriptVerdict result,
        DecodeVerdict(co_await CheckAndReserveScript().Run(store, keys, arguments)));
    if (result.verdict >= 0) co_return result.spend;
    if (!IsText(result.spend.daily) || !IsText(result.spend.monthly)) {
      co_return absl::InvalidArgumentError("the value of a budget counter is not UTF-8");
    }
  }
  co_return store::ProtocolError("the script that checks a budget asked twice for the same");
}

base::Task<absl::Status> SettleByTransaction(store::Store& store, const SettlementWrite& write) {
  const std::string delta = FormatFloatArgument(write.delta_usd);
  Batch batch(Batch::Atomicity::kTransaction);
  for (const std::string* counter : {&write.counters.daily, &write.counters.monthly}) {
    batch.Add(CommandId::kIncrByFloat, {*counter, delta});
  }
  batch.Add(CommandId::kDel, {write.key});
  if (write.heal_counter_ttl) AddHealing(write, batch);
  co_return OutcomeOf(co_await store::Execute(store, batch));
}

base::Task<absl::StatusOr<bool>> SettleByScript(store::Store& store, const SettlementWrite& write) {
  const std::array<std::string_view, 3> keys = {write.key, write.counters.daily,
                                                write.counters.monthly};
  const std::array<std::string, 7> texts = {write.seen ? "1" : "0",
                                            write.seen.value_or(std::string()),
                                            FormatFloatArgument(write.delta_usd),
                                            std::string(write.leave_mark ? kSettledMark : ""),
                                            SecondsText(ReservationTtl()),
                                            HealingTtlText(write, write.counters.daily),
                                            HealingTtlText(write, write.counters.monthly)};
  const std::vector<std::string_view> arguments(texts.begin(), texts.end());
  co_return store::DecodeBool(co_await SettleScript().Run(store, keys, arguments));
}

}  // namespace redouble::inline v0_1::gateway
