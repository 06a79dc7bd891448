// The stores between a scenario's calls and its backend.
//
// ScenarioClient is a named connection: it records its requests in the trace and reconnects after
// it broke. HeldStore keeps each request of a started call until a step of the scenario releases
// it, which is how scenarios describe interleavings.
//
//   operation of a started call -> HeldStore -> ScenarioClient -> connection of the backend
//   other operations, commands  ->              ScenarioClient -> connection of the backend
//
//   ScenarioClient client("a", backend, trace);
//   HeldStore held(client);
//   task.Start();                                  // runs until it submits its first command
//   held.Front()->commands();                      // that command
//   held.Release();                                // sends it; the task runs to its next command
//   held.FailAll(store::NotSentError("gone"));     // or fails it
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_SCENARIO_CLIENT_H_
#define REDOUBLE_SIM_SCENARIO_CLIENT_H_

#include <list>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/store/store.h"
#include "redouble/sim/scenario/backend.h"
#include "redouble/sim/trace/trace.h"

namespace redouble::inline v0_1::sim {

// A named connection. Connects when it is first used, and again after Break().
class ScenarioClient final : public store::Store, private store::RequestKeeper {
 public:
  // `backend` and `trace` must outlive the client.
  ScenarioClient(std::string name, ScenarioBackend& backend, Trace& trace);
  ~ScenarioClient() override;

  // Sends the request and records it when it completes. If the connection cannot be opened, the
  // request fails with the backend's status. After the end of a run (Trace::stopped) the request is
  // kept and never completes.
  void Submit(store::Request& request) override;

  // Records a request that was not sent, and completes it with `status`.
  void Fail(store::Request& request, const absl::Status& status);

  // Closes the connection. Requests without a reply fail with kOutcomeUnknown.
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
  std::list<std::unique_ptr<Sent>> sent_;  // Sent, without a reply.
  std::list<store::Request*> breaking_;    // Requests to fail during Break().
};

// Holds requests in the order in which they were submitted.
class HeldStore final : public store::Store, private store::RequestKeeper {
 public:
  // `client` must outlive the store.
  explicit HeldStore(ScenarioClient& client) : client_(client) {}

  void Submit(store::Request& request) override;

  // The next request; null if no request is held. The submitter keeps ownership.
  const store::Request* Front() const { return held_.empty() ? nullptr : held_.front().request; }

  // Passes the next request to the client. At least one must be held.
  void Release();

  // Fails every request that is held now. Requests that are submitted meanwhile are held.
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

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SCENARIO_CLIENT_H_
