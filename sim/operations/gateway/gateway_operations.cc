#include "redouble/sim/operations/gateway/gateway_operations.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/gateway/admission.h"
#include "redouble/core/gateway/app/admission.h"
#include "redouble/core/gateway/app/settings.h"
#include "redouble/core/gateway/budget.h"
#include "redouble/core/gateway/errors.h"
#include "redouble/core/gateway/rate_limiter.h"
#include "redouble/core/gateway/readiness.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/store.h"
#include "redouble/core/store/wrappers/intercepting_store.h"
#include "redouble/sim/json/json_double.h"
#include "redouble/sim/operations/arguments.h"

namespace redouble::inline v0_1::scenarios {
namespace {

using gateway::AdmissionControl;
using gateway::BudgetDecision;
using gateway::BudgetLimits;
using gateway::BudgetRequest;
using gateway::BudgetStore;
using gateway::Hardening;
using gateway::RateLimitDecision;
using sim::ArgumentReader;
using sim::Json;
using sim::OperationContext;
using sim::OperationResult;

std::optional<int32_t> ReadRateLimit(ArgumentReader& reader, std::string_view name) {
  const std::optional<int64_t> limit = reader.OptionalInteger(name);
  if (!limit) return std::nullopt;
  if (*limit < std::numeric_limits<int32_t>::min() ||
      *limit > std::numeric_limits<int32_t>::max()) {
    reader.Refuse(name, "does not fit 32 bits");
  }
  return static_cast<int32_t>(*limit);
}

BudgetLimits ReadBudgetLimits(ArgumentReader& reader) {
  BudgetLimits limits;
  limits.daily_usd = reader.OptionalDouble("daily_budget_usd");
  limits.monthly_usd = reader.OptionalDouble("monthly_budget_usd");
  return limits;
}

Hardening ReadHardening(ArgumentReader& reader) {
  Hardening hardening;
  hardening.heal_counter_ttl = reader.BoolOr("heal_counter_ttl", false);
  hardening.idempotent_settlement = reader.BoolOr("idempotent_settlement", false);
  hardening.atomic_check_and_reserve = reader.BoolOr("atomic_check_and_reserve", false);
  hardening.atomic_spend = reader.BoolOr("atomic_spend", false);
  return hardening;
}

// Owns the texts that a BudgetRequest views.
struct RequestNames {
  std::string key_id;
  std::string request_id;

  BudgetRequest view() const { return {key_id, request_id}; }
};

RequestNames ReadRequest(ArgumentReader& reader) {
  RequestNames names;
  names.key_id = reader.String("key_id");
  names.request_id = reader.String("request_id");
  return names;
}

OperationResult OkOr(const absl::Status& status) {
  REDOUBLE_RETURN_IF_ERROR(status);
  return Json("ok");
}

Json ToJson(const RateLimitDecision& decision) {
  const bool allowed = decision.outcome == RateLimitDecision::Outcome::kAllowed;
  Json json = {{"decision", allowed ? "Allowed" : "Exceeded"}, {"count", decision.count}};
  if (decision.retry_after_seconds) json["retry_after_seconds"] = *decision.retry_after_seconds;
  return json;
}

Json ToJson(const BudgetDecision& decision) {
  const bool allowed = decision.outcome == BudgetDecision::Outcome::kAllowed;
  return {{"decision", allowed ? "Allowed" : "Exceeded"},
          {"daily_spend_usd", sim::JsonDouble(decision.daily_spend_usd)},
          {"monthly_spend_usd", sim::JsonDouble(decision.monthly_spend_usd)}};
}

Json ToJson(const gateway::AdmissionDecision& decision) {
  const std::optional<gateway::Refusal> refusal = decision.refusal();
  if (!refusal) return {{"decision", "Admitted"}, {"reserved", decision.reserved}};
  Json json = {
      {"decision", "Refused"}, {"http_status", refusal->http_status}, {"code", refusal->code}};
  if (refusal->retry_after_seconds) json["retry_after_seconds"] = *refusal->retry_after_seconds;
  return json;
}

std::string_view NameOf(gateway::SettlementReport::Action action) {
  using Action = gateway::SettlementReport::Action;
  switch (action) {
    case Action::kNothing:
      return "Nothing";
    case Action::kReconciled:
      return "Reconciled";
    case Action::kSpendAdded:
      return "SpendAdded";
    case Action::kReleased:
      return "Released";
  }
  return "";
}

// Sends the commands of a transaction one after the other, as a port of the gateway may do.
class TransactionSplitter final : public store::InterceptingStore {
 public:
  using InterceptingStore::InterceptingStore;

