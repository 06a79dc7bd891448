// ProtocolWatch: checks the orchestrator's invariants after every command of a simulated run.
//
//   ProtocolWatch watch(engine, clock, options);
//   ...                                                      // One command of one client.
//   for (const Violation& violation : watch.Check()) ...     // {"I7", "t1 is consumed before ..."}
//   ...                                                      // When nothing happens any more:
//   for (const Violation& violation : watch.CheckAtEnd()) ...
//
// It uses keyspace notifications to find the keys that changed, keeps a snapshot of each run and a
// ledger of its tokens, and reads the streams, the queues and the events. It checks:
//
//   * I1: the counter is the weight of all live and parked tokens, and the pending_tokens sets
//     contain exactly the parked ones.
//   * I2: the counter is never negative, and is not created again after it was deleted.
//   * I3: the counter changes only by the operations that were added to `applied`, each of which
//     is an operation of a counted token.
//   * I4: a run ends once and announces it once, only with counter 0 and without pending
//     approvals; nothing happens to it afterwards.
//   * I5: while approvals are pending, the run and its keys exist.
//   * I6: the pending set contains exactly the pending approvals; each leaves that state once, and
//     its token is released then.
//   * I7: a token is consumed after its emission and after its successors were published.
//   * I8: without loops a node is executed at most once, a join at most once if a token arrived;
//     with loops at most as often as their limits allow.
//   * I9: at a branch the tokens take one path: the one that the model takes.
//   * I10: no key of a run exists after the run's end, even after late requests.
//   * I11: every key of a run has a TTL within that of its family.
//   * I12: a command that changes the graph changes nothing else, including its TTL; each token is
//     routed by one graph.
//   * I13: `applied` and `context` only grow; a node's output is written only by that node.
//   * I14: a command affects one run; other runs stay unchanged.
//   * I15: see CompareRuns.
//   * L1: every signal that was received is processed.
//   * L2: every published token is consumed.
//   * L3: every run ends.
//   * L4: a join that fired is executed.
//   * L5: queues, processing lists and pending entries are empty at the end.
//   * L6: no join is left waiting.
//
// A failed run may end at any time; only the checks of ended runs apply to it.
//
// Thread-safety: one thread. Source: docs/systems/orchestrator.md 7.
#ifndef REDOUBLE_TESTS_PROPERTY_ORCHESTRATOR_PROTOCOL_WATCH_H_
#define REDOUBLE_TESTS_PROPERTY_ORCHESTRATOR_PROTOCOL_WATCH_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/engine/session.h"
#include "redouble/core/base/time/clock.h"
#include "redouble/core/orchestrator/keys.h"
#include "redouble/core/store/message_source.h"
#include "redouble/core/store/typed/stream_types.h"
#include "redouble/tests/property/orchestrator/run_snapshot.h"
#include "redouble/tests/property/orchestrator/token_ledger.h"

namespace redouble::inline v0_1::orchestrator {

// The outcome of a run, which duplicates and crashes must not change.
struct RunSummary {
  bool ended = false;
  bool failed = false;
  std::map<std::string, int> executed;
  std::map<std::string, std::string> outputs;  // From the last context: references by node.

  friend bool operator==(const RunSummary&, const RunSummary&) = default;
};

// I15: compares the same run with and without disturbances.
Violations CompareRuns(const RunSummary& disturbed, const RunSummary& undisturbed);

struct WatchOptions {
  store::KeyLayout key_layout = store::KeyLayout::kDocumented;
  int64_t queue_shards = 1;
  std::vector<std::string> coordinators = {"c1"};
  // The time in which an approval must be decided.
  absl::Duration approval_timeout = absl::Hours(2);
};

class ProtocolWatch {
 public:
  // Engine and clock must outlive the watch. Creates two further runs that no command may affect.
  ProtocolWatch(memory::Engine& engine, const base::Clock& clock, WatchOptions options);
  ~ProtocolWatch();

  // Watches a run. Must be called before it starts. `failing` is the node that fails; empty if
  // none.
  void Watch(const std::string& run_id, const std::string& failing = "");
  // Records that an actor reported the completion of the run.
  void Claim(const std::string& run_id);

  // Returns the violations of the last command. Must be called after every command.
  Violations Check();
  // Returns the violations at the end of a simulation.
  Violations CheckAtEnd();

  bool IsGone(const std::string& run_id) const { return runs_.at(run_id).gone; }
  bool AllGone() const;
  // Returns true if there are no signals, stream entries, or tokens held by workers.
  bool NothingWaits();
  const TokenLedger& ledger(const std::string& run_id) const { return runs_.at(run_id).ledger; }
  RunSummary SummaryOf(const std::string& run_id) const;
  // All signals that were ever in the queue.
  const std::set<std::string>& signals() const { return signals_; }

 private:
  struct Watched {
    explicit Watched(const std::string& run_id) : ledger(run_id) {}

    std::string failing;
    bool may_fail = false;  // The failing node's token was published.
    bool created = false;
    bool gone = false;
    bool failed = false;
    int claims = 0;
    int announcements = 0;
    RunSnapshot snapshot;
    std::map<std::string, std::string> last_context;
    TokenLedger ledger;
  };
  class NotificationListener;

  void LayOutBystanders();
  std::string RunOf(const std::string& key);
  void ReadStream(const std::string& key);
  void ReadQueue(const std::string& key);
  void ReadIfShared(const std::string& key);
  Violations CheckRun(Watched& run, const std::string& id, const std::set<std::string>& keys);
  void Judge(Watched& run, const RunSnapshot& before, Violations& violations);
  void JudgeEnd(Watched& run, const RunSnapshot& before, Violations& violations);
  void JudgeGone(const Watched& run, Violations& violations) const;
  void JudgeCounter(Watched& run, const RunSnapshot& before, Violations& violations);
  void JudgeApprovals(const Watched& run, const RunSnapshot& before, Violations& violations) const;
  void JudgeExecutions(const Watched& run, Violations& violations) const;
  void JudgeLives(const Watched& run, Violations& violations) const;
  void JudgePatch(const Watched& run, const RunSnapshot& before, Violations& violations) const;
  void JudgeGrowth(const Watched& run, const RunSnapshot& before, Violations& violations) const;
  void JudgeSignals(Violations& violations) const;

  const base::Clock& clock_;
  const WatchOptions options_;
  const Keys keys_;
  std::unique_ptr<memory::Session> session_;
  std::unique_ptr<memory::Session> notifications_;
  std::unique_ptr<NotificationListener> listener_;
  std::map<std::string, Watched> runs_;
  // The run of each approval key that does not contain its run.
  std::map<std::string, std::string> approval_runs_;
  std::map<std::string, store::StreamId> next_;  // The next id to read of each stream.
  std::set<std::string> signals_;
};

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_TESTS_PROPERTY_ORCHESTRATOR_PROTOCOL_WATCH_H_
