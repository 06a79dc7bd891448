#include "redouble/tests/fuzz/hostile_engine.h"

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <optional>

#include "redouble/core/base/hash/crc.h"

namespace redouble::inline v0_1::tests {
namespace {

// Version 10 of RDB, little-endian, and a CRC-64.
constexpr std::string_view kVersion("\x0a\x00", 2);
constexpr size_t kChecksumBytes = 8;

constexpr int kConnection = 0;
constexpr int kKiller = 1;

memory::EngineOptions Options() {
  memory::EngineOptions options;
  // An endless script is stopped within milliseconds.
  options.busy_reply_threshold_ms = 1;
  return options;
}

}  // namespace

std::string Sealed(std::string_view bytes) {
  std::string payload(bytes);
  payload += kVersion;
  const uint64_t checksum = base::Crc64(payload);
  for (size_t i = 0; i < kChecksumBytes; ++i) {
    payload.push_back(static_cast<char>(checksum >> (8 * i)));
  }
  return payload;
}

std::string_view Unsealed(std::string_view payload) {
  return payload.substr(0, payload.size() - kVersion.size() - kChecksumBytes);
}

HostileEngine::HostileEngine() : target_(Options()) {}

store::Reply HostileEngine::Run(const Words& command) {
  std::optional<store::Reply> reply = target_.Run(kConnection, command);
  if (reply) return *std::move(reply);
  // A script that has written cannot be killed; the engine stays busy, as a server would.
  for (const char* kind : {"SCRIPT", "FUNCTION"}) target_.Run(kKiller, {kind, "KILL"});
  reply = target_.Poll(kConnection);
  if (reply) return *std::move(reply);
  target_.Reset(target_.now());
  return store::Reply::Error("BUSY");
}

void HostileEngine::Require(bool holds, std::string_view what) {
  if (holds) return;
  std::cerr << "does not hold: " << what << "\n";
  std::abort();
}

}  // namespace redouble::inline v0_1::tests
