// SyncPool: a server, a cluster or a master that sentinels watch, for any number of threads, with
// calls that block.
//
// It is a store::Store that all threads of a program may use at once. Each call borrows a
// connection, waits for the reply, and returns the connection. There is no thread in the
// background.
//
//   auto pool = redis::SyncPool::Connect("redis://127.0.0.1:6379?pool_size=16");
//   if (!pool.ok()) return pool.status();
//   auto value = base::Run(store::Get(**pool, "greeting"));   // From any thread.
//
//   // A connection for WATCH, MULTI and SELECT by hand.
//   auto lease = (*pool)->Borrow();
//   if (!lease.ok()) return lease.status();
//   auto watched = base::Run(Watch(lease->store(), "balance"));
//
// The connections:
// * Options::pool_size is the largest number of them; they are opened when they are needed. Connect
//   opens the first one.
// * A call waits for a connection for Options::pool_acquire_timeout, and then fails as "not sent"
//   with DeadlineExceeded. Opening a connection may add Options::connect_timeout.
// * After failed attempts to open a connection in a row the next one is made only after a wait
//   (backoff.h, with Options::backoff_base and backoff_cap), and by one call at a time. A call
//   whose attempt fails fails with its error. Other calls wait for the end of the pause within
//   Options::pool_acquire_timeout, or for a connection that is returned; if the pause is longer and
//   no connection is borrowed, they fail at once. They fail with the error of the last attempt, as
//   "not sent". A connection that was lost before it answered a request counts as a failed attempt.
// * A connection that was idle for Options::pool_idle_time, or was opened Options::pool_lifetime
//   ago, is closed by the next call. The connection that was used last is used first.
// * Before a connection is used, the pool looks whether the server has closed it. A connection that
//   was idle for Options::pool_check_after must also answer a PING. A dead connection is replaced,
//   and its death costs no request.
// * A connection is closed instead of returned after a call that got no reply, and after a lease
//   that left it in a transaction, with watched keys, or changed in another way (SELECT, AUTH,
//   CLIENT NO-EVICT).
// * After a READONLY error of a server with a name all connections are replaced, because the name
// may
//   lead to another server now; at most once in Options::backoff_cap (replica_exit.h).
// * For a cluster or a sentinel URI each of them is a ClusterClient or SentinelClient of its own,
//   which reconnects by itself, and is returned also after a call that got no reply.
//
// Commands: as on a SyncClient, except that those which change the connection need a lease; without
// one they fail with FailedPrecondition, as "not sent". Delivery: as Client with
// Sharing::kDedicated; nothing is sent twice, and a lost connection fails the request that it
// carried.
//
// Hooks: ClientHooks are called by the threads that use the pool, one call at a time. They must not
// use the pool. The events of a request (ClientHooks::command) begin before it waits for a
// connection, and include one that got none.
//
// Thread-safety: any thread, except that the destructor needs all calls to have ended and all
// leases to be gone. A lease belongs to one thread at a time.
#ifndef REDOUBLE_BACKENDS_REDIS_NET_POOL_SYNC_POOL_H_
#define REDOUBLE_BACKENDS_REDIS_NET_POOL_SYNC_POOL_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/backends/redis/fsm/counters.h"
#include "redouble/backends/redis/fsm/pool_counters.h"
#include "redouble/backends/redis/fsm/replica_exit.h"
#include "redouble/backends/redis/net/client_hooks.h"
#include "redouble/backends/redis/net/pool/pool_ledger.h"
#include "redouble/backends/redis/observe/request_observer.h"
#include "redouble/backends/redis/options.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::redis {

class SyncStore;

class SyncPool final : public store::Store {
 public:
  // Opens the first connection. Errors: InvalidArgument for invalid options; those of
  // Client::Connect, ClusterClient::Connect and SentinelClient::Connect.
  static absl::StatusOr<std::unique_ptr<SyncPool>> Connect(const Options& options,
                                                           ClientHooks hooks = ClientHooks());
  // The same for a URI. Errors: also those of Options::Parse.
  static absl::StatusOr<std::unique_ptr<SyncPool>> Connect(std::string_view uri);

  ~SyncPool() override;

  // Returns once the request is complete. Errors, as "not sent": DeadlineExceeded if no connection
  // became free in time, the error of the last attempt if none could be opened (Unavailable if the
  // server cannot be reached), Unavailable if the pool is closed,
  // FailedPrecondition for commands that need a lease; further those of Client.
  void Submit(store::Request& request) override;

  class Lease;
  // Borrows a connection until the lease is destroyed. Errors: as Submit; FailedPrecondition for a
  // cluster or a sentinel URI, whose clients share their connections.
  absl::StatusOr<Lease> Borrow();

  // Closes the idle connections now, and the others when they are returned. Later calls fail as
  // "not sent", and so do those that wait for a connection.
  void Close();

  const Options& options() const { return options_; }
  PoolCounters counters() const;
  // The counters of all connections, closed ones included. A connection in use is counted when it
  // is returned.
  Counters traffic() const;

 private:
  class LeasedStore;
  struct Slot;

  SyncPool(const Options& options, ClientHooks hooks);

  // Passes the request on: itself and null, or what reports it to the hook and its observer.
  void Observe(store::Request& request,
               absl::FunctionRef<void(store::Request&, RequestObserver*)> pass);
  void Pass(store::Request& request, RequestObserver* observer);
  absl::StatusOr<uint64_t> Acquire();
  absl::StatusOr<PoolGrant> AwaitGrant(std::unique_lock<std::mutex>& lock);
  std::chrono::steady_clock::time_point AcquireDeadline() const;
  absl::Status WaitedInVain(const PoolGrant& grant);
  absl::Status Open(uint64_t id);
  bool HasManyServers() const;
  bool IsAlive(SyncStore& store, PoolGrant::Kind kind) const;
  uint64_t CredentialsNumber() const;
  void Release(uint64_t id, bool reusable);
  void CloseExpired(std::unique_lock<std::mutex>& lock);
  std::unique_ptr<SyncStore> TakeSlot(uint64_t id);
  Slot& SlotOf(uint64_t id);
  ClientHooks Guarded(ClientHooks hooks);

  const Options options_;
  std::mutex hooks_mutex_;
  const ClientHooks hooks_;
  std::atomic<uint64_t> requests_ = 0;  // That were reported to the hook.

  mutable std::mutex mutex_;  // Of the members below.
  std::condition_variable returned_;
  PoolLedger ledger_;
  std::map<uint64_t, std::unique_ptr<Slot>> slots_;
  ReplicaExit replica_exit_;
  std::atomic<uint64_t> generation_ = 0;  // Of connections; grows when the server is left.
  // Of an attempt to open a connection. Each call gets a status of its own: the thread sanitizer
  // does not see how the library synchronizes those with common contents.
  std::string failure_;
  absl::StatusCode failure_code_ = absl::StatusCode::kUnavailable;
  PoolCounters counters_;
  Counters gone_;  // Of closed connections.
  bool closed_ = false;
};

// A borrowed connection. It may be moved, also to another thread.
class SyncPool::Lease {
 public:
  Lease(Lease&&) noexcept;
  Lease& operator=(Lease&&) noexcept;
  // Returns the connection, or closes it if it is not as it was.
  ~Lease();

  // The connection, as a SyncClient with Sharing::kDedicated. Valid while the lease exists.
  store::Store& store();

 private:
  friend class SyncPool;
  explicit Lease(std::unique_ptr<LeasedStore> store);

  std::unique_ptr<LeasedStore> store_;  // Null after a move.
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_POOL_SYNC_POOL_H_
