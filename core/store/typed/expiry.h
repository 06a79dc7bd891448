// Expiry: the expiry option of commands such as SET and GETEX; and the arguments of EXPIRE and the
// commands like it.
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

#include <cstdint>
#include <string_view>

#include "absl/time/time.h"
#include "redouble/core/store/command.h"

namespace redouble::inline v0_1::store {

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

// The condition under which a command sets a new expiry, for a key or a field of a hash.
enum class ExpireCondition {
  kAlways,
  kIfNone,     // NX: there is no expiry.
  kIfAny,      // XX: there is an expiry.
  kIfLater,    // GT: the new expiry is later; no expiry counts as never expiring.
  kIfEarlier,  // LT: the new expiry is earlier.
};

// Returns the command that sets an expiry: `in_seconds` (EXPIRE) if `millis` are whole seconds,
// otherwise `in_millis` (PEXPIRE); with the key, the number and the condition.
Command ExpireCommand(CommandId in_seconds, CommandId in_millis, std::string_view key,
                      int64_t millis, ExpireCondition condition);

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_TYPED_EXPIRY_H_
