#include "redouble/backends/redis/net/pool/pool_ledger.h"

#include <algorithm>

namespace redouble::inline v0_1::redis {

PoolGrant PoolLedger::Borrow(int64_t now_us) {
  if (!idle_.empty()) {
    const Idle idle = idle_.back();
    idle_.pop_back();
    borrowed_.emplace(idle.id, idle.opened_us);
    const bool check = now_us - idle.since_us >= limits_.check_after_us;
    return {check ? PoolGrant::Kind::kCheck : PoolGrant::Kind::kReuse, idle.id};
  }
  if (borrowed_.size() >= limits_.size) return {};
  borrowed_.emplace(++last_id_, now_us);
  return {PoolGrant::Kind::kOpen, last_id_};
}

bool PoolLedger::Return(uint64_t id, int64_t now_us) {
  const auto entry = borrowed_.extract(id);
  if (entry.empty() || IsOld(entry.mapped(), now_us)) return false;
  idle_.push_back({id, entry.mapped(), now_us});
  return true;
}

std::vector<uint64_t> PoolLedger::TakeExpired(int64_t now_us) {
  std::vector<uint64_t> expired;
  std::erase_if(idle_, [&](const Idle& idle) {
    const bool gone =
        now_us - idle.since_us >= limits_.max_idle_us || IsOld(idle.opened_us, now_us);
    if (gone) expired.push_back(idle.id);
    return gone;
  });
  return expired;
}

std::vector<uint64_t> PoolLedger::TakeIdle() {
  std::vector<uint64_t> taken;
  for (const Idle& idle : idle_) taken.push_back(idle.id);
  idle_.clear();
  return taken;
}

bool PoolLedger::IsOld(int64_t opened_us, int64_t now_us) const {
  return now_us - opened_us >= limits_.max_lifetime_us;
}

}  // namespace redouble::inline v0_1::redis
