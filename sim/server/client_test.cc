// The goal: the bytes that a client sends and receives, without a socket.
#include "redouble/sim/server/client.h"

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/text/quoted_words.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/resp/reply_encoding.h"

namespace redouble::inline v0_1::sim {
namespace {

using store::Reply;

class ClientTest : public testing::Test, public ClientOwner {
 protected:
  std::unique_ptr<Client> Connect() { return std::make_unique<Client>(engine_, *this); }

  // Returns the reply to these bytes.
  std::string Send(Client& client, std::string_view bytes) {
    client.Receive(bytes);
    return Take(client);
  }
  std::string Take(Client& client) {
    std::string sent;
    while (!client.unsent().empty()) {
      sent += client.unsent();
      client.Sent(client.unsent().size());
    }
    return sent;
  }
  void Configure(std::string_view name, std::string_view value) {
    const std::unique_ptr<Client> admin = Connect();
    const std::string line =
        "CONFIG SET " + std::string(name) + " \"" + std::string(value) + "\"\n";
    ASSERT_EQ(Send(*admin, line), "+OK\r\n");
  }

  void OnChange(Client& client) override { changed_.push_back(&client); }
  std::optional<Reply> Intercept(Client&, store::CommandId,
                                 std::span<const std::string_view> words) override {
    if (words[0] != "OURS") return std::nullopt;
    return Reply::Integer(static_cast<int64_t>(words.size()));
  }
  void OnBuffersChanged(int64_t bytes) override { buffer_bytes_ += bytes; }
  bool stopping() const override { return stopping_; }

