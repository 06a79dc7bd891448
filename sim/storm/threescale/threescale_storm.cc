#include "redouble/sim/storm/threescale/threescale_storm.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/lists.h"
#include "redouble/core/store/typed/sets.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/core/threescale/backend/backend.h"
#include "redouble/core/threescale/errors.h"
#include "redouble/core/threescale/keys.h"
#include "redouble/core/threescale/model/alert_limit.h"
#include "redouble/core/threescale/model/application.h"
#include "redouble/core/threescale/model/metric.h"
#include "redouble/core/threescale/model/service.h"
#include "redouble/core/threescale/model/usage_limit.h"
#include "redouble/core/threescale/notify/events.h"
#include "redouble/core/threescale/report/error_log.h"
#include "redouble/core/threescale/report/stats_cleaner.h"
#include "redouble/sim/storm/account.h"

namespace redouble::inline v0_1::sim {
namespace {

using threescale::Granularity;

enum Role : size_t { kListener, kWorker, kSystem, kOwner, kCleaner };
enum PromiseIndex : size_t {
  kCounted,
  kPeriodsAgree,
  kEventsArrive,
  kEventsInOrder,
  kAlertedOnce,
  kWithinLimit,
  kMinutesExpire,
  kTrafficAnnounced,
  kLivingStays,
  kNothingLeft,
  kErrorsBounded,
};

constexpr std::array<std::string_view, 2> kApplications = {"hot", "cold"};
constexpr double kHot = 0.75;
constexpr std::string_view kLevel = "80";
constexpr int64_t kMostCalls = 4;  // Per application and day, by authrep.

// The service that its owner deletes, with one application and one metric.
constexpr std::string_view kLeaving = "9";
constexpr std::string_view kLeavingProvider = "pkey9";
constexpr std::string_view kLeavingApplication = "app9";
constexpr std::string_view kLeavingMetric = "1";
// The errors lists are almost full from the start.
constexpr size_t kErrorsAtFirst = threescale::ErrorLog::kMostErrors - 1;

// A job of the queue, and what is known of its runs.
struct QueuedJob {
  threescale::ReportJob job;
  size_t application = 0;
  int64_t hits = 0;
  int attempts = 0;
  bool is_done = false;
};

// A queue that loses no job: one whose run failed, or whose worker crashed, runs again.
class ReliableQueue final : public threescale::JobQueue {
 public:
  base::Task<absl::Status> Enqueue(threescale::Job job) override {
    const auto* const report = std::get_if<threescale::ReportJob>(&job);
    if (report == nullptr) co_return absl::OkStatus();
    QueuedJob& queued = jobs_.emplace_back();
    queued.job = *report;
    queued.job.id = absl::StrCat("job-", jobs_.size());
    for (const threescale::Transaction& transaction : report->transactions) {
      const auto* const found = std::find(kApplications.begin(), kApplications.end(),
                                          std::string_view(transaction.app_id.value_or("")));
      // The application of the service that is deleted has the number after the last one.
      queued.application = static_cast<size_t>(found - kApplications.begin());
      const std::string* const hits = threescale::FindUsage(transaction.usage, "hits");
      int64_t number = 0;
      if (hits != nullptr && absl::SimpleAtoi(*hits, &number)) queued.hits += number;
    }
    waiting_.push_back(&queued);
    co_return absl::OkStatus();
  }

  QueuedJob* Take() {
    if (waiting_.empty()) return nullptr;
    QueuedJob* const job = waiting_.front();
    waiting_.pop_front();
    return job;
  }
  void Return(QueuedJob* job) { waiting_.push_back(job); }
  const std::deque<QueuedJob>& jobs() const { return jobs_; }

