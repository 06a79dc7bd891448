#include "redouble/core/threescale/report/aggregator.h"

#include <algorithm>
#include <span>
#include <utility>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/sets.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/core/threescale/keys.h"
#include "redouble/core/threescale/memoizer.h"
#include "redouble/core/threescale/notify/alerts.h"
#include "redouble/core/threescale/report/guarded_slice.h"
#include "redouble/core/threescale/report/traffic.h"

namespace redouble::inline v0_1::threescale {
namespace {

using store::Batch;
using store::CommandId;
using store::Reply;

// The applications in the order of first appearance. For a repeated id, the last service is used.
std::vector<ApplicationRef> TouchedApplications(
    const std::vector<CountedTransaction>& transactions) {
  std::vector<ApplicationRef> applications;
  for (const CountedTransaction& transaction : transactions) {
    const auto known = std::find_if(
        applications.begin(), applications.end(),
        [&](const ApplicationRef& other) { return other.id == transaction.application_id; });
    if (known != applications.end()) {
      known->service_id = transaction.service_id;
    } else {
      applications.push_back({transaction.service_id, transaction.application_id});
    }
  }
  return applications;
}

// The transactions that are written together. In the cluster layout they are of one service, so
// that their counters are in one slot.
std::span<const CountedTransaction> SliceOf(std::span<const CountedTransaction> rest,
                                            store::KeyLayout layout) {
  const auto slice = rest.first(std::min(Aggregator::kSlice, rest.size()));
  if (layout == store::KeyLayout::kDocumented) return slice;
  const auto other = std::find_if(slice.begin(), slice.end(), [&](const CountedTransaction& next) {
    return next.service_id != slice.front().service_id;
  });
  return slice.first(static_cast<size_t>(other - slice.begin()));
}

// The applications that must exist for a slice of `service_id`: all of the call, so that no part of
// it is counted. In the cluster layout the others are in other slots.
std::vector<ApplicationRef> ApplicationsToCheck(const std::vector<CountedTransaction>& transactions,
                                                std::string_view service_id,
                                                store::KeyLayout layout) {
  std::vector<ApplicationRef> applications;
  for (const CountedTransaction& transaction : transactions) {
    const ApplicationRef application = {transaction.service_id, transaction.application_id};
    if (layout == store::KeyLayout::kCluster && application.service_id != service_id) continue;
    const bool is_known =
        std::any_of(applications.begin(), applications.end(), [&](const ApplicationRef& other) {
          return other.service_id == application.service_id && other.id == application.id;
        });
    if (!is_known) applications.push_back(application);
  }
  return applications;
}

}  // namespace

base::Task<absl::Status> Aggregator::Aggregate(std::vector<CountedTransaction> transactions,
                                               std::string job_id) {
  REDOUBLE_CO_RETURN_IF_ERROR(co_await Count(transactions, job_id));
  const std::vector<ApplicationRef> applications = TouchedApplications(transactions);
  for (const ApplicationRef& application : applications) {
    REDOUBLE_CO_RETURN_IF_ERROR(co_await NoteTraffic(application));
  }
  for (const ApplicationRef& application : applications) {
    Alerts alerts(process_, options_.hardening);
    REDOUBLE_CO_RETURN_IF_ERROR(co_await alerts.Update(application));
  }
  if (!options_.events_hook) co_return absl::OkStatus();
  co_return co_await Ping();
}

base::Task<absl::Status> Aggregator::Count(const std::vector<CountedTransaction>& transactions,
                                           std::string_view job_id) {
  const bool marks = options_.hardening.count_jobs_once && !job_id.empty();
  const bool checks = options_.hardening.check_applications_atomically;
  int64_t number = 0;
  const auto atomicity = options_.hardening.expire_atomically ? Batch::Atomicity::kTransaction
                                                              : Batch::Atomicity::kPipeline;
  std::span<const CountedTransaction> rest(transactions);
  while (!rest.empty()) {
    const std::span<const CountedTransaction> slice = SliceOf(rest, process_.keys.layout());
    rest = rest.subspan(slice.size());
    Batch batch(atomicity);
    for (const CountedTransaction& transaction : slice) {
      AddCounterCommands(transaction, process_.keys, process_.stamp_format, batch);
    }
    ++number;
    if ((marks || checks) && !batch.empty()) {
      const std::string_view service_id = slice.front().service_id;
      GuardedSlice guarded{
          .job = {service_id, marks ? job_id : ""}, .number = number, .commands = batch};
      if (checks) {
        guarded.applications =
            ApplicationsToCheck(transactions, service_id, process_.keys.layout());
      }
      REDOUBLE_CO_RETURN_IF_ERROR(co_await CountGuardedSlice(process_, guarded));
      continue;
    }
    REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<Reply> replies,
                                 co_await store::Execute(process_.store, batch));
    REDOUBLE_CO_RETURN_IF_ERROR(store::FirstError(replies));
  }
  co_return absl::OkStatus();
}

