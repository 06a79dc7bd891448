// HostForTest: a Host without sockets, files and time. A test overrides what it is about.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_BACKENDS_MEMORY_SERVER_TESTING_HOST_FOR_TEST_H_
#define REDOUBLE_BACKENDS_MEMORY_SERVER_TESTING_HOST_FOR_TEST_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/backends/memory/server/host.h"

namespace redouble::inline v0_1::memory {

class HostForTest : public Host {
 public:
  int64_t MonotonicMicros() override { return 0; }
  ProcessFigures Figures() override { return {}; }
  ConnectionFigures FiguresOf(const SessionCore&) override { return {}; }
  void OnDisconnect(const SessionCore&) override {}
  void Sleep(int64_t) override {}
  absl::Status Listen(const ServerOptions&) override { return absl::OkStatus(); }
  int RoomForClients(int wanted) override { return wanted; }
  std::string Folder() override { return ""; }
  absl::Status EnterFolder(const std::string&) override { return absl::OkStatus(); }
  std::string ConfigFile() override { return ""; }
  absl::StatusOr<std::string> ReadTextFile(const std::string&) override {
    return absl::NotFoundError("");
  }
  absl::Status ReplaceTextFile(const std::string&, std::string_view) override {
    return absl::OkStatus();
  }
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SERVER_TESTING_HOST_FOR_TEST_H_
