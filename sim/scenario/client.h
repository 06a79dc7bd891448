// The stores between a scenario's actors and its backend: ScenarioClient, a named connection that
// is recorded and made anew after it broke, and HeldStore, which keeps each command back until it
// is released.
//
//   operation of a started call -> HeldStore -> ScenarioClient -> connection of the backend
//   other operations, commands  ->              ScenarioClient -> connection of the backend
//
//   ScenarioClient client("a", backend, trace);
//   HeldStore held(client);
//   task.Start();                                  // runs until it has sent its first command
//   held.Front()->commands();                      // which is this one
//   held.Release();                                // it runs, the task goes on to its next command
//   held.FailAll(store::NotSentError("gone"));     // or it never does
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_SCENARIO_CLIENT_H_
#define REDOUBLE_SIM_SCENARIO_CLIENT_H_

#include <list>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/store/store.h"
#include "sim/scenario/backend.h"
#include "sim/scenario/trace.h"

namespace redouble::sim {

// One connection by name. Opens it when it is first used, and again after Break().
class ScenarioClient final : public store::Store, private store::RequestKeeper {
 public:
  // Both must outlive the client.
  ScenarioClient(std::string name, ScenarioBackend& backend, Trace& trace);
  ~ScenarioClient() override;

  // Sends the request; records it when it completes. A connection that cannot be opened fails it
  // with the backend's status. Behind the end of a run (Trace::stopped) it keeps the request and
  // never answers.
  void Submit(store::Request& request) override;

  // Records and completes a request that never got here.
  void Fail(store::Request& request, const absl::Status& status);

  // Closes the connection. Requests that are waiting for their replies fail with an unknown
  // outcome.
  void Break();

 private:
  class Sent;

  void Abandon(store::Request& request) override;
  void Finish(Sent& sent, absl::StatusOr<store::Reply> result);
  std::unique_ptr<Sent> Take(const Sent& sent);

  const std::string name_;
  ScenarioBackend& backend_;
  Trace& trace_;
  std::unique_ptr<store::Store> connection_;
  std::list<std::unique_ptr<Sent>> sent_;  // Not answered yet.
  std::list<store::Request*> breaking_;    // To be told that the connection broke.
};

// Keeps requests back, in the order they were submitted.
class HeldStore final : public store::Store, private store::RequestKeeper {
 public:
  // `client` must outlive the store.
  explicit HeldStore(ScenarioClient& client) : client_(client) {}

  void Submit(store::Request& request) override;

  // The request that is next; null when none is held. It stays owned by who submitted it.
  const store::Request* Front() const { return held_.empty() ? nullptr : held_.front().request; }

  // Passes the next request on to the client. One must be held.
  void Release();

  // Fails every request that is held now; what their owners then submit is held as ever.
  void FailAll(const absl::Status& status);

 private:
  struct Held {
    store::Request* request;
    bool failing;
  };

  void Abandon(store::Request& request) override;

  ScenarioClient& client_;
  std::list<Held> held_;
};

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_SCENARIO_CLIENT_H_
