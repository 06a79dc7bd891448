#include "redouble/sim/storm/gateway/gateway_storm.h"

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/hash/digest.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/gateway/app/admission.h"
#include "redouble/core/gateway/keys.h"
#include "redouble/core/gateway/rust_float.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/sim/storm/gateway/gateway_ledger.h"

namespace redouble::inline v0_1::sim {
namespace {

enum Role : size_t { kGateway, kCloser, kOperator, kSweeper };
enum PromiseIndex : size_t { kChargedOnce, kAgree, kExpires, kWithinBudget, kWithinRate };

// A virtual key and its policy. Amounts are multiples of a quarter, so that sums are exact.
struct Policy {
  std::string_view key_id;
  std::optional<double> daily_usd;
  std::optional<double> monthly_usd;
  std::optional<int32_t> rpm_limit;
};
constexpr std::array kPolicies = {
    Policy{"018f8d31-86a7-7c48-8f36-4d1fa4d99101", 3, std::nullopt, std::nullopt},
    Policy{"018f8d31-86a7-7c48-8f36-4d1fa4d99102", std::nullopt, 4, 3},
    Policy{"018f8d31-86a7-7c48-8f36-4d1fa4d99103", std::nullopt, std::nullopt, 2},
};
// One key in three requests of four.
constexpr double kHot = 0.75;
// A settlement that fails is repeated.
constexpr int kAttempts = 4;

gateway::AdmissionSettings SettingsOf(const StormVariant& variant) {
  gateway::AdmissionSettings settings;
  settings.key_layout = variant.key_layout;
  if (!variant.hardened) return settings;
  settings.hardening.heal_counter_ttl = true;
  settings.hardening.idempotent_settlement = true;
  settings.hardening.atomic_check_and_reserve = true;
  settings.hardening.atomic_spend = true;
  settings.hardening.hash_request_ids = true;
  // A sweep ends at its first error. Many must fail in a row before a reservation expires.
  settings.sweep_interval = absl::Minutes(2);
  settings.abandoned_after = absl::Minutes(10);
  return settings;
}

double Quarters(base::Rng& rng, uint64_t most) {
  return static_cast<double>(1 + rng.Below(most)) / 4;
}

class GatewayWorkload final : public Storm {
 public:
  GatewayWorkload(World& world, const StormVariant& variant)
      : world_(world),
        store_(world.ConnectToAll()),
        hardened_(variant.hardened),
        settings_(SettingsOf(variant)),
        keys_(variant.key_layout) {}

  base::Task<void> Act(Actor& actor, store::Store& store, size_t role, StormWork& work) override {
    const auto admission = gateway::Admission::Create(store, actor.clock(), settings_).value();
    if (role == kSweeper) co_await admission->SweepLoop();
    while (std::optional<base::Rng> rng = work.Next()) {
      if (role == kGateway) co_await Handle(actor, *admission, *rng);
      if (role == kCloser) co_await Close(actor, *admission, *rng);
      if (role == kOperator) co_await Correct(actor, *admission, *rng);
    }
  }

  // Abandoned reservations are released, or expire.
  base::Task<void> Drain(Actor& actor, store::Store&) override {
    for (int i = 0; i < 14; ++i) co_await actor.clock().Sleep(absl::Minutes(5));
  }

  void Observe() override;
  void Judge(Verdicts& verdicts) override;

 private:
  // A request with what is observed of it.
  struct Watched {
    GatewayRequest request;
    std::string reservation;
    gateway::BudgetCounterKeys counters;
    double daily_before = 0;  // The counters before the last step.
    double monthly_before = 0;
    bool has_reserved = false;
    bool is_open = false;  // Admitted, and its client waits for the answer.
  };

  Watched& NewRequest(Actor& actor, base::Rng& rng);
  base::Task<void> Handle(Actor& actor, gateway::Admission& admission, base::Rng& rng);
  base::Task<void> Close(Actor& actor, gateway::Admission& admission, base::Rng& rng);
  base::Task<void> Correct(Actor& actor, gateway::Admission& admission, base::Rng& rng);
  base::Task<bool> SettleOnce(gateway::Admission& admission, Watched& watched, bool completed);
  bool Answer(Watched& watched, const absl::StatusOr<gateway::AdmissionDecision>& decision);
  // Begins an attempt, and returns its number.
  size_t Begin(Watched& watched, bool charges);
  void End(Watched& watched, size_t attempt, bool succeeded);

