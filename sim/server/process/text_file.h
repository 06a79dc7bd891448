// The configuration and ACL files of a served engine, whole.
//
//   absl::StatusOr<std::string> text = ReadTextFile("users.acl");
//   absl::Status status = ReplaceTextFile("users.acl", "user default on nopass ~* &* +@all\n");
//
// Errors: the code of the system call that failed, and strerror of its reason, as Redis shows it.
//
// Thread-safety: one thread for each path.
#ifndef REDOUBLE_SIM_SERVER_PROCESS_TEXT_FILE_H_
#define REDOUBLE_SIM_SERVER_PROCESS_TEXT_FILE_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/backends/memory/snapshot/file_system.h"

namespace redouble::inline v0_1::sim {

absl::StatusOr<std::string> ReadTextFile(const std::string& path,
                                         memory::FileSystem& files = memory::RealFileSystem());

// In one step, with a file beside it (backends/memory/snapshot/file_stream.h).
absl::Status ReplaceTextFile(const std::string& path, std::string_view text,
                             memory::FileSystem& files = memory::RealFileSystem());

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SERVER_PROCESS_TEXT_FILE_H_
