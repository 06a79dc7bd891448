// Counts the round trips of 3scale's operations (docs/systems/threescale.md 4.29).
#include "redouble/threescale.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "redouble/tests/round_trips/round_trips_for_test.h"

namespace redouble::inline v0_1::tests {
namespace {

constexpr threescale::ApplicationRef kApplication = {"2", "a"};
constexpr threescale::PlanRef kPlan = {"2", "44"};

class ThreescaleRoundTrips : public RoundTrips {
 protected:
  // A new process on a server with the service 2, its application a and the metric hits.
  void Begin() {
    Prepare(store::FlushAll(store_));
    backend_ = std::make_unique<threescale::Backend>(store_, clock_);
    Prepare(backend_->services().Save({.id = "2", .provider_key = "pk"}));
    Prepare(backend_->applications().Save(
        {.service_id = "2", .id = "a", .state = "active", .plan_id = "44"}));
    Prepare(backend_->metrics().Save({"2", "6", "hits"}));
  }
  // Has the request answered; one that is refused is an error.
  absl::Status Answer(threescale::HttpRequest request) {
    const auto response = base::Run(backend_->Handle(std::move(request)));
    if (response.ok() && response->status >= 300) return absl::InternalError(response->body);
    return response.status();
  }
  absl::Status Get(const std::string& path, const std::string& query) {
    return Answer({.path = path, .query = "provider_key=pk&service_id=2&app_id=a" + query});
  }
  void SaveLimit() {
    const threescale::UsageLimitSave limits[] = {{threescale::Granularity::kDay, "100"}};
    Prepare(backend_->usage_limits().Save(kPlan, "6", limits));
  }

  void CountServices();
  void CountHardenedServices();
  void CountApplications();
  void CountMembersOfApplications();
  void CountMetrics();
  void CountLimits();
  void CountRequests();
  void CountParts();
  void CountHardenedJobs();
  void CountEventsAndErrors();
  void CountStatistics();
  void CountRestoration();

