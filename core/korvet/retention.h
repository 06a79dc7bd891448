// Retention: up to where a partition's log is cut, from the options of its topic.
//
// A log is cut by age and by size, each with its own command, because Redis refuses MINID and
// MAXLEN in one (XADD ... MINID, then XTRIM ... MAXLEN):
//
//   | option         | bound                                          | none when               |
//   | -------------- | ---------------------------------------------- | ----------------------- |
//   | retentionTime  | MINID now - retentionTime; that millisecond    | -1, or the bound is not |
//   |                | stays                                          | above 0                 |
//   | retentionBytes | MAXLEN retentionBytes / messageBytes, rounded  | -1                      |
//   |                | down, at least 1                               |                         |
//
// The size is an estimate by count: what records really weigh is not looked at. At least one record
// stays, since MAXLEN 0 would remove the very record that is being written.
//
//   RetentionBounds bounds = RetentionOf(topic.config, now_ms);
//   if (bounds.min_id_ms) ...                    // XTRIM key MINID = *bounds.min_id_ms
//
// Thread-safety: plain values and pure functions.
// Source: reference/korvet.md section 7.
#ifndef REDOUBLE_CORE_KORVET_RETENTION_H_
#define REDOUBLE_CORE_KORVET_RETENTION_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/korvet/topic_config.h"

namespace redouble::korvet {

struct RetentionBounds {
  std::optional<int64_t> min_id_ms;   // Ids below these milliseconds go.
  std::optional<int64_t> max_length;  // The first entries beyond that many go.

  friend bool operator==(const RetentionBounds&, const RetentionBounds&) = default;
};

// The bounds of a topic's partitions at `now_ms`, milliseconds since 1970 by the clock that also
// gives the ids: Redis's.
RetentionBounds RetentionOf(const TopicConfig& config, int64_t now_ms);

// How exactly Redis cuts. kApproximate removes whole nodes only (100 entries unless configured), so
// that a small log is not cut at all.
enum class Trimming { kNone, kExact, kApproximate };

// "=" or "~".
std::string_view TrimmingSign(Trimming trimming);

}  // namespace redouble::korvet

#endif  // REDOUBLE_CORE_KORVET_RETENTION_H_
