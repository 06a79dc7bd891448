// Whatever the bytes of an append-only file are, the file is refused and the engine is empty, or it
// is loaded; and where a truncated one was cut off, the rest loads to the same keys.
//
// Commands of a log have no limits, as on a redis-server: a script may run forever, and SETRANGE
// may ask for gigabytes. Such inputs are left out.
//
// CONTRIBUTING.md has the commands that build and run a fuzz target.
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/time/time.h"
#include "redouble/backends/memory/append_only/load_append_only.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/engine/session_for_test.h"
#include "redouble/backends/memory/snapshot/file_system.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/tests/fuzz/hostile_engine.h"

namespace redouble::inline v0_1::tests {
namespace {

constexpr size_t kMostDigits = 6;

// One file, in memory.
class OneFile final : public memory::FileSystem {
 public:
  explicit OneFile(std::string_view bytes) : bytes_(bytes) {}
  // Where the file was cut off; nullopt if it was not.
  std::optional<uint64_t> cut_off() const { return cut_off_; }

  absl::StatusOr<int> Open(const std::string&) override {
    position_ = 0;
    return 1;
  }
  absl::StatusOr<uint64_t> SizeOf(const std::string&) override { return bytes_.size(); }
  absl::StatusOr<size_t> Read(int, std::span<char> to) override {
    const size_t count = std::min(to.size(), bytes_.size() - position_);
    std::memcpy(to.data(), bytes_.data() + position_, count);
    position_ += count;
    return count;
  }
  absl::Status Truncate(const std::string&, uint64_t bytes) override {
    cut_off_ = bytes;
    return absl::OkStatus();
  }
  absl::Status Close(int) override { return absl::OkStatus(); }

  // A file that is read only.
  absl::StatusOr<int> Create(const std::string&) override { return Refusal(); }
  absl::StatusOr<int> Append(const std::string&) override { return Refusal(); }
  absl::Status MakeFolder(const std::string&) override { return Refusal(); }
  absl::StatusOr<size_t> Write(int, std::string_view) override { return Refusal(); }
  absl::Status Sync(int) override { return Refusal(); }
  absl::Status Rename(const std::string&, const std::string&) override { return Refusal(); }
  absl::Status Remove(const std::string&) override { return Refusal(); }

 private:
  static absl::Status Refusal() { return absl::PermissionDeniedError("read only"); }

  const std::string_view bytes_;
  size_t position_ = 0;
  std::optional<uint64_t> cut_off_;
};

bool IsBounded(std::string_view bytes) {
  const std::string text = absl::AsciiStrToLower(base::ToAbsl(bytes));
  for (const char* word : {"eval", "fcall", "function", "debug"}) {
    if (absl::StrContains(text, word)) return false;
  }
  size_t digits = 0;
  return std::none_of(bytes.begin(), bytes.end(), [&](char c) {
    digits = std::isdigit(static_cast<unsigned char>(c)) != 0 ? digits + 1 : 0;
    return digits > kMostDigits;
  });
}

struct Loaded {
  bool Load(std::string_view bytes) {
    OneFile file(bytes);
    const bool ok = memory::LoadCommandFile(engine, "log", {}, file).ok();
    cut_off = file.cut_off();
    return ok;
  }

  base::VirtualClock clock{absl::UnixEpoch()};
  memory::Engine engine{clock};
  memory::RecordingSession session{engine};
  std::optional<uint64_t> cut_off;
};

void Try(std::string_view bytes) {
  if (!IsBounded(bytes)) return;
  Loaded first;
  if (!first.Load(bytes)) {
    HostileEngine::Require(first.session.Send({"DBSIZE"}) == "0", "a refused log leaves no key");
    return;
  }
  if (!first.cut_off) return;
  Loaded second;
  HostileEngine::Require(second.Load(bytes.substr(0, *first.cut_off)), "the rest is loaded");
  HostileEngine::Require(!second.cut_off.has_value(), "the rest is whole");
  HostileEngine::Require(
      second.session.Send({"DEBUG", "DIGEST"}) == first.session.Send({"DEBUG", "DIGEST"}),
      "the keys are the same");
}

}  // namespace
}  // namespace redouble::inline v0_1::tests

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  redouble::tests::Try(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
