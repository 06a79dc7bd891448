// The working folder of the process.
//
// Files of keys, logs and users are relative to it. CONFIG GET dir and CONFIG SET dir use it.
//
//   if (EnterFolder("/var/lib/redouble").ok()) folder = WorkingFolder();
//
// Thread-safety: all threads share the folder; call EnterFolder from one thread at a time.
#ifndef REDOUBLE_SIM_SERVER_PROCESS_WORKING_FOLDER_H_
#define REDOUBLE_SIM_SERVER_PROCESS_WORKING_FOLDER_H_

#include <string>

#include "absl/status/status.h"

namespace redouble::inline v0_1::sim {

// The absolute path; empty if the folder is gone.
std::string WorkingFolder();
// Errors: strerror of the reason.
absl::Status EnterFolder(const std::string& path);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SERVER_PROCESS_WORKING_FOLDER_H_
