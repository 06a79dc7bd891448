// Goal: whatever breaks the link, a replica ends with its master's keys, and never has a part of a
// transaction.
#include "redouble/sim/server/replication/node.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/session_for_test.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/store/resp/reply_encoding.h"
#include "redouble/core/store/resp/request_parser.h"

namespace redouble::inline v0_1::sim {
namespace {

using memory::RecordingSession;
using testing::StartsWith;

// A served engine whose sockets are strings.
class TestServer final : private ReplicaSockets, private memory::Host, private MasterSocket {
 public:
  explicit TestServer(char letter) : letter_(letter) {
    engine_.core().administration().set_host(this);
  }
  ~TestServer() override { engine_.core().administration().set_host(nullptr); }

  std::string Ask(std::vector<std::string_view> words) { return client_.Send(std::move(words)); }
  std::string Digest() { return Ask({"DEBUG", "DIGEST"}); }
  ReplicationNode& node() { return node_; }
  const memory::Synchronizations& synchronizations() {
    return engine_.core().administration().statistics().synchronizations();
  }
  void RunTasks() {
    while (!tasks_.empty()) {
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      task();
    }
  }

  // The server as a master: a replica's connection.
  void Accept() {
    replica_ = engine_.core().Connect();
    node_offset_ = node_.offset();
    input_.clear();
    output_.clear();
  }
  bool has_replica() const { return replica_ != nullptr; }
  void DropReplica() {
    if (replica_ == nullptr) return;
    node_.Forget(*replica_);
    replica_.reset();
  }
  void TakeFromReplica(std::string_view bytes) {
    input_.append(bytes);
    store::RequestParser parser;
    while (parser.Parse(input_, {}) == store::RequestParser::Progress::kCommand) {
      const std::vector<std::string> words(parser.words().begin(), parser.words().end());
      input_.erase(0, parser.consumed());
      const std::vector<std::string_view> views(words.begin(), words.end());
      memory::EngineCore& core = engine_.core();
      const store::Reply reply = core.Execute(*replica_, core.CommandNamed(views[0]), views[0],
                                              std::span(views).subspan(1));
      if (!replica_->TakeUnanswered()) {
        store::AppendReply(reply, store::Protocol::kResp2, output_);
      }
    }
    RunTasks();
  }
  std::string TakeOutput() { return std::exchange(output_, {}); }
  // From now on the replica reads the keys by ReadPart only.
  void StopReading() { reads_ = false; }
  void ReadPart() {
    tasks_.push_back(std::move(unsent_.front()));
    unsent_.pop_front();
    RunTasks();
  }
  void PassSecond() {
    clock_.Advance(absl::Seconds(1));
    node_.Upkeep();
    RunTasks();
  }

  // The server as a replica.
  bool wants_link() const { return is_open_; }
  std::string TakeSent() { return std::exchange(sent_, {}); }
  MasterSocket::Listener& link() { return *listener_; }

 private:
  // ReplicaSockets
  void SendToReplica(int64_t session_id, std::string_view bytes) override {
    if (replica_ != nullptr && replica_->id() == session_id) output_.append(bytes);
  }
  void LimitReplica(int64_t) override {}
  void BreakReplica(int64_t) override {
    tasks_.push_back([this] { DropReplica(); });
  }
  void WhenSent(int64_t session_id, std::function<void()> task) override {
    if (replica_ == nullptr || replica_->id() != session_id) return;
    (reads_ ? tasks_ : unsent_).push_back(std::move(task));
  }
  int64_t OffsetOf(int64_t) const override { return node_offset_; }
  void Later(std::function<void()> task) override { tasks_.push_back(std::move(task)); }
  void InBackground(std::function<void()> task) override { Later(std::move(task)); }
  void LoadInBackground(std::function<void()> task) override { Later(std::move(task)); }

