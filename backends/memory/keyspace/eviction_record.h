// EvictionRecord: a key's LRU and LFU fields: when it was last used, and how often, in eight bytes.
//
// The frequency is Redis's logarithmic counter: it rises with a probability that falls as it grows,
// and loses one for every lfu-decay-time minutes of the engine's clock without use. It is updated
// only if maxmemory-policy is an LFU policy; the time is always updated.
//
// Thread-safety: a plain value.
// Source: Redis 7.0 redis.conf, "maxmemory-policy", "lfu-log-factor", "lfu-decay-time".
#ifndef REDOUBLE_BACKENDS_MEMORY_KEYSPACE_EVICTION_RECORD_H_
#define REDOUBLE_BACKENDS_MEMORY_KEYSPACE_EVICTION_RECORD_H_

#include <algorithm>
#include <cstdint>

#include "redouble/core/base/random/rng.h"

namespace redouble::inline v0_1::memory {

struct EvictionRecord {
  // The initial frequency of a new key, so that it is not evicted first.
  static constexpr uint8_t kFirstFrequency = 5;
  static constexpr uint8_t kMaxFrequency = 255;

  // Unix time in seconds.
  uint32_t used_s = 0;
  // The lowest 16 bits of the Unix time in minutes.
  uint16_t frequency_minutes = 0;
  uint8_t frequency = kFirstFrequency;

  static uint16_t MinutesOf(uint32_t now_s) { return static_cast<uint16_t>(now_s / 60); }

  // Seconds since the last use; 0 if the clock was set back.
  int64_t IdleSeconds(uint32_t now_s) const {
    return std::max<int64_t>(static_cast<int32_t>(now_s - used_s), 0);
  }

  // The decayed frequency.
  uint8_t FrequencyNow(uint32_t now_s, int decay_minutes) const {
    if (decay_minutes == 0) return frequency;
    const auto passed = static_cast<uint16_t>(MinutesOf(now_s) - frequency_minutes);
    return static_cast<uint8_t>(std::max(0, frequency - passed / decay_minutes));
  }

  // Counts one use.
  void CountUse(uint32_t now_s, int log_factor, int decay_minutes, base::Rng& rng) {
    frequency = FrequencyNow(now_s, decay_minutes);
    frequency_minutes = MinutesOf(now_s);
    if (frequency == kMaxFrequency) return;
    const int above_first = std::max(0, frequency - kFirstFrequency);
    if (above_first == 0 || log_factor == 0 ||
        rng.Chance(1.0 / (static_cast<double>(above_first) * log_factor + 1))) {
      ++frequency;
    }
  }
};

static_assert(sizeof(EvictionRecord) == 8);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_KEYSPACE_EVICTION_RECORD_H_
