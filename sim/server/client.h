// Client: one client of the server, without its socket: bytes in, commands run on a session of the
// engine, bytes out.
//
// What arrives is parsed where it lies and run at once, all whole commands of it; the replies
// gather in one buffer for one write. Only what is not whole yet, or waits behind a blocked
// command, is kept.
//
//   Client client(engine, owner);
//   client.Receive("*1\r\n$4\r\nPING\r\n");
//   client.unsent();  // "+PONG\r\n"
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_SERVER_CLIENT_H_
#define REDOUBLE_SIM_SERVER_CLIENT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/memory/engine.h"
#include "backends/memory/session.h"
#include "core/store/command.h"
#include "core/store/message_source.h"
#include "core/store/store.h"
#include "sim/server/request_parser.h"

namespace redouble::sim {

class Client;

// Who keeps the clients.
class ClientOwner {
 public:
  virtual ~ClientOwner() = default;

  // The client has something to send, or has to be closed, outside of its own Receive or Continue.
  virtual void OnChange(Client& client) = 0;
  // A command before it reaches the engine: its reply when the engine is not to see it (SIM), none
  // otherwise. `words` holds one word at least.
  virtual std::optional<store::Reply> Intercept(Client& client,
                                                std::span<const std::string_view> words) = 0;
  // The server is about to stop: nothing is answered any more.
  virtual bool stopping() const = 0;
};

class Client final : public store::PushListener {
 public:
  // Both outlive the client.
  Client(memory::Engine& engine, ClientOwner& owner);
  ~Client() override;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Takes bytes from the socket and runs what is whole.
  void Receive(std::string_view bytes);
  // Goes on with what arrived while a command was blocked. To be called when can_continue().
  void Continue();
  bool can_continue() const { return !waits() && !closing_ && resumed_; }

  // What is to be written to the socket, and that it was.
  std::string_view unsent() const { return std::string_view(output_).substr(sent_); }
  void Sent(size_t bytes);
  // Nothing more is read; to be closed once unsent() is written, or at once when it is broken.
  bool closing() const { return closing_; }
  bool broken() const { return broken_; }
  // Closes without another word.
  void Break() { closing_ = broken_ = true; }
  // Sends a line of the server's own and closes: "-ERR max number of clients reached\r\n".
  void Refuse(std::string_view line);
  // The reply of the command under way is not sent: a fault.
  void LoseReply() { loses_reply_ = true; }

  memory::Session& session() { return *session_; }
  const memory::Session& session() const { return *session_; }
  size_t input_bytes() const { return input_.size(); }
  size_t input_room_bytes() const { return input_.capacity() - input_.size(); }
  size_t output_room_bytes() const { return output_.capacity(); }

  // Closes a client that leaves too much unread for too long (client-output-buffer-limit).
  void CheckOutput();

 private:
  // The command under way; another one is made in its place for the next.
  class Pending final : public store::Request {
   public:
    explicit Pending(Client& client)
        : Request(Kind::kCommand, std::span<const store::Command>(&*client.command_, 1)),
          client_(client) {}

   private:
    void OnComplete(absl::StatusOr<store::Reply>&& result) override {
      client_.TakeResult(std::move(result));
    }

    Client& client_;
  };

  // Runs the whole commands at the beginning of `bytes`; how much that was.
  size_t RunAll(std::string_view bytes);
  void RunOne();
  void Submit(std::span<const std::string_view> words);
  void Respond(const store::Reply& reply);
  void TakeResult(absl::StatusOr<store::Reply>&& result);
  void OnPush(const store::Reply& push) override;
  bool waits() const { return waits_; }

  memory::Engine& engine_;
  ClientOwner& owner_;
  RequestParser parser_;
  std::string input_;
  std::string output_;
  size_t sent_ = 0;
  bool runs_ = false;     // Receive or Continue is under way: the owner looks afterwards anyhow.
  bool waits_ = false;    // Its command is blocked.
  bool resumed_ = false;  // It was, and what waits behind it has to be run.
  bool closing_ = false;
  bool broken_ = false;
  bool loses_reply_ = false;
  std::optional<int64_t> over_soft_limit_since_s_;
  // Of a command that a pause may put off: its words, which are read again.
  std::vector<std::string> kept_words_;
  std::vector<std::string_view> kept_views_;
  std::optional<store::Command> command_;
  std::unique_ptr<memory::Session> session_;
  std::optional<Pending> pending_;
};

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_SERVER_CLIENT_H_
