#include "redouble/core/gateway/app/spend.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/utf8.h"
#include "redouble/core/gateway/errors.h"
#include "redouble/core/gateway/keys.h"
#include "redouble/core/gateway/rust_float.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/decode.h"

namespace redouble::inline v0_1::gateway {
namespace {

using store::Batch;
using store::CommandId;
using store::Reply;

SpendCounter CounterOf(std::string key, const Reply& value, const Reply& ttl_ms) {
  SpendCounter counter;
  counter.key = std::move(key);
  if (value.is_bulk()) counter.text = value.text();
  const bool is_text = counter.text && base::IsValidUtf8(*counter.text);
  const std::optional<double> number = is_text ? ParseFloat(*counter.text) : std::nullopt;
  counter.is_number = number.has_value();
  counter.usd = number.value_or(0);
  if (ttl_ms.is_integer() && ttl_ms.integer() >= 0) {
    counter.ttl = absl::Milliseconds(ttl_ms.integer());
  }
  return counter;
}

absl::Status CheckFinite(double amount) {
  if (std::isfinite(amount)) return absl::OkStatus();
  return absl::InvalidArgumentError("an amount of spend must be finite");
}

// Sends a transaction. The first error is the result; the other commands have taken effect.
base::Task<absl::Status> Send(store::Store& store, const Batch& batch) {
  const auto replies = co_await store::Execute(store, batch);
  if (!replies.ok()) co_return ControlStateUnavailable(replies.status());
  const absl::Status failed = store::FirstError(*replies);
  co_return failed.ok() ? failed : ControlStateUnavailable(failed);
}

}  // namespace

base::Task<absl::StatusOr<KeySpend>> ReadKeySpend(store::Store& store, std::string_view key_id,
                                                  absl::Time now, Keys keys) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const BudgetCounterKeys counters, keys.Counters(key_id, now));
  Batch batch(Batch::Atomicity::kPipeline);
  for (const std::string* key : {&counters.daily, &counters.monthly}) {
    batch.Add(CommandId::kGet, {*key});
    batch.Add(CommandId::kPTtl, {*key});
  }
  const absl::StatusOr<std::vector<Reply>> replies = co_await store::Execute(store, batch);
  if (!replies.ok()) co_return ControlStateUnavailable(replies.status());
  KeySpend spend;
  spend.daily = CounterOf(counters.daily, (*replies)[0], (*replies)[1]);
  spend.monthly = CounterOf(counters.monthly, (*replies)[2], (*replies)[3]);
  co_return std::move(spend);
}

base::Task<absl::Status> AdjustKeySpend(store::Store& store, std::string_view key_id,
                                        double delta_usd, absl::Time now, Keys keys) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const BudgetCounterKeys counters, keys.Counters(key_id, now));
  REDOUBLE_CO_RETURN_IF_ERROR(CheckFinite(delta_usd));
  const std::string delta = FormatFloatArgument(delta_usd);
  Batch batch(Batch::Atomicity::kTransaction);
  batch.Add(CommandId::kIncrByFloat, {counters.daily, delta});
  batch.Add(CommandId::kExpire, {counters.daily})
      .AddInteger(absl::ToInt64Seconds(DailyBudgetTtl()));
  batch.Add(CommandId::kIncrByFloat, {counters.monthly, delta});
  batch.Add(CommandId::kExpire, {counters.monthly})
      .AddInteger(absl::ToInt64Seconds(MonthlyBudgetTtl()));
  co_return co_await Send(store, batch);
}

base::Task<absl::Status> SetKeySpend(store::Store& store, std::string_view key_id,
                                     SpendAmounts amounts, absl::Time now, Keys keys) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const BudgetCounterKeys counters, keys.Counters(key_id, now));
  REDOUBLE_CO_RETURN_IF_ERROR(CheckFinite(amounts.daily_usd));
  REDOUBLE_CO_RETURN_IF_ERROR(CheckFinite(amounts.monthly_usd));
  const std::string daily = FormatFloatArgument(std::max(amounts.daily_usd, 0.0));
  const std::string monthly = FormatFloatArgument(std::max(amounts.monthly_usd, 0.0));
  Batch batch(Batch::Atomicity::kTransaction);
  batch.Add(CommandId::kSet, {counters.daily, daily});
  batch.Add(CommandId::kExpire, {counters.daily})
      .AddInteger(absl::ToInt64Seconds(DailyBudgetTtl()));
  batch.Add(CommandId::kSet, {counters.monthly, monthly});
  batch.Add(CommandId::kExpire, {counters.monthly})
      .AddInteger(absl::ToInt64Seconds(MonthlyBudgetTtl()));
  co_return co_await Send(store, batch);
}

}  // namespace redouble::inline v0_1::gateway
