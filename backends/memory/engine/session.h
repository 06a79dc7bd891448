// Session: one connection to the memory engine, as a Store that also delivers messages.
//
// Use it as any Store: submit commands and batches, or call the typed commands (core/store/typed).
// As on a Redis connection, the selected database, a transaction begun with MULTI, watched keys,
// subscriptions and the authenticated user belong to the session.
//
//   std::unique_ptr<memory::Session> session = engine.Connect();
//   absl::StatusOr<std::optional<std::string>> value = base::Run(store::Get(*session, "greeting"));
//
// A request completes during Submit, unless it blocks (BLPOP, XREAD BLOCK, CLIENT PAUSE). A blocked
// request completes when data arrives or when the engine's clock has passed its timeout; requests
// submitted after it wait for it. To destroy a session is to close the connection: requests without
// a reply fail with kOutcomeUnknown (core/store/errors.h). A completion may destroy the session.
//
// Thread-safety: one thread, the one that uses the engine.
#ifndef REDOUBLE_BACKENDS_MEMORY_ENGINE_SESSION_H_
#define REDOUBLE_BACKENDS_MEMORY_ENGINE_SESSION_H_

#include <cstdint>
#include <string>

#include "redouble/core/store/message_source.h"

namespace redouble::inline v0_1::memory {

class Session : public store::MessageSource {
 public:
  // The client id, as CLIENT ID returns it: 1 for the engine's first connection, then counting up.
  virtual int64_t id() const = 0;
  // The selected database, 0 at first.
  virtual int db_index() const = 0;
  // Selects a database, as SELECT does. `db_index` is less than EngineOptions::databases.
  virtual void Select(int db_index) = 0;
  // The protocol selected by HELLO: 2 or 3. Submit returns the same Reply for both, with RESP3's
  // types where Redis has them.
  virtual int protocol() const = 0;
  // The name set by CLIENT SETNAME; empty if there is none.
  virtual const std::string& name() const = 0;
  // True if the session has authenticated, or if the default user needs no password.
  virtual bool authenticated() const = 0;
  // True between MULTI and EXEC or DISCARD.
  virtual bool in_transaction() const = 0;
  // True while a blocking command waits for data or its timeout.
  virtual bool blocked() const = 0;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_ENGINE_SESSION_H_
