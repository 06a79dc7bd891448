// What the typed scripts of this folder share: collecting keys, and reading their answers. For
// scripts.cc and run_scripts.cc only.
//
// Thread-safety: plain values and pure functions.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_SCRIPT_CALL_H_
#define REDOUBLE_CORE_ORCHESTRATOR_SCRIPT_CALL_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "core/store/errors.h"
#include "core/store/script.h"

namespace redouble::orchestrator {

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

// A script that lives as long as the program.
inline const store::Script& ScriptOf(std::string_view text) {
  return *new store::Script(std::string(text));
}

}  // namespace redouble::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_SCRIPT_CALL_H_
