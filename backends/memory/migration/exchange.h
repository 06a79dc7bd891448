// MoveKeys: what MIGRATE says to the target, and what the target answers.
//
// The commands AUTH, SELECT and a RESTORE for each key are sent at once; then the replies are read.
// A connection of an earlier MIGRATE may have been closed by the target, so the exchange is tried
// once more if the connection breaks before any key is answered.
//
//   const MigrationResult result = MoveKeys(connector, target, [&](std::string& out) {
//     store::AppendCommand(restore, out);
//     return std::vector<std::string_view>{key};
//   });
//   for (const std::string_view key : result.acknowledged) Delete(key);
//
// Thread-safety: one thread, which it blocks as long as the connector does.
// Source: Redis 7.0 MIGRATE.
#ifndef REDOUBLE_BACKENDS_MEMORY_MIGRATION_EXCHANGE_H_
#define REDOUBLE_BACKENDS_MEMORY_MIGRATION_EXCHANGE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/backends/memory/migration/connector.h"

namespace redouble::inline v0_1::memory {

struct MigrationTarget {
  std::string_view host;
  std::string_view port;
  int64_t database = 0;
  int64_t timeout_ms = 0;
  std::optional<std::string_view> user = std::nullopt;  // Only with a password.
  std::optional<std::string_view> password = std::nullopt;
};

struct MigrationResult {
  // What the connection failed at.
  enum class Failure { kNone, kConnecting, kWriting, kReading };

  Failure failure = Failure::kNone;
  // The first error reply of the target, without its "-"; nullopt if no reply was an error.
  std::optional<std::string> target_error = std::nullopt;
  // The keys that the target has restored, also if there was an error or a failure after them.
  std::vector<std::string_view> acknowledged = {};
};

// Appends a RESTORE for each key, and returns the keys in that order. Called once the connection is
// open, and again for another attempt, so that the TTLs are those of that time.
using RestoreWriter = std::function<std::vector<std::string_view>(std::string& out)>;

MigrationResult MoveKeys(MigrationConnector& connector, const MigrationTarget& target,
                         const RestoreWriter& append_restores);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_MIGRATION_EXCHANGE_H_
