// Expiry: the expiry option of commands such as SET and GETEX.
//
// Use it instead of separate EX, PX, EXAT and PXAT options; it picks the option that keeps the
// precision.
//
//   SetOptions{.expiry = Expiry::In(absl::Hours(1))}        // EX 3600
//   SetOptions{.expiry = Expiry::At(end_of_day)}            // PXAT ...
//
// Thread-safety: a plain value.
#ifndef REDOUBLE_CORE_STORE_TYPED_EXPIRY_H_
#define REDOUBLE_CORE_STORE_TYPED_EXPIRY_H_

#include "absl/time/time.h"
#include "redouble/core/store/command.h"

namespace redouble::store {

class Expiry {
 public:
  // No expiry option.
  Expiry() = default;
  // After `ttl`: EX for whole seconds, otherwise PX with milliseconds, rounded down. Redis refuses
  // a TTL that is not positive.
  static Expiry In(absl::Duration ttl) { return Expiry(Kind::kIn, ttl, {}); }
  // At `deadline`: EXAT for whole seconds, otherwise PXAT with milliseconds, rounded down.
  static Expiry At(absl::Time deadline) { return Expiry(Kind::kAt, {}, deadline); }
  // Removes the key's TTL (PERSIST). Only for GETEX.
  static Expiry Persist() { return Expiry(Kind::kPersist, {}, {}); }

  // Appends the option to `command`; nothing for Expiry().
  void AppendTo(Command& command) const;

 private:
  enum class Kind { kNone, kIn, kAt, kPersist };
  Expiry(Kind kind, absl::Duration ttl, absl::Time deadline)
      : kind_(kind), ttl_(ttl), deadline_(deadline) {}

  Kind kind_ = Kind::kNone;
  absl::Duration ttl_;
  absl::Time deadline_;
};

}  // namespace redouble::store

#endif  // REDOUBLE_CORE_STORE_TYPED_EXPIRY_H_
