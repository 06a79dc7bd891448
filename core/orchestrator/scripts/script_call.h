// Helpers of the typed scripts: a list of keys, the fields of a hash, and errors for unexpected
// replies.
//
// scripts.cc and run_scripts.cc share them; other files call the typed scripts of scripts.h and
// run_scripts.h.
//
// Thread-safety: plain values and pure functions.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_SCRIPTS_SCRIPT_CALL_H_
#define REDOUBLE_CORE_ORCHESTRATOR_SCRIPTS_SCRIPT_CALL_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/orchestrator/messages.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/script.h"

namespace redouble::inline v0_1::orchestrator {

// Collects the keys of a call in the order of the script; keeps the first error.
class KeyList {
 public:
  KeyList& Add(absl::StatusOr<std::string> key) {
    if (key.ok()) {
      keys_.push_back(*std::move(key));
    } else {
      status_.Update(key.status());
    }
    return *this;
  }
  const absl::Status& status() const { return status_; }
  std::vector<std::string_view> views() const { return {keys_.begin(), keys_.end()}; }

 private:
  std::vector<std::string> keys_;
  absl::Status status_;
};

inline absl::Status UnknownCode(int64_t code) {
  return store::ProtocolError(absl::StrCat("a script answered with the unknown code ", code));
}

// Decodes the reply of HGETALL to fields that are sorted, because Redis defines no order.
inline absl::StatusOr<HashFields> DecodeSortedFields(absl::StatusOr<store::Reply> reply) {
  REDOUBLE_ASSIGN_OR_RETURN(HashFields fields, store::DecodePairs(std::move(reply)));
  std::sort(fields.begin(), fields.end());
  return fields;
}

// Returns a script that is never destroyed; for initializing a static reference.
inline const store::Script& ScriptOf(std::string_view text) {
  return *new store::Script(std::string(text));
}

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_SCRIPTS_SCRIPT_CALL_H_
