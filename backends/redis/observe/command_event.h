// CommandEvent: what a client reports of each request: start, sends, redirections, end.
//
// A CommandHook receives the events of a client. Use it for traces, metrics and logs; three
// adapters are ready: command_latencies.h, slow_commands.h and command_spans.h.
//
//   redis::CommandLatencies latencies;
//   redis::SlowCommands slow({.threshold = absl::Milliseconds(10)});
//   redis::ClientHooks hooks;
//   hooks.command = redis::CombineHooks({latencies.hook(), slow.hook()});
//   auto client = co_await redis::ClusterClient::Connect(executor, options, hooks);
//
// The events of one request, in order: kStart when it is submitted; kSend whenever it, or a part of
// it, is handed to the connection of a server; kRedirect whenever a server refused it and named
// another one, or is no longer the master; kEnd once, also if it is refused or abandoned. PINGs of
// the health check, and questions to the nodes and sentinels, are no requests.
//
// Without a hook, a request costs one comparison. With one, it costs an allocation, two entries in
// hash tables and the calls of the hook.
//
// Thread-safety: a hook runs where its client runs, one event at a time. It must not submit
// requests to the client, and must not close or destroy it.
#ifndef REDOUBLE_BACKENDS_REDIS_OBSERVE_COMMAND_EVENT_H_
#define REDOUBLE_BACKENDS_REDIS_OBSERVE_COMMAND_EVENT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/backends/redis/options.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::redis {

// One event. Pointers and views are valid during the call.
struct CommandEvent {
  enum class Kind : uint8_t { kStart, kSend, kRedirect, kEnd };

  Kind kind = Kind::kStart;
  // The number of the request, from 1; equal in all events of one request of one client.
  uint64_t id = 0;
  // Microseconds of the monotonic clock.
  int64_t at_us = 0;
  const store::Request* request = nullptr;
  // kSend: the server that it is sent to. kRedirect: the server that redirected it. kEnd: the last
  // server that it was sent to. As NodeName writes it; empty before the first send.
  std::string_view node = {};
  // The sends so far. The parts of a pipeline that go to several nodes of a cluster count each.
  int sends = 0;
  // The redirections so far.
  int redirects = 0;
  // kRedirect: the error reply of the server ("MOVED 3999 127.0.0.1:6381"), or what it says.
  std::string_view cause = {};

  // The members below belong to kEnd.
  int64_t duration_us = 0;  // From kStart.
  // The sizes of the names and arguments, and of the texts in the reply, without the framing of the
  // protocol; a request that is sent twice counts once.
  size_t request_bytes = 0;
  size_t reply_bytes = 0;
  // Null if the request was abandoned: its waiter was destroyed.
  const absl::StatusOr<store::Reply>* result = nullptr;
};

using CommandHook = std::function<void(const CommandEvent&)>;

// A hook that passes each event to all of them, in order.
CommandHook CombineHooks(std::vector<CommandHook> hooks);

// The name of a request in traces and metrics: "GET". A pipeline or transaction is "PIPELINE" or
// "MULTI", followed by the name of its commands if all have the same: "PIPELINE GET". Never
// contains an argument.
std::string RequestName(const store::Request& request);

// The error with which a request ended: the code of an error reply ("WRONGTYPE"), the name of a
// status code ("DEADLINE_EXCEEDED"), "ABANDONED", or an empty text for success. Errors within the
// reply to a pipeline are no error of the request.
std::string ErrorOf(const CommandEvent& end);

// "127.0.0.1:6379", "[::1]:6379" or "/run/redis.sock".
std::string NodeName(const TcpAddress& address);
std::string NodeName(const Options& options);

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_OBSERVE_COMMAND_EVENT_H_
