// RawPlain, RawEvents, RawTls, RawCluster: what a C program would write with hiredis, to compare
// the live clients with.
//
// Commands are appended to a pipeline, and then all replies are received:
//
//   RawPlain raw(server);
//   for (int64_t i = 0; i < depth; ++i) raw.AppendGet(i);
//   raw.Flush();
//   for (int64_t i = 0; i < depth; ++i) if (!raw.Receive()) return;
//
// hiredis 0.14 has no TLS. RawTls writes its commands and reads its replies through OpenSSL, with
// the buffer of 16 KiB that hiredis_ssl has in later versions.
//
// Errors end the program. Thread-safety: one thread.
#ifndef REDOUBLE_BENCH_RAW_CONNECTIONS_H_
#define REDOUBLE_BENCH_RAW_CONNECTIONS_H_

#include <hiredis/hiredis.h>
#include <openssl/ssl.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "redouble/backends/redis/spawn/spawned_cluster.h"
#include "redouble/backends/redis/spawn/spawned_server.h"

namespace redouble::inline v0_1::bench {

inline constexpr char kBenchKey[] = "key:000000000001";
inline constexpr char kBenchValue[] = "value:0123456789";

// Calls a C function for an object that a unique_ptr drops.
template <auto kFree>
struct FreeWith {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using HiredisContext = std::unique_ptr<redisContext, FreeWith<redisFree>>;

// One connection over a Unix socket.
class RawPlain {
 public:
  // Sets the key.
  explicit RawPlain(const redis::SpawnedServer& server);

  void AppendGet(int64_t index);
  void Flush();
  // Returns false if there is no value.
  bool Receive();

 private:
  HiredisContext context_;
};

// The same connection, but it waits in epoll before each read, as every event loop does. At depth 1
// a client with an event loop cannot be faster.
class RawEvents {
 public:
  explicit RawEvents(const redis::SpawnedServer& server);
  ~RawEvents();
  RawEvents(const RawEvents&) = delete;
  RawEvents& operator=(const RawEvents&) = delete;

  void AppendGet(int64_t index);
  void Flush();
  bool Receive();

 private:
  HiredisContext context_;
  const int epoll_;
};

// One connection with TLS, on loopback; the certificate is not verified.
class RawTls {
 public:
  explicit RawTls(const redis::SpawnedServer& server);

  void AppendGet(int64_t index);
  void Flush();
  bool Receive();

 private:
  std::unique_ptr<SSL_CTX, FreeWith<SSL_CTX_free>> ssl_context_;
  HiredisContext socket_;
  std::unique_ptr<SSL, FreeWith<SSL_free>> ssl_;
  std::unique_ptr<redisReader, FreeWith<redisReaderFree>> reader_;
  std::string unsent_;
};

// A connection for each of three masters. Key i is on the master i % 3.
class RawCluster {
 public:
  static constexpr size_t kMasters = 3;

  // Sets the keys.
  explicit RawCluster(redis::SpawnedCluster& cluster);

  static const std::string& Key(int64_t index);

  void AppendGet(int64_t index);
  void Flush();
  bool Receive();

 private:
  std::vector<HiredisContext> contexts_;
  std::deque<size_t> awaited_;  // The masters of the replies, in the order of the commands.
};

}  // namespace redouble::inline v0_1::bench

#endif  // REDOUBLE_BENCH_RAW_CONNECTIONS_H_
