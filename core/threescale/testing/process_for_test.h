// ProcessTest: a fixture with a fresh backend and a Process whose clock is that of the backend, for
// tests typed over {memory, live}.
//
//   template <typename Backend>
//   class EventQueueTest : public ProcessTest<Backend> {};
//   TYPED_TEST_SUITE(EventQueueTest, tests::LayoutBackends, tests::BackendNames);
//
//   TYPED_TEST(EventQueueTest, Counts) {
//     EventQueue events(this->process());
//     this->Advance(absl::Hours(1));
//   }
//
// A test names keys as documented (backends/testing/spelled_test.h).
//
// Thread-safety: one thread.
#ifndef REDOUBLE_CORE_THREESCALE_TESTING_PROCESS_FOR_TEST_H_
#define REDOUBLE_CORE_THREESCALE_TESTING_PROCESS_FOR_TEST_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string_view>

#include "redouble/backends/testing/spelled_test.h"
#include "redouble/core/base/time/clock.h"
#include "redouble/core/base/time/utc.h"
#include "redouble/core/threescale/keys.h"
#include "redouble/core/threescale/process.h"

namespace redouble::inline v0_1::threescale {

// The time of the documented example (4.26).
inline absl::Time SeedTime() { return base::ParseRfc3339("2025-04-23T17:42:39Z").value(); }

// A clock that returns the time of a function.
class CallbackClock final : public base::Clock {
 public:
  explicit CallbackClock(std::function<absl::Time()> now) : now_(std::move(now)) {}

  int64_t NowMicros() const override { return absl::ToUnixMicros(now_()); }
  // These tests do not sleep.
  base::Task<void> SleepUntil(absl::Time) override { co_return; }

 private:
  std::function<absl::Time()> now_;
};

struct ThreescaleFamilies {
  static tests::SystemFamilies Families() {
    return {KeyFamilies(), KeyFamilies(store::KeyLayout::kCluster)};
  }
};

template <typename Backend>
class ProcessTest : public tests::SpelledTest<Backend, ThreescaleFamilies> {
 public:
  const base::Clock& clock() const { return clock_; }
  Process process() { return process_on(this->store()); }
  Process process_on(store::Store& store) {
    Process process(store, clock_);
    process.keys = keys();
    return process;
  }
  static Keys keys() { return Keys(tests::LayoutTest<Backend>::layout()); }

  void AdvanceTo(std::string_view time) {
    tests::BackendTest<Backend>::AdvanceTo(base::ParseRfc3339(time).value());
  }

 private:
  CallbackClock clock_{[this] { return this->now(); }};
};

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_TESTING_PROCESS_FOR_TEST_H_
