// DecisionSource: makes every choice of a simulated run: which actor is next, and whether a fault
// happens.
//
// All nondeterminism of a world goes through one DecisionSource, so a run is a function of the
// source's answers. Random answers explore schedules, recorded answers replay a run, and recorded
// answers that are changed one at a time shrink it. The first option (continue with the actor that
// ran last) and "no" are the default decisions: a run in which every decision is the default has no
// preemption and no fault.
//
//   sim::RandomDecisions decisions(/*seed=*/7);
//   sim::RecordedDecisions replay({0, 0, 2, 1});
//
// The strategies of exploration (sim/explore) are further sources.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_DECISION_DECISIONS_H_
#define REDOUBLE_SIM_DECISION_DECISIONS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "redouble/core/base/random/rng.h"
#include "redouble/core/store/store.h"
#include "redouble/sim/decision/footprint.h"

namespace redouble::inline v0_1::sim {

// One thing that can happen next.
struct ScheduleOption {
  // The actor's index, counted from 0 in the order of spawning. Further numbers are used as if they
  // were actors: for what each actor has sent and given up, and for the clock.
  int actor;
  // The request, or the part of it, that would be executed; null if none would be.
  const store::Request* request;
  // The clock would move (WorldOptions::clock_moves). Such an option is the last one, and may
  // disappear with the timer that the clock would move to.
  bool moves_clock = false;
  // A turn of another actor can make this one impossible: a promotion, what a replica would apply;
  // a CLUSTER SETSLOT, what a node would hear.
  bool may_vanish = false;
};

class DecisionSource {
 public:
  virtual ~DecisionSource() = default;

  // Returns the index of the option to take. There are at least two options. The options of the
  // actor that ran last come first, if it can continue.
  virtual size_t ChooseNext(std::span<const ScheduleOption> options) = 0;

  // Returns a number below `count`, which is at least 2: which of several equal things a fault
  // affects. The default decision is 0.
  virtual size_t Pick(size_t count) = 0;

  // Returns true with this probability. Called only for 0 < probability < 1.
  virtual bool Chance(double probability) = 0;

  // Called for each turn that is taken, including turns without an alternative. For sources that
  // track which turns depend on each other.
  virtual void OnTurn(const ScheduleOption&) {}

  // If true, OnTurnDone is called after each turn, with what the turn read and wrote.
  virtual bool WantsFootprints() const { return false; }
  virtual void OnTurnDone(const TurnReport&) {}

  // Called when the clock has moved, because no actor could take a turn.
  virtual void OnClockMove() {}
  // Called at the end of a run, with the turns that could still have been taken.
  virtual void OnRunEnd(std::span<const ScheduleOption>) {}
  // Returns true if the rest of the run is of no use, so that the world ends it.
  virtual bool EndsRun() const { return false; }

  // Like Chance, for any probability: the source is not asked if the result is certain.
  bool Happens(double probability) {
    return probability >= 1 || (probability > 0 && Chance(probability));
  }
};

// Uniform random decisions from a seed.
class RandomDecisions final : public DecisionSource {
 public:
  explicit RandomDecisions(uint64_t seed) : rng_(seed) {}

  size_t ChooseNext(std::span<const ScheduleOption> options) override {
    return rng_.Below(options.size());
  }
  size_t Pick(size_t count) override { return rng_.Below(count); }
  bool Chance(double probability) override { return rng_.Chance(probability); }

 private:
  base::Rng rng_;
};

// Repeats the decisions of another run, then makes default decisions. A recorded decision that does
// not fit (an option that does not exist now) becomes the default one.
class RecordedDecisions final : public DecisionSource {
 public:
  explicit RecordedDecisions(std::vector<uint32_t> decisions) : decisions_(std::move(decisions)) {}

  size_t ChooseNext(std::span<const ScheduleOption> options) override {
    return Pick(options.size());
  }
  size_t Pick(size_t count) override {
    const uint32_t chosen = Next();
    return chosen < count ? chosen : 0;
  }
  bool Chance(double) override { return Next() == 1; }

 private:
  uint32_t Next() { return next_ < decisions_.size() ? decisions_[next_++] : 0; }

  const std::vector<uint32_t> decisions_;
  size_t next_ = 0;
};

// Passes on the decisions of another source and records them.
class RecordingDecisions final : public DecisionSource {
 public:
  // `source` must outlive this.
  explicit RecordingDecisions(DecisionSource& source) : source_(source) {}

  size_t ChooseNext(std::span<const ScheduleOption> options) override {
    return made_.emplace_back(static_cast<uint32_t>(source_.ChooseNext(options)));
  }
  size_t Pick(size_t count) override {
    return made_.emplace_back(static_cast<uint32_t>(source_.Pick(count)));
  }
  bool Chance(double probability) override {
    return made_.emplace_back(source_.Chance(probability) ? 1 : 0) == 1;
  }

  void OnTurn(const ScheduleOption& turn) override { source_.OnTurn(turn); }
  bool WantsFootprints() const override { return source_.WantsFootprints(); }
  void OnTurnDone(const TurnReport& report) override { source_.OnTurnDone(report); }
  void OnClockMove() override { source_.OnClockMove(); }
  void OnRunEnd(std::span<const ScheduleOption> pending) override { source_.OnRunEnd(pending); }
  bool EndsRun() const override { return source_.EndsRun(); }

  // The recorded decisions, for RecordedDecisions.
  const std::vector<uint32_t>& made() const { return made_; }

 private:
  DecisionSource& source_;
  std::vector<uint32_t> made_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_DECISION_DECISIONS_H_
