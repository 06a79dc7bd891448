// ResumeFile: where a copy of `redouble migrate` has got to, so that another run continues there.
//
// The file has one line, "SYSTEM FROM_LAYOUT TO_LAYOUT CURSOR", and no address, because addresses
// may contain passwords. It is replaced as a whole, and removed when the copy is complete.
//
//   const ResumeFile file(path, "gateway", layouts);
//   REDOUBLE_ASSIGN_OR_RETURN(options.cursor, file.Read());   // "0" without a file
//   options.on_page = [&](std::string_view cursor, ...) { return file.Write(cursor); };
//
// Thread-safety: one thread, and one process for each file.
#ifndef REDOUBLE_SIM_CLI_MIGRATE_RESUME_FILE_H_
#define REDOUBLE_SIM_CLI_MIGRATE_RESUME_FILE_H_

#include <filesystem>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/sim/migrate/key_move.h"

namespace redouble::inline v0_1::sim {

class ResumeFile {
 public:
  ResumeFile(std::filesystem::path path, std::string_view system, LayoutPair layouts);

  // Returns the cursor; "0" if there is no file. Errors: InvalidArgument if the file is of another
  // migration or no resume file.
  absl::StatusOr<std::string> Read() const;

  // Replaces the file; removes it for "0". Errors: Unavailable, with the file's name.
  absl::Status Write(std::string_view cursor) const;

 private:
  const std::filesystem::path path_;
  const std::string heading_;  // The line up to the cursor.
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLI_MIGRATE_RESUME_FILE_H_
