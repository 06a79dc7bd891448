// What a topic may be called.
//
// Thread-safety: pure functions.
// Source: reference/korvet.md section 3 (the rule is Kafka's).
#ifndef REDOUBLE_CORE_KORVET_TOPIC_NAME_H_
#define REDOUBLE_CORE_KORVET_TOPIC_NAME_H_

#include <cstddef>
#include <string_view>

#include "absl/status/status.h"

namespace redouble::korvet {

inline constexpr size_t kMaxTopicNameBytes = 249;

// OK for 1 to 249 characters of a-z, A-Z, 0-9, '.', '_' and '-', except "." and "..". Otherwise
// INVALID_TOPIC_EXCEPTION (error_code.h), saying which rule was broken. No legal name contains a
// colon, so that none makes a key ambiguous. Kafka only warns of names that differ in '.' and '_'
// alone; here nothing is said of them.
absl::Status CheckTopicName(std::string_view name);

}  // namespace redouble::korvet

#endif  // REDOUBLE_CORE_KORVET_TOPIC_NAME_H_
