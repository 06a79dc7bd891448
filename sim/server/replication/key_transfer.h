// KeyTransfer: the file of keys that a master sends after FULLRESYNC.
//
// The master announces its size ("$1234"), or, if it does not know it yet, the 40 bytes that end it
// ("$EOF:..."). The bytes come in parts of any size, and the stream of commands follows them.
//
//   absl::StatusOr<KeyTransfer> transfer = KeyTransfer::Announced("$1234");
//   std::string_view rest = transfer->Add(bytes);   // What follows the file.
//   if (transfer->is_whole()) Load(transfer->bytes());
//
// Thread-safety: one thread.
// Source: Redis 7.0 replication.c, readSyncBulkPayload.
#ifndef REDOUBLE_SIM_SERVER_REPLICATION_KEY_TRANSFER_H_
#define REDOUBLE_SIM_SERVER_REPLICATION_KEY_TRANSFER_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace redouble::sim {

class KeyTransfer {
 public:
  // Reads the line that announces the file. Errors: InvalidArgument.
  static absl::StatusOr<KeyTransfer> Announced(std::string_view line);

  // Takes the next bytes. Returns those after the end of the file.
  std::string_view Add(std::string_view bytes);
  bool is_whole() const { return is_whole_; }
  // The bytes of the file so far, without its end mark once it is whole.
  const std::string& bytes() const { return bytes_; }
  // The size that was announced; 0: an end mark was.
  size_t announced_bytes() const { return size_; }
  bool has_end_mark() const { return !end_mark_.empty(); }

 private:
  std::string_view AddUpToMark(std::string_view bytes);

  size_t size_ = 0;
  std::string end_mark_;
  std::string bytes_;
  bool is_whole_ = false;
};

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_SERVER_REPLICATION_KEY_TRANSFER_H_
