// CommandFile: reads a file of commands, as an append-only log has them.
//
// The commands are arrays of bulk strings, with lines between them that begin with '#' and are
// skipped (aof-timestamp-enabled). The file is read in parts: memory is bounded by the longest
// command.
//
//   CommandFile file(source);
//   REDOUBLE_ASSIGN_OR_RETURN(CommandFile::Next next, file.Read());
//   if (next == CommandFile::Next::kCommand) Run(file.words());
//
// Thread-safety: one thread.
// Source: Redis 7.0 redis.conf, "appendonly".
#ifndef REDOUBLE_BACKENDS_MEMORY_APPEND_ONLY_COMMAND_FILE_H_
#define REDOUBLE_BACKENDS_MEMORY_APPEND_ONLY_COMMAND_FILE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/backends/memory/persistence/byte_stream.h"
#include "redouble/core/store/resp/request_parser.h"

namespace redouble::inline v0_1::memory {

class CommandFile {
 public:
  // `source` must outlive the object. `offset` bytes of it have been read already, the last ones of
  // which are `read` and belong to the commands.
  explicit CommandFile(ByteSource& source, std::string read = {}, uint64_t offset = 0)
      : source_(source), buffer_(std::move(read)), offset_(offset - buffer_.size()) {}

  enum class Next {
    kCommand,
    kEnd,
    kTruncated,  // The file ends within a command.
    kMalformed,  // The bytes are no command.
  };
  // Reads the next command. Errors: those of the source.
  absl::StatusOr<Next> Read();
  // The words of the command, valid until the next call of Read. At least one.
  const std::vector<std::string_view>& words() const { return parser_.words(); }
  // Where the next command begins.
  uint64_t offset() const { return offset_; }

 private:
  std::string_view left() const { return std::string_view(buffer_).substr(begin_); }
  void Skip(size_t bytes) {
    begin_ += bytes;
    offset_ += bytes;
  }
  // Appends a part of the file to the buffer. Returns false at its end.
  absl::StatusOr<bool> Fetch();

  ByteSource& source_;
  std::string buffer_;
  size_t begin_ = 0;  // Of what has not been read.
  uint64_t offset_;
  store::RequestParser parser_;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_APPEND_ONLY_COMMAND_FILE_H_
