// Client: one client connection of the server, without its socket: bytes in, commands executed on a
// session of the engine, bytes out.
//
// All complete commands in the received bytes are executed at once, without copying them; their
// replies are collected in one buffer for one write. Only incomplete commands, and commands that
// follow a blocked one, are copied.
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

#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/reply_sink.h"
#include "redouble/backends/memory/engine/session_core.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/resp/reply_encoding.h"
#include "redouble/core/store/resp/request_parser.h"
#include "redouble/core/store/store.h"
#include "redouble/sim/fault/fault.h"
#include "redouble/sim/server/buffers/buffer_rooms.h"
#include "redouble/sim/server/buffers/input_buffer.h"
#include "redouble/sim/server/buffers/output_buffer.h"

namespace redouble::inline v0_1::sim {

class Client;

// Buffers up to this size do not count towards maxmemory, so that the evicted keys do not depend on
// how the network splits the commands. A client with few commands under way needs no more.
inline constexpr size_t kSmallBufferBytes = 64 * 1024;

// Implemented by the server that owns the clients.
class ClientOwner {
 public:
  virtual ~ClientOwner() = default;

  // Called when the client has something to send or must be closed, outside of Receive and
  // Continue.
  virtual void OnChange(Client& client) = 0;
  // Called with each command before the engine executes it. Returns a reply if the engine must not
  // execute the command (SIM), otherwise nullopt. `words` is not empty; `id` is the command with
  // that name, kUnknown if Redis has none.
  virtual std::optional<store::Reply> Intercept(Client& client, store::CommandId id,
                                                std::span<const std::string_view> words) = 0;
  // Called instead of sending a reply to a replica, which would take it for a part of its stream.
  // `id`: as for Intercept.
  virtual void OnReplyToReplica(Client&, store::CommandId, const store::Reply&) {}
  // Called when a replica has sent an empty line, as it does while it loads keys.
  virtual void OnSignOfLife(Client&) {}
  // Called when the client's buffers have grown or shrunk by so many bytes. A buffer below
  // kSmallBufferBytes counts as empty.
  virtual void OnBuffersChanged(int64_t bytes) = 0;
  // Returns true if the server is stopping and must not reply any more.
  virtual bool stopping() const = 0;
  // The offset of the stream of effects that replicas receive (WAIT).
  virtual int64_t stream_offset() const { return 0; }
};

class Client final : private memory::ReplySink {
 public:
  // Both must outlive the client.
  Client(memory::Engine& engine, ClientOwner& owner);
  ~Client() override;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Processes bytes from the socket: executes all complete commands.
  void Receive(std::string_view bytes);
  // Where the rest of a long command is read to, without a copy; empty if the next bytes are to be
  // given to Receive. Valid until the next call of another function.
  std::span<char> RoomForInput();
  // As Receive, for the first `count` bytes of RoomForInput().
  void ReceiveInRoom(size_t count);
  // Executes the commands that arrived while a command was blocked. Must be called if
  // can_continue().
  void Continue();
  bool can_continue() const { return !waits() && !closing_ && resumed_; }
  // True during a command of this client, also when a script serves other clients meanwhile. The
  // client must then neither receive bytes nor be destroyed.
  bool runs() const { return runs_ || session_->runs_script(); }

  // The first bytes to write to the socket, all of them if they are few, and how many of them were
  // written.
  std::string_view unsent() const { return output_.front(); }
  void Sent(size_t bytes);
  size_t output_bytes() const { return output_.size(); }
  // If closing(), nothing more is read and the connection must be closed after unsent() was
  // written; if broken(), it must be closed at once.
  bool closing() const { return closing_; }
  bool broken() const { return broken_; }
  // True if the client is in the owner's list of those that have changed.
  bool is_listed() const { return is_listed_; }
  void set_listed(bool value) { is_listed_ = value; }
  // Closes the connection without sending anything more.
  void Break() { closing_ = broken_ = true; }
  // Sends bytes that are no reply, as a replica gets them.
  void Send(std::string_view bytes);
  // Which limit of client-output-buffer-limit applies while the client does not subscribe.
  void set_limit_class(memory::ClientClass value) { limit_class_ = value; }
  // Sends an error line and closes: "-ERR max number of clients reached\r\n".
  void Refuse(std::string_view line);
  // The offset of the stream of effects after the last command.
  int64_t stream_offset() const { return stream_offset_; }
  // The current command meets a fault of FaultSite::kServer. Returns its reply if it must not run.
  std::optional<store::Reply> Suffer(const FaultRule& rule);

