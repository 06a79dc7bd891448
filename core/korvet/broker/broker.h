// Broker: all parts of Korvet on one store, built from its settings.
//
// Use it in a program that produces, consumes or serves Kafka's protocol; a test of one part can
// build that part alone. The program brings the store, the clock and the seed of the member ids; a
// test uses the memory engine and a virtual clock.
//
//   absl::StatusOr<std::unique_ptr<Broker>> broker = Broker::Create(store, clock, rng, settings);
//   absl::StatusOr<Topic> orders = co_await (*broker)->EnsureTopic("orders");
//   absl::StatusOr<Producer> producer = co_await (*broker)->OpenProducer("orders");
//   std::unique_ptr<Consumer> consumer = (*broker)->MakeConsumer("my-group");
//   const std::vector<std::string> names = {"orders"};
//   absl::Status subscribed = co_await consumer->Subscribe(names);
//   // Beside the server, until the program ends:
//   co_await (*broker)->retention_loop().Run();
//
// The parts share one store. A consumer with ConsumerOptions::max_wait sends blocking commands.
//
// Thread-safety: as the store and the Rng.
// Source: docs/systems/korvet.md 1.1, 4.
#ifndef REDOUBLE_CORE_KORVET_BROKER_BROKER_H_
#define REDOUBLE_CORE_KORVET_BROKER_BROKER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/base/time/clock.h"
#include "redouble/core/korvet/broker/settings.h"
#include "redouble/core/korvet/groups/consumer.h"
#include "redouble/core/korvet/groups/coordinator.h"
#include "redouble/core/korvet/groups/group_admin.h"
#include "redouble/core/korvet/keys.h"
#include "redouble/core/korvet/log/log.h"
#include "redouble/core/korvet/log/producer.h"
#include "redouble/core/korvet/log/retention_loop.h"
#include "redouble/core/korvet/topics/topics.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::korvet {

// The attributes of a batch of Kafka's protocol that concern transactions.
struct BatchAttributes {
  bool transactional = false;
  bool control = false;      // Its records are markers of a coordinator.
  int64_t producer_id = -1;  // -1: the producer is not idempotent.
};

class Broker {
 public:
  // `store`, `clock` and `rng` must outlive the object; each process needs its own seed. Sends
  // nothing. Errors: INVALID_CONFIG for a keyspace that Keys::Create refuses.
  static absl::StatusOr<std::unique_ptr<Broker>> Create(store::Store& store, base::Clock& clock,
                                                        base::Rng& rng,
                                                        const BrokerSettings& settings = {});
  Broker(const Broker&) = delete;
  Broker& operator=(const Broker&) = delete;

  // Returns a topic, and creates it with num_partitions if it does not exist. If another process
  // creates it at the same time, returns that one. HGETALL; for a new topic as Topics::Create, and
  // HGETALL if another process was first. Repeat it after an error. Errors: as Topics::Create; a
  // half-made topic (H1) stays TOPIC_ALREADY_EXISTS until Topics::Repair.
  base::Task<absl::StatusOr<Topic>> EnsureTopic(std::string_view name);

  // Return a producer or a reader of a topic. HGETALL: one round trip. Errors: as Topics::Describe.
  base::Task<absl::StatusOr<Producer>> OpenProducer(std::string_view topic);
  base::Task<absl::StatusOr<Log>> OpenLog(std::string_view topic);

  // Returns a new member of a group. Sends nothing. The second form changes the settings, for
  // example to set callbacks.
  std::unique_ptr<Consumer> MakeConsumer(std::string group);
  std::unique_ptr<Consumer> MakeConsumer(std::string group, ConsumerOptions options);

  Topics& topics() { return topics_; }
  GroupAdmin& groups() { return groups_; }
  Coordinator& coordinator() { return coordinator_; }
  // With the interval of the settings. Returns OK at once if it is off.
  RetentionLoop& retention_loop() { return retention_loop_; }
  const BrokerSettings& settings() const { return settings_; }

  // The answer to any request of transactions or idempotent producers, such as the one for a
  // producer id: always UNSUPPORTED_VERSION, which Kafka documents for all of them and clients do
  // not retry. `request` is its name, for the message. Source: docs/systems/korvet.md D16.
  static absl::Status RefuseTransaction(std::string_view request);
  // Whether a batch of a Produce request may be appended. Errors: UNSUPPORTED_FOR_MESSAGE_FORMAT
  // for one of a transaction, and for one of an idempotent producer, whose retries would be written
  // twice (H10); INVALID_RECORD for a control batch. Source: docs/systems/korvet.md D16.
  static absl::Status CheckBatch(const BatchAttributes& batch);

 private:
  Broker(store::Store& store, base::Clock& clock, base::Rng& rng, const BrokerSettings& settings,
         Keys keys);

  store::Store& store_;
  base::Clock& clock_;
  base::Rng& rng_;
  const BrokerSettings settings_;
  const Keys keys_;
  Topics topics_;
  GroupAdmin groups_;
  Coordinator coordinator_;
  RetentionLoop retention_loop_;
};

}  // namespace redouble::inline v0_1::korvet

#endif  // REDOUBLE_CORE_KORVET_BROKER_BROKER_H_