 private:
  bool Intercepts(const store::Request& request) override {
    return request.kind() == store::Request::Kind::kTransaction;
  }

  base::Task<absl::StatusOr<store::Reply>> Intercept(const store::Request& request) override {
    std::vector<store::Reply> replies;
    for (const store::Command& command : request.commands()) {
      REDOUBLE_CO_ASSIGN_OR_RETURN(store::Reply reply, co_await inner().Execute(command));
      replies.push_back(std::move(reply));
    }
    co_return store::Reply::Array(std::move(replies));
  }
};

base::Task<OperationResult> CheckRequestRateLimit(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const std::string key_id = reader.String("key_id");
  const std::optional<int32_t> limit = ReadRateLimit(reader, "limit");
  const absl::Time now = reader.TimeOr("now", context.clock.Now());
  const bool one_transaction = reader.BoolOr("one_transaction", true);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  TransactionSplitter splitter(context.store);
  gateway::RateLimiter limiter(one_transaction ? context.store : splitter);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const RateLimitDecision decision,
                               co_await limiter.CheckRequestRateLimit(key_id, limit, now));
  co_return ToJson(decision);
}

base::Task<OperationResult> CheckBudget(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const std::string key_id = reader.String("key_id");
  const BudgetLimits limits = ReadBudgetLimits(reader);
  const absl::Time now = reader.TimeOr("now", context.clock.Now());
  BudgetStore budgets(context.store, ReadHardening(reader));
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  REDOUBLE_CO_ASSIGN_OR_RETURN(const BudgetDecision decision,
                               co_await budgets.CheckBudget(key_id, limits, now));
  co_return ToJson(decision);
}

base::Task<OperationResult> AddBudgetSpend(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const std::string key_id = reader.String("key_id");
  const double cost_usd = reader.Double("estimated_cost_usd");
  const absl::Time now = reader.TimeOr("now", context.clock.Now());
  BudgetStore budgets(context.store, ReadHardening(reader));
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  co_return OkOr(co_await budgets.AddBudgetSpend(key_id, cost_usd, now));
}

base::Task<OperationResult> ReserveBudget(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const RequestNames names = ReadRequest(reader);
  const double cost_usd = reader.Double("estimated_cost_usd");
  const absl::Time now = reader.TimeOr("now", context.clock.Now());
  BudgetStore budgets(context.store, ReadHardening(reader));
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  co_return OkOr(co_await budgets.ReserveBudget(names.view(), cost_usd, now));
}

base::Task<OperationResult> CheckAndReserveBudget(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const RequestNames names = ReadRequest(reader);
  const BudgetLimits limits = ReadBudgetLimits(reader);
  const double cost_usd = reader.Double("estimated_cost_usd");
  const absl::Time now = reader.TimeOr("now", context.clock.Now());
  BudgetStore budgets(context.store, ReadHardening(reader));
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  REDOUBLE_CO_ASSIGN_OR_RETURN(
      const BudgetDecision decision,
      co_await budgets.CheckAndReserveBudget(names.view(), limits, cost_usd, now));
  co_return ToJson(decision);
}

base::Task<OperationResult> Reconcile(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const RequestNames names = ReadRequest(reader);
  const double actual_usd = reader.Double("actual_cost_usd");
  const absl::Time now = reader.TimeOr("now", context.clock.Now());
  BudgetStore budgets(context.store, ReadHardening(reader));
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  co_return OkOr(co_await budgets.ReconcileBudgetReservation(names.view(), actual_usd, now));
}

base::Task<OperationResult> Release(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const RequestNames names = ReadRequest(reader);
  const absl::Time now = reader.TimeOr("now", context.clock.Now());
  BudgetStore budgets(context.store, ReadHardening(reader));
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  co_return OkOr(co_await budgets.ReleaseBudgetReservation(names.view(), now));
}

base::Task<OperationResult> SweepReservations(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const absl::Duration age = absl::Seconds(reader.Integer("age_s"));
  BudgetStore budgets(context.store, ReadHardening(reader));
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  REDOUBLE_CO_ASSIGN_OR_RETURN(const BudgetStore::Sweep sweep,
                               co_await budgets.SweepReservations(age));
  co_return Json{{"seen", sweep.seen},
                 {"released", sweep.released},
                 {"released_usd", sim::JsonDouble(sweep.released_usd)}};
}

base::Task<OperationResult> SweepLoop(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  gateway::AdmissionSettings settings;
  settings.abandoned_after = absl::Seconds(reader.Integer("abandoned_after"));
  const std::optional<int64_t> interval = reader.OptionalInteger("sweep_interval");
  if (interval) settings.sweep_interval = absl::Seconds(*interval);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto admission,
                               gateway::Admission::Create(context.store, context.clock, settings));
  co_await admission->SweepLoop();
  co_return Json("ok");
}

