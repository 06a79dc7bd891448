#include "redouble/core/korvet/log/retention.h"

#include <algorithm>

namespace redouble::inline v0_1::korvet {

RetentionBounds RetentionOf(const TopicConfig& config, int64_t now_ms) {
  RetentionBounds bounds;
  if (config.retention_time_ms >= 0 && now_ms > config.retention_time_ms) {
    bounds.min_id_ms = now_ms - config.retention_time_ms;
  }
  if (config.retention_bytes >= 0) {
    bounds.max_length = std::max<int64_t>(config.retention_bytes / config.message_bytes, 1);
  }
  return bounds;
}

std::string_view TrimmingSign(Trimming trimming) {
  return trimming == Trimming::kApproximate ? "~" : "=";
}

}  // namespace redouble::inline v0_1::korvet
