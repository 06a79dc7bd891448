// Where the decisions of a world come from: whose turn it is, and whether something goes wrong.
//
// Everything in a simulation that could go one way or another is asked of one DecisionSource. That
// makes a run a function of its answers: drawn from a seed they explore, written down they replay,
// changed one by one they shrink. The quiet answer is always the first one (go on with the actor
// that ran last) or "no", so that a run whose decisions are all quiet has no preemption and no
// fault.
//
//   sim::RandomDecisions decisions(/*seed=*/7);
//   sim::RecordedDecisions replay({0, 0, 2, 1});
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_WORLD_DECISIONS_H_
#define REDOUBLE_SIM_WORLD_DECISIONS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/base/rng.h"
#include "core/store/store.h"

namespace redouble::sim {

// Something that could happen next.
struct ScheduleOption {
  // Which actor it belongs to, counted from 0 in the order of spawning.
  int actor;
  // What would be sent to the server; null when the actor would start.
  const store::Request* request;
};

class DecisionSource {
 public:
  virtual ~DecisionSource() = default;

  // Which of the options happens: an index. There are two at least; the first is that of the actor
  // that ran last, if it can go on.
  virtual size_t ChooseNext(std::span<const ScheduleOption> options) = 0;

  // Whether something that has this probability happens. Asked only for 0 < probability < 1.
  virtual bool Chance(double probability) = 0;

  // Hears of each turn that is taken, chosen or not: for sources that learn what depends on what.
  virtual void OnTurn(const ScheduleOption&) {}

  // As Chance, for any probability: what is certain is not asked.
  bool Happens(double probability) {
    return probability >= 1 || (probability > 0 && Chance(probability));
  }
};

// Uniform draws from a seed.
class RandomDecisions final : public DecisionSource {
 public:
  explicit RandomDecisions(uint64_t seed) : rng_(seed) {}

  size_t ChooseNext(std::span<const ScheduleOption> options) override {
    return rng_.Below(options.size());
  }
  bool Chance(double probability) override { return rng_.Chance(probability); }

 private:
  base::Rng rng_;
};

// The decisions of another run, in order, and quiet ones behind them. One that does not fit (an
// option that is not there now) becomes the quiet one.
class RecordedDecisions final : public DecisionSource {
 public:
  explicit RecordedDecisions(std::vector<uint32_t> decisions) : decisions_(std::move(decisions)) {}

  size_t ChooseNext(std::span<const ScheduleOption> options) override {
    const uint32_t chosen = Next();
    return chosen < options.size() ? chosen : 0;
  }
  bool Chance(double) override { return Next() == 1; }

 private:
  uint32_t Next() { return next_ < decisions_.size() ? decisions_[next_++] : 0; }

  const std::vector<uint32_t> decisions_;
  size_t next_ = 0;
};

// Another source's decisions, written down.
class RecordingDecisions final : public DecisionSource {
 public:
  // `source` must outlive this.
  explicit RecordingDecisions(DecisionSource& source) : source_(source) {}

  size_t ChooseNext(std::span<const ScheduleOption> options) override {
    return made_.emplace_back(static_cast<uint32_t>(source_.ChooseNext(options)));
  }
  bool Chance(double probability) override {
    return made_.emplace_back(source_.Chance(probability) ? 1 : 0) == 1;
  }

  void OnTurn(const ScheduleOption& turn) override { source_.OnTurn(turn); }

  // For RecordedDecisions.
  const std::vector<uint32_t>& made() const { return made_; }

 private:
  DecisionSource& source_;
  std::vector<uint32_t> made_;
};

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_WORLD_DECISIONS_H_
