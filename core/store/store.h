// Store: the interface between code that uses Redis and the backend that runs its commands.
//
// Code written against a Store runs unchanged on the memory engine (memory::Session) and on live
// Redis (redis::Client). A Store represents one connection: the selected database, WATCH and MULTI
// belong to it. Its only virtual function, Submit, takes a request and completes it, at once or
// later, so that wrappers (core/store/wrappers) can trace, delay or change what passes through.
//
// Most code calls the typed commands (core/store/typed) and batches (batch.h). Execute sends any
// command and returns the reply as it is:
//
//   base::Task<absl::StatusOr<Reply>> ObjectEncoding(Store& store, std::string_view key) {
//     const Command command(CommandId::kObjectEncoding, {key});
//     co_return co_await store.Execute(command);
//   }
//   absl::StatusOr<Reply> reply = base::Run(store.Execute(Command(CommandId::kGet, {"key"})));
//
// Errors: an error reply of the server is a reply like any other here (Reply::is_error). A status
// means that there is no reply; its kind (ErrorKindOf in errors.h) says whether the command was not
// sent, has an unknown outcome, or got a reply that breaks the protocol.
//
// Thread-safety: one thread or strand at a time, as base::Task.
#ifndef REDOUBLE_CORE_STORE_STORE_H_
#define REDOUBLE_CORE_STORE_STORE_H_

#include <cassert>
#include <coroutine>
#include <optional>
#include <span>
#include <utility>

#include "absl/status/statusor.h"
#include "redouble/core/base/task/resume.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::store {

class Batch;
class Request;

// Implemented by a store that completes requests after Submit has returned.
class RequestKeeper {
 public:
  // Called when the caller abandons the request: it must not be completed any more, and its memory
  // ends with this call. A command that was sent still runs; a blocked command is cancelled.
  virtual void Abandon(Request& request) = 0;

 protected:
  ~RequestKeeper() = default;
};

// A command or batch that a store is asked to run. Made by Store::Execute and by wrappers; the
// store completes it once. Destroying a request that is not complete abandons it.
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
  // Valid until the request completes or is abandoned.
  std::span<const Command> commands() const { return commands_; }
  bool completed() const { return completed_; }

  // For stores: sets the result, once, and resumes the caller if it waits. The request may no
  // longer exist when this returns.
  void Complete(absl::StatusOr<Reply>&& result) {
    assert(!completed_);
    keeper_ = nullptr;
    completed_ = true;
    OnComplete(std::move(result));
  }
  // For stores: `keeper` is notified if the request is abandoned before it completes.
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

  // Takes the result. Called once; may destroy the request.
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

  // Runs the request and calls its Complete() exactly once, during this call or later, unless the
  // request is abandoned. The request and its commands stay valid until then.
  virtual void Submit(Request& request) = 0;

  // An awaitable that submits a request when it is awaited.
  class Execution;

  // Awaitable: runs the command and returns its reply. One round trip. The command must outlive the
  // await; a temporary in the operand of co_await or in the argument of base::Run does.
  Execution Execute(const Command& command);

  // Awaitable: runs the batch and returns the reply as the server sent it: an array of replies; for
  // a transaction EXEC's reply, which is nil if a watched key changed and an error if a command was
  // refused. One round trip; an empty batch completes at once with an empty array, without one. The
  // batch must outlive the await. Most code calls store::Execute(store, batch) of batch.h instead,
  // which returns the replies or a status.
  Execution ExecuteRaw(const Batch& batch);
};

// The awaitable of Execute. It can be awaited once, and neither copied nor moved.
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

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_STORE_H_
