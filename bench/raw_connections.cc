#include "redouble/bench/raw_connections.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/hash/crc.h"

namespace redouble::inline v0_1::bench {
namespace {

constexpr size_t kTlsBufferBytes = 16 * 1024;

void ExitUnless(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "raw connection: %s failed\n", what);
  std::exit(1);
}

HiredisContext Connected(redisContext* context) {
  ExitUnless(context != nullptr && context->err == 0, "connect");
  return HiredisContext(context);
}

void SetKey(redisContext* context, const char* key) {
  void* const reply = redisCommand(context, "SET %s %s", key, kBenchValue);
  ExitUnless(reply != nullptr, "SET");
  freeReplyObject(reply);
}

void Append(redisContext* context, const char* key) {
  const char* words[] = {"GET", key};
  redisAppendCommandArgv(context, 2, words, nullptr);
}

void WriteAll(redisContext* context) {
  int done = 0;
  while (done == 0) ExitUnless(redisBufferWrite(context, &done) == REDIS_OK, "write");
}

bool TakeValue(void* reply) {
  const bool has_value = static_cast<redisReply*>(reply)->type == REDIS_REPLY_STRING;
  freeReplyObject(reply);
  return has_value;
}

bool ReceiveValue(redisContext* context) {
  void* reply = nullptr;
  ExitUnless(redisGetReply(context, &reply) == REDIS_OK, "read");
  return TakeValue(reply);
}

}  // namespace

RawPlain::RawPlain(const redis::SpawnedServer& server)
    : context_(Connected(redisConnectUnix(server.unix_socket().c_str()))) {
  SetKey(context_.get(), kBenchKey);
}

void RawPlain::AppendGet(int64_t) { Append(context_.get(), kBenchKey); }

void RawPlain::Flush() { WriteAll(context_.get()); }

bool RawPlain::Receive() { return ReceiveValue(context_.get()); }

RawEvents::RawEvents(const redis::SpawnedServer& server)
    : context_(Connected(redisConnectUnix(server.unix_socket().c_str()))),
      epoll_(epoll_create1(EPOLL_CLOEXEC)) {
  SetKey(context_.get(), kBenchKey);
  epoll_event event = {.events = EPOLLIN, .data = {}};
  ExitUnless(epoll_ctl(epoll_, EPOLL_CTL_ADD, context_->fd, &event) == 0, "epoll");
}

RawEvents::~RawEvents() { close(epoll_); }

void RawEvents::AppendGet(int64_t) { Append(context_.get(), kBenchKey); }

void RawEvents::Flush() { WriteAll(context_.get()); }

bool RawEvents::Receive() {
  while (true) {
    void* reply = nullptr;
    ExitUnless(redisGetReplyFromReader(context_.get(), &reply) == REDIS_OK, "reply");
    if (reply != nullptr) return TakeValue(reply);
    epoll_event event;
    ExitUnless(epoll_wait(epoll_, &event, 1, -1) == 1, "wait");
    ExitUnless(redisBufferRead(context_.get()) == REDIS_OK, "read");
  }
}

RawTls::RawTls(const redis::SpawnedServer& server)
    : ssl_context_(SSL_CTX_new(TLS_client_method())),
      socket_(Connected(redisConnect("127.0.0.1", server.port()))),
      ssl_(SSL_new(ssl_context_.get())),
      reader_(redisReaderCreate()) {
  RawPlain sets_the_key(server);
  SSL_set_fd(ssl_.get(), socket_->fd);
  ExitUnless(SSL_connect(ssl_.get()) == 1, "TLS handshake");
}

void RawTls::AppendGet(int64_t) {
  const char* words[] = {"GET", kBenchKey};
  char* command = nullptr;
  const auto size = redisFormatCommandArgv(&command, 2, words, nullptr);
  unsent_.append(command, static_cast<size_t>(size));
  redisFreeCommand(command);
}

void RawTls::Flush() {
  const int size = static_cast<int>(unsent_.size());
  ExitUnless(SSL_write(ssl_.get(), unsent_.data(), size) == size, "TLS write");
  unsent_.clear();
}

bool RawTls::Receive() {
  while (true) {
    void* reply = nullptr;
    ExitUnless(redisReaderGetReply(reader_.get(), &reply) == REDIS_OK, "reply");
    if (reply != nullptr) return TakeValue(reply);
    char buffer[kTlsBufferBytes];
    const int size = SSL_read(ssl_.get(), buffer, sizeof buffer);
    ExitUnless(size > 0, "TLS read");
    redisReaderFeed(reader_.get(), buffer, static_cast<size_t>(size));
  }
}

RawCluster::RawCluster(redis::SpawnedCluster& cluster) {
  for (size_t i = 0; i < kMasters; ++i) {
    contexts_.push_back(Connected(redisConnect("127.0.0.1", cluster.node(i).port())));
    SetKey(contexts_.back().get(), Key(static_cast<int64_t>(i)).c_str());
  }
}

const std::string& RawCluster::Key(int64_t index) {
  static const std::vector<std::string>& keys = *[] {
    auto* const found = new std::vector<std::string>;
    for (int n = 0; found->size() < kMasters; ++n) {
      std::string key = absl::StrCat("key:00000000", 1000 + n);
      const size_t master =
          static_cast<size_t>(base::KeySlot(key)) * kMasters / base::kClusterSlots;
      if (master == found->size()) found->push_back(std::move(key));
    }
    return found;
  }();
  return keys[static_cast<size_t>(index) % kMasters];
}

void RawCluster::AppendGet(int64_t index) {
  const size_t master = static_cast<size_t>(index) % kMasters;
  Append(contexts_[master].get(), Key(index).c_str());
  awaited_.push_back(master);
}

void RawCluster::Flush() {
  for (const HiredisContext& context : contexts_) WriteAll(context.get());
}

bool RawCluster::Receive() {
  const size_t master = awaited_.front();
  awaited_.pop_front();
  return ReceiveValue(contexts_[master].get());
}

}  // namespace redouble::inline v0_1::bench