  std::unique_ptr<threescale::Backend> backend_;
};

void ThreescaleRoundTrips::CountServices() {
  Begin();
  threescale::ServiceStore services = backend_->services();
  Count("save the first service of a provider",
        [&] { return base::Run(services.Save({.id = "7", .provider_key = "first"})); });
  Count("save another service of a provider",
        [&] { return base::Run(services.Save({.id = "8", .provider_key = "first"})); });
  Count("load a service by its id", [&] { return base::Run(services.LoadById("2")); });
  Count("load a service of a provider",
        [&] { return base::Run(services.LoadWithProviderKey("2", "pk")); });
  Count("read one fact of a service", [&] { return base::Run(services.List("pk")); });
  Count("read one fact of a service", [&] { return base::Run(services.Exists("2")); });
  Count("read one fact of a service", [&] { return base::Run(services.DefaultId("pk")); });
  Count("read one fact of a service", [&] { return base::Run(services.ProviderKeyOf("2")); });
  Count("read one fact of a service", [&] { return base::Run(services.IsOwnedBy("2", "pk")); });
  Count("change the provider key of one service",
        [&] { return base::Run(services.ChangeProviderKey({.old_key = "pk", .new_key = "new"})); });
  Count("delete a service", [&] { return base::Run(services.Delete("8")); });
  Count("delete a default service", [&] { return base::Run(services.Delete("7")); });

  threescale::ServiceTokenStore tokens = backend_->service_tokens();
  const threescale::ServiceTokenPair pairs[] = {{"s", "2"}, {"t", "2"}};
  Count("save two service tokens", [&] { return base::Run(tokens.SavePairs(pairs)); });
  Count("check or delete a service token", [&] { return base::Run(tokens.Exists({"t", "2"})); });
  Count("check or delete a service token", [&] { return base::Run(tokens.Delete({"t", "2"})); });
}

void ThreescaleRoundTrips::CountHardenedServices() {
  Begin();
  threescale::Hardening hardening;
  hardening.change_services_atomically = true;
  hardening.change_metrics_atomically = true;
  const std::string option = ", `change_services_atomically`";
  threescale::ServiceStore services(backend_->process(), hardening);
  Count("save a service" + option,
        [&] { return base::Run(services.Save({.id = "7", .provider_key = "first"})); });
  Count("save a service" + option,
        [&] { return base::Run(services.Save({.id = "2", .provider_key = "pk"})); });
  Count("change the provider key of one service" + option,
        [&] { return base::Run(services.ChangeProviderKey({.old_key = "pk", .new_key = "new"})); });
  Count("delete a default service" + option, [&] { return base::Run(services.Delete("7")); });

  threescale::MetricStore metrics(backend_->process(), hardening);
  const threescale::Metric metric = {"2", "7", "all"};
  Count("save a new metric, `change_metrics_atomically`",
        [&] { return base::Run(metrics.Save(metric)); });
  Count("delete a metric, `change_metrics_atomically`", [&] {
    return base::Run(metrics.Delete({"2", "7"}));
  });
}

void ThreescaleRoundTrips::CountApplications() {
  Begin();
  threescale::ApplicationStore applications = backend_->applications();
  Count("save an application", [&] {
    return base::Run(applications.Save({.service_id = "2", .id = "b", .state = "active"}));
  });
  Count("load an application", [&] { return base::Run(applications.Load(kApplication)); });
  Count("load an application", [&] { return base::Run(applications.LoadOrFail(kApplication)); });
  Count("load an application", [&] { return base::Run(applications.Exists(kApplication)); });
  Count("save, read or delete a user key", [&] {
    return base::Run(applications.SaveUserKey({"2", "k"}, "a"));
  });
  Count("save, read or delete a user key", [&] {
    return base::Run(applications.LoadIdByUserKey({"2", "k"}));
  });
  Count("find an application by its id",
        [&] { return base::Run(applications.FindId("2", {.app_id = "a"})); });
  Count("find an application by a user key",
        [&] { return base::Run(applications.FindId("2", {.user_key = "k"})); });
  Count("save, read or delete a user key", [&] {
    return base::Run(applications.DeleteUserKey({"2", "k"}));
  });
  const threescale::ApplicationRef second = {"2", "b"};
  Count("delete an application", [&] { return base::Run(applications.Delete(second)); });
}

void ThreescaleRoundTrips::CountMembersOfApplications() {
  Begin();
  threescale::ApplicationStore applications = backend_->applications();
  const std::string change = "create or delete a key or a referrer filter";
  Count(change, [&] { return base::Run(applications.CreateKey(kApplication, "k", rng_)); });
  Count(change, [&] { return base::Run(applications.CreateReferrerFilter(kApplication, "f")); });
  const std::string read = "read the keys or the referrer filters";
  Count(read, [&] { return base::Run(applications.Keys(kApplication)); });
  Count(read, [&] { return base::Run(applications.HasKeys(kApplication)); });
  Count(read, [&] { return base::Run(applications.HasKey(kApplication, "k")); });
  Count(read, [&] { return base::Run(applications.ReferrerFilters(kApplication)); });
  Count(read, [&] { return base::Run(applications.HasReferrerFilters(kApplication)); });
  Count(change, [&] { return base::Run(applications.DeleteKey(kApplication, "k")); });
  Count(change, [&] { return base::Run(applications.DeleteReferrerFilter(kApplication, "f")); });
  const std::vector<std::string> members = {"x", "y"};
  Count("add keys and referrer filters",
        [&] { return base::Run(applications.AddMembers(kApplication, members, members)); });
}

void ThreescaleRoundTrips::CountMetrics() {
  Begin();
  threescale::MetricStore metrics = backend_->metrics();
  const threescale::Metric parent = {"2", "7", "all"};
  const threescale::Metric child = {"2", "8", "part", "7"};
  Count("save a new metric", [&] { return base::Run(metrics.Save(parent)); });
  Count("save a metric again", [&] { return base::Run(metrics.Save(parent)); });
  Prepare(metrics.Save(child));
  Count("load a metric", [&] { return base::Run(metrics.Load({"2", "8"})); });
  const std::string fact = "read one fact of a metric";
  Count(fact, [&] { return base::Run(metrics.LoadId({"2", "part"})); });
  Count(fact, [&] { return base::Run(metrics.LoadName({"2", "8"})); });
  Count(fact, [&] { return base::Run(metrics.LoadParentId({"2", "8"})); });
  Count(fact, [&] { return base::Run(metrics.LoadIds("2")); });
  Count(fact, [&] { return base::Run(metrics.LoadNames("2", {"7", "8"})); });
  Count("read the hierarchy of metrics", [&] { return base::Run(metrics.Hierarchy("2")); });
  Count("find the descendants of a metric", [&] {
    return base::Run(metrics.Descendants({"2", "all"}));
  });
  Count("find the parent of a metric", [&] {
    return base::Run(metrics.Ascendants({"2", "part"}));
  });
  Count("delete a metric", [&] { return base::Run(metrics.Delete({"2", "8"})); });
}

void ThreescaleRoundTrips::CountLimits() {
  Begin();
  threescale::UsageLimitStore limits = backend_->usage_limits();
  const threescale::UsageLimitSave values[] = {{threescale::Granularity::kDay, "100"},
                                               {threescale::Granularity::kMonth, "900"}};
  const threescale::Granularity day = threescale::Granularity::kDay;
  const std::string one = "save, read or delete limits of a metric";
  Count(one, [&] { return base::Run(limits.Save(kPlan, "6", values)); });
  Count(one, [&] { return base::Run(limits.LoadValue(kPlan, "6", day)); });
  Count(one, [&] { return base::Run(limits.LoadForMetrics(kPlan, {"6"})); });
  Count("load all limits of a plan", [&] { return base::Run(limits.LoadAll(kPlan)); });
  Count(one, [&] { return base::Run(limits.Delete(kPlan, "6", day)); });
  threescale::AlertLimitStore levels = backend_->alert_limits();
  const std::string level = "save, read or delete an alert level";
  Count(level, [&] { return base::Run(levels.Save("2", "80")); });
  Count(level, [&] { return base::Run(levels.LoadAll("2")); });
  Count(level, [&] { return base::Run(levels.Delete("2", "80")); });
}

void ThreescaleRoundTrips::CountRequests() {
  Begin();
  const auto authorize = [&] { return Get("/transactions/authorize.xml", ""); };
  const auto authrep = [&] { return Get("/transactions/authrep.xml", "&usage[hits]=1"); };
  Count("authorize without limits", authorize);
  SaveLimit();
  Count("authorize with limits", authorize);
  const auto call = [&](threescale::Endpoint endpoint) {
    threescale::AuthRequest request = {.provider_key = "pk", .service_id = "2", .app_id = "a"};
    if (threescale::Reports(endpoint)) request.usage = threescale::Usage{{"hits", "1"}};
    return base::Run(backend_->listener().Handle(endpoint, request, "{}"));
  };
  Count("decide an authorize with limits, without the details of the answer",
        [&] { return call(threescale::Endpoint::kAuthorize); });
  Count("decide an authrep with limits, without the details of the answer",
        [&] { return call(threescale::Endpoint::kAuthrep); });
  Count("first job of an application", [&] { return base::Run(backend_->RunJobs()); });
  Count("authrep with limits", authrep);
  Count("later job of an application", [&] { return base::Run(backend_->RunJobs()); });
  threescale::ReportJob job = {.service_id = "2"};
  job.transactions.push_back({.app_id = "a", .usage = threescale::Usage{{"hits", "1"}}});
  Count("later job of an application", [&] { return base::Run(backend_->worker().Run(job)); });
  Count("accept a report", [&] {
    return Answer({.method = "POST",
                   .path = "/transactions.xml",
                   .body = "provider_key=pk&service_id=2&transactions[0][app_id]=a"
                           "&transactions[0][usage][hits]=1"});
  });
  threescale::ReportRequest report = {.provider_key = "pk", .service_id = "2"};
  report.transactions = {job.transactions.front()};
  Count("accept a report", [&] { return base::Run(backend_->reporter().Report(report)); });
  threescale::InProcessJobQueue queue;
  threescale::Notifier notifier(backend_->process(), queue, {.master_service_id = "m"});
  Count("notify the master service",
        [&] { return base::Run(notifier.Notify("pk", {.transactions = 1})); });
  // The day's traffic is known, so that only the alert is new.
  const threescale::UsageLimitSave low[] = {{threescale::Granularity::kDay, "5"}};
  Prepare(backend_->usage_limits().Save(kPlan, "6", low));
  Prepare(backend_->alert_limits().Save("2", "80"));
  Count("job that raises an alert", [&] { return base::Run(backend_->worker().Run(job)); });
}

// The parts of an answer and of a job.
void ThreescaleRoundTrips::CountParts() {
  Begin();
  SaveLimit();
  const threescale::ServiceTokenPair pairs[] = {{"t", "2"}};
  Prepare(backend_->service_tokens().SavePairs(pairs));
  Prepare(backend_->applications().CreateKey(kApplication, "k", rng_));
  threescale::Authorizer authorizer(backend_->process());
  Count("find the provider key of a service token", [&] {
    return base::Run(authorizer.FindProviderKey({.service_token = "t", .service_id = "2"}));
  });
  threescale::AuthRequest request = {.provider_key = "pk", .service_id = "2", .app_id = "a"};
  request.app_key = "k";
  request.usage = threescale::Usage{{"hits", "1"}};
  const auto decide = [&] {
    return base::Run(authorizer.Authorize(threescale::Endpoint::kAuthrep, "pk", request));
  };
  Count("decide about an authrep with limits and a key", decide);
  const threescale::Authorization decided = decide().value();
  Count("report the usage of an authorized authrep",
        [&] { return base::Run(authorizer.UsageReports(decided)); });
  const auto reports = base::Run(authorizer.UsageReports(decided)).value();
  Count("find the headers of the limits",
        [&] { return base::Run(authorizer.FindLimitHeaders(decided)); });
  Count("find the children of one reported metric",
        [&] { return base::Run(authorizer.FindHierarchy(decided, reports)); });
  Count("list the keys of an application", [&] { return base::Run(authorizer.AppKeys(decided)); });
  Count("find the id of one metric and its parents", [&] {
    return base::Run(
        threescale::MetricCollection(backend_->process(), "2").ProcessUsage({{"hits", "1"}}));
  });

  const threescale::CountedTransaction counted = {"2", "a", clock_.Now(), {{"6", "1"}}, ""};
  const auto aggregate = [&] {
    return base::Run(threescale::Aggregator(backend_->process()).Aggregate({counted}));
  };
  Count("count the first transaction of an application", aggregate);
  Count("count another transaction of an application", aggregate);
  threescale::Alerts alerts(backend_->process());
  Count("look for an alert where no level is allowed",
        [&] { return base::Run(alerts.Update(kApplication)); });
  const threescale::UsageLimitSave low[] = {{threescale::Granularity::kDay, "2"}};
  Prepare(backend_->usage_limits().Save(kPlan, "6", low));
  Prepare(backend_->alert_limits().Save("2", "100"));
  Count("raise an alert", [&] { return base::Run(alerts.Update(kApplication)); });
}

void ThreescaleRoundTrips::CountHardenedJobs() {
  Begin();
  SaveLimit();
  threescale::ReportJob job = {.service_id = "2"};
  job.transactions.push_back({.app_id = "a", .usage = threescale::Usage{{"hits", "1"}}});
  const auto run = [&](threescale::Hardening hardening, std::string id) {
    threescale::WorkerOptions options;
    options.aggregator.hardening = hardening;
    job.id = std::move(id);
    return base::Run(threescale::Worker(backend_->process(), options).Run(job));
  };
  Count("first job of an application, `note_traffic_atomically`",
        [&] { return run({.note_traffic_atomically = true}, ""); });
  const std::string later =
      "later job of an application, `count_jobs_once` or `check_applications_atomically`";
  Count(later, [&] { return run({.count_jobs_once = true}, "j1"); });
  Count(later, [&] { return run({.check_applications_atomically = true}, ""); });
}

void ThreescaleRoundTrips::CountEventsAndErrors() {
  Begin();
  threescale::EventQueue events = backend_->events();
  const auto type = threescale::EventType::kAlert;
  Count("publish an event",
        [&] { return base::Run(events.Publish(type, threescale::JsonObject())); });
  Count("publish an event", [&] { return base::Run(events.PublishJson(type, "{}")); });
  threescale::Hardening hardening;
  hardening.publish_events_atomically = true;
  threescale::EventQueue atomic(backend_->process(), hardening);
  Count("publish an event, `publish_events_atomically`",
        [&] { return base::Run(atomic.PublishJson(type, "{}")); });
  const threescale::EventQueue::Hook hook = []() -> base::Task<absl::Status> {
    co_return absl::OkStatus();
  };
  const std::string consume = "list, count, ping or delete events";
  Count(consume, [&] { return base::Run(events.List()); });
  Count(consume, [&] { return base::Run(events.Size()); });
  Count(consume, [&] { return base::Run(events.PingIfNotEmpty(hook)); });
  Count(consume, [&] { return base::Run(events.Delete("1")); });
  Count(consume, [&] { return base::Run(events.DeleteRange("2")); });

  threescale::ErrorLog errors = backend_->errors();
  const absl::Status error = threescale::MakeError(threescale::ErrorCode::kMetricInvalid, "x");
  Count("store an error", [&] { return base::Run(errors.Store("2", error, "{}")); });
  threescale::ErrorLog trimmed(backend_->process(), {.trim_errors_atomically = true});
  Count("store an error, `trim_errors_atomically`",
        [&] { return base::Run(trimmed.Store("2", error, "{}")); });
  Count("list, count or delete errors", [&] { return base::Run(errors.List("2")); });
  Count("list, count or delete errors", [&] { return base::Run(errors.Count("2")); });
  Count("list, count or delete errors", [&] { return base::Run(errors.Delete("2")); });
}

void ThreescaleRoundTrips::CountStatistics() {
  Begin();
  ASSERT_TRUE(Get("/transactions/authrep.xml", "&usage[hits]=1").ok());
  Prepare(backend_->RunJobs());
  threescale::StatsQuery month = {.service_id = "2", .metric_id = "6"};
  month.since = clock_.Now() - absl::Hours(24 * 30);
  month.until = clock_.Now();
  const std::string read = "read a series of 31 days, its sum, or the applications";
  Count(read, [&] { return base::Run(backend_->stats().Series(month)); });
  Count(read, [&] { return base::Run(backend_->stats().Total(month)); });
  Count(read, [&] { return base::Run(backend_->stats().Applications("2")); });
  threescale::StatsCleaner cleaner(store_, clock_, {.pause = absl::ZeroDuration()});
  Count("mark the statistics of a service", [&] { return base::Run(cleaner.Mark("2")); });
  Count("delete the statistics of a service, one page of keys",
        [&] { return base::Run(cleaner.DeleteMarked()); });
  ASSERT_TRUE(Get("/transactions/authrep.xml", "&usage[hits]=1").ok());
  Prepare(backend_->RunJobs());
  Count("delete zeros, none in one page of keys", [&] { return base::Run(cleaner.DeleteZeros()); });
}

void ThreescaleRoundTrips::CountRestoration() {
  Begin();
  threescale::SystemService service = {.id = "9", .provider_key = "other", .is_default = true};
  service.tokens = {"t"};
  service.metrics = {{"9", "6", "hits"}};
  service.plans = {{"44", {{"6", threescale::Granularity::kDay, 100}}}};
  service.alert_levels = {80};
  service.applications = {{.id = "a", .plan_id = "44", .user_keys = {"u"}, .keys = {"k"}}};
  Count("restore a service with one of each",
        [&] { return base::Run(backend_->Restore(service)); });
}

TEST_F(ThreescaleRoundTrips, AreThoseOfThePage) {
  Measure("threescale", [this] {
    CountServices();
    CountHardenedServices();
    CountApplications();
    CountMembersOfApplications();
    CountMetrics();
    CountLimits();
    CountRequests();
    CountParts();
    CountHardenedJobs();
    CountEventsAndErrors();
    CountStatistics();
    CountRestoration();
  });
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