 private:
  std::deque<QueuedJob> jobs_;
  std::deque<QueuedJob*> waiting_;
};

// The text after `before` in an event, up to a comma, a quote or a brace; empty if there is none.
std::string FieldOf(const std::string& event, std::string_view before) {
  const size_t begin = event.find(before);
  if (begin == std::string::npos) return "";
  const size_t from = begin + before.size();
  return event.substr(from, event.find_first_of(",\"}", from) - from);
}

class ThreescaleWorkload final : public Storm {
 public:
  ThreescaleWorkload(World& world, const StormVariant& variant)
      : world_(world), store_(world.ConnectToAll()) {
    settings_.key_layout = variant.key_layout;
    const bool hardened = variant.hardened;
    threescale::Hardening& hardening = settings_.hardening;
    hardening.publish_events_atomically = hardened;
    hardening.raise_alerts_atomically = hardened;
    hardening.expire_atomically = hardened;
    hardening.take_notifications_atomically = hardened;
    hardening.check_and_report_atomically = hardened;
    hardening.note_traffic_atomically = hardened;
    hardening.count_jobs_once = hardened;
    hardening.check_applications_atomically = hardened;
    hardening.change_metrics_atomically = hardened;
    hardening.change_services_atomically = hardened;
    hardening.trim_errors_atomically = hardened;
    if (const absl::Status status = SetUp(); !status.ok()) world.ReportMistake(status);
  }

  base::Task<void> Act(Actor& actor, store::Store& store, size_t role, StormWork& work) override;
  base::Task<void> Drain(Actor& actor, store::Store& store) override;
  void Observe() override;
  void Judge(Verdicts& verdicts) override;

 private:
  absl::Status SetUp();
  base::Task<void> Listen(threescale::Backend& backend, base::Rng& rng);
  base::Task<void> RunOne(threescale::Backend& backend, const std::string& worker);
  base::Task<void> Consume(threescale::Backend& backend, bool deletes);
  base::Task<void> Own(threescale::Backend& backend, threescale::StatsCleaner& cleaner,
                       base::Rng& rng);
  // Deletes the application, the metric and the service. Returns the first error but for what is
  // gone already.
  base::Task<absl::Status> Leave(threescale::Backend& backend);
  base::Task<void> Clean(threescale::Backend& backend, threescale::StatsCleaner& cleaner,
                         base::Rng& rng);
  threescale::StatsCleaner CleanerOf(store::Store& store, base::Clock& clock) const;
  std::vector<std::string> CountersOf(std::string_view service);
  std::vector<std::string> KeysOfLeaving();
  void JudgeLeaving(Verdicts& verdicts);

  int64_t Sum(std::string_view application, std::string_view period);
  void JudgeUsage(Verdicts& verdicts);
  void JudgeEvents(Verdicts& verdicts);
  std::string_view Unless(std::string_view section) const { return loses_data_ ? "H27" : section; }

