// CountedKey: a counter that one actor increments through disturbances, checked value by value.
//
// Every acknowledged value must be greater than the last one, by one and at most by as many more as
// increments with an unknown outcome were sent before and not seen yet. So an increment that is
// lost, run twice, or answered with another request's reply is found at the next acknowledgement.
//
// Servers that lose acknowledged increments differ in what they have lost: after a failover to one
// of them, another one may take over that has more. Then only a value beyond the highest one that
// was acknowledged, and the unknown increments, shows an increment that ran twice.
//
//   CountedKey counter("counter:7", rng);
//   while (running) co_await counter.Increment(store, clock);
//   EXPECT_EQ(counter.problems(), std::vector<std::string>());
//
// Thread-safety: one thread; one Increment at a time.
#ifndef REDOUBLE_TESTS_CHAOS_COUNTED_KEY_H_
#define REDOUBLE_TESTS_CHAOS_COUNTED_KEY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/base/time/clock.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::tests {

// How an increment is sent.
enum class IncrementForm : uint8_t {
  kCommand,
  kPipeline,     // Between two ECHO.
  kTransaction,  // Two increments.
  kScript,
  kCancelled,   // The waiter is destroyed, at once or a little later.
  kLargeValue,  // A value of 16 MB is written and read before it.
};

class CountedKey {
 public:
  static constexpr size_t kForms = 6;

  // `may_lose`: the server may lose acknowledged increments, as a failover does.
  CountedKey(std::string key, base::Rng rng, bool may_lose = false)
      : key_(std::move(key)), rng_(rng), may_lose_(may_lose) {}

  // Increments in a form that it draws.
  base::Task<void> Increment(store::Store& store, base::Clock& clock);

  // Takes the result of an increment that the caller has sent as one command.
  void Take(const absl::StatusOr<int64_t>& value) { Take(value, IncrementForm::kCommand); }

  // The value at the end.
  void CheckFinal(int64_t value);

  const std::string& key() const { return key_; }
  // What was wrong, at most 10 descriptions.
  const std::vector<std::string>& problems() const { return problems_; }
  uint64_t acknowledged() const { return acknowledged_; }
  uint64_t unknown() const { return unknown_; }
  uint64_t not_done() const { return not_done_; }
  // Those of not_done() that a full client has refused.
  uint64_t refused() const { return refused_; }
  // Increments that were acknowledged, by form.
  uint64_t acknowledged_as(IncrementForm form) const { return by_form_[static_cast<size_t>(form)]; }

 private:
  base::Task<void> SendCommand(store::Store& store);
  base::Task<void> SendBatch(store::Store& store, IncrementForm form);
  base::Task<void> SendScript(store::Store& store);
  base::Task<void> SendAndCancel(store::Store& store, base::Clock& clock);
  base::Task<bool> ExchangeLargeValue(store::Store& store);

  void Take(const absl::StatusOr<int64_t>& value, IncrementForm form);
  void Acknowledge(int64_t value, IncrementForm form);
  void TakeReply(const store::Reply& reply, IncrementForm form);
  // `count` increments of a request had no reply.
  void TakeFailure(const absl::Status& status, uint64_t count);
  void Fail(const std::string& what);

  const std::string key_;
  base::Rng rng_;
  const bool may_lose_;
  int64_t last_ = 0;
  int64_t highest_ = 0;  // Of the acknowledged values; last_ unless increments may be lost.
  int64_t unseen_ = 0;   // Increments with an unknown outcome that were not seen in a value.
  uint64_t acknowledged_ = 0, unknown_ = 0, not_done_ = 0, refused_ = 0;
  uint64_t by_form_[kForms] = {};
  std::vector<std::string> problems_;
};

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_CHAOS_COUNTED_KEY_H_
