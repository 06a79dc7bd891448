// CheckTopicName: the rules for names of topics, which are those of Kafka.
//
// A legal name contains no colon, so it makes no key ambiguous (keys.h). Every operation that takes
// a name checks it before it sends a command.
//
//   absl::Status status = CheckTopicName("orders");        // OK
//   ErrorCodeOf(CheckTopicName("orders:1"));               // ErrorCode::kInvalidTopic
//
// Thread-safety: pure functions.
// Source: docs/systems/korvet.md 2.1.
#ifndef REDOUBLE_CORE_KORVET_TOPIC_NAME_H_
#define REDOUBLE_CORE_KORVET_TOPIC_NAME_H_

#include <cstddef>
#include <string_view>

#include "absl/status/status.h"

namespace redouble::inline v0_1::korvet {

inline constexpr size_t kMaxTopicNameBytes = 249;

// Returns OK for 1 to 249 characters of a-z, A-Z, 0-9, '.', '_' and '-', except "." and "..".
// Otherwise returns INVALID_TOPIC_EXCEPTION (errors.h) with the violated rule in its message.
// Kafka also warns about names that differ only in '.' and '_'; Korvet does not.
absl::Status CheckTopicName(std::string_view name);

}  // namespace redouble::inline v0_1::korvet

#endif  // REDOUBLE_CORE_KORVET_TOPIC_NAME_H_