  World& world_;
  const std::unique_ptr<store::Store> store_;
  threescale::BackendSettings settings_;
  ReliableQueue queue_;
  std::map<std::string, QueuedJob*> running_;  // By worker.
  std::array<int64_t, 2> calls_{};             // By application, the authorized authrep requests.
  std::map<int64_t, std::string> seen_;        // By id, the events that were in the queue.
  std::set<int64_t> delivered_;
  int64_t last_delivered_ = 0;
  std::vector<std::pair<bool, std::string>> order_;
  // Of the living service, what was there before and after a cleaning.
  std::vector<std::pair<bool, std::string>> living_;
  bool is_marked_ = false;          // The deleted service, by an acknowledged request.
  int64_t leaving_runs_ = 0;        // Of jobs of the deleted service: begun.
  int64_t leaving_ends_ = 0;        // Of these, those that have succeeded.
  std::optional<int64_t> cleaned_;  // leaving_ends_ when the first cleaning after the mark began.
  std::vector<std::string> left_by_cleaning_;
  std::vector<std::string> left_;
  absl::Status drain_failure_;
  int64_t most_errors_ = 0;
  bool loses_data_ = false;
  bool duplicates_ = false;
};

// A service with two applications of one plan, and limits of hits and calls in a day.
absl::Status ThreescaleWorkload::SetUp() {
  const threescale::Backend backend(*store_, world_.clock(), settings_);
  threescale::ServiceSave service;
  service.id = "2";
  service.provider_key = "pkey";
  absl::Status status = base::Run(backend.services().Save(service)).status();
  for (const std::string_view id : kApplications) {
    threescale::ApplicationSave application;
    application.service_id = "2";
    application.id = id;
    application.state = "active";
    application.plan_id = "44";
    status.Update(base::Run(backend.applications().Save(application)));
  }
  for (const auto& [id, name, limit] : {std::tuple("6", "hits", "10"), {"8", "calls", "4"}}) {
    const threescale::Metric metric{"2", id, name};
    status.Update(base::Run(backend.metrics().Save(metric)));
    const threescale::UsageLimitSave limits[] = {{Granularity::kDay, limit}};
    status.Update(base::Run(backend.usage_limits().Save({"2", "44"}, id, limits)));
  }
  status.Update(base::Run(backend.alert_limits().Save("2", kLevel)).status());
  service.id = kLeaving;
  service.provider_key = kLeavingProvider;
  status.Update(base::Run(backend.services().Save(service)).status());
  threescale::ApplicationSave application;
  application.service_id = kLeaving;
  application.id = kLeavingApplication;
  application.state = "active";
  application.plan_id = "45";
  status.Update(base::Run(backend.applications().Save(application)));
  const threescale::Metric metric{std::string(kLeaving), std::string(kLeavingMetric), "hits"};
  status.Update(base::Run(backend.metrics().Save(metric)));
  const std::string errors = threescale::Keys(settings_.key_layout).Errors("2");
  for (size_t i = 0; i < kErrorsAtFirst; ++i) {
    status.Update(base::Run(store::RPush(*store_, errors, "{}")).status());
  }
  return status;
}

base::Task<void> ThreescaleWorkload::Act(Actor& actor, store::Store& store, size_t role,
                                         StormWork& work) {
  threescale::BackendParts parts;
  parts.queue = &queue_;
  threescale::Backend backend(store, actor.clock(), settings_, parts);
  // The queue gives the job of a crashed worker to a worker again.
  if (role == kWorker && running_[actor.name()] != nullptr) {
    queue_.Return(std::exchange(running_[actor.name()], nullptr));
  }
  threescale::StatsCleaner cleaner = CleanerOf(store, actor.clock());
  while (std::optional<base::Rng> rng = work.Next()) {
    co_await actor.clock().Sleep(absl::Milliseconds(static_cast<int64_t>(rng->Below(300))));
    if (role == kOwner) co_await Own(backend, cleaner, *rng);
    if (role == kCleaner) co_await Clean(backend, cleaner, *rng);
    if (role == kListener) co_await Listen(backend, *rng);
    if (role == kWorker) co_await RunOne(backend, actor.name());
    if (role == kSystem) co_await Consume(backend, /*deletes=*/rng->Chance(0.8));
  }
}

base::Task<void> ThreescaleWorkload::Listen(threescale::Backend& backend, base::Rng& rng) {
  const size_t application = rng.Chance(kHot) ? 0 : 1;
  const std::string_view id = kApplications[application];
  if (rng.Chance(0.5)) {
    threescale::ReportRequest request;
    request.provider_key = "pkey";
    request.service_id = "2";
    threescale::Transaction transaction;
    transaction.app_id = std::string(id);
    transaction.usage = {{"hits", absl::StrCat(1 + rng.Below(4))}};
    request.transactions.emplace_back(std::move(transaction));
    const absl::Status accepted = co_await backend.reporter().Report(std::move(request));
    accepted.IgnoreError();
    co_return;
  }
  threescale::AuthRequest request;
  request.provider_key = "pkey";
  request.service_id = "2";
  request.app_id = id;
  request.usage = threescale::Usage{{"calls", "1"}};
  const auto answer =
      co_await backend.listener().Handle(threescale::Endpoint::kAuthrep, request, "{}");
  if (answer.ok() && !answer->rejection.has_value()) ++calls_[application];
}

base::Task<void> ThreescaleWorkload::RunOne(threescale::Backend& backend,
                                            const std::string& worker) {
  QueuedJob* const job = queue_.Take();
  if (job == nullptr) co_return;
  running_[worker] = job;
  ++job->attempts;
  const bool is_of_leaving = job->application == kApplications.size();
  if (is_of_leaving) ++leaving_runs_;
  const absl::Status run = co_await backend.worker().Run(job->job);
  job->is_done = run.ok();
  if (is_of_leaving && run.ok()) ++leaving_ends_;
  running_[worker] = nullptr;
  if (!job->is_done) queue_.Return(job);
}

// The events that system has not seen yet must follow the ones that it has seen.
base::Task<void> ThreescaleWorkload::Consume(threescale::Backend& backend, bool deletes) {
  const auto events = co_await backend.events().List();
  if (!events.ok() || events->empty()) co_return;
  int64_t last = 0;
  for (const std::string& event : *events) {
    if (!absl::SimpleAtoi(FieldOf(event, threescale::kEventHead), &last)) continue;
    if (!delivered_.insert(last).second) continue;
    order_.emplace_back(last > last_delivered_,
                        absl::StrCat("event ", last, " came after ", last_delivered_));
    last_delivered_ = std::max(last_delivered_, last);
  }
  if (!deletes) co_return;
  const auto deleted = co_await backend.events().DeleteRange(absl::StrCat(last));
  deleted.status().IgnoreError();
}

threescale::StatsCleaner ThreescaleWorkload::CleanerOf(store::Store& store,
                                                       base::Clock& clock) const {
  threescale::StatsCleanerOptions options;
  options.keys = threescale::Keys(settings_.key_layout);
  return threescale::StatsCleaner(store, clock, options);
}

// Traffic of a service, and its deletion. Once deleted it does not come back.
base::Task<void> ThreescaleWorkload::Own(threescale::Backend& backend,
                                         threescale::StatsCleaner& cleaner, base::Rng& rng) {
  if (rng.Chance(0.6)) {
    threescale::ReportRequest request;
    request.provider_key = std::string(kLeavingProvider);
    request.service_id = std::string(kLeaving);
    threescale::Transaction transaction;
    transaction.app_id = std::string(kLeavingApplication);
    transaction.usage = {{rng.Chance(0.9) ? "hits" : "nothing", "1"}};
    request.transactions.emplace_back(std::move(transaction));
    (co_await backend.reporter().Report(std::move(request))).IgnoreError();
    co_return;
  }
  const absl::Status gone = co_await Leave(backend);
  if (!gone.ok()) co_return;
  const auto marked = co_await cleaner.Mark(kLeaving);
  is_marked_ = is_marked_ || marked.ok();
}

base::Task<absl::Status> ThreescaleWorkload::Leave(threescale::Backend& backend) {
  const threescale::ApplicationRef application{kLeaving, kLeavingApplication};
  absl::Status deleted = co_await backend.applications().Delete(application);
  const bool has_none =
      threescale::ErrorCodeOf(deleted) == threescale::ErrorCode::kApplicationNotFound;
  if (!deleted.ok() && !has_none) co_return deleted;
  const threescale::MetricRef metric{kLeaving, kLeavingMetric};
  REDOUBLE_CO_RETURN_IF_ERROR((co_await backend.metrics().Delete(metric)).status());
  deleted = co_await backend.services().Delete(kLeaving);
  const bool is_gone = threescale::ErrorCodeOf(deleted) == threescale::ErrorCode::kServiceIdInvalid;
  co_return is_gone ? absl::OkStatus() : deleted;
}

base::Task<void> ThreescaleWorkload::Clean(threescale::Backend& backend,
                                           threescale::StatsCleaner& cleaner, base::Rng& rng) {
  if (rng.Chance(0.4)) {
    const absl::Status error =
        threescale::MakeError(threescale::ErrorCode::kMetricInvalid, "nothing");
    (co_await backend.errors().Store("2", error, "{}")).IgnoreError();
    co_return;
  }
  const std::vector<std::string> before = CountersOf("2");
  if (rng.Chance(0.3)) {
    (co_await cleaner.DeleteZeros()).status().IgnoreError();
  } else {
    if (is_marked_ && !cleaned_) cleaned_ = leaving_ends_;
    (co_await cleaner.DeleteMarked()).IgnoreError();
  }
  const std::vector<std::string> after = CountersOf("2");
  for (const std::string& key : before) {
    const bool stays = std::find(after.begin(), after.end(), key) != after.end();
    living_.emplace_back(stays, absl::StrCat(key, " was deleted"));
  }
}

// Those of minutes expire.
std::vector<std::string> ThreescaleWorkload::CountersOf(std::string_view service) {
  const std::string pattern = absl::StrCat("stats/{service:", base::ToAbsl(service), "}/*");
  std::vector<std::string> keys = base::Run(store::Keys(*store_, pattern)).value();
  std::erase_if(keys, [](const std::string& key) {
    return key.find("cinstances") != key.npos || key.find("/minute:") != key.npos;
  });
  std::sort(keys.begin(), keys.end());
  return keys;
}

// Without what is never deleted, the traffic of applications and days and alerts, and without the
// counted jobs, which expire.
std::vector<std::string> ThreescaleWorkload::KeysOfLeaving() {
  std::vector<std::string> all;
  for (const std::string_view pattern : {"*service_id:9*", "*service:9*", "service/id:9*"}) {
    std::vector<std::string> keys = base::Run(store::Keys(*store_, pattern)).value();
    for (std::string& key : keys) {
      const bool stays = key.find("cinstances") != key.npos ||
                         key.find("daily_traffic") != key.npos || key.starts_with("alerts/") ||
                         key.starts_with("counted_jobs/") || key.find("/minute:") != key.npos;
      if (!stays) all.push_back(std::move(key));
    }
  }
  return all;
}

base::Task<void> ThreescaleWorkload::Drain(Actor& actor, store::Store& store) {
  for (int i = 0; i < 3; ++i) co_await actor.clock().Sleep(absl::Seconds(5));
  threescale::Backend backend(store, actor.clock(), settings_);
  for (auto& [worker, job] : running_) {
    if (job != nullptr) queue_.Return(std::exchange(job, nullptr));
  }
  for (size_t i = 0; i < queue_.jobs().size(); ++i) co_await RunOne(backend, "last");
  co_await Consume(backend, /*deletes=*/false);
  threescale::StatsCleaner cleaner = CleanerOf(store, actor.clock());
  drain_failure_ = co_await Leave(backend);
  drain_failure_.Update(co_await cleaner.DeleteMarked());
  if (is_marked_) left_by_cleaning_ = CountersOf(kLeaving);
  drain_failure_.Update((co_await cleaner.Mark(kLeaving)).status());
  drain_failure_.Update(co_await cleaner.DeleteMarked());
  left_ = KeysOfLeaving();
  // Minutes expire after 180 s.
  for (int i = 0; i < 10; ++i) co_await actor.clock().Sleep(absl::Seconds(30));
}

void ThreescaleWorkload::Observe() {
  const threescale::Backend backend(*store_, world_.clock(), settings_);
  const auto errors = base::Run(backend.errors().Count("2"));
  if (errors.ok()) most_errors_ = std::max(most_errors_, *errors);
  const auto events = base::Run(backend.events().List());
  if (!events.ok()) return;
  for (const std::string& event : *events) {
    int64_t id = 0;
    if (absl::SimpleAtoi(FieldOf(event, threescale::kEventHead), &id)) seen_.try_emplace(id, event);
  }
}

int64_t ThreescaleWorkload::Sum(std::string_view application, std::string_view period) {
  const std::string pattern =
      absl::StrCat("stats/{service:2}/cinstance:", base::ToAbsl(application), "/metric:6/",
                   base::ToAbsl(period), ":*");
  const std::vector<std::string> keys = base::Run(store::Keys(*store_, pattern)).value();
  int64_t sum = 0;
  for (const std::string& key : keys) {
    const auto text = base::Run(store::Get(*store_, key)).value();
    int64_t value = 0;
    if (text.has_value() && absl::SimpleAtoi(*text, &value)) sum += value;
  }
  return sum;
}

void ThreescaleWorkload::JudgeUsage(Verdicts& verdicts) {
  constexpr double kAnything = std::numeric_limits<double>::infinity();
  for (size_t application = 0; application < kApplications.size(); ++application) {
    Account usage;
    Account difference;
    for (const QueuedJob& job : queue_.jobs()) {
      if (job.application != application) continue;
      const auto hits = static_cast<double>(job.hits);
      usage.Expect(job.is_done ? hits : 0, hits);
      const double again = hits * (job.attempts - 1 + (duplicates_ ? job.attempts : 0));
      if (again <= 0) continue;
      usage.Allow("H11", 0, again);
      difference.Allow("H11", -again, again);
    }
    if (loses_data_) {
      usage.Allow("H27", -kAnything, kAnything);
      difference.Allow("H27", -kAnything, kAnything);
    }
    const int64_t days = Sum(kApplications[application], "day");
    const int64_t hours = Sum(kApplications[application], "hour");
    const auto why = usage.Explain(static_cast<double>(days));
    verdicts.Check(kCounted, !why, why.value_or(""),
                   absl::StrCat(base::ToAbsl(kApplications[application]), ": ", days, ", expected ",
                                usage.ToString()));
    const auto why_different = difference.Explain(static_cast<double>(days - hours));
    verdicts.Check(kPeriodsAgree, !why_different, why_different.value_or(""),
                   absl::StrCat(days, " by days, ", hours, " by hours"));
  }
}

void ThreescaleWorkload::JudgeEvents(Verdicts& verdicts) {
  std::map<std::string, int> alerts;  // By application.
  std::set<std::string> first_traffic;
  for (const auto& [id, event] : seen_) {
    verdicts.Check(kEventsArrive, delivered_.contains(id), Unless("H1"),
                   absl::StrCat("event ", id, " was deleted unread"));
    if (FieldOf(event, "\"type\":\"") == "first_traffic") {
      first_traffic.insert(FieldOf(event, "\"application_id\":\""));
    }
    if (FieldOf(event, "\"type\":\"") == "alert" && FieldOf(event, "\"utilization\":") == kLevel) {
      ++alerts[FieldOf(event, "\"application_id\":\"")];
    }
  }
  const std::string key = threescale::Keys(settings_.key_layout).TrafficApplications("2");
  const auto applications = base::Run(store::SMembers(*store_, key));
  for (const std::string& application : applications.value()) {
    verdicts.Check(kTrafficAnnounced, first_traffic.contains(application), Unless("H6"),
                   absl::StrCat(application, " has traffic and no event of it"));
  }
  for (const auto& [in_order, what] : order_) {
    verdicts.Check(kEventsInOrder, in_order, Unless("H2"), what);
  }
  for (const auto& [application, count] : alerts) {
    verdicts.Check(kAlertedOnce, count == 1, Unless("H3"),
                   absl::StrCat(application, " has ", count, " alerts of one level"));
  }
}

void ThreescaleWorkload::JudgeLeaving(Verdicts& verdicts) {
  for (const auto& [stays, what] : living_) {
    verdicts.Check(kLivingStays, stays, Unless(kUndocumented), what);
  }
  const bool is_stuck =
      threescale::ErrorCodeOf(drain_failure_) == threescale::ErrorCode::kServiceIsDefaultService;
  verdicts.Check(kNothingLeft, drain_failure_.ok(), Unless(is_stuck ? "H32" : kUndocumented),
                 std::string(drain_failure_.message()));
  // A job was running when the counters were deleted, or ran after that.
  const bool had_traffic = cleaned_ && leaving_runs_ > *cleaned_;
  verdicts.Check(kNothingLeft, left_by_cleaning_.empty(),
                 Unless(had_traffic ? "H19" : kUndocumented),
                 left_by_cleaning_.empty() ? "" : absl::StrCat(left_by_cleaning_[0], " is left"));
  for (const std::string& key : left_) {
    const bool is_errors = key == threescale::Keys(settings_.key_layout).Errors(kLeaving);
    const std::string_view section = is_stuck ? "H32" : is_errors ? "H31" : kUndocumented;
    verdicts.Break(kNothingLeft, Unless(section), absl::StrCat(key, " is left"));
  }
  verdicts.Check(kErrorsBounded, most_errors_ <= threescale::ErrorLog::kMostErrors, Unless("H29"),
                 absl::StrCat("the list had ", most_errors_, " errors"));
}

void ThreescaleWorkload::Judge(Verdicts& verdicts) {
  for (const auto& [name, times] : world_.injected_faults()) {
    const FaultSpec& spec = *FindFaultSpec(name);
    loses_data_ = loses_data_ || spec.scope == FaultScope::kServer;
    duplicates_ = duplicates_ || spec.fault == Fault::kDuplicate;
  }
  JudgeUsage(verdicts);
  JudgeEvents(verdicts);
  JudgeLeaving(verdicts);
  for (const int64_t calls : calls_) {
    verdicts.Check(kWithinLimit, calls <= kMostCalls, Unless("H10"),
                   absl::StrCat(calls, " calls of ", kMostCalls));
  }
  const auto minutes = base::Run(store::Keys(*store_, "stats/*/minute:*")).value();
  verdicts.Check(kMinutesExpire, minutes.empty(), Unless("H9"),
                 absl::StrCat(minutes.size(), " minutes stay"));
}

std::vector<FaultRule> AllStormFaults() {
  std::vector<FaultRule> faults = ClientFaults();
  // The model of services and applications is in Redis too: without it nothing can be counted.
  for (FaultRule& fault : ServerFaults()) {
    if (fault.fault == Fault::kFailover) faults.push_back(std::move(fault));
  }
  return faults;
}

std::vector<Promise> Promises() {
  return {
      {"the usage of an application is the sum of its reports",
       {{"H11", "count_jobs_once"}, {"H27", ""}}},
      {"the usage of each day is the sum of its hours", {{"H11", "count_jobs_once"}, {"H27", ""}}},
      {"the consumer gets every event", {{"H1", "publish_events_atomically"}, {"H27", ""}}},
      {"the consumer gets events in the order of their ids",
       {{"H2", "publish_events_atomically"}, {"H27", ""}}},
      {"an alert is raised once in a day", {{"H3", "raise_alerts_atomically"}, {"H27", ""}}},
      {"no more authrep requests pass than the limit",
       {{"H10", "check_and_report_atomically"}, {"H27", ""}}},
      {"a minute counter expires", {{"H9", "expire_atomically"}, {"H27", ""}}},
      {"an application that had traffic has an event of its first",
       {{"H6", "note_traffic_atomically"}, {"H27", ""}}},
      {"the counters of a living service stay", {{"H27", ""}}},
      {"nothing of a deleted service is left but its traffic",
       {{"H19", ""}, {"H27", ""}, {"H31", ""}, {"H32", "change_services_atomically"}}},
      {"an errors list has no more than 1000 entries",
       {{"H27", ""}, {"H29", "trim_errors_atomically"}}},
  };
}

}  // namespace

StormSystem ThreescaleStorm() {
  return {.name = "threescale",
          .promises = Promises(),
          .roles = {{.name = "listener", .least = 2, .most = 3, .operations = 8},
                    {.name = "worker", .least = 1, .most = 3, .operations = 8},
                    {.name = "system", .least = 1, .most = 2, .operations = 5},
                    {.name = "owner", .least = 0, .most = 1, .operations = 6},
                    {.name = "cleaner", .least = 0, .most = 1, .operations = 6}},
          .faults = AllStormFaults(),
          .start = absl::FromUnixSeconds(1781718159),  // 2026-06-17 17:42:39 UTC.
          .documented_layout_only = {"note_traffic_atomically", "change_services_atomically"},
          .make = [](World& world, const StormVariant& variant) -> std::unique_ptr<Storm> {
            return std::make_unique<ThreescaleWorkload>(world, variant);
          }};
}

}  // namespace redouble::inline v0_1::sim
