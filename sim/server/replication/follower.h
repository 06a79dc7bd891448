// Follower: what a server does as a replica: connects to its master, loads its keys, and executes
// its stream of commands.
//
// It asks for the rest of the stream that it has (PSYNC), and gets that or an RDB file of all keys.
// Each whole command, or whole transaction, is executed by a session that the engine obeys, and is
// then passed on to the server's own replicas. Whatever breaks the link, the next attempt continues
// after the last whole one.
//
//   Follower follower(engine, stream, replicas, log, socket, [&] { RewriteLog(); });
//   follower.Follow("127.0.0.1", 6379);
//   follower.EverySecond();                 // Connects, acknowledges, and notices a silent master.
//
// Until Lead() the engine removes no expired keys and refuses writes (EngineCore::Authority).
// A file of keys that is not whole, or is damaged, changes nothing (incoming_keys.h).
//
// Thread-safety: one thread, the one that uses the engine.
// Source: Redis 7.0 replication.c.
#ifndef REDOUBLE_SIM_SERVER_REPLICATION_FOLLOWER_H_
#define REDOUBLE_SIM_SERVER_REPLICATION_FOLLOWER_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/backends/memory/append_only/effect_runner.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/server/replication.h"
#include "redouble/core/store/resp/request_parser.h"
#include "redouble/sim/server/process/log.h"
#include "redouble/sim/server/replication/incoming_keys.h"
#include "redouble/sim/server/replication/master_socket.h"
#include "redouble/sim/server/replication/replicas.h"
#include "redouble/sim/server/replication/replication_stream.h"

namespace redouble::inline v0_1::sim {

class Follower final : private MasterSocket::Listener {
 public:
  using Link = memory::MasterFigures::Link;

  // Calls its argument in a later turn.
  using Defer = std::function<void(std::function<void()> task)>;

  // The references must outlive the object. `load_later` is for parts of loading. `on_loaded` is
  // called when the keys were replaced.
  Follower(memory::Engine& engine, ReplicationStream& stream, Replicas& replicas, const Log& log,
           MasterSocket& socket, Defer load_later, std::function<void()> on_loaded);
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;
  ~Follower();

  // Follows this master instead of the present one. With `at_start` it has no part of any stream.
  // `on_takeover`: asks the master, which is a replica, to take over (FAILOVER); called with
  // whether it has.
  void Follow(std::string host, int port, bool at_start = false,
              std::function<void(bool accepted)> on_takeover = nullptr);
  // To be called before the first Follow: the server has the stream's keys up to its offset, where
  // this database is selected.
  void Resume(int db) { resumed_db_ = db; }
  // Ends that, and keeps the keys. The stream goes on under a new id.
  void Lead();

  // Whether the keys are those at the stream's offset.
  bool has_stream() const { return has_stream_; }
  bool follows() const { return master_.has_value(); }
  bool is_connected() const { return link_ == Link::kConnected; }
  // The database that the master's stream has selected; nullopt if it follows no master.
  std::optional<int> db() const;
  // Whether this session executes the master's commands.
  bool Owns(const memory::SessionCore& session) const;
  std::string address() const { return socket_.address(); }
  // Nullopt if it follows no master.
  std::optional<memory::MasterFigures> figures() const;

  // To be called once a second.
  void EverySecond();
  // To be called often: continues after CLIENT PAUSE, which holds the master's commands back.
  void Upkeep();
  // Loses the link, as if the master had closed it.
  void Break() { OnClosed(""); }

 private:
  // What the next line of the master answers.
  enum class Step : uint8_t { kPing, kAuth, kPort, kAddress, kCapabilities, kPSync, kFile };

  // MasterSocket::Listener
  void OnOpen() override;
  void OnBytes(std::string_view bytes) override;
  void OnClosed(std::string_view reason) override;

  void Connect();
  // Ends the attempt; the next one is a second later.
  void Fail(std::string_view reason);
  void CloseLink();
  void Ask(Step step, const std::vector<std::string_view>& words);
  void Introduce();
  void AskForStream();
  // Reads lines until the file or the stream begins. Returns false if more bytes are needed.
  bool ReadLine();
  void TakeLine(std::string_view line);
  void TakeSyncReply(std::string_view line);
  void TakeFullSync(std::string_view line);
  void TakeContinuation(std::string_view line);
  void EndTakeover(bool accepted);
  // The line that announces the keys, and their bytes.
  void BeginKeys(std::string_view line);
  // Returns false if they cannot be kept.
  bool AddToKeys(std::string_view bytes);
  // Whether the keys are whole, and being loaded.
  bool is_loading() const { return keys_ != nullptr && keys_->is_whole(); }
  void LoadLater();
  void ContinueLoading();
  void FinishLoading();
  void Join(int db);
  void RunCommands();
  void RunCommand(const std::vector<std::string_view>& words, int64_t attempt);
  void Acknowledge();
  std::string Parameter(std::string_view name) const;
  void WriteLog(LogLevel level, std::string_view text) const;

  memory::Engine& engine_;
  ReplicationStream& stream_;
  Replicas& replicas_;
  const Log& log_;
  MasterSocket& socket_;
  const Defer load_later_;
  const std::function<void()> on_loaded_;

  struct Address {
    std::string host;
    int port = 0;
  };
  std::optional<Address> master_;
  Link link_ = Link::kConnect;
  int64_t attempt_ = 0;  // Counts links, so that a command that ends one is noticed.
  // Whether the keys are those at the stream's offset, so that the rest of it suffices.
  bool has_stream_ = false;
  std::optional<int> resumed_db_;
  int db_ = 0;  // Selected at the stream's offset.
  std::function<void(bool)> on_takeover_;
  std::deque<Step> steps_;  // Asked and not yet answered.
  std::string input_;
  std::unique_ptr<IncomingKeys> keys_;
  bool was_closed_ = false;  // The link, while the keys were loaded.
  std::string sync_id_;      // Of FULLRESYNC.
  int64_t sync_offset_ = 0;
  store::RequestParser parser_;
  std::unique_ptr<memory::EffectRunner> runner_;
  std::unique_ptr<memory::EffectRunner> former_runner_;  // While one of its commands runs.
  bool runs_ = false;
  std::string unit_;      // The commands since the last whole one.
  int64_t silent_s_ = 0;  // Since the last byte.
  int64_t down_s_ = -1;   // Since the link was lost.
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SERVER_REPLICATION_FOLLOWER_H_
