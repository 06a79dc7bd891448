#include "core/gateway/budget_commands.h"

#include <array>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/utf8.h"
#include "core/gateway/reservation.h"
#include "core/gateway/rust_float.h"
#include "core/store/batch.h"
#include "core/store/decode.h"
#include "core/store/errors.h"
#include "core/store/script.h"

namespace redouble::gateway {
namespace {

using store::Batch;
using store::CommandId;
using store::Reply;

std::string SecondsText(absl::Duration duration) {
  return absl::StrCat(absl::ToInt64Seconds(duration));
}

// The first error among the replies; all values are discarded.
absl::Status OutcomeOf(const absl::StatusOr<std::vector<Reply>>& replies) {
  return replies.ok() ? store::FirstError(*replies) : replies.status();
}

// Like the transaction, the script does all its writes even when one of them fails, and then
// answers with the first error.
//
// KEYS: daily counter, monthly counter, reservation.
// ARGV: daily limit, monthly limit (empty: none), the reservation's value, the cost, the TTLs of
// daily counter, monthly counter and reservation in seconds, and "1" when values with bytes beyond
// ASCII are known to be text.
// Answers {verdict, daily, monthly}: 1 reserved, 0 exceeded, -1 a value may not be text.
constexpr std::string_view kCheckAndReserve = R"lua(
local function number(text)
  if not text then return 0 end
  local sign, body = string.match(string.lower(text), '^([+-]?)(.*)$')
  local value = 0
  if body == 'inf' or body == 'infinity' then
    value = math.huge
  elseif body == 'nan' then
    value = 0 / 0
  else
    local mantissa = string.match(body, '^([%d.]+)$') or string.match(body, '^([%d.]+)e[+-]?%d+$')
    if mantissa and (string.find(mantissa, '^%d+%.?%d*$') or string.find(mantissa, '^%.%d+$')) then
      value = tonumber(body)
    end
  end
  if sign == '-' then return -value end
  return value
end

local function reached(spend, limit)
  return limit ~= '' and number(spend) >= number(limit)
end

local daily = redis.call('GET', KEYS[1])
local monthly = redis.call('GET', KEYS[2])
if ARGV[8] ~= '1' and string.find((daily or '') .. (monthly or ''), '[\128-\255]') then
  return {-1, daily, monthly}
end
if reached(daily, ARGV[1]) or reached(monthly, ARGV[2]) then
  return {0, daily, monthly}
end
local failure
redis.call('SET', KEYS[3], ARGV[3], 'EX', ARGV[7])
for i = 1, 2 do
  local reply = redis.pcall('INCRBYFLOAT', KEYS[i], ARGV[4])
  if type(reply) == 'table' and reply.err then failure = failure or reply.err end
  redis.call('EXPIRE', KEYS[i], ARGV[4 + i])
end
if failure then return redis.error_reply(failure) end
return {1, daily, monthly}
)lua";

// KEYS: reservation, daily counter, monthly counter.
// ARGV: "1" when there was a reservation, what it was, what to add to the counters, the mark to
// leave (empty: none) and its TTL in seconds, the TTLs to heal of the daily and the monthly counter
// in seconds (empty: none).
// Answers 1 when it settled, 0 when the reservation was not as seen.
constexpr std::string_view kSettle = R"lua(
local seen = ARGV[1] == '1' and ARGV[2]
if redis.call('GET', KEYS[1]) ~= seen then return 0 end
local failure
for i = 1, 2 do
  local reply = redis.pcall('INCRBYFLOAT', KEYS[i + 1], ARGV[3])
  if type(reply) == 'table' and reply.err then failure = failure or reply.err end
  if ARGV[i + 5] ~= '' then redis.call('EXPIRE', KEYS[i + 1], ARGV[i + 5], 'NX') end
end
if ARGV[4] == '' then
  redis.call('DEL', KEYS[1])
else
  redis.call('SET', KEYS[1], ARGV[4], 'EX', ARGV[5])
end
if failure then return redis.error_reply(failure) end
return 1
)lua";

const store::Script& CheckAndReserveScript() {
  static const store::Script& script = *new store::Script(std::string(kCheckAndReserve));
  return script;
}

const store::Script& SettleScript() {
  static const store::Script& script = *new store::Script(std::string(kSettle));
  return script;
}

std::string LimitText(std::optional<double> limit) {
  return limit ? FormatFloatArgument(*limit) : std::string();
}

std::string HealingTtlText(const SettlementWrite& write, std::string_view counter_key) {
  const std::optional<absl::Duration> ttl = CounterTtl(counter_key);
  return write.heal_counter_ttl && ttl ? SecondsText(*ttl) : std::string();
}

// Gives a counter that has no TTL the one of its family.
void AddHealing(const BudgetCounterKeys& counters, Batch& batch) {
  for (const std::string* counter : {&counters.daily, &counters.monthly}) {
    const std::optional<absl::Duration> ttl = CounterTtl(*counter);
    if (!ttl) continue;
    batch.Add(CommandId::kExpire, {*counter}).AddInteger(absl::ToInt64Seconds(*ttl)).Add("NX");
  }
}

bool IsText(const std::optional<std::string>& value) { return !value || base::IsValidUtf8(*value); }

std::optional<std::string> TextOf(const Reply& reply) {
  return reply.is_bulk() ? std::optional<std::string>(reply.text()) : std::nullopt;
}

// What the script answered: {verdict, daily, monthly}.
struct ScriptVerdict {
  int64_t verdict = 0;
  CheckedSpend spend;
};
absl::StatusOr<ScriptVerdict> DecodeVerdict(absl::StatusOr<Reply> reply) {
  absl::StatusOr<std::vector<Reply>> parts = store::DecodeArray(std::move(reply));
  if (!parts.ok()) return parts.status();
  // Redis cuts a table at its first nil, never here: a missing value is `false`, which is sent.
  if (parts->size() != 3 || !(*parts)[0].is_integer()) {
    return store::ProtocolError("the script that checks a budget answered something else");
  }
  ScriptVerdict result;
  result.verdict = (*parts)[0].integer();
  result.spend.exceeded = result.verdict == 0;
  result.spend.daily = TextOf((*parts)[1]);
  result.spend.monthly = TextOf((*parts)[2]);
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
    const absl::StatusOr<ScriptVerdict> result =
        DecodeVerdict(co_await CheckAndReserveScript().Run(store, keys, arguments));
    if (!result.ok()) co_return result.status();
    if (result->verdict >= 0) co_return result->spend;
    if (!IsText(result->spend.daily) || !IsText(result->spend.monthly)) {
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
  if (write.heal_counter_ttl) AddHealing(write.counters, batch);
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

}  // namespace redouble::gateway
