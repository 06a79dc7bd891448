// Whatever bytes a client sends, and however they are split, the server parses the same commands
// and sends the same bytes.
//
// CONTRIBUTING.md has the commands that build and run a fuzz target.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "redouble/backends/memory/engine/engine.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/sim/server/client.h"

namespace redouble::inline v0_1::sim {
namespace {

// Replies to every command with its words, so that the parsed words are visible.
class Echo final : public ClientOwner {
 public:
  void OnChange(Client&) override {}
  std::optional<store::Reply> Intercept(Client&, store::CommandId,
                                        std::span<const std::string_view> words) override {
    std::vector<store::Reply> elements;
    for (const std::string_view word : words) elements.push_back(store::Reply::Bulk(word));
    return store::Reply::Array(std::move(elements));
  }
  void OnBuffersChanged(int64_t) override {}
  bool stopping() const override { return false; }
};

// The server's output for these bytes, which arrive in pieces of `piece` bytes.
std::string Answer(std::string_view bytes, size_t piece) {
  base::VirtualClock clock;
  memory::Engine engine(clock);
  Echo owner;
  Client client(engine, owner);
  while (!bytes.empty()) {
    client.Receive(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
  }
  std::string output;
  while (!client.unsent().empty()) {
    output += client.unsent();
    client.Sent(client.unsent().size());
  }
  return output;
}

}  // namespace
}  // namespace redouble::inline v0_1::sim

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const size_t piece = data[0] + size_t{1};
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string whole = redouble::sim::Answer(bytes, bytes.size() + 1);
  if (redouble::sim::Answer(bytes, piece) != whole) std::abort();
  return 0;
}
