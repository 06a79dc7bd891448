// RecordingSession: a session for tests, which takes commands as words and returns replies and
// pushes as text.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_BACKENDS_MEMORY_ENGINE_SESSION_FOR_TEST_H_
#define REDOUBLE_BACKENDS_MEMORY_ENGINE_SESSION_FOR_TEST_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/session.h"
#include "redouble/backends/memory/engine/session_core.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/task/task.h"

namespace redouble::inline v0_1::memory {

// A connection that records its pushes.
class RecordingSession final : public store::PushListener {
 public:
  explicit RecordingSession(Engine& engine) : session_(engine.core().Connect()) {
    session_->Listen(this);
  }

  SessionCore& session() { return *session_; }
  // Returns the reply's DebugString, or the message of the status if the command failed.
  std::string Send(std::vector<std::string_view> words) {
    const auto command = store::Command::Named(words[0], std::span(words).subspan(1));
    return base::Run(Run(*session_, command));
  }
  // Returns the pushes received since the last call.
  std::vector<std::string> TakePushes() { return std::exchange(pushes_, {}); }

 private:
  static base::Task<std::string> Run(SessionCore& session, const store::Command& command) {
    const absl::StatusOr<store::Reply> reply = co_await session.Execute(command);
    co_return reply.ok() ? reply->DebugString() : std::string(reply.status().message());
  }
  void OnPush(const store::Reply& push) override { pushes_.push_back(push.DebugString()); }

  std::unique_ptr<SessionCore> session_;
  std::vector<std::string> pushes_;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_ENGINE_SESSION_FOR_TEST_H_
