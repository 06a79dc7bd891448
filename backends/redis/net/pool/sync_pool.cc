#include "redouble/backends/redis/net/pool/sync_pool.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "redouble/backends/redis/fsm/backoff.h"
#include "redouble/backends/redis/fsm/command_effect.h"
#include "redouble/backends/redis/net/client/sync_store.h"
#include "redouble/backends/redis/net/connection.h"
#include "redouble/backends/redis/observe/command_event.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/command_row.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::redis {
namespace {

using store::CommandId;
using store::Reply;
using store::Request;

PoolLimits LimitsOf(const Options& options) {
  return {.size = static_cast<size_t>(options.pool_size),
          .max_idle_us = DurationMicros(options.pool_idle_time),
          .max_lifetime_us = DurationMicros(options.pool_lifetime),
          .check_after_us = DurationMicros(options.pool_check_after)};
}

// Keeps the result of a request, so that the connection can be returned before the caller goes on:
// the caller may need a connection at once.
class KeptResult final : public Request {
 public:
  explicit KeptResult(const Request& request) : Request(request.kind(), request.commands()) {}

  absl::StatusOr<Reply>& result() { return *result_; }

 private:
  void OnComplete(absl::StatusOr<Reply>&& result) override { result_.emplace(std::move(result)); }

  std::optional<absl::StatusOr<Reply>> result_;
};

// Lets the hook run under the lock. A hook that is not set stays so.
template <typename Result, typename... Arguments>
void Guard(std::mutex& mutex, std::function<Result(Arguments...)>& hook) {
  if (!hook) return;
  hook = [&mutex, call = std::move(hook)](Arguments... arguments) -> Result {
    const std::lock_guard lock(mutex);
    return call(std::forward<Arguments>(arguments)...);
  };
}

// A longer time would overflow the clock.
constexpr absl::Duration kLongestWait = absl::Hours(24 * 365 * 100);

// A request without a reply may have left the server busy with it.
bool LeavesConnectionUsable(const absl::StatusOr<Reply>& result) {
  return result.ok() || result.status().code() == absl::StatusCode::kFailedPrecondition;
}

}  // namespace

// What the hook of a connection passes on: where the request of the pool is sent. Each connection
// counts its requests anew, and a check of an idle one is no request of the pool.
struct SyncPool::Slot {
  // Sends the request, which `observer` observes if it is not null.
  absl::StatusOr<Reply> Run(const Request& request, RequestObserver* observer) {
    KeptResult kept(request);
    observed = observer == nullptr ? Observed() : Observed{observer, &request};
    store->Submit(kept);
    observed = {};
    if (!LeavesConnectionUsable(kept.result())) {
      lost_unused = !store->IsUsable() && store->counters().answered == 0;
    }
    return std::move(kept.result());
  }
  CommandHook hook() {
    return [this](const CommandEvent& event) {
      if (observed.observer == nullptr) return;
      if (event.kind == CommandEvent::Kind::kSend) {
        observed.observer->Sent(*observed.request, event.node);
      } else if (event.kind == CommandEvent::Kind::kRedirect) {
        observed.observer->Redirected(*observed.request, event.node, event.cause);
      }
    };
  }

  struct Observed {
    RequestObserver* observer = nullptr;
    const Request* request = nullptr;
  };
  Observed observed;
  std::unique_ptr<SyncStore> store;
  Counters counters;         // When it was returned last.
  uint64_t credentials = 0;  // Those that it was opened with (NumberedCredentials).
  uint64_t generation = 0;
  bool lost_unused = false;  // It was lost before it answered a request.
};

// The store of a lease. It notes how the connection will be left.
class SyncPool::LeasedStore final : public store::Store {
 public:
  LeasedStore(SyncPool& pool, uint64_t id) : pool_(pool), id_(id), slot_(pool.SlotOf(id)) {}
  ~LeasedStore() override { pool_.Release(id_, !broken_ && !changed_ && !watching_ && !in_multi_); }

  void Submit(Request& request) override {
    pool_.Observe(request, [this](Request& passed, RequestObserver* observer) {
      absl::StatusOr<Reply> result = slot_.Run(passed, observer);
      NoteResult(passed, result);
      passed.Complete(std::move(result));
    });
  }

