// Live Redis on a Boost.Asio event loop: one connection, clusters, sentinels and subscribers.
//
//   auto redis = co_await redis::Client::Connect(executor, *redis::Options::Parse(uri));
//
// The clients are stores: any number of coroutines share one of them. redis::AwaitTask runs a
// base::Task inside an asio::awaitable.
//
// Thread-safety: a client belongs to the thread, or strand, of its executor.
#ifndef REDOUBLE_REDIS_ASIO_H_
#define REDOUBLE_REDIS_ASIO_H_

#include "redouble/version.h"

#if REDOUBLE_HAS_CPP20

#include "redouble/backends/redis/net/asio_clock.h"
#include "redouble/backends/redis/net/await_task.h"
#include "redouble/backends/redis/net/client/client.h"
#include "redouble/backends/redis/net/client/cluster_client.h"
#include "redouble/backends/redis/net/client/following_subscriber.h"
#include "redouble/backends/redis/net/client/sentinel_client.h"
#include "redouble/backends/redis/net/client/sync_store.h"
#include "redouble/backends/redis/net/subscriber.h"

#endif  // REDOUBLE_HAS_CPP20

#endif  // REDOUBLE_REDIS_ASIO_H_
