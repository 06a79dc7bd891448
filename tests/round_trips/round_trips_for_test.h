// RoundTrips: a fixture that counts the requests of the operations of a system, and compares them
// with the table on its page (round_trip_table.h).
//
//   TEST_F(RoundTrips, OfKorvet) {
//     Measure("korvet", [this] {
//       Prepare(...);                                       // not counted
//       Count("append a batch", [&] { return base::Run(producer.Append(0, records)); });
//     });
//   }
//
// Everything runs twice, each time on an empty server, and the second run counts: the server then
// has the scripts.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_TESTS_ROUND_TRIPS_ROUND_TRIPS_FOR_TEST_H_
#define REDOUBLE_TESTS_ROUND_TRIPS_ROUND_TRIPS_FOR_TEST_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/tests/support/intercepted_store.h"
#include "redouble/tests/support/round_trip_table.h"

namespace redouble::inline v0_1::tests {

class RoundTrips : public ::testing::Test {
 protected:
  // Calls a function that runs an operation, and counts the requests. Several operations can have
  // one name; their numbers must be equal.
  template <typename Operation>
  void Count(const std::string& name, const Operation& operation) {
    const size_t before = store_.requests();
    const auto result = operation();
    EXPECT_TRUE(StatusOf(result).ok()) << name << ": " << StatusOf(result);
    const int count = static_cast<int>(store_.requests() - before);
    const auto [row, is_new] = measured_.emplace(name, count);
    if (is_measuring_ && !is_new) {
      EXPECT_EQ(row->second, count) << name;
    }
  }
  // Runs an operation without counting it.
  template <typename T>
  void Prepare(base::Task<T> task) {
    const T result = base::Run(std::move(task));
    EXPECT_TRUE(StatusOf(result).ok()) << StatusOf(result);
  }
  // Runs `operations`, which call Prepare and Count, and compares the numbers with the page of the
  // system.
  template <typename Operations>
  void Measure(const std::string& system, const Operations& operations) {
    for (const bool is_measuring : {false, true}) {
      is_measuring_ = is_measuring;
      measured_.clear();
      Prepare(store::FlushAll(store_));
      operations();
    }
    RoundTripTable(absl::StrCat("docs/systems/", system, ".md")).ExpectToday(measured_);
  }

  base::VirtualClock clock_{absl::FromUnixSeconds(1778335382)};
  memory::Engine engine_{clock_};
  std::unique_ptr<memory::Session> session_ = engine_.Connect();
  InterceptedStore store_{*session_};
  base::Rng rng_{1};

 private:
  static absl::Status StatusOf(const absl::Status& status) { return status; }
  template <typename T>
  static absl::Status StatusOf(const absl::StatusOr<T>& result) {
    return result.status();
  }

  RoundTripTable::Counts measured_;
  bool is_measuring_ = false;
};

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_ROUND_TRIPS_ROUND_TRIPS_FOR_TEST_H_
