// Whatever the bytes of an RDB file are, with a right checksum or a wrong one, the file is refused
// and the engine's keys are as they were, or its keys can be saved and loaded again unchanged; by
// an engine of Redis 7.0, and by one of 8.0, which has more types.
//
// CONTRIBUTING.md has the commands that build and run a fuzz target.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/engine/session_for_test.h"
#include "redouble/backends/memory/engine_options.h"
#include "redouble/backends/memory/persistence/byte_stream.h"
#include "redouble/backends/memory/snapshot/load_rdb.h"
#include "redouble/backends/memory/snapshot/save_rdb.h"
#include "redouble/core/base/hash/crc.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/store/table/version.h"
#include "redouble/tests/fuzz/hostile_engine.h"

namespace redouble::inline v0_1::tests {
namespace {

constexpr size_t kChecksumBytes = 8;

struct Loaded {
  explicit Loaded(store::Version version) : engine(clock, OptionsOf(version)) {
    session.Send({"SET", "present", "1"});
  }

  static memory::EngineOptions OptionsOf(store::Version version) {
    memory::EngineOptions options;
    options.compatibility = version;
    return options;
  }
  absl::StatusOr<memory::RdbLoadReport> Load(std::string_view bytes) {
    memory::StringSource source(bytes);
    // Expired keys stay, so that what was saved has them as well.
    return memory::LoadRdb(engine, source,
                           {.time_policy = memory::RdbLoadOptions::TimePolicy::kKeepExpired});
  }
  std::string Digest() { return session.Send({"DEBUG", "DIGEST"}); }

  base::VirtualClock clock{absl::UnixEpoch()};
  memory::Engine engine;
  memory::RecordingSession session{engine};
};

void TryOn(store::Version version, std::string_view bytes) {
  Loaded first(version);
  const std::string before = first.Digest();
  if (!first.Load(bytes).ok()) {
    HostileEngine::Require(first.Digest() == before, "a refused file changes nothing");
    return;
  }
  const std::string digest = first.Digest();
  memory::StringSink sink;
  HostileEngine::Require(memory::SaveRdb(first.engine, sink).ok(), "what was loaded is saved");
  Loaded second(version);
  HostileEngine::Require(second.Load(sink.bytes()).ok(), "what was saved is loaded");
  HostileEngine::Require(second.Digest() == digest, "the keys are the same");
}

void Try(std::string_view bytes) {
  for (const store::Version version : {store::Version::kRedis70, store::Version::kRedis80}) {
    TryOn(version, bytes);
  }
}

// The bytes, but for the checksum at their end, which is right.
std::string WithChecksum(std::string_view bytes) {
  std::string sealed(bytes.substr(0, bytes.size() - kChecksumBytes));
  const uint64_t checksum = base::Crc64(sealed);
  for (size_t i = 0; i < kChecksumBytes; ++i) {
    sealed.push_back(static_cast<char>(checksum >> (8 * i)));
  }
  return sealed;
}

}  // namespace
}  // namespace redouble::inline v0_1::tests

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  redouble::tests::Try(bytes);
  if (size > redouble::tests::kChecksumBytes) {
    redouble::tests::Try(redouble::tests::WithChecksum(bytes));
  }
  return 0;
}