base::Task<OperationResult> Readyz(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const bool postgres_ready = reader.BoolOr("postgres_ready", true);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  const absl::Status postgres =
      postgres_ready ? absl::OkStatus() : absl::UnavailableError("PostgreSQL is not ready");
  const absl::Status redis = co_await gateway::ProbeControlState(context.store);
  const gateway::ReadinessResponse response = gateway::Readiness(postgres, redis);
  Json json = {{"http_status", response.http_status}};
  json.update(Json::parse(response.body));
  co_return json;
}

base::Task<OperationResult> Admit(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const RequestNames names = ReadRequest(reader);
  gateway::AdmissionRequest request;
  request.request = names.view();
  request.rpm_limit = ReadRateLimit(reader, "rpm_limit");
  request.budget = ReadBudgetLimits(reader);
  request.estimated_cost_usd = reader.OptionalDouble("estimated_cost_usd");
  request.now = reader.TimeOr("now", context.clock.Now());
  AdmissionControl admission(context.store, ReadHardening(reader));
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  REDOUBLE_CO_ASSIGN_OR_RETURN(const gateway::AdmissionDecision decision,
                               co_await admission.Admit(request));
  co_return ToJson(decision);
}

base::Task<OperationResult> Settle(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const RequestNames names = ReadRequest(reader);
  gateway::Settlement settlement;
  settlement.request = names.view();
  settlement.reserved = reader.Bool("reserved");
  settlement.completed = reader.BoolOr("completed", true);
  settlement.final_cost_usd = reader.OptionalDouble("final_cost_usd");
  settlement.now = reader.TimeOr("now", context.clock.Now());
  AdmissionControl admission(context.store, ReadHardening(reader));
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  const gateway::SettlementReport report = co_await admission.Settle(settlement);
  Json json = {{"action", NameOf(report.action)}};
  if (report.status.ok()) co_return json;
  const std::optional<Json> error = GatewayErrorResult(report.status);
  if (!error) co_return report.status;
  json.update(*error);
  co_return json;
}

}  // namespace

sim::OperationTable GatewayOperations() {
  sim::OperationTable table;
  table.Add("check_request_rate_limit", CheckRequestRateLimit);
  table.Add("check_budget", CheckBudget);
  table.Add("add_budget_spend", AddBudgetSpend);
  table.Add("reserve_budget", ReserveBudget);
  table.Add("check_and_reserve_budget", CheckAndReserveBudget);
  table.Add("reconcile_budget_reservation", Reconcile);
  table.Add("release_budget_reservation", Release);
  table.Add("sweep_reservations", SweepReservations);
  table.Add("sweep_loop", SweepLoop);
  table.Add("readyz", Readyz);
  table.Add("admit", Admit);
  table.Add("settle", Settle);
  return table;
}

std::optional<Json> GatewayErrorResult(const absl::Status& status) {
  if (!gateway::IsControlStateUnavailable(status)) return std::nullopt;
  return Json{{"error", "ControlStateUnavailable"}};
}

}  // namespace redouble::inline v0_1::scenarios