 private:
  void NoteResult(const Request& request, const absl::StatusOr<Reply>& result) {
    broken_ |= !LeavesConnectionUsable(result);
    if (!result.ok()) return;
    for (const store::Command& command : request.commands()) Note(command);
    // EXEC forgets the watched keys.
    if (request.kind() == Request::Kind::kTransaction) watching_ = false;
  }
  void Note(const store::Command& command) {
    if (EffectOf(command) != CommandEffect::kState) return;
    const CommandId id = store::RowOf(command);
    if (id == CommandId::kWatch) {
      watching_ = true;
    } else if (id == CommandId::kMulti) {
      in_multi_ = true;
    } else if (id == CommandId::kUnwatch) {
      watching_ = false;
    } else if (id == CommandId::kExec || id == CommandId::kDiscard) {
      watching_ = false;
      in_multi_ = false;
    } else {
      changed_ = true;
    }
  }

  SyncPool& pool_;
  const uint64_t id_;
  Slot& slot_;
  bool broken_ = false;
  bool changed_ = false;
  bool watching_ = false;
  bool in_multi_ = false;
};

SyncPool::Lease::Lease(std::unique_ptr<LeasedStore> store) : store_(std::move(store)) {}
SyncPool::Lease::Lease(Lease&&) noexcept = default;
SyncPool::Lease& SyncPool::Lease::operator=(Lease&&) noexcept = default;
SyncPool::Lease::~Lease() = default;

store::Store& SyncPool::Lease::store() { return *store_; }

SyncPool::SyncPool(const Options& options, ClientHooks hooks)
    : options_(options),
      hooks_(Guarded(std::move(hooks))),
      ledger_(LimitsOf(options), Backoff(DurationMicros(options.backoff_base),
                                         DurationMicros(options.backoff_cap), RngOf(hooks_))),
      replica_exit_(HasManyServers() ? kNeverUs : ReplicaExit::IntervalUs(options)) {}

SyncPool::~SyncPool() { Close(); }

absl::StatusOr<std::unique_ptr<SyncPool>> SyncPool::Connect(std::string_view uri) {
  REDOUBLE_ASSIGN_OR_RETURN(Options options, Options::Parse(uri));
  return Connect(options);
}

absl::StatusOr<std::unique_ptr<SyncPool>> SyncPool::Connect(const Options& options,
                                                            ClientHooks hooks) {
  REDOUBLE_RETURN_IF_ERROR(options.Validate());
  auto pool = absl::WrapUnique(new SyncPool(options, std::move(hooks)));
  const uint64_t first = pool->ledger_.Borrow(SteadyMicros()).id;
  REDOUBLE_RETURN_IF_ERROR(pool->Open(first));
  pool->Release(first, true);
  return pool;
}

// The hooks of all connections run one at a time.
ClientHooks SyncPool::Guarded(ClientHooks hooks) {
  Guard(hooks_mutex_, hooks.log);
  Guard(hooks_mutex_, hooks.command);
  Guard(hooks_mutex_, hooks.push);
  Guard(hooks_mutex_, hooks.is_idempotent);
  Guard(hooks_mutex_, hooks.key_password);
  return hooks;
}

// Borrowing.

absl::StatusOr<uint64_t> SyncPool::Acquire() {
  while (true) {
    std::unique_lock lock(mutex_);
    REDOUBLE_ASSIGN_OR_RETURN(const PoolGrant grant, AwaitGrant(lock));
    const bool opens = grant.kind == PoolGrant::Kind::kOpen;
    Slot* const slot = opens ? nullptr : slots_.at(grant.id).get();
    lock.unlock();
    if (slot == nullptr) {
      REDOUBLE_RETURN_IF_ERROR(Open(grant.id));
      return grant.id;
    }
    const bool is_current =
        slot->credentials == CredentialsNumber() && slot->generation == generation_;
    if (is_current && IsAlive(*slot->store, grant.kind)) return grant.id;
    const std::unique_ptr<SyncStore> replaced = TakeSlot(grant.id);
    const std::lock_guard again(mutex_);
    if (is_current) ++counters_.dead;
  }
}

std::chrono::steady_clock::time_point SyncPool::AcquireDeadline() const {
  return std::chrono::steady_clock::now() +
         absl::ToChronoMicroseconds(std::min(options_.pool_acquire_timeout, kLongestWait));
}

