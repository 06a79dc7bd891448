// Retention: the bounds to which a partition's log is trimmed, computed from the topic's options.
//
// A log is trimmed by age and by size. Redis refuses MINID and MAXLEN in one command, so that each
// bound has its own (XADD ... MINID, then XTRIM ... MAXLEN):
//
//   | option         | bound                                          | no bound if             |
//   | -------------- | ---------------------------------------------- | ----------------------- |
//   | retentionTime  | MINID now - retentionTime; entries of exactly  | -1, or the bound is not |
//   |                | that millisecond are kept                      | above 0                 |
//   | retentionBytes | MAXLEN retentionBytes / messageBytes, rounded  | -1                      |
//   |                | down, at least 1                               |                         |
//
// The bound by size is an estimate: it counts entries and does not measure them. It keeps at least
// one entry, because MAXLEN 0 would remove the new entry.
//
//   RetentionBounds bounds = RetentionOf(topic.config, now_ms);
//   if (bounds.min_id_ms) ...                    // XTRIM key MINID = *bounds.min_id_ms
//
// Thread-safety: plain values and pure functions.
// Source: docs/systems/korvet.md 4.10.
#ifndef REDOUBLE_CORE_KORVET_LOG_RETENTION_H_
#define REDOUBLE_CORE_KORVET_LOG_RETENTION_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "redouble/core/korvet/topics/topic_config.h"

namespace redouble::inline v0_1::korvet {

struct RetentionBounds {
  std::optional<int64_t> min_id_ms;   // Ids with an earlier time are removed.
  std::optional<int64_t> max_length;  // The number of newest entries that are kept.

  friend bool operator==(const RetentionBounds&, const RetentionBounds&) = default;
};

// Returns the bounds for the partitions of a topic. `now_ms` is the time of Redis in milliseconds
// since 1970, because entry ids have that time.
RetentionBounds RetentionOf(const TopicConfig& config, int64_t now_ms);

// How exactly Redis trims. kApproximate removes complete nodes only (100 entries by default), so
// that a small log is not trimmed.
enum class Trimming { kNone, kExact, kApproximate };

// Returns "=" or "~".
std::string_view TrimmingSign(Trimming trimming);

}  // namespace redouble::inline v0_1::korvet

#endif  // REDOUBLE_CORE_KORVET_LOG_RETENTION_H_
