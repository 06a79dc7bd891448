#include "core/threescale/aggregator.h"

#include <algorithm>
#include <span>
#include <utility>

#include "core/store/batch.h"
#include "core/store/decode.h"
#include "core/store/keys.h"
#include "core/store/sets.h"
#include "core/store/strings.h"
#include "core/threescale/alerts.h"
#include "core/threescale/keys.h"
#include "core/threescale/memoizer.h"

namespace redouble::threescale {
namespace {

using store::Batch;
using store::CommandId;
using store::Reply;

// The applications in the order of first appearance; of one id, the service that came last.
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

}  // namespace

base::Task<absl::Status> Aggregator::Aggregate(std::vector<CountedTransaction> transactions) {
  absl::Status status = co_await Count(transactions);
  if (!status.ok()) co_return status;
  const std::vector<ApplicationRef> applications = TouchedApplications(transactions);
  for (const ApplicationRef& application : applications) {
    status = co_await NoteTraffic(application);
    if (!status.ok()) co_return status;
  }
  for (const ApplicationRef& application : applications) {
    status = co_await Alerts(process_, options_.hardening).Update(application);
    if (!status.ok()) co_return status;
  }
  if (!options_.events_hook) co_return absl::OkStatus();
  co_return co_await Ping();
}

base::Task<absl::Status> Aggregator::Count(const std::vector<CountedTransaction>& transactions) {
  const auto atomicity = options_.hardening.expire_atomically ? Batch::Atomicity::kTransaction
                                                              : Batch::Atomicity::kPipeline;
  std::span<const CountedTransaction> rest(transactions);
  while (!rest.empty()) {
    const std::span<const CountedTransaction> slice = rest.first(std::min(kSlice, rest.size()));
    rest = rest.subspan(slice.size());
    Batch batch(atomicity);
    for (const CountedTransaction& transaction : slice) {
      AddCounterCommands(transaction, process_.stamp_format, batch);
    }
    const absl::StatusOr<std::vector<Reply>> replies =
        co_await store::Execute(process_.store, batch);
    if (!replies.ok()) co_return replies.status();
    if (absl::Status status = store::FirstError(*replies); !status.ok()) co_return status;
  }
  co_return absl::OkStatus();
}

base::Task<absl::Status> Aggregator::NoteTraffic(ApplicationRef application) {
  const std::string key = TrafficApplicationsKey(application.service_id);
  const std::string member = Encode(std::string(application.id));
  const absl::StatusOr<bool> is_first = co_await store::SAdd(process_.store, key, member);
  if (!is_first.ok()) co_return is_first.status();
  if (*is_first) {
    absl::Status status = co_await PublishTraffic(EventType::kFirstTraffic, application);
    if (!status.ok()) co_return status;
  }
  const absl::StatusOr<bool> is_first_today = co_await IsFirstTrafficOfDay(application);
  if (!is_first_today.ok()) co_return is_first_today.status();
  if (!*is_first_today) co_return absl::OkStatus();
  co_return co_await PublishTraffic(EventType::kFirstDailyTraffic, application);
}

// Counts the traffic of today; a process that remembers does so once a minute.
base::Task<absl::StatusOr<bool>> Aggregator::IsFirstTrafficOfDay(ApplicationRef application) {
  const std::string key = DailyTrafficKey(application, process_.clock.Now());
  const std::string memory = MemoizerKey("Aggregator.daily_traffic", key);
  if (process_.memoizer != nullptr) {
    if (process_.memoizer->Find<bool>(memory) != nullptr) co_return false;
    process_.memoizer->Put(memory, true);
  }
  if (options_.hardening.expire_atomically) {
    Batch batch(Batch::Atomicity::kTransaction);
    batch.Add(CommandId::kIncr, {key});
    batch.Add(CommandId::kExpire, {key})
        .AddInteger(absl::ToInt64Seconds(DailyTrafficTtl()))
        .Add("NX");
    const absl::StatusOr<std::vector<Reply>> replies =
        co_await store::Execute(process_.store, batch);
    if (!replies.ok()) co_return replies.status();
    const absl::StatusOr<int64_t> count = store::DecodeInteger(replies->front());
    if (!count.ok()) co_return count.status();
    co_return *count == 1;
  }
  const absl::StatusOr<int64_t> count = co_await store::Incr(process_.store, key);
  if (!count.ok()) co_return count.status();
  if (*count != 1) co_return false;
  const absl::StatusOr<bool> expires =
      co_await store::ExpireIn(process_.store, key, DailyTrafficTtl());
  if (!expires.ok()) co_return expires.status();
  co_return true;
}

base::Task<absl::Status> Aggregator::PublishTraffic(EventType type, ApplicationRef application) {
  JsonObject object;
  object.Add("service_id", application.service_id)
      .Add("application_id", application.id)
      .Add("timestamp", FormatJsonTime(process_.clock.Now()));
  const absl::StatusOr<int64_t> id =
      co_await EventQueue(process_, options_.hardening).Publish(type, std::move(object));
  co_return id.status();
}

base::Task<absl::Status> Aggregator::Ping() {
  // A hook that fails is not called again for a minute, and nobody else hears of it.
  const EventQueue::Hook hook = [this]() -> base::Task<absl::Status> {
    (co_await options_.events_hook()).IgnoreError();
    co_return absl::OkStatus();
  };
  const absl::StatusOr<bool> called =
      co_await EventQueue(process_, options_.hardening).PingIfNotEmpty(hook);
  co_return called.status();
}

}  // namespace redouble::threescale
