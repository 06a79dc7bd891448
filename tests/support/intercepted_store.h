// InterceptedStore: a store in the middle that notes what passes and lets a test step in.
//
//   InterceptedStore store(inner);
//   store.on_request = [&](size_t index) -> std::optional<absl::StatusOr<Reply>> {
//     if (index == 1) RunSomebodyElse();         // between the first request and the second
//     if (index == 2) return Reply::Integer(-1); // answers instead of the store behind it
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
#include "core/base/string_bridge.h"
#include "core/store/command.h"
#include "core/store/reply.h"
#include "core/store/store.h"
#include "core/store/wrappers/forwarding_store.h"

namespace redouble::tests {

class InterceptedStore final : public store::ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  // Called before each request, with its number from 0; an answer keeps the request from the store.
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

  // A line per command, its name in upper case and its words joined by spaces; MULTI and EXEC
  // around those of a transaction.
  const std::vector<std::string>& log() const { return log_; }
  // How many requests passed: round trips.
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

}  // namespace redouble::tests

#endif  // REDOUBLE_TESTS_SUPPORT_INTERCEPTED_STORE_H_
