// DeadLetters: the dead letters of a storm, what was done to each, and the promises about them.
//
// Consumers add letters, and operators replay them to a broker that is slow and sometimes fails:
//
//   DeadLetters letters(store, options);
//   co_await letters.Add(dlq, clock, rng);
//   co_await letters.Operate(dlq, actor, rng);
//   letters.Judge(verdicts, kFirstPromise);
//
// Source: docs/systems/relayna.md 4.7 to 4.11. Thread-safety: one thread.
#ifndef REDOUBLE_SIM_STORM_RELAYNA_DEAD_LETTERS_H_
#define REDOUBLE_SIM_STORM_RELAYNA_DEAD_LETTERS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/base/time/clock.h"
#include "redouble/core/relayna/dlq/dlq_replay_service.h"
#include "redouble/core/relayna/dlq/dlq_store.h"
#include "redouble/core/store/store.h"
#include "redouble/sim/storm/promise.h"

namespace redouble::inline v0_1::sim {

class DeadLetters {
 public:
  // How long a record lives after the last add or mark.
  static constexpr absl::Duration kTtl = absl::Minutes(2);
  // All promises, in the order in which Judge counts them.
  static std::vector<Promise> Promises();

  // `store` replies at once and outlives this. `options` are those of a store that only reads.
  // `clock` is the server's.
  DeadLetters(store::Store& store, relayna::DlqOptions options, base::Clock& clock);

  // A consumer dead-letters a message. The broker delivers it again if that fails, and sometimes
  // after it has succeeded.
  base::Task<void> Add(relayna::DlqStore& dlq, base::Clock& clock, base::Rng& rng);
  // An operator looks at the letters and replays one of them. `actor` is the operator's name.
  base::Task<void> Operate(relayna::DlqStore& dlq, base::Clock& clock, const std::string& actor,
                           base::Rng& rng);
  // What the actor was doing has ended, because it was restarted.
  void Restart(const std::string& actor);
  // Adds a letter after all actors have ended: what has expired is forgotten then.
  base::Task<void> Drain(relayna::DlqStore& dlq, base::Clock& clock);

  // Looks at the records when the clock has moved: only then do they expire.
  void Observe();
  // `first` is the index of the first of Promises among the promises of the storm.
  void Judge(Verdicts& verdicts, size_t first);

 private:
  class Broker;

  struct Replay {
    std::string actor;
    absl::Time began;
    int64_t begin = 0;  // The numbers of its first and last step.
    int64_t end = INT64_MAX;
    bool forced = false;
    bool published = false;
    bool at_broker = false;
    bool refused = false;  // The broker did not take the message.
    bool succeeded = false;
    int life = 0;  // Of the letter, when it was published.
  };
  struct Letter {
    absl::Time sent;  // When its first add was: another one does not prolong its life.
    bool acknowledged = false;
    bool listed = false;        // Now.
    bool listed_twice = false;  // At any time.
    bool present = false;
    bool gone = false;  // It was present, and expired.
    bool came_back = false;
    int life = 0;  // How often it was added after it had expired.
    std::vector<Replay> replays;
  };

  // Whether a promise held at one moment, the hazard that explains it if not, and what happened.
  struct Event {
    size_t promise;
    bool holds;
    std::string section;
    std::string what;
  };

  relayna::DlqRecord RecordOf(const std::string& id, absl::Time now) const;
  base::Task<absl::Status> AddOnce(relayna::DlqStore& dlq, base::Clock& clock,
                                   const std::string& id);
  base::Task<void> LookAt(relayna::DlqStore& dlq, base::Rng& rng);
  base::Task<void> ReplayOne(relayna::DlqStore& dlq, base::Clock& clock, const std::string& actor,
                             base::Rng& rng);
  // Begins and ends the time in which a replay is at the broker. `replay` is an index.
  void Arrive(const std::string& id, size_t replay);
  void Leave(const std::string& id, size_t replay, bool published);
  // Whether `now`, which is not forced, may not publish because `other` has.
  static bool Precedes(const Replay& other, const Replay& now);
  // Which hazard explains that `now` publishes a letter that another replay has published.
  static std::string ExplanationOf(const Letter& letter, const Replay& now);
  std::vector<std::string> Listed();
  void Look();
  void JudgeLetter(Verdicts& verdicts, size_t first, const std::string& id, const Letter& letter);
  void JudgeMarks(Verdicts& verdicts, size_t first, const Letter& letter,
                  const relayna::DlqRecord& record);

  store::Store& store_;
  const relayna::DlqOptions options_;
  const relayna::DlqKeys keys_;
  base::Clock& clock_;
  std::map<std::string, Letter> letters_;
  std::vector<Event> events_;
  int64_t steps_ = 0;
  absl::Time last_look_;
  std::set<std::string> expired_before_last_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_STORM_RELAYNA_DEAD_LETTERS_H_
