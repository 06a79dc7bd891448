// ProtocolWatch: looks at a server behind every command and says which invariants do not hold.
//
//   ProtocolWatch watch(engine, clock, options);
//   ... one command of one client ...
//   for (const Violation& violation : watch.Look()) ...      // {"I7", "t1 is consumed before ..."}
//   ... when nothing happens any more ...
//   for (const Violation& violation : watch.LookAtTheEnd()) ...
//
// It knows what was touched from the server's own notifications, keeps a snapshot of each run and a
// ledger of its tokens, and reads the streams, the queues and the events. What it judges:
//
//   * I1: the counter is the weight of all live tokens and those parked, and the pending_tokens
//     sets hold just those that are parked.
//   * I2: the counter is never negative, and never there again once it was gone.
//   * I3: the counter changes by what the operations new in `applied` say, and only by that; each
//     is one of a token that was counted.
//   * I4: a run ends, and is announced, once, and only from counter 0 without pending approval;
//     from there nothing else happens.
//   * I5: while approvals are pending, the run and its keys are there.
//   * I6: the pending set names just the pending approvals; each leaves that state once, and gives
//     its token back then.
//   * I7: a token is consumed behind its emission and the publication of those that follow.
//   * I8: without loops a node is executed once at most, a join once if anybody arrived; with loops
//     no more often than their limits allow.
//   * I9: where a branch is on the way, the tokens go one way: the one that the model takes.
//   * I10: no key of a run outlives it, whatever comes late.
//   * I11: every key of a run has a time to live, within its family's.
//   * I12: a command that changes the graph changes nothing else, its time to live included; a
//     token goes by one graph's way.
//   * I13: `applied` and `context` only grow; a node's output is changed by that node only.
//   * I14: a command touches one run; those that nobody runs stay as they are.
//   * I15: see CompareRuns.
//   * L1: every signal that was taken is processed.
//   * L2: every published token is consumed.
//   * L3: every run comes to its end.
//   * L4: a join that fired is executed.
//   * L5: queues, processing lists and pending entries are empty in the end.
//   * L6: no join is left waiting.
//
// A run that fails ends at any time, and then only what is said of ended runs is asked of it.
//
// Thread-safety: one thread.
// Source: reference/orchestrator.md 13.
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
#include "backends/memory/engine.h"
#include "backends/memory/session.h"
#include "core/base/clock.h"
#include "core/orchestrator/keys.h"
#include "core/store/message_source.h"
#include "core/store/stream_types.h"
#include "tests/property/orchestrator/run_snapshot.h"
#include "tests/property/orchestrator/token_ledger.h"

namespace redouble::orchestrator {

// What came of a run: what duplicates and crashes must not change.
struct RunSummary {
  bool ended = false;
  bool failed = false;
  std::map<std::string, int> executed;
  std::map<std::string, std::string> outputs;  // Of the last context: references by node.

  friend bool operator==(const RunSummary&, const RunSummary&) = default;
};

// I15: the same run, once disturbed and once not.
Violations CompareRuns(const RunSummary& disturbed, const RunSummary& undisturbed);

struct WatchOptions {
  KeyForm key_form = KeyForm::kPlain;
  std::vector<std::string> coordinators = {"c1"};
  // By when an approval is to be decided.
  absl::Duration approval_timeout = absl::Hours(2);
};

class ProtocolWatch {
 public:
  // Engine and clock must outlive the watch. Lays out two runs of its own that nobody may touch.
  ProtocolWatch(memory::Engine& engine, const base::Clock& clock, WatchOptions options);
  ~ProtocolWatch();

  // A run to be watched, before it begins; `failing` is the node that fails, empty for none.
  void Watch(const std::string& run_id, const std::string& failing = "");
  // An actor says that it completed the run.
  void Claim(const std::string& run_id);

  // What the last command broke. To be asked behind every command.
  Violations Look();
  // What must be true of all runs when nothing happens any more.
  Violations LookAtTheEnd();

  bool IsGone(const std::string& run_id) const { return runs_.at(run_id).gone; }
  bool AllGone() const;
  // Signals, entries, and what workers have in hand: none.
  bool NothingWaits();
  const TokenLedger& ledger(const std::string& run_id) const { return runs_.at(run_id).ledger; }
  RunSummary SummaryOf(const std::string& run_id) const;
  // Every signal that was ever in the queue.
  const std::set<std::string>& signals() const { return signals_; }

 private:
  struct Watched {
    explicit Watched(const std::string& run_id) : ledger(run_id) {}

    std::string failing;
    bool may_fail = false;  // The failing node's token is published.
    bool created = false;
    bool gone = false;
    bool failed = false;
    int claims = 0;
    int announcements = 0;
    RunSnapshot snapshot;
    std::map<std::string, std::string> last_context;
    TokenLedger ledger;
  };
  class Ear;

  void LayOutBystanders();
  std::string RunOf(const std::string& key);
  void ReadStream(const std::string& key);
  void ReadQueue(const std::string& key);
  Violations LookAt(Watched& run, const std::string& id, const std::set<std::string>& keys);
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
  std::unique_ptr<memory::Session> eye_;
  std::unique_ptr<memory::Session> listening_;
  std::unique_ptr<Ear> ear_;
  std::map<std::string, Watched> runs_;
  std::map<std::string, std::string> approval_runs_;  // Of keys that do not name theirs.
  std::map<std::string, store::StreamId> next_;       // Of each stream.
  std::set<std::string> signals_;
};

}  // namespace redouble::orchestrator

#endif  // REDOUBLE_TESTS_PROPERTY_ORCHESTRATOR_PROTOCOL_WATCH_H_