  // MasterSocket
  void Listen(Listener& listener) override { listener_ = &listener; }
  void Open(const std::string&, int) override {
    is_open_ = true;
    sent_.clear();
  }
  void Send(std::string_view bytes) override { sent_.append(bytes); }
  void Close() override { is_open_ = false; }
  std::string address() const override { return "m:1"; }

  // Host
  int64_t MonotonicMicros() override { return 0; }
  memory::ProcessFigures Figures() override { return {}; }
  memory::ConnectionFigures FiguresOf(const memory::SessionCore&) override { return {}; }
  void OnDisconnect(const memory::SessionCore& session) override { node_.OnDisconnect(session); }
  void Sleep(int64_t) override {}
  absl::Status Listen(const memory::ServerOptions&) override { return absl::OkStatus(); }
  int RoomForClients(int wanted) override { return wanted; }
  std::string Folder() override { return "/"; }
  absl::Status EnterFolder(const std::string&) override { return absl::OkStatus(); }
  std::string ConfigFile() override { return ""; }
  absl::StatusOr<std::string> ReadTextFile(const std::string&) override { return ""; }
  absl::Status ReplaceTextFile(const std::string&, std::string_view) override {
    return absl::OkStatus();
  }
  memory::Replication* replication() override { return &node_; }

  const char letter_;
  int ids_ = 0;
  base::VirtualClock clock_{absl::FromUnixSeconds(1'700'000'000)};
  memory::Engine engine_{clock_};
  Log log_;
  std::deque<std::function<void()>> tasks_;
  bool reads_ = true;
  std::deque<std::function<void()>> unsent_;  // Wait until the replica reads.
  Listener* listener_ = nullptr;
  bool is_open_ = false;
  std::string sent_;
  int64_t node_offset_ = 0;
  std::string input_;
  std::string output_;
  ReplicationNode node_{engine_,
                        log_,
                        *this,
                        *this,
                        [this] { return std::string(39, letter_) + std::to_string(++ids_); },
                        nullptr};
  std::unique_ptr<memory::SessionCore> replica_;
  RecordingSession client_{engine_};
};

// A master and a replica, and the bytes between them.
class Pair {
 public:
  Pair() { replica.node().Follow("m", 1); }

  // Carries bytes until both are silent. After `limit` bytes of the master the link breaks.
  // Returns how many bytes the master has sent.
  size_t Carry(size_t limit = SIZE_MAX, size_t part = SIZE_MAX) {
    size_t carried = 0;
    while (replica.wants_link()) {
      if (!master.has_replica()) {
        master.Accept();
        replica.link().OnOpen();
      }
      master.TakeFromReplica(replica.TakeSent());
      pending_ += master.TakeOutput();
      const std::string bytes = pending_.substr(0, std::min(part, limit - carried));
      pending_.erase(0, bytes.size());
      if (bytes.empty() && carried < limit) return carried;
      carried += bytes.size();
      if (!bytes.empty()) replica.link().OnBytes(bytes);
      replica.RunTasks();
      if (carried == limit) {
        Cut();
        return carried;
      }
    }
    return carried;
  }
  void Cut() {
    pending_.clear();
    master.DropReplica();
    replica.link().OnClosed("cut");
  }
  void Reconnect() {
    if (!replica.wants_link()) replica.node().EverySecond();
    Carry();
  }

  TestServer master{'a'};
  TestServer replica{'b'};

 private:
  std::string pending_;
};

void Load(TestServer& server) {
  server.Ask({"RPUSH", "list", "a", "b", "c"});
  server.Ask({"SELECT", "3"});
  server.Ask({"MULTI"});
  server.Ask({"INCR", "left"});
  server.Ask({"SET", "text", std::string(100, 'x')});
  server.Ask({"INCR", "right"});
  server.Ask({"EXEC"});
  server.Ask({"SELECT", "0"});
  server.Ask({"SPOP", "set", "2"});
  server.Ask({"XADD", "stream", "*", "f", "v"});
}

TEST(ReplicationNode, LoadsAllKeysAndFollowsTheStream) {
  Pair pair;
  pair.master.Ask({"SADD", "set", "1", "2", "3"});
  pair.Carry();
  EXPECT_EQ(pair.replica.Digest(), pair.master.Digest());
  Load(pair.master);
  pair.Carry();
  EXPECT_EQ(pair.replica.Digest(), pair.master.Digest());
  EXPECT_EQ(pair.replica.node().offset(), pair.master.node().offset());
  EXPECT_THAT(pair.replica.Ask({"SET", "a", "1"}), StartsWith("(error) READONLY"));
}

TEST(ReplicationNode, HoldsTheStreamBackInAPause) {
  Pair pair;
  pair.Carry();
  const std::string before = pair.replica.Digest();
  EXPECT_EQ(pair.replica.Ask({"CLIENT", "PAUSE", "100000", "WRITE"}), "OK");
  Load(pair.master);
  pair.Carry();
  pair.replica.node().Upkeep();
  EXPECT_LT(pair.replica.node().offset(), pair.master.node().offset());
  EXPECT_EQ(pair.replica.Digest(), before);
  EXPECT_EQ(pair.replica.node().figures().master->read_offset, pair.master.node().offset());
  EXPECT_EQ(pair.replica.Ask({"CLIENT", "UNPAUSE"}), "OK");
  pair.replica.node().Upkeep();
  EXPECT_EQ(pair.replica.Digest(), pair.master.Digest());
  EXPECT_EQ(pair.replica.node().offset(), pair.master.node().offset());
}

TEST(ReplicationNode, ContinuesAfterACutAtAnyByteOfTheStream) {
  size_t whole = 0;
  for (size_t limit = 1; limit == 1 || limit < whole; ++limit) {
    Pair pair;
    pair.master.Ask({"SADD", "set", "1", "2", "3"});
    pair.Carry();
    Load(pair.master);
    if (limit == 1) {
      whole = pair.Carry();
      continue;
    }
    pair.Carry(limit);
    // Both or neither: they come from one transaction.
    EXPECT_EQ(pair.replica.Ask({"SELECT", "3"}), "OK");
    EXPECT_EQ(pair.replica.Ask({"GET", "left"}), pair.replica.Ask({"GET", "right"})) << limit;
    pair.Reconnect();
    ASSERT_EQ(pair.replica.Digest(), pair.master.Digest()) << limit;
    EXPECT_EQ(pair.master.synchronizations().full, 1) << limit;
    EXPECT_EQ(pair.master.synchronizations().partial, 1) << limit;
  }
  EXPECT_GT(whole, 300u);
}

TEST(ReplicationNode, KeepsItsKeysUntilItHasAllOfTheMasters) {
  size_t whole = 0;
  for (size_t limit = 1; limit == 1 || limit < whole; ++limit) {
    Pair pair;
    pair.replica.node().FollowNobody();
    pair.replica.Ask({"SET", "own", "1"});
    pair.replica.node().Follow("m", 1);
    pair.master.Ask({"SADD", "set", "1", "2", "3"});
    if (limit == 1) {
      whole = pair.Carry();
      continue;
    }
    const std::string before = pair.replica.Digest();
    pair.Carry(limit);
    EXPECT_EQ(pair.replica.Digest(), before) << limit;
    pair.Reconnect();
    ASSERT_EQ(pair.replica.Digest(), pair.master.Digest()) << limit;
  }
  EXPECT_GT(whole, 200u);
}

TEST(ReplicationNode, TakesBytesInPartsOfAnySize) {
  for (const size_t part : {1, 2, 3, 7, 64}) {
    Pair pair;
    pair.master.Ask({"SADD", "set", "1", "2", "3"});
    pair.Carry(SIZE_MAX, part);
    Load(pair.master);
    pair.Carry(SIZE_MAX, part);
    EXPECT_EQ(pair.replica.Digest(), pair.master.Digest()) << part;
  }
}

TEST(ReplicationNode, KeepsItsKeysWhenTheFileIsDamaged) {
  Pair pair;
  pair.replica.node().FollowNobody();
  pair.replica.Ask({"SET", "own", "1"});
  pair.replica.node().Follow("m", 1);
  const std::string before = pair.replica.Digest();
  pair.replica.link().OnOpen();
  pair.replica.link().OnBytes(absl::StrCat("+PONG\r\n+OK\r\n+OK\r\n+FULLRESYNC ",
                                           std::string(40, 'c'), " 10\r\n$9\r\nREDIS0010"));
  EXPECT_EQ(pair.replica.Digest(), before);
  EXPECT_TRUE(pair.replica.node().link_is_down());
}

TEST(ReplicationNode, ConnectsAgainAfterAnyReplyThatItDoesNotExpect) {
  for (const std::string reply : {"-ERR no\r\n", "+PONG\r\n+OK\r\n+OK\r\n-NOMASTERLINK no\r\n",
                                  "+PONG\r\n+OK\r\n+OK\r\n+FULLRESYNC x\r\n",
                                  "+PONG\r\n+OK\r\n+OK\r\n+FULLRESYNC x 1\r\nnofile\r\n",
                                  "+PONG\r\n-ERR\r\n-ERR\r\n:1\r\n"}) {
    Pair pair;
    pair.replica.link().OnOpen();
    pair.replica.link().OnBytes(reply);
    EXPECT_FALSE(pair.replica.wants_link()) << reply;
    pair.Reconnect();
    EXPECT_EQ(pair.replica.Digest(), pair.master.Digest()) << reply;
    EXPECT_FALSE(pair.replica.node().link_is_down());
  }
}

TEST(ReplicationNode, NoticesASilentMaster) {
  Pair pair;
  pair.Carry();
  EXPECT_EQ(pair.replica.Ask({"CONFIG", "SET", "repl-timeout", "3"}), "OK");
  for (int second = 0; second < 3; ++second) pair.replica.node().EverySecond();
  EXPECT_FALSE(pair.replica.node().link_is_down());
  pair.replica.node().EverySecond();
  EXPECT_TRUE(pair.replica.node().link_is_down());
}

TEST(ReplicationNode, BreaksAReplicaThatStopsReadingTheKeys) {
  TestServer master('a');
  EXPECT_EQ(master.Ask({"CONFIG", "SET", "repl-timeout", "3"}), "OK");
  EXPECT_EQ(master.Ask({"DEBUG", "POPULATE", "3", "key", "1000000"}), "OK");
  master.StopReading();
  master.Accept();
  master.TakeFromReplica("*3\r\n$5\r\nPSYNC\r\n$1\r\n?\r\n$2\r\n-1\r\n");
  EXPECT_THAT(master.TakeOutput(), StartsWith("+FULLRESYNC "));
  const auto pass_seconds = [&](int seconds) {
    for (int i = 0; i < seconds; ++i) master.PassSecond();
  };
  pass_seconds(3);
  master.ReadPart();
  pass_seconds(3);
  EXPECT_TRUE(master.has_replica()) << "it is slow, but it reads";
  pass_seconds(1);
  EXPECT_FALSE(master.has_replica());
}

TEST(ReplicationNode, ContinuesTheStreamWhenItTakesOver) {
  Pair pair;
  pair.master.Ask({"SADD", "set", "1", "2", "3"});
  pair.Carry();
  Load(pair.master);
  pair.Carry();
  pair.replica.node().FollowNobody();
  const memory::ReplicationFigures figures = pair.replica.node().figures();
  EXPECT_EQ(figures.former_id, pair.master.node().figures().id);
  EXPECT_EQ(figures.former_end, pair.master.node().offset() + 1);
  EXPECT_NE(figures.id, figures.former_id);
  EXPECT_EQ(pair.replica.Ask({"SET", "a", "1"}), "OK");
  EXPECT_EQ(pair.replica.Ask({"CONFIG", "GET", "replicaof"}), "[\"replicaof\", \"\"]");
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
