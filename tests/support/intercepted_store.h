// InterceptedStore: a store wrapper for tests that logs and counts requests, and calls a hook
// before each.
//
// Use it to assert the commands and round trips of an operation, to run other commands between two
// of its requests, and to inject replies and errors:
//
//   InterceptedStore store(inner);
//   store.on_request = [&](size_t index) -> std::optional<absl::StatusOr<Reply>> {
//     if (index == 1) RunOtherClient();          // between the first and the second request
//     if (index == 2) return Reply::Integer(-1); // the third request is not forwarded
//     return std::nullopt;
//   };
//   ...
//   EXPECT_THAT(store.log(), ElementsAre("GET a", "MULTI", "INCR b", "EXEC"));
//
// Thread-safety: one thread.
#ifndef REDOUBLE_TESTS_SUPPORT_INTERCEPTED_STORE_H_
#define REDOUBLE_TESTS_SUPPORT_INTERCEPTED_STORE_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/store.h"
#include "redouble/core/store/wrappers/forwarding_store.h"

namespace redouble::inline v0_1::tests {

class InterceptedStore final : public store::ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  // Called before each request with its index, from 0. If it returns a result, the request
  // completes with that and is not forwarded.
  std::function<std::optional<absl::StatusOr<store::Reply>>(size_t index)> on_request;

  void Submit(store::Request& request) override {
    Note(request);
    std::optional<absl::StatusOr<store::Reply>> answer;
    if (on_request) answer = on_request(requests_);
    ++requests_;
    if (answer) {
      request.Complete(*std::move(answer));
    } else {
      ForwardingStore::Submit(request);
    }
  }

  // A line per command: its name in upper case and its arguments, joined by spaces. Lines with
  // MULTI and EXEC enclose a transaction.
  const std::vector<std::string>& log() const { return log_; }
  // The number of requests, which is the number of round trips.
  size_t requests() const { return requests_; }

 private:
  void Note(const store::Request& request) {
    const bool transaction = request.kind() == store::Request::Kind::kTransaction;
    if (transaction) log_.emplace_back("MULTI");
    for (const store::Command& command : request.commands()) {
      std::string line = absl::AsciiStrToUpper(base::ToAbsl(command.name()));
      for (const std::string_view argument : command.arguments()) {
        line.append(" ").append(argument);
      }
      log_.push_back(std::move(line));
    }
    if (transaction) log_.emplace_back("EXEC");
  }

  std::vector<std::string> log_;
  size_t requests_ = 0;
};

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_SUPPORT_INTERCEPTED_STORE_H_
