#include "redouble/core/korvet/broker/broker.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/korvet/errors.h"

namespace redouble::inline v0_1::korvet {

absl::StatusOr<std::unique_ptr<Broker>> Broker::Create(store::Store& store, base::Clock& clock,
                                                       base::Rng& rng,
                                                       const BrokerSettings& settings) {
  REDOUBLE_ASSIGN_OR_RETURN(Keys keys, Keys::Create(settings.keyspace, settings.key_layout));
  return std::unique_ptr<Broker>(new Broker(store, clock, rng, settings, std::move(keys)));
}

Broker::Broker(store::Store& store, base::Clock& clock, base::Rng& rng,
               const BrokerSettings& settings, Keys keys)
    : store_(store),
      clock_(clock),
      rng_(rng),
      settings_(settings),
      keys_(std::move(keys)),
      topics_(store, rng, keys_, settings.hardening),
      groups_(store, keys_),
      coordinator_(store, keys_,
                   {.session_timeout = settings.consumer.session_timeout,
                    .assignor = settings.consumer.assignor}),
      retention_loop_(store, clock, keys_, settings.retention_interval) {}

base::Task<absl::StatusOr<Topic>> Broker::EnsureTopic(std::string_view name) {
  absl::StatusOr<Topic> topic = co_await topics_.Describe(name);
  if (ErrorCodeOf(topic.status()) != ErrorCode::kUnknownTopicOrPartition) co_return topic;
  NewTopic request;
  request.name = name;
  request.partitions = settings_.num_partitions;
  absl::StatusOr<Topic> created = co_await topics_.Create(request);
  if (ErrorCodeOf(created.status()) != ErrorCode::kTopicAlreadyExists) co_return created;
  topic = co_await topics_.Describe(name);
  if (ErrorCodeOf(topic.status()) == ErrorCode::kUnknownTopicOrPartition) co_return created;
  co_return topic;
}

base::Task<absl::StatusOr<Producer>> Broker::OpenProducer(std::string_view topic) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(Topic described, co_await topics_.Describe(topic));
  co_return Producer(store_, clock_, keys_, std::move(described), settings_.producer);
}

base::Task<absl::StatusOr<Log>> Broker::OpenLog(std::string_view topic) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(Topic described, co_await topics_.Describe(topic));
  co_return Log(store_, clock_, keys_, std::move(described));
}

std::unique_ptr<Consumer> Broker::MakeConsumer(std::string group) {
  return MakeConsumer(std::move(group), settings_.consumer);
}

std::unique_ptr<Consumer> Broker::MakeConsumer(std::string group, ConsumerOptions options) {
  return std::make_unique<Consumer>(store_, clock_, rng_, keys_, std::move(group),
                                    std::move(options));
}

absl::Status Broker::RefuseTransaction(std::string_view request) {
  return MakeError(ErrorCode::kUnsupportedVersion,
                   absl::StrCat("there are no transactions, so no ", base::ToAbsl(request)));
}

absl::Status Broker::CheckBatch(const BatchAttributes& batch) {
  if (batch.control) {
    return MakeError(ErrorCode::kInvalidRecord, "clients do not write control records");
  }
  if (batch.transactional) {
    return MakeError(ErrorCode::kUnsupportedForMessageFormat, "a log has no transactions");
  }
  if (batch.producer_id != -1) {
    return MakeError(ErrorCode::kUnsupportedForMessageFormat, "a log has no producer ids");
  }
  return absl::OkStatus();
}

}  // namespace redouble::inline v0_1::korvet
