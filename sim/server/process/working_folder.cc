#include "redouble/sim/server/process/working_folder.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace redouble::inline v0_1::sim {

std::string WorkingFolder() {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::current_path(error);
  return error ? "" : folder.string();
}

absl::Status EnterFolder(const std::string& path) {
  if (chdir(path.c_str()) == 0) return absl::OkStatus();
  return absl::UnavailableError(std::strerror(errno));
}

}  // namespace redouble::inline v0_1::sim
