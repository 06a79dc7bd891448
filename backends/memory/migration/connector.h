// MigrationConnector: the connections to other servers that MIGRATE sends keys over.
//
// The engine knows no sockets; its host does (server/host.h). A connection stays open for the next
// MIGRATE to the same target, until the host closes it.
//
//   absl::StatusOr<MigrationConnection*> connection = connector.Connect("10.0.0.7", "6379", 1000);
//   if (connection.ok()) status = (*connection)->Write(bytes, 1000);
//   if (!status.ok()) connector.Forget("10.0.0.7", "6379");
//
// Thread-safety: one thread. Every function blocks it until it has succeeded, has failed or the
// time is over.
// Source: Redis 7.0 MIGRATE.
#ifndef REDOUBLE_BACKENDS_MEMORY_MIGRATION_CONNECTOR_H_
#define REDOUBLE_BACKENDS_MEMORY_MIGRATION_CONNECTOR_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace redouble::inline v0_1::memory {

class MigrationConnection {
 public:
  virtual ~MigrationConnection() = default;

  // Sends all bytes. The time limits each part that the target takes, not the whole. Errors:
  // DeadlineExceeded; Unavailable if the connection is broken.
  virtual absl::Status Write(std::string_view bytes, int64_t timeout_ms) = 0;
  // Returns the next line without its end; of a longer line the first 1,023 bytes. The time limits
  // the wait for the next byte. Errors: as those of Write.
  virtual absl::StatusOr<std::string> ReadLine(int64_t timeout_ms) = 0;

  // The database that an earlier MIGRATE has selected there; nullopt if that is not known.
  std::optional<int64_t> database() const { return database_; }
  void set_database(std::optional<int64_t> database) { database_ = database; }

 private:
  std::optional<int64_t> database_;
};

class MigrationConnector {
 public:
  virtual ~MigrationConnector() = default;

  // Returns the open connection to that host and port, or opens one. `port` is the client's word.
  // The connection is valid until Forget, or until the command ends. Errors: DeadlineExceeded;
  // Unavailable if the host is not known or not reached. A target that refuses the connection may
  // also be noticed by the first Write.
  virtual absl::StatusOr<MigrationConnection*> Connect(std::string_view host, std::string_view port,
                                                       int64_t timeout_ms) = 0;
  // Closes the connection, if there is one.
  virtual void Forget(std::string_view host, std::string_view port) = 0;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_MIGRATION_CONNECTOR_H_
