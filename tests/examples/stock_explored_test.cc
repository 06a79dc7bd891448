// The page on exploring a service of one's own (docs/howto/explore_your_service.md): three ways to
// take the last book, one with a race, one that a crash breaks, and one that is right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/sim.h"
#include "redouble/store.h"
#include "redouble/testing.h"

namespace {

// [readme: the service]
namespace base = redouble::base;
namespace store = redouble::store;

// Takes one book; false if none is left. Two round trips.
base::Task<absl::StatusOr<bool>> TakeOne(store::Store& redis) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto left, co_await store::Get(redis, "books"));
  if (left.value_or("0") == "0") co_return false;
  REDOUBLE_CO_RETURN_IF_ERROR((co_await store::Decr(redis, "books")).status());
  co_return true;
}
// [end]

// [readme: the experiment]
namespace sim = redouble::sim;

using Take = base::Task<absl::StatusOr<bool>> (*)(store::Store&);

int64_t BooksLeft(sim::World& world) {
  const auto session = world.Connect();
  return std::stoll(base::Run(store::Get(*session, "books"))->value_or("0"));
}

// One book is left, and two customers want it.
sim::Experiment LastBook(Take take) {
  return [take](sim::World& world) {
    const auto session = world.Connect();
    EXPECT_TRUE(base::Run(store::Set(*session, "books", "1")).ok());
    const auto sold = std::make_shared<int64_t>(0);
    for (const char* name : {"ann", "bob"}) {
      world.Spawn(name, [take, sold](sim::Actor& customer) -> base::Task<void> {
        const absl::StatusOr<bool> taken = co_await take(customer.store());
        *sold += taken.ok() && *taken ? 1 : 0;
      });
    }
    world.AddFinalInvariant("a book is sold or left",
                            [&world, sold] { return *sold <= 1 && *sold + BooksLeft(world) == 1; });
  };
}
// [end]

std::string TextOf(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Stock, SellsTheLastBookTwice) {
  const std::string failure =
      redouble::testing::ExploreCase("Stock.SellsWhatItHas", LastBook(TakeOne), {},
                                     [](std::string_view) { return std::optional<std::string>(); });
  EXPECT_EQ(failure, TextOf("tests/examples/stock_explored.txt"));
}

// [readme: the second try]
// Takes a book first, and puts it back if there was none.
base::Task<absl::StatusOr<bool>> TakeAndPutBack(store::Store& redis) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t left, co_await store::Decr(redis, "books"));
  if (left >= 0) co_return true;
  REDOUBLE_CO_RETURN_IF_ERROR((co_await store::Incr(redis, "books")).status());
  co_return false;
}

const sim::FaultRule kCrash = {
    .fault = sim::Fault::kCrash, .probability = 0.1, .duration = absl::InfiniteDuration()};

TEST(Stock, LosesTheNextBookIfACustomerCrashes) {
  EXPECT_TRUE(sim::Explore(LastBook(TakeAndPutBack)).complete);
  const sim::Exploration found =
      sim::Explore(LastBook(TakeAndPutBack), {.world = {.faults = {kCrash}}});
  ASSERT_TRUE(found.violation.has_value());
  EXPECT_EQ(found.violation->cause.faults, std::set<std::string>{"crash"});
}
// [end]

// [readme: the remedy]
// Takes one book; false if none is left. One round trip.
base::Task<absl::StatusOr<bool>> TakeInOneStep(store::Store& redis) {
  static const store::Script* const kTake = new store::Script(
      "if tonumber(redis.call('GET', KEYS[1]) or 0) < 1 then return 0 end "
      "redis.call('DECR', KEYS[1]) return 1");
  const std::string_view keys[] = {"books"};
  REDOUBLE_CO_ASSIGN_OR_RETURN(const store::Reply taken, co_await kTake->Run(redis, keys, {}));
  co_return taken == store::Reply::Integer(1);
}

REDOUBLE_EXPLORE(Stock, SellsWhatItHas, .world = {.faults = {kCrash}}) {
  LastBook(TakeInOneStep)(world);
}
// [end]

TEST(Stock, SellsWhatItHasInEverySchedule) {
  EXPECT_TRUE(sim::Explore(LastBook(TakeInOneStep), {.world = {.faults = {kCrash}}}).complete);
}

}  // namespace
