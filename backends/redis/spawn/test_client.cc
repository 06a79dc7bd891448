#include "backends/redis/spawn/test_client.h"

#include <poll.h>
#include <sys/time.h>

#include "gtest/gtest.h"

namespace redouble::redis {
namespace {

std::string TextOf(const redisReply& reply) {
  const std::string text = reply.str == nullptr ? "" : std::string(reply.str, reply.len);
  switch (reply.type) {
    case REDIS_REPLY_STATUS:
      return "+" + text;
    case REDIS_REPLY_ERROR:
      return "-" + text;
    case REDIS_REPLY_INTEGER:
      return ":" + std::to_string(reply.integer);
    case REDIS_REPLY_STRING:
      return "$" + text;
    case REDIS_REPLY_NIL:
      return "(nil)";
    default:
      break;
  }
  std::string result = "[";
  for (size_t i = 0; i < reply.elements; ++i) {
    result += (i == 0 ? "" : ", ") + TextOf(*reply.element[i]);
  }
  return result + "]";
}

std::string TakeText(void* owned) {
  auto* reply = static_cast<redisReply*>(owned);
  const std::string text = TextOf(*reply);
  freeReplyObject(reply);
  return text;
}

}  // namespace

TestClient::TestClient(const std::string& unix_socket)
    : TestClient(redisConnectUnix(unix_socket.c_str())) {}

TestClient::TestClient(int port) : TestClient(redisConnect("127.0.0.1", port)) {}

TestClient::TestClient(redisContext* context) : context_(context) {
  EXPECT_EQ(context_->err, 0) << context_->errstr;
  const timeval patience = {20, 0};
  redisSetTimeout(context_.get(), patience);
}

std::string TestClient::Ask(const std::vector<std::string>& command) {
  Send(command);
  return Receive();
}

void TestClient::Send(const std::vector<std::string>& command) {
  std::vector<const char*> arguments;
  std::vector<size_t> sizes;
  for (const std::string& argument : command) {
    arguments.push_back(argument.data());
    sizes.push_back(argument.size());
  }
  redisAppendCommandArgv(context_.get(), static_cast<int>(command.size()), arguments.data(),
                         sizes.data());
  int all_written = 0;
  while (all_written == 0 && redisBufferWrite(context_.get(), &all_written) == REDIS_OK) {
  }
}

std::string TestClient::Receive() {
  void* reply = nullptr;
  if (redisGetReply(context_.get(), &reply) != REDIS_OK) return "disconnected";
  return TakeText(reply);
}

std::string TestClient::Poll() {
  void* reply = nullptr;
  if (redisGetReplyFromReader(context_.get(), &reply) != REDIS_OK) return "disconnected";
  if (reply != nullptr) return TakeText(reply);
  pollfd wait = {context_->fd, POLLIN, 0};
  return poll(&wait, 1, 0) == 1 ? Receive() : "nothing yet";
}

}  // namespace redouble::redis
