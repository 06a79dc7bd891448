// Korvet's key families, and the keys built from them and taken apart again.
//
// A topic is a hash, a set member, a row of the index of ids, and one stream per partition. All
// keys begin with the keyspace, a configured text.
//
//   absl::StatusOr<korvet::Keys> keys = korvet::Keys::Create("korvet");
//   keys->Stream({"orders", 0});                      // "korvet:stream:orders:0"
//   keys->Topic("orders");                            // "korvet:topic:orders"
//   keys->ParseStream("korvet:stream:orders:0");      // {"orders", 0}
//
// The seed's three example commands of consumer groups name `korvet:orders:0`, a key that its own
// layout does not have; the layout is what holds.
//
// Thread-safety: constant after construction.
// Source: seed 003 "Stream Keys", "Topic Metadata Keys"; reference/korvet.md section 1.
#ifndef REDOUBLE_CORE_KORVET_KEYS_H_
#define REDOUBLE_CORE_KORVET_KEYS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "core/store/key_family.h"
#include "core/store/key_pattern.h"

namespace redouble::korvet {

inline constexpr std::string_view kDefaultKeyspace = "korvet";

// The four families, in the order of the documentation, with the keyspace as a placeholder.
std::span<const store::KeyFamily> KeyFamilies();

// One partition of a topic; partitions count from 0. A view: whoever gave the name owns it.
struct TopicPartition {
  std::string_view topic;
  int32_t partition = 0;

  friend bool operator==(const TopicPartition&, const TopicPartition&) = default;
};

// The keys of one keyspace.
class Keys {
 public:
  // Errors: INVALID_CONFIG (error_code.h) when the keyspace is empty. Any other text will do, one
  // with colons too: it is a constant, so that it makes no key ambiguous.
  static absl::StatusOr<Keys> Create(std::string_view keyspace = kDefaultKeyspace);

  const std::string& keyspace() const { return keyspace_; }

  // The stream of a partition. Errors: INVALID_TOPIC_EXCEPTION for an illegal name,
  // UNKNOWN_TOPIC_OR_PARTITION for a partition below 0.
  absl::StatusOr<std::string> Stream(TopicPartition partition) const;
  // The hash of a topic. Errors: INVALID_TOPIC_EXCEPTION.
  absl::StatusOr<std::string> Topic(std::string_view topic) const;
  // The set of all names.
  const std::string& Topics() const { return topics_; }
  // The hash from ids to names.
  const std::string& TopicIds() const { return topic_ids_; }

  // What Stream and Topic made a key of; none for any other key, one with an illegal name, a
  // partition below 0 or above 2147483647, or a padded number among them. Views into the key.
  std::optional<TopicPartition> ParseStream(std::string_view key) const;
  std::optional<std::string_view> ParseTopic(std::string_view key) const;

 private:
  Keys(std::string_view keyspace, store::KeyPattern stream, store::KeyPattern topic);

  std::string keyspace_;
  store::KeyPattern stream_;
  store::KeyPattern topic_;
  std::string topics_;
  std::string topic_ids_;
};

}  // namespace redouble::korvet

#endif  // REDOUBLE_CORE_KORVET_KEYS_H_
