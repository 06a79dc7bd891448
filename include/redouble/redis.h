// Live Redis without an event loop: SyncClient, a store::Store over one connection, and SyncPool,
// one for any number of threads; hooks, counters, and what makes traces, metrics and logs of them.
//
//   auto redis = redis::SyncClient::Connect("redis://127.0.0.1:6379", redis::Sharing::kShared);
//   auto pool = redis::SyncPool::Connect("redis://127.0.0.1:6379?pool_size=16");
//
// No header of Boost.Asio is included. Programs with an Asio event loop, clusters and sentinels
// include redouble/redis_asio.h.
//
// Thread-safety: one thread at a time for each client, and any thread for a SyncPool; different
// clients are independent.
#ifndef REDOUBLE_REDIS_H_
#define REDOUBLE_REDIS_H_

#include "redouble/version.h"

#if REDOUBLE_HAS_CPP20

#include "redouble/backends/redis/fsm/command_effect.h"
#include "redouble/backends/redis/fsm/counters.h"
#include "redouble/backends/redis/net/client/sync_client.h"
#include "redouble/backends/redis/net/client_hooks.h"
#include "redouble/backends/redis/net/metrics_text.h"
#include "redouble/backends/redis/net/pool/sync_pool.h"
#include "redouble/backends/redis/observe/command_event.h"
#include "redouble/backends/redis/observe/command_latencies.h"
#include "redouble/backends/redis/observe/command_spans.h"
#include "redouble/backends/redis/observe/slow_commands.h"
#include "redouble/backends/redis/options.h"

#endif  // REDOUBLE_HAS_CPP20

#endif  // REDOUBLE_REDIS_H_
