#include "redouble/backends/redis/net/sync_submit.h"

#include <cassert>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::redis {
namespace {

// Represents the request while the loop runs: the request itself may be destroyed as soon as it is
// complete.
class AwaitedRequest final : public store::Request {
 public:
  explicit AwaitedRequest(const store::Request& request)
      : Request(request.kind(), request.commands()) {}

  absl::StatusOr<store::Reply>&& Take() { return *std::move(result_); }

 private:
  void OnComplete(absl::StatusOr<store::Reply>&& result) override {
    result_.emplace(std::move(result));
  }

  std::optional<absl::StatusOr<store::Reply>> result_;
};

}  // namespace

void HandlePendingEvents(boost::asio::io_context& context) {
  context.restart();
  context.poll();
  context.restart();
}

void SubmitAndRun(boost::asio::io_context& context, store::Store& store, store::Request& request,
                  absl::FunctionRef<void()> close) {
  HandlePendingEvents(context);
  AwaitedRequest awaited(request);
  store.Submit(awaited);
  while (!awaited.completed()) {
    if (context.run_one() > 0) continue;
    close();
    assert(awaited.completed());
  }
  request.Complete(awaited.Take());
}

}  // namespace redouble::inline v0_1::redis