  std::vector<std::string> KeysLike(std::string_view pattern) {
    return base::Run(store::Keys(*store_, pattern)).value();
  }
  double Spend(std::string_view counter);
  // The sum of the counters that match.
  double Sum(std::string_view pattern);
  GatewayFaults Faults() const;
  void JudgeSpend(Verdicts& verdicts, const GatewayFaults& faults);
  void JudgeTtls(Verdicts& verdicts, const GatewayFaults& faults);
  void JudgeRates(Verdicts& verdicts, const GatewayFaults& faults);

  World& world_;
  const std::unique_ptr<store::Store> store_;
  const bool hardened_;
  const gateway::AdmissionSettings settings_;
  const gateway::Keys keys_;
  std::deque<Watched> requests_;  // References stay valid.
  // By virtual key and rate counter, how many requests the rate limit has let pass.
  std::map<std::pair<size_t, std::string>, int64_t> passed_;
  // What was reserved, and whether the counters were below their limits.
  std::vector<std::pair<bool, std::string>> reserved_;
  int64_t ticks_ = 0;
};

GatewayWorkload::Watched& GatewayWorkload::NewRequest(Actor& actor, base::Rng& rng) {
  Watched& watched = requests_.emplace_back();
  GatewayRequest& request = watched.request;
  request.key = rng.Chance(kHot) ? 0 : 1 + rng.Below(kPolicies.size() - 1);
  request.id = absl::StrCat(actor.name(), ":", requests_.size());
  request.reserves = rng.Chance(0.75);
  request.is_long = rng.Chance(0.03);
  if (request.reserves) request.estimate = Quarters(rng, 4);
  request.cost = Quarters(rng, 6);
  const std::string_view key_id = kPolicies[request.key].key_id;
  const std::string id = hardened_ ? base::Sha256Hex(request.id) : request.id;
  watched.reservation = keys_.Reservation({key_id, id}).value();
  watched.counters = keys_.Counters(key_id, actor.clock().Now()).value();
  watched.daily_before = Spend(watched.counters.daily);
  watched.monthly_before = Spend(watched.counters.monthly);
  return watched;
}

base::Task<void> GatewayWorkload::Handle(Actor& actor, gateway::Admission& admission,
                                         base::Rng& rng) {
  Watched& watched = NewRequest(actor, rng);
  const GatewayRequest& request = watched.request;
  const Policy& policy = kPolicies[request.key];
  gateway::AdmissionRequest arrival;
  arrival.request = {policy.key_id, request.id};
  arrival.rpm_limit = policy.rpm_limit;
  arrival.budget = {policy.daily_usd, policy.monthly_usd};
  if (request.reserves) arrival.estimated_cost_usd = request.estimate;
  const std::string minute = keys_.RequestRate(policy.key_id, actor.clock().Now()).value();
  const auto decision = co_await admission.Admit(arrival);
  if (decision.ok() && decision->rate.count > 0 &&
      decision->rate.outcome == gateway::RateLimitDecision::Outcome::kAllowed) {
    ++passed_[{request.key, minute}];
  }
  if (!Answer(watched, decision)) co_return;
  watched.is_open = request.reserves && !request.is_long;
  const auto forwarded_ms = static_cast<int64_t>(rng.Below(3000));
  co_await actor.clock().Sleep(request.is_long ? absl::Minutes(70)
                                               : absl::Milliseconds(forwarded_ms));
  const bool completed = rng.Chance(0.8);
  // Without a reservation, a repetition would be charged again, and no option removes that.
  const int attempts = request.reserves ? kAttempts : 1;
  for (int i = 0; i < attempts; ++i) {
    if (co_await SettleOnce(admission, watched, completed)) break;
  }
  watched.is_open = false;
}

// Records the answer; returns whether the request was admitted.
bool GatewayWorkload::Answer(Watched& watched,
                             const absl::StatusOr<gateway::AdmissionDecision>& decision) {
  using Outcome = gateway::AdmissionDecision::Outcome;
  if (!decision.ok()) {
    world_.ReportMistake(decision.status());
    return false;
  }
  if (decision->outcome == Outcome::kControlStateUnavailable) return false;
  watched.request.stage = decision->outcome == Outcome::kAdmitted ? GatewayRequest::Stage::kAdmitted
                                                                  : GatewayRequest::Stage::kRefused;
  return decision->outcome == Outcome::kAdmitted;
}

base::Task<bool> GatewayWorkload::SettleOnce(gateway::Admission& admission, Watched& watched,
                                             bool completed) {
  const GatewayRequest& request = watched.request;
  gateway::Settlement settlement;
  settlement.request = {kPolicies[request.key].key_id, request.id};
  settlement.reserved = request.reserves;
  settlement.completed = completed;
  settlement.final_cost_usd = request.cost;
  const size_t attempt = Begin(watched, completed);
  const gateway::SettlementReport report = co_await admission.Settle(settlement);
  End(watched, attempt, report.status.ok());
  co_return report.status.ok();
}

// A client goes away, and the process that notices it settles the request as well.
base::Task<void> GatewayWorkload::Close(Actor& actor, gateway::Admission& admission,
                                        base::Rng& rng) {
  co_await actor.clock().Sleep(absl::Milliseconds(static_cast<int64_t>(rng.Below(1500))));
  std::vector<Watched*> open;
  for (Watched& watched : requests_) {
    if (watched.is_open) open.push_back(&watched);
  }
  if (open.empty()) co_return;
  Watched& watched = *open[rng.Below(open.size())];
  co_await SettleOnce(admission, watched, /*completed=*/rng.Chance(0.5));
}

base::Task<void> GatewayWorkload::Correct(Actor& actor, gateway::Admission& admission,
                                          base::Rng& rng) {
  co_await actor.clock().Sleep(absl::Milliseconds(static_cast<int64_t>(rng.Below(1500))));
  Watched& watched = requests_.emplace_back();
  GatewayRequest& request = watched.request;
  request.key = rng.Chance(kHot) ? 0 : 1 + rng.Below(kPolicies.size() - 1);
  request.is_corrected = true;
  request.stage = GatewayRequest::Stage::kAdmitted;
  request.cost = Quarters(rng, 2);
  const size_t attempt = Begin(watched, /*charges=*/true);
  const absl::Status adjusted =
      co_await admission.AdjustSpend(kPolicies[request.key].key_id, request.cost);
  End(watched, attempt, adjusted.ok());
}

size_t GatewayWorkload::Begin(Watched& watched, bool charges) {
  watched.request.attempts.push_back({charges, ++ticks_});
  return watched.request.attempts.size() - 1;
}

void GatewayWorkload::End(Watched& watched, size_t attempt, bool succeeded) {
  if (succeeded) watched.request.attempts[attempt].ended = ++ticks_;
}

double GatewayWorkload::Spend(std::string_view counter) {
  const auto text = base::Run(store::Get(*store_, counter)).value();
  return text.has_value() ? gateway::ParseFloat(*text).value_or(0) : 0;
}

double GatewayWorkload::Sum(std::string_view pattern) {
  double sum = 0;
  for (const std::string& key : KeysLike(pattern)) sum += Spend(key);
  return sum;
}

// A reservation that appears was made when the counters were as before the step.
void GatewayWorkload::Observe() {
  for (Watched& watched : requests_) {
    const GatewayRequest& request = watched.request;
    if (!request.reserves || watched.has_reserved ||
        request.stage == GatewayRequest::Stage::kRefused) {
      continue;
    }
    watched.has_reserved = base::Run(store::Exists(*store_, watched.reservation)).value();
    const Policy& policy = kPolicies[request.key];
    if (watched.has_reserved && (policy.daily_usd || policy.monthly_usd)) {
      const bool is_below = (!policy.daily_usd || watched.daily_before < *policy.daily_usd) &&
                            (!policy.monthly_usd || watched.monthly_before < *policy.monthly_usd);
      reserved_.emplace_back(is_below, request.id);
    }
    watched.daily_before = Spend(watched.counters.daily);
    watched.monthly_before = Spend(watched.counters.monthly);
  }
}

GatewayFaults GatewayWorkload::Faults() const {
  GatewayFaults faults;
  for (const auto& [name, times] : world_.injected_faults()) {
    const FaultSpec& spec = *FindFaultSpec(name);
    if (spec.fault == Fault::kDuplicate) faults.duplicates = true;
    if (spec.scope == FaultScope::kServer) faults.loses_data = true;
    if (spec.fault == Fault::kSkewClock || spec.fault == Fault::kStepClock) {
      faults.moves_clocks = true;
    }
  }
  return faults;
}

void GatewayWorkload::JudgeSpend(Verdicts& verdicts, const GatewayFaults& faults) {
  for (size_t key = 0; key < kPolicies.size(); ++key) {
    Account spend;
    Account difference;
    for (const Watched& watched : requests_) {
      if (watched.request.key != key) continue;
      AddSpend(watched.request, faults, hardened_, spend);
      AddDifference(watched.request, faults, hardened_, difference);
    }
    const double days =
        Sum(absl::StrCat("budget:daily:*", base::ToAbsl(kPolicies[key].key_id), "*"));
    const double months =
        Sum(absl::StrCat("budget:monthly:*", base::ToAbsl(kPolicies[key].key_id), "*"));
    const auto why = spend.Explain(months);
    verdicts.Check(kChargedOnce, !why, why.value_or(""),
                   absl::StrCat("key ", key, ": ", months, ", expected ", spend.ToString()));
    const auto why_different = difference.Explain(months - days);
    verdicts.Check(kAgree, !why_different, why_different.value_or(""),
                   absl::StrCat("key ", key, ": ", days, " by days, ", months, " by months"));
  }
}

void GatewayWorkload::JudgeTtls(Verdicts& verdicts, const GatewayFaults& faults) {
  for (const std::string& key : KeysLike("budget:*:*")) {
    if (!keys_.CounterTtl(key)) continue;
    const bool expires = base::Run(store::TimeToLive(*store_, key)).value().expires();
    std::string_view section = "R10";
    for (const Watched& watched : requests_) {
      const bool is_own = key.find(kPolicies[watched.request.key].key_id) != std::string::npos;
      if (is_own && watched.request.torn()) section = "R2";
    }
    if (faults.loses_data) section = "R13";
    verdicts.Check(kExpires, expires, section, absl::StrCat(key, " has no TTL"));
  }
}

void GatewayWorkload::JudgeRates(Verdicts& verdicts, const GatewayFaults& faults) {
  for (const auto& [counter, passed] : passed_) {
    const std::optional<int32_t> limit = kPolicies[counter.first].rpm_limit;
    if (!limit) continue;
    std::string_view section = kUndocumented;
    if (faults.moves_clocks) section = "R15";
    if (faults.loses_data) section = "R13";
    verdicts.Check(kWithinRate, passed <= *limit, section,
                   absl::StrCat(counter.second, ": ", passed, " of ", *limit));
  }
}

void GatewayWorkload::Judge(Verdicts& verdicts) {
  const GatewayFaults faults = Faults();
  JudgeSpend(verdicts, faults);
  JudgeTtls(verdicts, faults);
  JudgeRates(verdicts, faults);
  // A step in which data is lost can also reserve.
  const std::string_view section = faults.loses_data ? "R13" : "R3";
  for (const auto& [is_below, request] : reserved_) {
    verdicts.Check(kWithinBudget, is_below, section,
                   absl::StrCat(request, " was admitted although the budget was spent"));
  }
}

std::vector<FaultRule> AllStormFaults() {
  std::vector<FaultRule> faults = ClientFaults();
  for (FaultRule& fault : ServerFaults()) faults.push_back(std::move(fault));
  return faults;
}

std::vector<Promise> Promises() {
  const std::string settlement = "idempotent_settlement";
  return {
      {"the spend of a key is the sum of what was settled",
       {{"R5", settlement},
        {"R6", settlement},
        {"R8", "sweep_interval"},
        {"R9", "sweep_interval"},
        {"R12", ""},
        {"R13", ""}}},
      {"the daily spend equals the monthly spend",
       {{"R2", "atomic_spend"}, {"R12", ""}, {"R13", ""}}},
      {"every budget counter expires",
       {{"R10", "heal_counter_ttl"}, {"R2", "atomic_spend"}, {"R13", ""}}},
      {"no request is admitted when a budget is spent",
       {{"R3", "atomic_check_and_reserve"}, {"R13", ""}}},
      {"a minute has no more requests than its limit", {{"R13", ""}, {"R15", ""}}},
  };
}

}  // namespace

StormSystem GatewayStorm() {
  return {.name = "gateway",
          .promises = Promises(),
          .roles = {{.name = "gateway", .least = 2, .most = 4, .operations = 6},
                    {.name = "closer", .least = 0, .most = 2, .operations = 4},
                    {.name = "operator", .least = 0, .most = 1, .operations = 3},
                    {.name = "sweeper", .daemon = true}},
          .faults = AllStormFaults(),
          .start = absl::FromUnixSeconds(1769903990),  // 2026-01-31 23:59:50 UTC.
          .make = [](World& world, const StormVariant& variant) -> std::unique_ptr<Storm> {
            return std::make_unique<GatewayWorkload>(world, variant);
          }};
}

}  // namespace redouble::inline v0_1::sim
