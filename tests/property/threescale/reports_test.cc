// Random reports are processed by the worker, with and without the options against hazards, and by
// a slow model of the specification: every key, value and TTL must be equal.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "redouble/backends/testing/backends.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/store/command.h"
#include "redouble/core/threescale/report/worker.h"
#include "redouble/tests/property/threescale/report_model.h"

namespace redouble::inline v0_1::threescale {
namespace {

using base::IsOk;
using store::Reply;

// Chosen so that a few days cross the end of a week, a month and, often, a year.
constexpr int64_t kStarts[] = {1745430159, 1767225500, 1709164700, 1735516700, 1740960000};

template <typename Texts>
const auto& Pick(base::Rng& rng, const Texts& texts) {
  return texts[rng.Below(std::size(texts))];
}

base::Task<absl::StatusOr<Reply>> Send(store::Store& store, std::vector<std::string> words) {
  store::Command command = store::Command::Named(words.front());
  command.AddAll(std::span(words).subspan(1));
  co_return co_await store.Execute(command);
}

// A database with one service, its model, and a worker.
template <typename Backend>
class Program {
 public:
  Program(uint64_t seed, bool hardened)
      : rng_(seed),
        hardened_(hardened),
        clock_(absl::FromUnixSeconds(Start(seed))),
        started_(backend_.Start(clock_.Now())) {
    if (!started_.ok()) return;
    session_ = backend_.Connect();
    model_.trimmed_stamps = rng_.Chance(0.5);
    for (const char* application : {"a", "b", "c"}) SaveApplication(application);
    SaveMetric("1", "hits", "");
    SaveMetric("2", "search", "1");
    SaveMetric("3", "fulltext", "2");
    SaveMetric("4", "other", "");
    for (const char* metric : {"1", "2", "3", "4"}) SaveLimits(metric);
    for (const int level : {0, 50, 80, 90, 100, 120, 150, 200, 300}) {
      if (rng_.Chance(0.4)) Allow(level);
    }
  }

  const absl::Status& started() const { return started_; }

  // Advances the clock and reports once.
  void Report() {
    constexpr int kSteps[] = {0, 1, 20, 59, 180, 181, 3600, 40000, 86400, 200000};
    clock_.AdvanceTo(clock_.Now() + absl::Seconds(Pick(rng_, kSteps)));
    backend_.AdvanceTo(clock_.Now());
    std::vector<ReportModel::Transaction> transactions(1 + rng_.Below(4));
    for (auto& transaction : transactions) transaction = DrawTransaction();
    model_.Report(transactions, Now());
    ReportJob job;
    job.service_id = "2";
    for (size_t i = 0; i < transactions.size(); ++i) {
      job.transactions.push_back(ToJob(transactions[i]));
    }
    Process process(*session_, clock_);
    process.stamp_format = model_.trimmed_stamps ? StampFormat::kTrimmed : StampFormat::kFixedWidth;
    WorkerOptions options;
    if (hardened_) {
      options.aggregator.hardening = {.publish_events_atomically = true,
                                      .raise_alerts_atomically = true,
                                      .expire_atomically = true,
                                      .note_traffic_atomically = true,
                                      .count_jobs_once = true,
                                      .check_applications_atomically = true,
                                      .trim_errors_atomically = true};
      job.id = "job-" + std::to_string(++jobs_);
    }
    const absl::Status ran = base::Run(Worker(process, options).Run(Job(std::move(job))));
    EXPECT_THAT(ran, IsOk());
  }

  void Compare() {
    std::map<std::string, ReportModel::Stored> strings;
    for (const Reply& reply : Ask({"KEYS", "*"}).elements()) {
      const std::string& key = reply.text();
      if (Ask({"TYPE", key}).text() != "string" || IsSetUp(key)) continue;
      strings[key] = {Ask({"GET", key}).text(), std::nullopt};
      const int64_t left_ms = Ask({"PTTL", key}).integer();
      if (left_ms >= 0) strings[key].expires = Now() + left_ms / 1000;
    }
    const auto expected = model_.StringsAt(Now());
    for (const auto& [key, stored] : expected) {
      ASSERT_TRUE(strings.contains(key)) << key;
      ASSERT_EQ(strings[key].value, stored.value) << key;
      ASSERT_EQ(strings[key].expires, stored.expires) << key;
    }
    for (const auto& [key, stored] : strings) ASSERT_TRUE(expected.contains(key)) << key;
    std::vector<std::string> events;
    for (const Reply& event : Ask({"ZRANGE", "events/queue", "0", "-1"}).elements()) {
      events.push_back(event.text());
    }
    ASSERT_EQ(events, model_.events());
    std::set<std::string> traffic;
    for (const Reply& member : Ask({"SMEMBERS", "stats/{service:2}/cinstances"}).elements()) {
      traffic.insert(member.text());
    }
    ASSERT_EQ(traffic, model_.traffic());
    ASSERT_EQ(Ask({"LLEN", "errors/service_id:2"}).integer(), model_.errors());
  }

 private:
  static int64_t Start(uint64_t seed) { return kStarts[seed % std::size(kStarts)]; }
  int64_t Now() const { return absl::ToUnixSeconds(clock_.Now()); }

