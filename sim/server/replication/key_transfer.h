// KeyTransfer: the file of keys that a master sends after FULLRESYNC.
//
// The master announces its size ("$1234"), or, if it does not know it yet, the 40 bytes that end it
// ("$EOF:..."). The bytes come in parts of any size, and the stream of commands follows them.
//
//   absl::StatusOr<KeyTransfer> transfer = KeyTransfer::Announced("$1234", file);
//   absl::StatusOr<std::string_view> rest = transfer->Add(bytes);   // What follows the file.
//   if (transfer->is_whole()) Load(file);
//
// Thread-safety: one thread.
// Source: Redis 7.0 replication.c, readSyncBulkPayload.
#ifndef REDOUBLE_SIM_SERVER_REPLICATION_KEY_TRANSFER_H_
#define REDOUBLE_SIM_SERVER_REPLICATION_KEY_TRANSFER_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "redouble/backends/memory/persistence/byte_stream.h"

namespace redouble::inline v0_1::sim {

class KeyTransfer {
 public:
  // Reads the line that announces the file. `sink` takes the file, without its end mark, and must
  // outlive the object. Errors: InvalidArgument.
  static absl::StatusOr<KeyTransfer> Announced(std::string_view line, memory::ByteSink& sink);

  // Takes the next bytes. Returns those after the end of the file. Errors: those of the sink.
  absl::StatusOr<std::string_view> Add(std::string_view bytes);
  bool is_whole() const { return is_whole_; }
  // How many bytes have come so far.
  size_t read_bytes() const { return read_bytes_; }
  // The size that was announced; 0: an end mark was.
  size_t announced_bytes() const { return size_; }
  bool has_end_mark() const { return !end_mark_.empty(); }

 private:
  explicit KeyTransfer(memory::ByteSink& sink) : sink_(&sink) {}
  absl::StatusOr<std::string_view> AddUpToMark(std::string_view bytes);

  memory::ByteSink* sink_;
  size_t size_ = 0;
  std::string end_mark_;
  std::string held_;  // The last bytes, with which the mark may begin.
  size_t read_bytes_ = 0;
  bool is_whole_ = false;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SERVER_REPLICATION_KEY_TRANSFER_H_
