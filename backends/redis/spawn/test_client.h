// TestClient: a blocking connection over hiredis, for the tests of this folder only.
//
// Not thread-safe; one per thread.
//
//     TestClient client(server->unix_socket());
//     EXPECT_EQ(client.Ask({"SET", "key", "value"}), "+OK");

#ifndef REDOUBLE_BACKENDS_REDIS_SPAWN_TEST_CLIENT_H_
#define REDOUBLE_BACKENDS_REDIS_SPAWN_TEST_CLIENT_H_

#include <hiredis/hiredis.h>  // lint: include-hiredis: only tests link this client

#include <memory>
#include <string>
#include <vector>

namespace redouble::redis {

class TestClient {
 public:
  // Connects to a Unix socket; every answer is waited for at most 20 s.
  explicit TestClient(const std::string& unix_socket);

  // Connects to 127.0.0.1.
  explicit TestClient(int port);

  // Sends a command and returns its reply as text: "+OK", "-ERR ...", ":1", "$value", "(nil)",
  // "[:1, $value]"; "disconnected" when there is none.
  std::string Ask(const std::vector<std::string>& command);

  // The two halves of Ask, for a command that blocks.
  void Send(const std::vector<std::string>& command);
  std::string Receive();

  // The next reply if it has arrived already, else "nothing yet". Never waits.
  std::string Poll();

 private:
  struct Closer {
    void operator()(redisContext* context) const { redisFree(context); }
  };

  explicit TestClient(redisContext* context);

  std::unique_ptr<redisContext, Closer> context_;
};

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_SPAWN_TEST_CLIENT_H_
