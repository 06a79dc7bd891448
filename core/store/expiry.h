// Expiry: when a key shall expire, for the commands that take it as an option.
//
//   SetOptions{.expiry = Expiry::In(absl::Hours(1))}        // EX 3600
//   SetOptions{.expiry = Expiry::At(end_of_day)}            // PXAT ...
//
// Thread-safety: a plain value.
#ifndef REDOUBLE_CORE_STORE_EXPIRY_H_
#define REDOUBLE_CORE_STORE_EXPIRY_H_

#include "absl/time/time.h"
#include "core/store/command.h"

namespace redouble::store {

class Expiry {
 public:
  // No word about expiry.
  Expiry() = default;
  // After `ttl`: EX when it is whole seconds, else PX with milliseconds (finer parts are cut).
  // Redis refuses a ttl that is not positive.
  static Expiry In(absl::Duration ttl) { return Expiry(Kind::kIn, ttl, {}); }
  // At a moment: EXAT when it is whole seconds, else PXAT with milliseconds (finer parts are cut).
  static Expiry At(absl::Time deadline) { return Expiry(Kind::kAt, {}, deadline); }
  // Removes the expiry that the key has; GETEX only.
  static Expiry Persist() { return Expiry(Kind::kPersist, {}, {}); }

  // Appends the option's words, if any.
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

#endif  // REDOUBLE_CORE_STORE_EXPIRY_H_
