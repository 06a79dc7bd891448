#include "backends/redis/net/blocking_submit.h"

#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "core/store/reply.h"

namespace redouble::redis {
namespace {

// Stands in for a request while the loop runs: the request itself may be gone the moment it is
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

void SubmitAndRun(boost::asio::io_context& context, store::Store& store, store::Request& request,
                  absl::FunctionRef<void()> close) {
  // A loop that ran out of work, as it does once the connection is lost, has to be told to go on.
  if (context.stopped()) context.restart();
  // Notices what happened to the connection while nobody ran the loop.
  context.poll();
  AwaitedRequest awaited(request);
  store.Submit(awaited);
  while (!awaited.completed()) {
    if (context.run_one() == 0) close();
  }
  request.Complete(awaited.Take());
}

}  // namespace redouble::redis
