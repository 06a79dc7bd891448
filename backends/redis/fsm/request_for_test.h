// RequestForTest: a request that owns its commands and keeps its result, for tests of machines.
//
//   RequestForTest get("GET key");
//   machine.Submit(get);
//   ...
//   EXPECT_EQ(get.result().value(), Reply::Bulk("value"));
//
// Destroying it before it is completed abandons it.
//
// Thread-safety: one thread at a time.
#ifndef REDOUBLE_BACKENDS_REDIS_FSM_REQUEST_FOR_TEST_H_
#define REDOUBLE_BACKENDS_REDIS_FSM_REQUEST_FOR_TEST_H_

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::redis {

namespace internal {
// A base class, so that the commands exist before the request that refers to them.
struct HeldCommands {
  explicit HeldCommands(std::initializer_list<std::string_view> lines) {
    for (const std::string_view line : lines) held.push_back(Split(line));
  }

  // Words are split at single spaces.
  static store::Command Split(std::string_view line) {
    const size_t name_end = line.find(' ');
    store::Command command = store::Command::Named(line.substr(0, name_end));
    while (name_end != line.npos && !line.empty()) {
      const size_t space = line.find(' ');
      if (space == line.npos) break;
      line.remove_prefix(space + 1);
      command.Add(line.substr(0, line.find(' ')));
    }
    return command;
  }

  std::vector<store::Command> held;
};
}  // namespace internal

class RequestForTest final : private internal::HeldCommands, public store::Request {
 public:
  // One command: "SET key value". The text must outlive the request.
  explicit RequestForTest(std::string_view line) : RequestForTest(Kind::kCommand, {line}) {}
  RequestForTest(Kind kind, std::initializer_list<std::string_view> lines)
      : HeldCommands(lines), Request(kind, held) {}

  // Runs when the request is completed.
  std::function<void()> on_complete = [] {};

  // The result; the request must be completed.
  const absl::StatusOr<store::Reply>& result() const { return *result_; }

 private:
  void OnComplete(absl::StatusOr<store::Reply>&& result) override {
    result_.emplace(std::move(result));
    on_complete();
  }

  std::optional<absl::StatusOr<store::Reply>> result_;
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_REQUEST_FOR_TEST_H_
