// BrokerSettings: the settings of Korvet, with the names and defaults of Kafka where Kafka has
// them.
//
// Fill in the members, or read them from variables:
//
//   const std::pair<std::string_view, std::string_view> variables[] = {
//       {"KORVET_KEYSPACE", "{korvet}"},
//       {"KORVET_SESSION_TIMEOUT_MS", "10000"}};
//   absl::StatusOr<BrokerSettings> settings = ReadBrokerSettings(variables);
//
// Thread-safety: plain values and a pure function.
// Source: docs/systems/korvet.md 1.1.
#ifndef REDOUBLE_CORE_KORVET_BROKER_SETTINGS_H_
#define REDOUBLE_CORE_KORVET_BROKER_SETTINGS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/settings/variables.h"
#include "redouble/core/korvet/groups/consumer.h"
#include "redouble/core/korvet/hardening.h"
#include "redouble/core/korvet/keys.h"
#include "redouble/core/korvet/log/producer.h"
#include "redouble/core/korvet/log/retention_loop.h"
#include "redouble/core/store/keyspace/key_layout.h"

namespace redouble::inline v0_1::korvet {

struct BrokerSettings {
  // The server, for the program that connects the store.
  std::string redis_url;
  std::string keyspace = std::string(kDefaultKeyspace);
  // How the keys are spelled (docs/systems/korvet.md 1.2). All programs that share the topics must
  // use the same.
  store::KeyLayout key_layout = store::KeyLayout::kDocumented;
  // Partitions of a topic that Broker::EnsureTopic creates.
  int32_t num_partitions = 1;
  // For the topics: atomic_creation. The options of producers and groups are in theirs.
  Hardening hardening = {};
  ProducerOptions producer = {};
  ConsumerOptions consumer = {};
  // The pause of the retention loop; nullopt: it does not run.
  std::optional<absl::Duration> retention_interval = kDefaultRetentionInterval;
};

// Returns the defaults, changed by the variables whose names begin with KORVET_. The rest of a name
// is that of the Kafka property in upper case with underscores, as in Kafka's container images.
// White space around a value is removed. A blank value means the default, except for
// KORVET_LOG_RETENTION_CHECK_INTERVAL_MS: the loop is off if the value is blank, "none", "null",
// "off" or -1. Other variables are ignored; of a repeated one the last counts.
//
// Errors: INVALID_CONFIG, with the name, for a value that is not allowed.
absl::StatusOr<BrokerSettings> ReadBrokerSettings(base::Variables variables);

}  // namespace redouble::inline v0_1::korvet

#endif  // REDOUBLE_CORE_KORVET_BROKER_SETTINGS_H_
