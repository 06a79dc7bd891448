// The transcripts (transcripts.h) beside redis-server 7.0 and the judges.
#include <gtest/gtest.h>
#include <hiredis/hiredis.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "redouble/backends/redis/spawn/spawned_server.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/tests/judges/judges.h"
#include "redouble/tests/transcripts/transcripts.h"

namespace redouble::inline v0_1::tests {
namespace {

using base::IsOk;

// A blocking connection; commands are words with spaces between them.
class Connection {
 public:
  explicit Connection(const redis::SpawnedServer& server)
      : context_(redisConnectUnix(server.unix_socket().c_str()), redisFree) {}

  void Write(const std::string& command) {
    const std::vector<std::string> words = absl::StrSplit(command, ' ');
    std::vector<const char*> starts;
    std::vector<size_t> sizes;
    for (const std::string& word : words) {
      starts.push_back(word.data());
      sizes.push_back(word.size());
    }
    redisAppendCommandArgv(context_.get(), static_cast<int>(words.size()), starts.data(),
                           sizes.data());
    int done = 0;
    while (done == 0 && redisBufferWrite(context_.get(), &done) == REDIS_OK) continue;
  }
  // The text of the reply: of an error or a status.
  std::string Read() {
    void* received = nullptr;
    if (redisGetReply(context_.get(), &received) != REDIS_OK) return "(the connection was closed)";
    const std::unique_ptr<void, void (*)(void*)> owner(received, freeReplyObject);
    const auto* const reply = static_cast<const redisReply*>(received);
    return reply->str == nullptr ? "" : std::string(reply->str, reply->len);
  }
  std::string Send(const std::string& command) {
    Write(command);
    return Read();
  }
  // Repeats the command until its reply begins with this word.
  std::string SendUntil(const std::string& command, std::string_view word) {
    std::string reply = Send(command);
    while (!reply.starts_with(word)) reply = Send(command);
    return reply;
  }

 private:
  std::unique_ptr<redisContext, void (*)(redisContext*)> context_;
};

class TranscriptsLive : public testing::TestWithParam<std::string_view> {
 protected:
  using Config = std::vector<std::string>;

  std::unique_ptr<redis::SpawnedServer> Start(Config config, std::string password = "") {
    redis::SpawnedServerOptions options;
    options.executable = program;
    options.config = std::move(config);
    options.password = std::move(password);
    auto started = redis::SpawnedServer::Start(options);
    EXPECT_THAT(started, IsOk());
    return started.ok() ? *std::move(started) : nullptr;
  }

  void Authenticate() {
    const auto server = Start({}, "pw");
    ASSERT_NE(server, nullptr);
    seen["HELLO with a wrong password"] = Connection(*server).Send("HELLO 2 AUTH default no");
    seen["HELLO without a password"] = Connection(*server).Send("HELLO 2");
    seen["PING without a password"] = Connection(*server).Send("PING");
    Connection ann(*server);
    EXPECT_EQ(ann.Send("AUTH pw"), "OK");
    EXPECT_EQ(ann.Send("ACL SETUSER ann on >apw -@all"), "OK");
    EXPECT_EQ(ann.Send("AUTH ann apw"), "OK");
    seen["PING by a user who may not"] = ann.Send("PING");
  }

  void Refuse() {
    const auto server = Start({"databases 16"});
    ASSERT_NE(server, nullptr);
    Connection client(*server);
    seen["HELLO 4"] = client.Send("HELLO 4");
    seen["SELECT 99"] = client.Send("SELECT 99");
    seen["an unknown command"] = client.Send("FOO a b");
    seen["EVALSHA of an unknown script"] = client.Send("EVALSHA " + std::string(40, 'a') + " 0");
    client.Send("MULTI");
    client.Send("FOO");
    seen["EXEC after a refused command"] = client.Send("EXEC");
    client.Send("CONFIG SET maxmemory 1");
    seen["SET beyond maxmemory"] = client.Send("SET k v");
    client.Send("CONFIG SET maxmemory 0");
    client.Send("CONFIG SET min-replicas-to-write 1");
    seen["SET without enough replicas"] = client.Send("SET k v");
    client.Send("CONFIG SET min-replicas-to-write 0");
    client.Send("REPLICAOF 127.0.0.1 1");
    seen["SET on a replica"] = client.Send("SET k v");
    client.Send("CONFIG SET replica-serve-stale-data no");
    seen["GET on a replica without its master"] = client.Send("GET k");
    client.Send("CONFIG SET maxclients 1");
    seen["more clients than maxclients"] = Connection(*server).Read();
  }

  void BeBusy() {
    const auto server = Start({"lua-time-limit 1", "enable-debug-command yes"});
    ASSERT_NE(server, nullptr);
    Connection script(*server), client(*server);
    script.Write("EVAL while(true)do(function()end)()end 0");
    seen["GET during a long script"] = client.SendUntil("GET k", "BUSY");
    EXPECT_EQ(client.Send("SCRIPT KILL"), "OK");
    script.Read();
    // The server looks at its clients after so many bytes of the file.
    EXPECT_EQ(client.Send("DEBUG POPULATE 1000 key 1000"), "OK");
    EXPECT_EQ(client.Send("CONFIG SET key-load-delay 10000"), "OK");
    EXPECT_EQ(client.Send("CONFIG SET loading-process-events-interval-bytes 1024"), "OK");
    script.Write("DEBUG RELOAD");
    seen["PING during loading"] = client.SendUntil("PING", "LOADING");
  }

  void BeACluster() {
    const auto server = Start({"cluster-enabled yes"});
    ASSERT_NE(server, nullptr);
    Connection client(*server);
    seen["GET on a cluster without slots"] = client.Send("GET k");
    EXPECT_EQ(client.Send("CLUSTER ADDSLOTSRANGE 0 16383"), "OK");
    seen["MGET of two slots"] = client.Send("MGET a b");
    client.Send("CONFIG SET maxclients 1");
    seen["more clients than maxclients on a cluster"] = Connection(*server).Read();
  }

  std::string program = "redis-server";
  std::map<std::string_view, std::string> seen;  // By situation.
};

TEST_P(TranscriptsLive, AreWhatTheServerSays) {
  if (GetParam() != "7.0") {
    const std::string judge = (GetParam() == "8.0" ? "redis-" : "") + std::string(GetParam());
    const std::optional<std::string> found = JudgeProgram(judge);
    if (!found) GTEST_SKIP() << "run tools/judges";
    program = *found;
  }
  Authenticate();
  Refuse();
  BeBusy();
  BeACluster();
  for (const Transcript& row : Transcripts()) {
    if (ErrorIn(row.situation, GetParam()) != row.error) continue;
    EXPECT_EQ(seen[row.situation], row.error) << row.situation;
    seen.erase(row.situation);
  }
  for (const auto& [situation, error] : seen) ADD_FAILURE() << situation << ": " << error;
}

INSTANTIATE_TEST_SUITE_P(
    All, TranscriptsLive, testing::Values("7.0", "8.0", "valkey-8.0", "valkey-8.1"),
    [](const auto& info) {
      return absl::StrReplaceAll(base::ToAbsl(info.param), {{"-", "_"}, {".", "_"}});
    });

}  // namespace
}  // namespace redouble::inline v0_1::tests
