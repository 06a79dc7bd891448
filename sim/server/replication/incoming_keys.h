// IncomingKeys: the keys that a master sends after FULLRESYNC: received into a temporary file, then
// loaded in parts, between which clients are served.
//
// With repl-diskless-load the server loads while it receives, as far as clients can see: INFO and
// LOADING. With `swapdb` and the stream that it has already, the former keys are served meanwhile.
// In any case the former keys stay until the others are whole, so that a cut or damaged file
// changes nothing.
//
//   auto keys = IncomingKeys::Announced(engine, log, "$1234", /*has_stream=*/false);
//   absl::StatusOr<std::string_view> rest = (*keys)->Add(bytes);   // What follows the file.
//   if ((*keys)->is_whole()) (*keys)->BeginLoading();
//   while (*(*keys)->Continue()) ServeClients();
//
// Thread-safety: one thread, the one that uses the engine.
// Source: Redis 7.0 replication.c, readSyncBulkPayload.
#ifndef REDOUBLE_SIM_SERVER_REPLICATION_INCOMING_KEYS_H_
#define REDOUBLE_SIM_SERVER_REPLICATION_INCOMING_KEYS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/server/loading.h"
#include "redouble/backends/memory/snapshot/load_rdb.h"
#include "redouble/sim/server/process/log.h"
#include "redouble/sim/server/process/temporary_file.h"
#include "redouble/sim/server/replication/key_transfer.h"

namespace redouble::inline v0_1::sim {

class IncomingKeys {
 public:
  // Reads the line that announces the keys. `has_stream`: the server's keys are those of another
  // moment of the same stream. `engine` and `log` must outlive the object. Errors: InvalidArgument
  // for the line; those of the file system.
  static absl::StatusOr<std::unique_ptr<IncomingKeys>> Announced(memory::Engine& engine,
                                                                 const Log& log,
                                                                 std::string_view line,
                                                                 bool has_stream);
  IncomingKeys(const IncomingKeys&) = delete;
  IncomingKeys& operator=(const IncomingKeys&) = delete;
  ~IncomingKeys();

  // Takes the next bytes. Returns those after the end of the keys. Errors: those of the file
  // system.
  absl::StatusOr<std::string_view> Add(std::string_view bytes);
  bool is_whole() const { return transfer_->is_whole(); }
  const KeyTransfer& transfer() const { return *transfer_; }

  // Logs that the link was closed before they were whole.
  void LogCut() const;

  // To be called once, when they are whole.
  void BeginLoading();
  // Loads the next part. Returns false after the last one. Errors: those of memory::RdbLoad.
  absl::StatusOr<bool> Continue();
  // "socket" or "disk".
  std::string_view source() const { return is_diskless_ ? "socket" : "disk"; }
  const memory::RdbLoadReport& report() const { return load_->report(); }

 private:
  IncomingKeys(memory::Engine& engine, const Log& log, bool has_stream);
  void LogAnnouncement() const;
  // From now on the server is loading.
  void ShowLoading();
  void UpdateFigures();
  void WriteLog(std::string_view text) const;
  void Warn(std::string_view text) const;

  memory::Engine& engine_;
  const Log& log_;
  const bool swaps_;
  const bool is_diskless_;
  const bool is_async_;
  std::unique_ptr<TemporaryFile> file_;
  std::optional<KeyTransfer> transfer_;
  std::unique_ptr<memory::RdbLoad> load_;  // Since BeginLoading.
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SERVER_REPLICATION_INCOMING_KEYS_H_
