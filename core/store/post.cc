#include "redouble/core/store/post.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::store {
namespace {

// A base class, so that the commands exist before the request that refers to them.
struct OwnCommands {
  explicit OwnCommands(std::span<const Command> commands) {
    names.reserve(commands.size());
    own.reserve(commands.size());
    for (const Command& command : commands) {
      Command& copy = own.emplace_back(Command::Named(names.emplace_back(command.name())));
      for (const std::string_view argument : command.arguments()) {
        copy.AddOwned(std::string(argument));
      }
    }
  }

  std::vector<std::string> names;  // Commands keep views of their names; never reallocated.
  std::vector<Command> own;
};

// Owns itself: it is deleted when the store completes it.
class PostedRequest final : private OwnCommands, public Request {
 public:
  explicit PostedRequest(const Batch& batch)
      : OwnCommands(batch.commands()), Request(KindOf(batch), own) {}

 private:
  static Kind KindOf(const Batch& batch) {
    return batch.atomicity() == Batch::Atomicity::kTransaction ? Kind::kTransaction
                                                               : Kind::kPipeline;
  }
  void OnComplete(absl::StatusOr<Reply>&&) override { delete this; }
};

}  // namespace

void Post(Store& store, const Batch& batch) {
  if (batch.empty()) return;
  store.Submit(*new PostedRequest(batch));
}

}  // namespace redouble::inline v0_1::store