absl::StatusOr<PoolGrant> SyncPool::AwaitGrant(std::unique_lock<std::mutex>& lock) {
  const auto deadline = AcquireDeadline();
  bool waited = false;
  while (true) {
    if (closed_) return store::NotSentError("the pool was closed");
    CloseExpired(lock);
    const int64_t now_us = SteadyMicros();
    const auto now = std::chrono::steady_clock::now();
    const PoolGrant grant = ledger_.Borrow(now_us);
    const bool paused = grant.kind == PoolGrant::Kind::kPause;
    if (!paused && grant.kind != PoolGrant::Kind::kWait) {
      ++counters_.borrows;
      return grant;
    }
    if (!std::exchange(waited, true)) ++counters_.waits;
    auto wake = deadline;
    if (paused && grant.until_us != kNeverUs) {
      const absl::Duration pause = absl::Microseconds(grant.until_us - now_us);
      const auto end = now + absl::ToChronoMicroseconds(std::min(pause, kLongestWait));
      if (end > deadline && ledger_.borrowed() == 0) return WaitedInVain(grant);
      wake = std::min(wake, end);
    }
    if (now >= deadline) return WaitedInVain(grant);
    returned_.wait_until(lock, wake);
  }
}

absl::Status SyncPool::WaitedInVain(const PoolGrant& grant) {
  ++counters_.timeouts;
  if (grant.kind == PoolGrant::Kind::kPause) {
    return store::NotSentError(std::string_view(failure_), failure_code_);
  }
  return store::NotSentError(
      std::string_view(absl::StrCat("all ", options_.pool_size, " connections to ",
                                    options_.AddressUri(), " were busy for ",
                                    absl::FormatDuration(options_.pool_acquire_timeout))),
      absl::StatusCode::kDeadlineExceeded);
}

absl::Status SyncPool::Open(uint64_t id) {
  const uint64_t credentials = CredentialsNumber();
  auto slot = std::make_unique<Slot>();
  slot->credentials = credentials;
  slot->generation = generation_;
  ClientHooks hooks = hooks_;
  if (hooks.command) hooks.command = slot->hook();
  auto opened = SyncStore::Connect(options_, Sharing::kDedicated, std::move(hooks));
  const std::lock_guard lock(mutex_);
  // Those that wait for the end of this attempt or of the next pause.
  returned_.notify_all();
  if (opened.ok()) {
    ++counters_.opened;
    slot->store = *std::move(opened);
    slots_.emplace(id, std::move(slot));
    ledger_.NoteOpened(id);
    return absl::OkStatus();
  }
  ++counters_.open_failures;
  ledger_.NoteFailure(id, SteadyMicros());
  failure_ = std::string(opened.status().message());
  failure_code_ = opened.status().code();
  if (store::ErrorKindOf(opened.status())) return opened.status();
  return store::NotSentError(std::string_view(failure_), failure_code_);
}

bool SyncPool::IsAlive(SyncStore& store, PoolGrant::Kind kind) const {
  if (!store.IsUsable()) return false;
  if (kind != PoolGrant::Kind::kCheck) return true;
  const auto ping = [&]() -> base::Task<bool> {
    const store::Command command = store::Command::Named("PING");
    const absl::StatusOr<Reply> reply = co_await store.Execute(command);
    // An error reply, such as NOPERM, is a sign of life.
    co_return reply.ok();
  };
  return base::Run(ping());
}

uint64_t SyncPool::CredentialsNumber() const {
  return hooks_.credentials == nullptr ? 0 : hooks_.credentials->current().number;
}

SyncPool::Slot& SyncPool::SlotOf(uint64_t id) { return *slots_.at(id); }

bool SyncPool::HasManyServers() const {
  return options_.cluster || !options_.sentinel_master.empty();
}

// Returning.