  base::VirtualClock clock_{absl::FromUnixSeconds(1'700'000'000)};
  memory::Engine engine_{clock_};
  std::vector<Client*> changed_;
  int64_t buffer_bytes_ = 0;
  bool stopping_ = false;
};

TEST_F(ClientTest, ReportsItsLargeBuffers) {
  {
    const std::unique_ptr<Client> client = Connect();
    client->Receive("*2\r\n$4\r\nECHO\r\n$200000\r\n" + std::string(1000, 'x'));
    EXPECT_EQ(buffer_bytes_, 0);
    client->Receive(std::string(100'000, 'x'));
    EXPECT_GT(buffer_bytes_, 100'000);
    client->Receive(std::string(99'000, 'x') + "\r\n");
    EXPECT_EQ(buffer_bytes_, static_cast<int64_t>(client->output_bytes()));
    client->Sent(client->unsent().size() / 2);
    EXPECT_EQ(buffer_bytes_, static_cast<int64_t>(client->output_bytes()));
  }
  EXPECT_EQ(buffer_bytes_, 0);
}

TEST_F(ClientTest, TakesTheRestOfALongCommandInItsRoom) {
  const std::unique_ptr<Client> client = Connect();
  EXPECT_TRUE(client->RoomForInput().empty()) << "nothing has come";
  const std::string value(100'000, 'v');
  const std::string request = "*2\r\n$4\r\nECHO\r\n$100000\r\n" + value + "\r\n";
  client->Receive(request.substr(0, 1000));
  // In three reads, of which the last ends the command.
  size_t at = 1000;
  while (at < request.size()) {
    const std::span<char> room = client->RoomForInput();
    ASSERT_EQ(room.size(), request.size() - at);
    const size_t count = std::min<size_t>(room.size(), 40'000);
    std::copy_n(request.data() + at, count, room.data());
    client->ReceiveInRoom(count);
    at += count;
  }
  EXPECT_EQ(Take(*client), "$100000\r\n" + value + "\r\n");
  EXPECT_EQ(client->input_bytes(), 0u);
  EXPECT_TRUE(client->RoomForInput().empty());
  EXPECT_EQ(Send(*client, "PING\r\n"), "+PONG\r\n");
}

TEST_F(ClientTest, HasNoRoomWhileACommandWaits) {
  const std::unique_ptr<Client> client = Connect();
  Send(*client, "BLPOP list 0\r\n*2\r\n$4\r\nECHO\r\n$100000\r\nx");
  EXPECT_TRUE(client->RoomForInput().empty());
}

TEST_F(ClientTest, ClosesWhenTheRestInItsRoomExceedsTheLimitOfTheInput) {
  Configure("client-query-buffer-limit", "1mb");
  const std::unique_ptr<Client> client = Connect();
  client->Receive("*2\r\n$4\r\nECHO\r\n$2000000\r\nx");
  client->ReceiveInRoom(std::min<size_t>(client->RoomForInput().size(), 1'200'000));
  EXPECT_TRUE(client->broken());
}

TEST_F(ClientTest, AnswersAPipelineInOrder) {
  const std::unique_ptr<Client> client = Connect();
  EXPECT_EQ(Send(*client, "SET k v\r\n*2\r\n$3\r\nGET\r\n$1\r\nk\r\nNOSUCH\r\n"),
            "+OK\r\n$1\r\nv\r\n-ERR unknown command 'NOSUCH', with args beginning with: \r\n");
}

// With many keys the server prefetches; the replies must not change.
TEST_F(ClientTest, AnswersAPipelineOnManyKeysInOrder) {
  constexpr int kKeys = 20'000;
  const auto encode = [](std::string_view command, const std::string& key) {
    return "*2\r\n$4\r\n" + std::string(command) + "\r\n$" + std::to_string(key.size()) + "\r\n" +
           key + "\r\n";
  };
  const std::unique_ptr<Client> client = Connect();
  std::string fill;
  for (int i = 0; i < kKeys; ++i) fill += encode("INCR", "key:" + std::to_string(i));
  Send(*client, fill);
  std::string pipeline;
  std::string expected;
  for (int i = 0; i < 50; ++i) {
    const std::string key = "key:" + std::to_string(i * 397 % kKeys);
    pipeline += encode("INCR", key) + "PING\r\n" + encode("INCR", std::string(200, 'x')) +
                "*1\r\n$4\r\nPING\r\n" + encode("DECR", key);
    expected += ":2\r\n+PONG\r\n:" + std::to_string(i + 1) + "\r\n+PONG\r\n:1\r\n";
  }
  EXPECT_EQ(Send(*client, pipeline), expected);
  EXPECT_EQ(Send(*client, encode("INCR", "key:1") + encode("INCR", "key:2").substr(0, 9)),
            ":2\r\n");
}

TEST_F(ClientTest, KeepsWhatIsNotWholeYet) {
  const std::unique_ptr<Client> client = Connect();
  EXPECT_EQ(Send(*client, "PING\r\n*2\r\n$4\r\nEC"), "+PONG\r\n");
  EXPECT_EQ(client->input_bytes(), 2u) << "as in Redis, what is not parsed";
  EXPECT_EQ(Send(*client, "HO\r\n$2\r\nhi\r\n"), "$2\r\nhi\r\n");
  EXPECT_EQ(client->input_bytes(), 0u);
}

TEST_F(ClientTest, ClosesBehindAProtocolError) {
  const std::unique_ptr<Client> client = Connect();
  EXPECT_EQ(Send(*client, "PING\r\n*1\r\n!\r\nPING\r\n"),
            "+PONG\r\n-ERR Protocol error: expected '$', got '!'\r\n");
  EXPECT_TRUE(client->closing());
  EXPECT_FALSE(client->broken());
  EXPECT_EQ(Send(*client, "PING\r\n"), "");
}

TEST_F(ClientTest, SwitchesToResp3WithHello) {
  const std::unique_ptr<Client> client = Connect();
  Send(*client, "HELLO 3\r\nHSET h f v\r\n");
  EXPECT_EQ(Send(*client, "HGETALL h\r\nGET none\r\n"), "%1\r\n$1\r\nf\r\n$1\r\nv\r\n_\r\n");
}

TEST_F(ClientTest, ContinuesWhenABlockedCommandIsServed) {
  const std::unique_ptr<Client> waiting = Connect();
  const std::unique_ptr<Client> pushing = Connect();
  EXPECT_EQ(Send(*waiting, "BLPOP l 0\r\nPING\r\n"), "");
  EXPECT_EQ(Send(*waiting, "ECHO later\r\n"), "");
  EXPECT_EQ(Send(*pushing, "RPUSH l a\r\n"), ":1\r\n");
  ASSERT_EQ(changed_, std::vector<Client*>({waiting.get()}));
  EXPECT_EQ(Take(*waiting), "*2\r\n$1\r\nl\r\n$1\r\na\r\n");
  ASSERT_TRUE(waiting->can_continue());
  waiting->Continue();
  EXPECT_EQ(Take(*waiting), "+PONG\r\n$5\r\nlater\r\n");
}

TEST_F(ClientTest, GetsNilWhenABlockedCommandTimesOut) {
  const std::unique_ptr<Client> client = Connect();
  EXPECT_EQ(Send(*client, "BLPOP l 1\r\n"), "");
  clock_.Advance(absl::Milliseconds(1001));
  EXPECT_EQ(changed_.size(), 1u);
  EXPECT_EQ(Take(*client), "*-1\r\n");
}

TEST_F(ClientTest, GetsANullArrayWhenABlockedMoveTimesOut) {
  for (const char* line : {"BLMOVE l k LEFT LEFT 1\r\n", "BRPOPLPUSH l k 1\r\n"}) {
    const std::unique_ptr<Client> client = Connect();
    EXPECT_EQ(Send(*client, line), "");
    clock_.Advance(absl::Milliseconds(1001));
    EXPECT_EQ(Take(*client), "*-1\r\n") << line;
    client->Continue();
    EXPECT_EQ(Send(*client, std::string("MULTI\r\n") + line + "EXEC\r\n"),
              "+OK\r\n+QUEUED\r\n*1\r\n$-1\r\n");
  }
}

TEST_F(ClientTest, GetsANullStringForAnUnknownCommand) {
  const std::unique_ptr<Client> client = Connect();
  EXPECT_EQ(Send(*client, "COMMAND INFO nosuch get|x\r\n"), "*2\r\n$-1\r\n$-1\r\n");
}

TEST_F(ClientTest, GetsMessagesOfOthers) {
  const std::unique_ptr<Client> listening = Connect();
  const std::unique_ptr<Client> publishing = Connect();
  Send(*listening, "SUBSCRIBE c\r\n");
  EXPECT_EQ(Send(*publishing, "PUBLISH c hi\r\n"), ":1\r\n");
  EXPECT_EQ(Take(*listening), "*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$2\r\nhi\r\n");
}

TEST_F(ClientTest, SeesEveryCommandAsAMonitor) {
  const std::unique_ptr<Client> monitor = Connect();
  const std::unique_ptr<Client> client = Connect();
  EXPECT_EQ(Send(*monitor, "MONITOR\r\n"), "+OK\r\n");
  Send(*client, "SELECT 3\r\nset k \"a b\"\r\nEVAL \"return redis.call('GET', 'k')\" 0\r\n");
  const std::string lines = Take(*monitor);
  EXPECT_EQ(lines,
            "+1700000000.000000 [3 ?:0] \"SELECT\" \"3\"\r\n"
            "+1700000000.000000 [3 ?:0] \"set\" \"k\" \"a b\"\r\n"
            "+1700000000.000000 [3 ?:0] \"EVAL\" \"return redis.call('GET', 'k')\" \"0\"\r\n"
            "+1700000000.000000 [3 lua] \"GET\" \"k\"\r\n");
}

TEST_F(ClientTest, SendsNoRepliesWithClientReplyOff) {
  const std::unique_ptr<Client> client = Connect();
  EXPECT_EQ(Send(*client, "CLIENT REPLY OFF\r\nPING\r\nSET k v\r\n"), "");
  EXPECT_EQ(Send(*client, "CLIENT REPLY ON\r\nGET k\r\n"), "+OK\r\n$1\r\nv\r\n");
  EXPECT_EQ(Send(*client, "CLIENT REPLY SKIP\r\nPING\r\nECHO x\r\n"), "$1\r\nx\r\n");
  EXPECT_EQ(Send(*client, "CLIENT REPLY SKIP\r\nOURS\r\nOURS a\r\n"), ":2\r\n");
  EXPECT_EQ(Send(*client, "CLIENT REPLY SKIP\r\n\r\nECHO x\r\n"), "$1\r\nx\r\n") << "empty";
  EXPECT_EQ(Send(*client, "CLIENT REPLY SKIP\r\n*0\r\nECHO x\r\n"), "$1\r\nx\r\n") << "empty";
  EXPECT_EQ(Send(*client, "CLIENT REPLY OFF\r\nOURS\r\n*1\r\n!\r\n"), "");
  EXPECT_TRUE(client->closing());
}

TEST_F(ClientTest, SendsPushesInEveryReplyMode) {
  const std::unique_ptr<Client> publishing = Connect();
  for (const std::string mode : {"OFF", "SKIP"}) {
    const std::unique_ptr<Client> client = Connect();
    EXPECT_EQ(Send(*client, "CLIENT REPLY " + mode + "\r\nSUBSCRIBE a b\r\nUNSUBSCRIBE b\r\n"),
              "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n*3\r\n$9\r\nsubscribe\r\n$1\r\nb\r\n:2\r\n"
              "*3\r\n$11\r\nunsubscribe\r\n$1\r\nb\r\n:1\r\n");
    Send(*publishing, "PUBLISH a x\r\n");
    EXPECT_EQ(Take(*client), "*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\nx\r\n");
    EXPECT_EQ(Send(*client, "PING\r\n"), mode == "OFF" ? "" : "*2\r\n$4\r\npong\r\n$0\r\n\r\n");
  }
}

TEST_F(ClientTest, SendsNoLinesToAMonitorWithReplyOff) {
  const std::unique_ptr<Client> monitor = Connect();
  const std::unique_ptr<Client> client = Connect();
  EXPECT_EQ(Send(*monitor, "CLIENT REPLY OFF\r\nMONITOR\r\n"), "");
  Send(*client, "PING\r\n");
  EXPECT_EQ(Take(*monitor), "");
}

// What the client gets of EXEC's reply depends on the mode when each command ran.
TEST_F(ClientTest, ChangesTheReplyModeWithinATransaction) {
  const struct {
    std::string_view sent;
    std::string_view received;
  } kCases[] = {
      {"MULTI\r\nPING\r\nCLIENT REPLY OFF\r\nECHO x\r\nEXEC\r\nPING\r\n",
       "+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n*3\r\n+PONG\r\n"},
      {"MULTI\r\nCLIENT REPLY OFF\r\nECHO x\r\nCLIENT REPLY ON\r\nECHO y\r\nEXEC\r\nPING\r\n",
       "+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n*4\r\n+OK\r\n$1\r\ny\r\n+PONG\r\n"},
      {"CLIENT REPLY OFF\r\nMULTI\r\nPING\r\nCLIENT REPLY ON\r\nECHO x\r\nEXEC\r\nPING\r\n",
       "+OK\r\n$1\r\nx\r\n+PONG\r\n"},
      {"MULTI\r\nPING\r\nCLIENT REPLY SKIP\r\nECHO x\r\nEXEC\r\nPING\r\nECHO y\r\n",
       "+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n*3\r\n+PONG\r\n$1\r\nx\r\n$1\r\ny\r\n"},
      {"CLIENT REPLY OFF\r\nMULTI\r\nPING\r\nSUBSCRIBE a\r\nECHO x\r\nEXEC\r\nPING\r\n",
       "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n"},
      {"CLIENT REPLY SKIP\r\nMULTI\r\nPING\r\nEXEC\r\n", "+QUEUED\r\n*1\r\n+PONG\r\n"},
  };
  for (const auto& [sent, received] : kCases) {
    const std::unique_ptr<Client> client = Connect();
    EXPECT_EQ(Send(*client, sent), received) << sent;
  }
}

TEST_F(ClientTest, LearnsOfEvictedKeysBeforeTheReply) {
  const std::unique_ptr<Client> client = Connect();
  Send(*client, "HELLO 3\r\nCLIENT TRACKING ON\r\nSET k v\r\nGET k\r\n");
  Configure("maxmemory", "1");
  Configure("maxmemory-policy", "allkeys-lru");
  EXPECT_EQ(Send(*client, "GET k\r\n"), ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n_\r\n");
}

TEST_F(ClientTest, LosesKeysWhenMaxmemoryIsSet) {
  const std::unique_ptr<Client> client = Connect();
  Configure("maxmemory-policy", "allkeys-lru");
  Send(*client, "HELLO 3\r\nCLIENT TRACKING ON\r\nSET k v\r\nGET k\r\n");
  EXPECT_EQ(Send(*client, "MULTI\r\nCONFIG SET maxmemory 1\r\nDBSIZE\r\nEXEC\r\n"),
            "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n+OK\r\n:1\r\n"
            ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n");
  EXPECT_EQ(engine_.evicted_keys(), 1);
}

TEST_F(ClientTest, LearnsAtOnceThatFewerKeysAreTracked) {
  const std::unique_ptr<Client> client = Connect();
  const std::unique_ptr<Client> broadcast = Connect();
  Send(*client, "HELLO 3\r\nCLIENT TRACKING ON\r\nMSET a 1 b 2\r\nMGET a b\r\n");
  Send(*broadcast, "HELLO 3\r\nCLIENT TRACKING ON BCAST\r\n");
  EXPECT_EQ(Send(*client, "CONFIG SET tracking-table-max-keys 1\r\n"),
            "+OK\r\n>2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\na\r\n");
  EXPECT_EQ(Take(*broadcast), "");
}

TEST_F(ClientTest, HangsUpAfterQuit) {
  const std::unique_ptr<Client> client = Connect();
  EXPECT_EQ(Send(*client, "QUIT\r\nPING\r\n"), "+OK\r\n");
  EXPECT_TRUE(client->closing());
}

TEST_F(ClientTest, HangsUpOnABrowser) {
  for (const char* line : {"POST / HTTP/1.1\r\n", "Host: localhost\r\n"}) {
    const std::unique_ptr<Client> client = Connect();
    EXPECT_EQ(Send(*client, line), "");
    EXPECT_TRUE(client->broken());
  }
}

TEST_F(ClientTest, IsClosedByAnother) {
  const std::unique_ptr<Client> victim = Connect();
  const std::unique_ptr<Client> client = Connect();
  Send(*victim, "BLPOP l 0\r\n");
  const std::string id = std::to_string(victim->session().id());
  EXPECT_EQ(Send(*client, "CLIENT KILL ID " + id + "\r\n"), ":1\r\n");
  EXPECT_TRUE(victim->closing());
  EXPECT_EQ(Send(*client, "CLIENT KILL ID " + id + "\r\n"), ":0\r\n");
}

TEST_F(ClientTest, IsUnblockedByAnother) {
  const std::unique_ptr<Client> blocked = Connect();
  const std::unique_ptr<Client> client = Connect();
  const std::string id = std::to_string(blocked->session().id());
  Send(*blocked, "BLPOP l 0\r\n");
  EXPECT_EQ(Send(*client, "CLIENT UNBLOCK " + id + " ERROR\r\n"), ":1\r\n");
  EXPECT_EQ(Take(*blocked), "-UNBLOCKED client unblocked via CLIENT UNBLOCK\r\n");
  blocked->Continue();
  Send(*blocked, "BLPOP l 0\r\n");
  EXPECT_EQ(Send(*client, "CLIENT UNBLOCK " + id + "\r\n"), ":1\r\n");
  EXPECT_EQ(Take(*blocked), "*-1\r\n");
}

TEST_F(ClientTest, KeepsTheWordsOfACommandThatAPausePutOff) {
  const std::unique_ptr<Client> client = Connect();
  EXPECT_EQ(Send(*client, "CLIENT PAUSE 100 ALL\r\n"), "+OK\r\n");
  std::string bytes = "SET key value\r\nGET key\r\n";
  EXPECT_EQ(Send(*client, bytes), "");
  bytes.assign(bytes.size(), 'x');
  clock_.Advance(absl::Milliseconds(101));
  EXPECT_EQ(Take(*client), "+OK\r\n");
  client->Continue();
  EXPECT_EQ(Take(*client), "$5\r\nvalue\r\n");
}

TEST_F(ClientTest, AsksItsOwnerFirst) {
  const std::unique_ptr<Client> client = Connect();
  EXPECT_EQ(Send(*client, "OURS a b\r\n"), ":3\r\n");
}

TEST_F(ClientTest, AnswersNothingOnceTheServerStops) {
  const std::unique_ptr<Client> client = Connect();
  stopping_ = true;
  EXPECT_EQ(Send(*client, "PING\r\n"), "");
}

TEST_F(ClientTest, WritesErrorsOnOneLine) {
  const std::unique_ptr<Client> client = Connect();
  EXPECT_EQ(Send(*client, "EVAL \"return redis.error_reply('A\\\\r\\\\nB')\" 0\r\n"),
            "-ERR A  B\r\n");
}

TEST_F(ClientTest, LimitsWhatIsLeftUnread) {
  Configure("client-output-buffer-limit", "normal 1000 0 0");
  const std::unique_ptr<Client> client = Connect();
  client->Receive("ECHO " + std::string(17 * 1024 + 500, 'x') + "\r\n");
  client->CheckOutput();
  EXPECT_TRUE(client->broken());
}

TEST_F(ClientTest, DoesNotLimitTheFirstBuffer) {
  Configure("client-output-buffer-limit", "normal 1 1 0");
  const std::unique_ptr<Client> client = Connect();
  client->Receive("ECHO " + std::string(16 * 1024 - 20, 'x') + "\r\n");
  client->CheckOutput();
  clock_.Advance(absl::Seconds(2));
  client->CheckOutput();
  EXPECT_FALSE(client->broken());
  client->Receive("ECHO " + std::string(20, 'x') + "\r\n");
  client->CheckOutput();
  EXPECT_TRUE(client->broken());
}

// As redis-server, which counts the room of the nodes that have the output.
TEST_F(ClientTest, LimitsTheRoomForWhatIsLeftUnread) {
  Configure("client-output-buffer-limit", "normal 100000 0 0");
  for (const auto& [names, is_broken] : {std::pair(870, false), std::pair(1000, true)}) {
    const std::unique_ptr<Client> admin = Connect();
    Send(*admin, "FLUSHALL\r\n");
    for (int i = 0; i < names; ++i) {
      Send(*admin, "SET " + std::string(100, 'k') + ":" + std::to_string(i) + " v\r\n");
    }
    const std::unique_ptr<Client> client = Connect();
    client->Receive("KEYS *\r\n");
    client->CheckOutput();
    EXPECT_EQ(client->broken(), is_broken) << names;
  }
}

TEST_F(ClientTest, LimitsWhatIsLeftUnreadForLong) {
  Configure("client-output-buffer-limit", "normal 0 1000 5");
  const std::unique_ptr<Client> client = Connect();
  client->Receive("ECHO " + std::string(17 * 1024 + 500, 'x') + "\r\n");
  client->CheckOutput();
  clock_.Advance(absl::Seconds(5));
  client->CheckOutput();
  EXPECT_FALSE(client->broken());
  clock_.Advance(absl::Seconds(1));
  client->CheckOutput();
  EXPECT_TRUE(client->broken());
}

TEST_F(ClientTest, ClosesWithinABatchWhatExceedsTheLimit) {
  Configure("client-output-buffer-limit", "normal 1000 0 0");
  const std::unique_ptr<Client> client = Connect();
  std::string batch;
  for (int i = 0; i < 10; ++i) batch += "ECHO " + std::string(6000, 'x') + "\r\n";
  client->Receive(batch + "SET k v\r\n");
  EXPECT_TRUE(client->broken());
  EXPECT_EQ(client->unsent(), "");
  const std::unique_ptr<Client> other = Connect();
  EXPECT_EQ(Send(*other, "EXISTS k\r\n"), ":0\r\n");
}

TEST_F(ClientTest, StopsAReplyThatExceedsTheLimitWhileItIsMade) {
  const std::unique_ptr<Client> admin = Connect();
  Send(*admin, "SADD s a\r\nHSET h f v\r\nZADD z 1 m\r\n");
  for (const std::string_view name : {"SRANDMEMBER s", "HRANDFIELD h", "ZRANDMEMBER z"}) {
    const std::string endless = std::string(name) + " -4000000000000000000\r\n";
    EXPECT_EQ(Send(*admin, endless), "-ERR the reply would have more than 16777216 elements\r\n");
    Configure("client-output-buffer-limit", "normal 100000 0 0");
    for (const std::string& batch : {endless, "MULTI\r\n" + endless + "INCR n\r\nEXEC\r\n"}) {
      const std::unique_ptr<Client> client = Connect();
      client->Receive(batch);
      EXPECT_TRUE(client->broken()) << batch;
      EXPECT_EQ(client->output_bytes(), 0U);
    }
    Configure("client-output-buffer-limit", "normal 0 0 0");
  }
  EXPECT_EQ(Send(*admin, "GET n\r\n"), "$1\r\n3\r\n");
}

TEST_F(ClientTest, KeepsRepliesBackThatComeInParts) {
  const std::unique_ptr<Client> client = Connect();
  EXPECT_EQ(Send(*client, "RPUSH l a b\r\nCLIENT REPLY SKIP\r\nLRANGE l 0 -1\r\nPING\r\n"),
            ":2\r\n+PONG\r\n");
  EXPECT_EQ(Send(*client, "MULTI\r\nLRANGE l 0 0\r\nCLIENT REPLY OFF\r\nLRANGE l 0 0\r\nEXEC\r\n"),
            "+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n*3\r\n*1\r\n$1\r\na\r\n");
  EXPECT_EQ(Send(*client, "LRANGE l 0 -1\r\nCLIENT REPLY ON\r\n"), "+OK\r\n");
  client->Suffer({.fault = Fault::kDropReply});
  EXPECT_EQ(Send(*client, "LRANGE l 0 -1\r\n"), "");
  EXPECT_TRUE(client->closing());
}

// Runs the same commands as values on a session and in parts on a client, each with an engine of
// its own.
class PartsTest : public ClientTest, public testing::WithParamInterface<int> {
 protected:
  void Check(const std::string& line) {
    const std::vector<std::string> words = *base::SplitQuotedWords(line);
    const std::vector<std::string_view> views(words.begin(), words.end());
    const auto command = store::Command::Named(views[0], std::span(views).subspan(1));
    const absl::StatusOr<Reply> value = base::Run(session_->Execute(command));
    ASSERT_TRUE(value.ok());
    std::string expected;
    AppendReply(*value, GetParam() == 3 ? store::Protocol::kResp3 : store::Protocol::kResp2,
                expected);
    client_->Receive(line + "\r\n");
    EXPECT_EQ(Take(*client_), expected) << line;
  }

  memory::Engine whole_{clock_};
  const std::unique_ptr<memory::Session> session_ = whole_.Connect();
  const std::unique_ptr<Client> client_ = Connect();
};

TEST_P(PartsTest, AreTheReplyThatAProgramGetsAsAValue) {
  Send(*client_, "HELLO " + std::to_string(GetParam()) + "\r\n");
  const std::string long_text(70'000, 'c');
  for (const std::string& line :
       {std::string("RPUSH l a 1 b"), std::string("HSET h f v g w"), std::string("SADD s m n o"),
        std::string("SADD t m p"), std::string("ZADD z 1 m 2.5 n"), std::string("ZADD y 1 m"),
        std::string("GEOADD g 13.3 38.1 p 15.0 37.5 q"), std::string("XADD x 1-1 f v g w"),
        std::string("XADD x 1-2 f v"), "MSET a 1 b 2 c " + long_text}) {
    Check(line);
  }
  const std::vector<std::string> commands = {
      "MGET a none b",
      "MGET c c c a",
      "KEYS *",
      "KEYS none",
      "LRANGE l 0 -1",
      "LRANGE l 5 9",
      "LRANGE a 0 1",
      "HGETALL h",
      "HGETALL none",
      "HKEYS h",
      "HVALS h",
      "HMGET h f none",
      "HMGET none f",
      "SMEMBERS s",
      "SUNION s t",
      "SINTER s t",
      "SDIFF s t",
      "SORT s ALPHA",
      "SORT l BY none GET # GET none",
      "ZRANGE z 0 -1",
      "ZRANGE z 0 -1 WITHSCORES",
      "ZRANGE none 0 -1 WITHSCORES",
      "ZUNION 2 z y WITHSCORES",
      "ZINTER 2 z y",
      "XRANGE x - +",
      "XREVRANGE x + - COUNT 1",
      "XRANGE none - +",
      "XREAD STREAMS x 0",
      "XREAD COUNT 1 STREAMS x none x 0 0 1-1",
      "XREAD STREAMS x 9",
      "GEOSEARCH g FROMLONLAT 15 37 BYRADIUS 300 km ASC WITHDIST",
      "HRANDFIELD h 5 WITHVALUES",
      "HRANDFIELD h -9 WITHVALUES",
      "HRANDFIELD h",
      "HRANDFIELD h 0",
      "SRANDMEMBER s -9",
      "SRANDMEMBER s 2",
      "SRANDMEMBER s",
      "ZRANDMEMBER z -9 WITHSCORES",
      "ZRANDMEMBER z 1",
      "ZRANDMEMBER z",
      "EVAL \"return redis.call('LRANGE', 'l', 0, -1)\" 0"};
  for (const std::string& line : commands) Check(line);
  Check("MULTI");
  for (const std::string& line : commands) Check(line);
  Check("EXEC");
}

INSTANTIATE_TEST_SUITE_P(Protocols, PartsTest, testing::Values(2, 3));

TEST_F(ClientTest, LimitsWhatWaitsBehindABlockedCommand) {
  Configure("client-query-buffer-limit", "1mb");
  const std::unique_ptr<Client> client = Connect();
  client->Receive("BLPOP l 0\r\n");
  const std::string megabyte(1 << 20, 'x');
  client->Receive(megabyte);
  EXPECT_FALSE(client->broken());
  client->Receive("x");
  EXPECT_TRUE(client->broken());
}

TEST_F(ClientTest, TakesItsBlockedCommandBackWhenItGoes) {
  std::unique_ptr<Client> client = Connect();
  client->Receive("BLPOP l 0\r\n");
  client.reset();
  const std::unique_ptr<Client> other = Connect();
  EXPECT_EQ(Send(*other, "RPUSH l a\r\nLLEN l\r\n"), ":1\r\n:1\r\n");
}

TEST_F(ClientTest, SaysLittleBeforeItsPassword) {
  Configure("requirepass", "secret");
  const std::unique_ptr<Client> client = Connect();
  EXPECT_EQ(Send(*client, "*11\r\n"), "-ERR Protocol error: unauthenticated multibulk length\r\n");
  const std::unique_ptr<Client> other = Connect();
  EXPECT_EQ(Send(*other, "GET k\r\nAUTH secret\r\nGET k\r\n"),
            "-NOAUTH Authentication required.\r\n+OK\r\n$-1\r\n");
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
