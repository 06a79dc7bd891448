// Store: the narrow waist. One virtual function takes a command and completes it, at once or
// later; everything else in the project is built on it.
//
// A Store stands for one connection: transactions by MULTI, WATCH and the selected database belong
// to it. The memory engine hands out sessions, the live backend clients; wrappers (wrappers/)
// trace, count, delay or break what passes through them.
//
//   Command get(CommandId::kGet, {key});
//   absl::StatusOr<Reply> reply = co_await store.Execute(get);
//
// Most code calls the typed commands (strings.h, keys.h, ...) rather than Execute.
//
// Errors: a reply of kind error is an answer like any other here. A status says that there is no
// answer, and its kind (errors.h) says what became of the command: not sent, outcome unknown, or
// a protocol error.
//
// Thread-safety: one thread or strand at a time, as Task.
#ifndef REDOUBLE_CORE_STORE_STORE_H_
#define REDOUBLE_CORE_STORE_STORE_H_

#include <cassert>
#include <coroutine>
#include <optional>
#include <span>
#include <utility>

#include "absl/status/statusor.h"
#include "core/base/resume.h"
#include "core/store/command.h"
#include "core/store/reply.h"

namespace redouble::store {

class Batch;
class Request;

// Implemented by a store that keeps requests waiting.
class RequestKeeper {
 public:
  // The waiter is gone: the request's memory ends with this call, and it must not be completed any
  // more. What was already sent still runs; a blocked command is taken back.
  virtual void Abandon(Request& request) = 0;

 protected:
  ~RequestKeeper() = default;
};

// One command or batch on its way through a store. Made by Store::Execute and by wrappers;
// completed once by the store.
class Request {
 public:
  enum class Kind : uint8_t {
    kCommand,      // commands()[0]; the result is its reply.
    kPipeline,     // In order, not atomic; the result is an array of their replies.
    kTransaction,  // MULTI, the commands, EXEC; the result is EXEC's reply: an array, nil when a
                   // watched key changed, or an error (EXECABORT) when a command was refused.
  };

  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  Kind kind() const { return kind_; }
  // They stay where they are until the request completes or is abandoned.
  std::span<const Command> commands() const { return commands_; }
  bool completed() const { return completed_; }

  // For the store: gives the result, once. Resumes the waiter if it waits; afterwards the request
  // may be gone.
  void Complete(absl::StatusOr<Reply>&& result) {
    assert(!completed_);
    keeper_ = nullptr;
    completed_ = true;
    OnComplete(std::move(result));
  }
  // For the store that keeps the request: asks to hear when the waiter goes away before the request
  // is complete.
  void SetKeeper(RequestKeeper* keeper) {
    assert(!completed_);
    keeper_ = keeper;
  }

 protected:
  // The commands must stay where they are until the request completes or is abandoned.
  Request(Kind kind, std::span<const Command> commands) : kind_(kind), commands_(commands) {}
  ~Request() {
    if (keeper_ != nullptr) keeper_->Abandon(*this);
  }

  // Takes the result. Called once; may end the request.
  virtual void OnComplete(absl::StatusOr<Reply>&& result) = 0;

 private:
  const Kind kind_;
  bool completed_ = false;
  const std::span<const Command> commands_;
  RequestKeeper* keeper_ = nullptr;
};

class Store {
 public:
  virtual ~Store() = default;

  // Takes the request and calls Complete() on it exactly once, during this call or later, unless
  // the request is abandoned. The request and its commands outlive that.
  virtual void Submit(Request& request) = 0;

  // Awaitable: submits the command or batch and gives the result. Both must outlive the await.
  class Execution;
  Execution Execute(const Command& command);
  // A batch without commands completes at once with an empty array and never reaches the store.
  Execution Execute(const Batch& batch);
};

class Store::Execution final : public Request {
 public:
  Execution(Store& store, Kind kind, std::span<const Command> commands)
      : Request(kind, commands), store_(store) {}

  bool await_ready() {
    if (commands().empty()) {
      Complete(Reply::EmptyArray());
    } else {
      store_.Submit(*this);
    }
    return completed();
  }
  void await_suspend(std::coroutine_handle<> awaiting) { awaiting_ = awaiting; }
  absl::StatusOr<Reply> await_resume() { return *std::move(result_); }

 private:
  void OnComplete(absl::StatusOr<Reply>&& result) override {
    result_.emplace(std::move(result));
    if (awaiting_) base::Resume(awaiting_);
  }

  Store& store_;
  std::coroutine_handle<> awaiting_;
  std::optional<absl::StatusOr<Reply>> result_;
};

inline Store::Execution Store::Execute(const Command& command) {
  return Execution(*this, Request::Kind::kCommand, std::span(&command, 1));
}

}  // namespace redouble::store

#endif  // REDOUBLE_CORE_STORE_STORE_H_
