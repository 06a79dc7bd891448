#include "redouble/sim/check/serial.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace redouble::inline v0_1::sim {
namespace {

// Runs the actors one after another in a given order.
class SerialDecisions final : public DecisionSource {
 public:
  // ranks[actor]: the lowest rank runs first.
  explicit SerialDecisions(std::vector<int> ranks) : ranks_(std::move(ranks)) {}

  size_t ChooseNext(std::span<const ScheduleOption> options) override {
    const auto first = std::min_element(options.begin(), options.end(),
                                        [&](const ScheduleOption& a, const ScheduleOption& b) {
                                          return RankOf(a.actor) < RankOf(b.actor);
                                        });
    return static_cast<size_t>(first - options.begin());
  }
  size_t Pick(size_t) override { return 0; }
  bool Chance(double) override { return false; }

 private:
  // Requests that an actor left when it ended have the rank of the actor. The clock is last
  // (ScheduleOption::actor).
  int RankOf(int actor) const {
    const auto number = static_cast<size_t>(actor);
    const size_t actors = ranks_.size();
    return number < 2 * actors ? ranks_[number % actors] : static_cast<int>(actors);
  }

  const std::vector<int> ranks_;
};

}  // namespace

void ForEachSerialOrder(size_t actors, const std::function<void(DecisionSource&)>& run) {
  std::vector<int> ranks(actors);
  std::iota(ranks.begin(), ranks.end(), 0);
  do {
    SerialDecisions decisions(ranks);
    run(decisions);
  } while (std::next_permutation(ranks.begin(), ranks.end()));
}

}  // namespace redouble::inline v0_1::sim