  Reply Ask(std::vector<std::string> words) {
    const std::string name = words.front();
    absl::StatusOr<Reply> reply = base::Run(Send(*session_, std::move(words)));
    EXPECT_TRUE(reply.ok() && !reply->is_error()) << name;
    return reply.ok() ? *std::move(reply) : Reply::EmptyArray();
  }

  static bool IsSetUp(const std::string& key) {
    return key.starts_with("application/") || key.starts_with("metric/") ||
           key.starts_with("usage_limit/") || key.starts_with("counted_jobs/");
  }

  void SaveApplication(const std::string& id) {
    model_.applications.insert(id);
    Ask({"SET", "application/service_id:2/id:" + id + "/state", "active"});
    Ask({"SET", "application/service_id:2/id:" + id + "/plan_id", "44"});
  }
  void SaveMetric(const std::string& id, const std::string& name, const std::string& parent) {
    model_.metric_ids[name] = id;
    names_[id] = name;
    Ask({"SET", "metric/service_id:2/name:" + name + "/id", id});
    Ask({"SET", "metric/service_id:2/id:" + id + "/name", name});
    Ask({"SADD", "metrics/service_id:2/ids", id});
    if (parent.empty()) return;
    model_.parents[id] = parent;
    Ask({"SET", "metric/service_id:2/id:" + id + "/parent_id", parent});
  }
  void SaveLimits(const std::string& metric) {
    for (const char* period : {"eternity", "year", "month", "week", "day", "hour", "minute"}) {
      if (!rng_.Chance(0.15)) continue;
      const int64_t value = static_cast<int64_t>(rng_.Below(40));
      model_.limits.push_back({metric, names_[metric], period, value});
      Ask({"SET", "usage_limit/service_id:2/plan_id:44/metric_id:" + metric + "/" + period,
           std::to_string(value)});
    }
  }
  void Allow(int level) {
    model_.allowed_levels.insert(level);
    Ask({"SADD", "alerts/service_id:2/allowed_set", std::to_string(level)});
  }

  ReportModel::Transaction DrawTransaction() {
    constexpr const char* kValues[] = {"1",  "1", "2",  "5",   "17",  "#3",  "#8",
                                       "#0", "0", "00", "007", " 4 ", " #5", "#012"};
    constexpr const char* kCodes[] = {"", "", "200", "209", "404", "503", "301", "99", "20x"};
    constexpr const char* kNames[] = {"hits", "search", "fulltext", "other"};
    constexpr const char* kApplications[] = {"a", "a", "b", "c"};
    ReportModel::Transaction transaction;
    transaction.application = rng_.Chance(0.005) ? "nobody" : Pick(rng_, kApplications);
    transaction.code = Pick(rng_, kCodes);
    for (const char* name : kNames) {
      if (rng_.Chance(0.4)) transaction.usage.emplace_back(name, Pick(rng_, kValues));
    }
    if (rng_.Chance(0.005)) transaction.usage.emplace_back("unknown", "1");
    if (rng_.Chance(0.005)) transaction.usage.emplace_back("hits", "-1");
    constexpr int64_t kAhead[] = {0, -60, -3600, -86400, 3600, 1800};
    if (rng_.Chance(0.3)) transaction.timestamp = Now() + Pick(rng_, kAhead);
    if (rng_.Chance(0.003)) transaction.timestamp = Now() - 86401;
    if (rng_.Chance(0.003)) transaction.timestamp = Now() + 3601;
    return transaction;
  }

  // Writes timestamps in one of their possible formats.
  Transaction ToJob(const ReportModel::Transaction& transaction) {
    Transaction job;
    job.app_id = transaction.application;
    for (const auto& [name, value] : transaction.usage) PutUsage(job.usage, name, value);
    if (!transaction.code.empty()) job.log_code = transaction.code;
    if (transaction.timestamp) {
      job.timestamp = rng_.Chance(0.5)
                          ? std::to_string(*transaction.timestamp)
                          : FormatJsonTime(absl::FromUnixSeconds(*transaction.timestamp));
    } else if (rng_.Chance(0.1)) {
      job.timestamp = "some day";
    }
    return job;
  }

  base::Rng rng_;
  const bool hardened_;
  int jobs_ = 0;
  base::VirtualClock clock_;  // The process's clock.
  Backend backend_;
  const absl::Status started_;
  std::unique_ptr<store::Store> session_;
  ReportModel model_;
  std::map<std::string, std::string> names_;
};

template <typename Backend>
class RandomReports : public ::testing::Test {};
TYPED_TEST_SUITE(RandomReports, tests::Backends, tests::BackendNames);

// 100,000 reports on the engine; fewer on live servers, because each program needs its own server.
TYPED_TEST(RandomReports, HaveTheResultOfTheReference) {
  const uint64_t programs = TypeParam::kName == "Memory" ? 2500 : 20;
  constexpr int kReports = 40;
  for (uint64_t seed = 1; seed <= programs; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Program<TypeParam> program(seed, /*hardened=*/seed % 2 == 0);
    if (!program.started().ok()) GTEST_SKIP() << program.started();
    for (int i = 0; i < kReports; ++i) program.Report();
    program.Compare();
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::threescale