bool Aggregator::notes_atomically() const {
  const Hardening& hardening = options_.hardening;
  return (hardening.note_traffic_atomically || hardening.check_applications_atomically) &&
         process_.keys.layout() == store::KeyLayout::kDocumented;
}

base::Task<absl::Status> Aggregator::NoteTraffic(ApplicationRef application) {
  if (notes_atomically()) {
    const Traffic traffic{application, options_.hardening.check_applications_atomically};
    REDOUBLE_CO_RETURN_IF_ERROR(co_await NoteFirstTraffic(process_, traffic));
    co_return co_await NoteTrafficOfDay(application);
  }
  const std::string key = process_.keys.TrafficApplications(application.service_id);
  const std::string member = Encode(std::string(application.id));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const bool is_first,
                               co_await store::SAdd(process_.store, key, member));
  if (is_first) {
    const absl::Time now = process_.clock.Now();
    REDOUBLE_CO_RETURN_IF_ERROR(
        co_await PublishTraffic(EventType::kFirstTraffic, application, now));
  }
  co_return co_await NoteTrafficOfDay(application);
}

// A process with a memoizer notes the traffic of a day at most once a minute. It remembers only
// what has succeeded, so that the retry of a failed job sends the commands again.
base::Task<absl::Status> Aggregator::NoteTrafficOfDay(ApplicationRef application) {
  const absl::Time now = process_.clock.Now();
  const std::string key = process_.keys.DailyTraffic(application, now);
  const std::string memory = MemoizerKey("Aggregator.daily_traffic", key);
  Memoizer* const memoizer = process_.memoizer;
  if (memoizer != nullptr && memoizer->Find<bool>(memory) != nullptr) co_return absl::OkStatus();
  REDOUBLE_CO_RETURN_IF_ERROR(co_await NoteUnknownTrafficOfDay(application, now));
  if (memoizer != nullptr) memoizer->Put(memory, true);
  co_return absl::OkStatus();
}

base::Task<absl::Status> Aggregator::NoteUnknownTrafficOfDay(ApplicationRef application,
                                                             absl::Time now) {
  if (notes_atomically()) {
    const Traffic traffic{application, options_.hardening.check_applications_atomically};
    co_return co_await NoteDailyTraffic(process_, traffic);
  }
  const std::string key = process_.keys.DailyTraffic(application, now);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const bool is_first, co_await CountTrafficOfDay(key));
  if (!is_first) co_return absl::OkStatus();
  co_return co_await PublishTraffic(EventType::kFirstDailyTraffic, application, now);
}

base::Task<absl::StatusOr<bool>> Aggregator::CountTrafficOfDay(std::string_view key) {
  if (options_.hardening.expire_atomically) {
    Batch batch(Batch::Atomicity::kTransaction);
    batch.Add(CommandId::kIncr, {key});
    batch.Add(CommandId::kExpire, {key})
        .AddInteger(absl::ToInt64Seconds(DailyTrafficTtl()))
        .Add("NX");
    REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<Reply> replies,
                                 co_await store::Execute(process_.store, batch));
    REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t count, store::DecodeInteger(replies.front()));
    co_return count == 1;
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t count, co_await store::Incr(process_.store, key));
  if (count != 1) co_return false;
  REDOUBLE_CO_RETURN_IF_ERROR(
      (co_await store::ExpireIn(process_.store, key, DailyTrafficTtl())).status());
  co_return true;
}

base::Task<absl::Status> Aggregator::PublishTraffic(EventType type, ApplicationRef application,
                                                    absl::Time time) {
  const absl::StatusOr<int64_t> id = co_await EventQueue(process_, options_.hardening)
                                         .Publish(type, TrafficObject(application, time));
  co_return id.status();
}

base::Task<absl::Status> Aggregator::Ping() {
  // After an error of the hook, it is not called again for a minute, and no process retries (H8).
  const EventQueue::Hook hook = [this]() -> base::Task<absl::Status> {
    (co_await options_.events_hook()).IgnoreError();
    co_return absl::OkStatus();
  };
  const absl::StatusOr<bool> called =
      co_await EventQueue(process_, options_.hardening).PingIfNotEmpty(hook);
  co_return called.status();
}

}  // namespace redouble::inline v0_1::threescale