  memory::SessionCore& session() { return *session_; }
  const memory::SessionCore& session() const { return *session_; }
  // The bytes that Redis would have in its query buffer: the commands that were received together
  // with the one that runs, or the last, incomplete word of an incomplete command.
  size_t input_bytes() const;
  // The bytes that Redis would have allocated beyond them: the query buffer of a client that has
  // sent something in the last seconds keeps room for more.
  size_t input_room_bytes();
  // The words of the command that runs or waits, and of an incomplete command.
  size_t argument_bytes() const;
  // The buffer that Redis would have for the first of output_bytes().
  const ReplyRoom& reply_room();

  // Closes the client if it has sent no command for `timeout_us` (0: it may), or if its output
  // exceeds its limit.
  void CheckIdle(int64_t timeout_us);
  // Closes the client, without its output, if its output buffer and `pending_bytes` of messages
  // that wait for it exceed client-output-buffer-limit.
  void CheckOutput(size_t pending_bytes = 0);

 private:
  // The request of the current command; replaced for each command.
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

  // Tells the figures of CLIENT LIST that so many bytes come.
  void NoteInput(size_t count);
  // Executes the complete commands of `input_`, unless it is too large or a command waits.
  void TakeInput();
  void RunInput();
  // Executes the complete commands at the start of `bytes` and returns how many bytes they have.
  size_t RunAll(std::string_view bytes);
  void NoteLongWords();
  void RunOne();
  // Runs `command_`.
  void Submit();
  // Appends the reply to the output, and closes the client if it exceeds the limit.
  void Respond(const store::Reply& reply);
  void Append(const store::Reply& reply);
  store::Protocol protocol() const {
    return session_->protocol() == 3 ? store::Protocol::kResp3 : store::Protocol::kResp2;
  }
  const memory::OutputBufferLimit& output_limit() const;
  size_t LeastHardLimit() const;
  void FinishParts();

  // ReplySink
  void BeginArray(store::Reply::Shape shape, std::optional<size_t> size) override;
  void Add(const store::Reply& element) override;
  void AddBulk(std::string_view text) override;
  void EndArray(size_t size) override;
  void Abort() override { Break(); }
  bool closed() const override { return closing_; }
  bool limits_output() const override { return output_limit().hard_bytes > 0; }
  void AddPush(const memory::SharedPush& push) override;
  bool Overflows(size_t pending_bytes) override;

  void TakeResult(absl::StatusOr<store::Reply>&& result);
  // Responds, unless CLIENT REPLY or a fault prevents it.
  void TakeReply(const store::Reply& reply);
  // Ends what CLIENT REPLY SKIP has said of the present request, also an empty one. Returns the
  // mode that the request had.
  memory::SessionCore::ReplyMode AdvanceReplyMode();
  // Responds to EXEC without what is withheld.
  void RespondInPart(const store::Reply& reply, const memory::SessionCore::Withheld& withheld);
  void BreakOverLimit();
  // Reports changes of the buffers to the owner.
  void NoteBuffers() {
    reply_room_.OnOutput(output_.size());
    const bool is_large = input_.size() >= kSmallBufferBytes || output_.size() >= kSmallBufferBytes;
    if (is_large || noted_bytes_ > 0) CountBuffers();
  }
  void CountBuffers();
  bool waits() const { return waits_; }

  memory::EngineCore& engine_;
  ClientOwner& owner_;
  store::RequestParser parser_;
  InputBuffer input_;
  OutputBuffer output_;
  // An array that has begun, of which the size is not known if it has a mark.
  struct OpenArray {
    store::Reply::Shape shape;
    std::optional<OutputBuffer::Mark> mark;
  };
  std::vector<OpenArray> open_arrays_;
  bool takes_parts_ = false;  // The parts of the current reply are sent.
  bool has_parts_ = false;    // The current reply is passed in parts.
  bool runs_ = false;         // Inside Receive or Continue: the owner checks for output afterwards.
  bool waits_ = false;        // The current command is blocked.
  bool resumed_ = false;      // It was blocked, and the bytes after it have not been processed.
  bool closing_ = false;
  bool broken_ = false;
  bool is_listed_ = false;
  bool loses_reply_ = false;
  memory::ClientClass limit_class_ = memory::ClientClass::kNormal;
  size_t running_bytes_ = 0;  // The bytes that RunAll works on.
  int64_t stream_offset_ = 0;
  QueryRoom query_room_;
  ReplyRoom reply_room_;
  size_t noted_bytes_ = 0;  // The bytes of the buffers that the owner knows of.
  std::optional<int64_t> over_soft_limit_since_s_;
  // The words of a command that CLIENT PAUSE may postpone; they are read again later.
  std::vector<std::string> kept_words_;
  std::vector<std::string_view> kept_views_;
  std::optional<store::Command> command_;  // The current one.
  std::unique_ptr<memory::SessionCore> session_;
  std::optional<Pending> pending_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SERVER_CLIENT_H_