void SyncPool::Release(uint64_t id, bool reusable) {
  std::unique_ptr<SyncStore> closing;
  {
    const std::lock_guard lock(mutex_);
    Slot& slot = *slots_.at(id);
    const uint64_t read_only = slot.counters.read_only;
    slot.counters = slot.store->counters();
    if (slot.counters.read_only > read_only && replica_exit_.Take(SteadyMicros())) ++generation_;
    reusable &= slot.generation == generation_;
    if (slot.lost_unused) {
      failure_ = "the server closed the connection before it answered";
      failure_code_ = absl::StatusCode::kUnavailable;
      ledger_.NoteFailure(id, SteadyMicros());
    }
    const bool kept = reusable && !closed_ && ledger_.Return(id, SteadyMicros());
    if (!kept) {
      if (!reusable) {
        ++counters_.discarded;
      } else if (!closed_) {
        ++counters_.expired;
      }
      ledger_.Drop(id);
      gone_.Add(slot.counters);
      closing = std::move(slot.store);
      slots_.erase(id);
    }
  }
  returned_.notify_one();
}

// Removes a borrowed connection, and lets another borrower open one.
std::unique_ptr<SyncStore> SyncPool::TakeSlot(uint64_t id) {
  std::unique_ptr<SyncStore> taken;
  {
    const std::lock_guard lock(mutex_);
    Slot& slot = *slots_.at(id);
    gone_.Add(slot.store->counters());
    taken = std::move(slot.store);
    slots_.erase(id);
    ledger_.Drop(id);
  }
  returned_.notify_one();
  return taken;
}

// Closes the connections without holding the lock.
void SyncPool::CloseExpired(std::unique_lock<std::mutex>& lock) {
  std::vector<std::unique_ptr<SyncStore>> closing;
  for (const uint64_t id : ledger_.TakeExpired(SteadyMicros())) {
    Slot& slot = *slots_.at(id);
    gone_.Add(slot.counters);
    ++counters_.expired;
    closing.push_back(std::move(slot.store));
    slots_.erase(id);
  }
  if (closing.empty()) return;
  lock.unlock();
  closing.clear();
  lock.lock();
}

// The interface.

void SyncPool::Submit(Request& request) {
  Observe(request, [this](Request& passed, RequestObserver* observer) { Pass(passed, observer); });
}

void SyncPool::Observe(Request& request, absl::FunctionRef<void(Request&, RequestObserver*)> pass) {
  if (!hooks_.command) return pass(request, nullptr);
  const CommandHook hook = [this, id = ++requests_](CommandEvent event) {
    event.id = id;
    hooks_.command(event);
  };
  const std::shared_ptr<RequestObserver> observer = RequestObserver::Make(hook, "", SteadyMicros);
  observer->Submit(request, [&](Request& observed) { pass(observed, observer.get()); });
}

void SyncPool::Pass(Request& request, RequestObserver* observer) {
  if (std::optional<absl::Status> refusal = Refusal(request, Sharing::kPooled)) {
    return request.Complete(*std::move(refusal));
  }
  const absl::StatusOr<uint64_t> id = Acquire();
  if (!id.ok()) return request.Complete(id.status());
  Slot* slot = nullptr;
  {
    const std::lock_guard lock(mutex_);
    slot = &SlotOf(*id);
  }
  absl::StatusOr<Reply> result = slot->Run(request, observer);
  Release(*id, LeavesConnectionUsable(result) || (HasManyServers() && slot->store->IsUsable()));
  request.Complete(std::move(result));
}

absl::StatusOr<SyncPool::Lease> SyncPool::Borrow() {
  if (HasManyServers()) {
    return store::NotSentError("a cluster or sentinel client has no connection to lend",
                               absl::StatusCode::kFailedPrecondition);
  }
  REDOUBLE_ASSIGN_OR_RETURN(const uint64_t id, Acquire());
  const std::lock_guard lock(mutex_);
  return Lease(std::make_unique<LeasedStore>(*this, id));
}

void SyncPool::Close() {
  std::map<uint64_t, std::unique_ptr<Slot>> closing;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    for (const uint64_t id : ledger_.TakeIdle()) closing.insert(slots_.extract(id));
    for (const auto& [id, slot] : closing) gone_.Add(slot->counters);
  }
  returned_.notify_all();
}

PoolCounters SyncPool::counters() const {
  const std::lock_guard lock(mutex_);
  PoolCounters counters = counters_;
  counters.borrowed = ledger_.borrowed();
  counters.idle = ledger_.idle();
  return counters;
}

Counters SyncPool::traffic() const {
  const std::lock_guard lock(mutex_);
  Counters all = gone_;
  for (const auto& [id, slot] : slots_) all.Add(slot->counters);
  return all;
}

}  // namespace redouble::inline v0_1::redis
