#include "redouble/core/gateway/reservation.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

namespace redouble::inline v0_1::gateway {
namespace {

const BudgetCounterKeys& Current() {
  static const BudgetCounterKeys& keys = *new BudgetCounterKeys{"day-now", "month-now"};
  return keys;
}

Reservation Decoded(std::optional<std::string_view> value) {
  return DecodeReservation(value, Current()).value();
}

struct Case {
  const char* value;
  double amount;
  const char* daily;
  const char* monthly;
};

void ExpectCases(std::initializer_list<Case> cases) {
  for (const Case& row : cases) {
    const Reservation reservation = Decoded(row.value);
    EXPECT_EQ(reservation.amount_usd, row.amount) << row.value;
    EXPECT_EQ(reservation.counters.daily, row.daily) << row.value;
    EXPECT_EQ(reservation.counters.monthly, row.monthly) << row.value;
  }
}

TEST(Reservation, WritesAmountAndBothKeys) {
  EXPECT_EQ(EncodeReservation({0.25, {"d", "m"}}), "0.25|d|m");
  EXPECT_EQ(EncodeReservation({1, {"d", "m"}}), "1|d|m");
  EXPECT_EQ(EncodeReservation({1e-7, {"d", "m"}}), "0.0000001|d|m");
  EXPECT_EQ(EncodeReservation({std::nan(""), {"d", "m"}}), "NaN|d|m");
}

TEST(Reservation, CountsAMissingKeyAsNothing) {
  const Reservation reservation = Decoded(std::nullopt);
  EXPECT_EQ(reservation.amount_usd, 0);
  EXPECT_EQ(reservation.counters.daily, "day-now");
  EXPECT_EQ(reservation.counters.monthly, "month-now");
}

TEST(Reservation, TrustsTheKeysOfAGoodAmount) {
  ExpectCases({{"0.25|d|m", 0.25, "d", "m"},
               {"0|d|m", 0, "d", "m"},
               {"-0|d|m", 0, "d", "m"},
               {"1e3|foreign|keys", 1000, "foreign", "keys"},
               {"0.5||", 0.5, "", ""},
               {"0.5|caf\xc3\xa9|m", 0.5, "caf\xc3\xa9", "m"}});
}

TEST(Reservation, IgnoresTheKeysOfABadAmount) {
  ExpectCases({{"abc|d|m", 0, "day-now", "month-now"},
               {"|d|m", 0, "day-now", "month-now"},
               {" 0.5|d|m", 0, "day-now", "month-now"},
               {"-0.5|d|m", 0, "day-now", "month-now"},
               {"nan|d|m", 0, "day-now", "month-now"},
               {"inf|d|m", 0, "day-now", "month-now"},
               {"1e999|d|m", 0, "day-now", "month-now"}});
}

TEST(Reservation, ReadsTheOldFormatOfANumberAlone) {
  ExpectCases({{"0.5", 0.5, "day-now", "month-now"},
               {".5", 0.5, "day-now", "month-now"},
               {"7.", 7, "day-now", "month-now"},
               {"-0.5", 0, "day-now", "month-now"},
               {"inf", 0, "day-now", "month-now"}});
}

TEST(Reservation, CountsAnythingElseAsNothing) {
  ExpectCases({{"", 0, "day-now", "month-now"},
               {"garbage", 0, "day-now", "month-now"},
               {"0.5|d", 0, "day-now", "month-now"},
               {"0.5|d|m|x", 0, "day-now", "month-now"},
               {"||", 0, "day-now", "month-now"},
               {"|||", 0, "day-now", "month-now"}});
}

TEST(Reservation, RespellsTheKeysThatItNames) {
  const auto respell = [](std::string_view key) -> std::optional<std::string> {
    if (key.empty()) return std::nullopt;
    return "{" + std::string(key) + "}";
  };
  EXPECT_EQ(RespellReservation("0.250|d|m", respell).value(), "0.250|{d}|{m}");
  EXPECT_EQ(RespellReservation("0.25", respell).value(), "0.25") << "names no keys";
  EXPECT_EQ(RespellReservation("x|d|m", respell).value(), "x|d|m") << "the keys are not read";
  EXPECT_EQ(RespellReservation("1|d|", respell).status().message(),
            "a reservation names \"\", which is no budget counter of this layout");
}

TEST(Reservation, RefusesBytesThatAreNoText) {
  for (const char* value : {"\xff", "0.5|\xff|m", "0.5|d|caf\xe9"}) {
    EXPECT_EQ(DecodeReservation(value, Current()).status(),
              absl::InvalidArgumentError("the value of a reservation is not UTF-8"));
  }
}

RC_GTEST_PROP(Reservation, ReadsBackWhatItWrites, ()) {
  const double amount = *rc::gen::map(rc::gen::inRange<int64_t>(0, 1'000'000'000'000),
                                      [](int64_t micros) { return micros / 1e6; });
  const auto key = rc::gen::container<std::string>(rc::gen::elementOf(std::string("abc:0123-{ ")));
  const Reservation written{amount, {*key, *key}};
  const Reservation read = Decoded(EncodeReservation(written));
  RC_ASSERT(read.amount_usd == amount);
  RC_ASSERT(read.counters.daily == written.counters.daily);
  RC_ASSERT(read.counters.monthly == written.counters.monthly);
}

}  // namespace
}  // namespace redouble::inline v0_1::gateway
