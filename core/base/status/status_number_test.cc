#include "redouble/core/base/status/status_number.h"

#include <gtest/gtest.h>

namespace redouble::inline v0_1::base {
namespace {

TEST(StatusNumber, IsReadUnderItsUrl) {
  absl::Status status = absl::NotFoundError("gone");
  SetStatusNumber(status, "a", -1);
  SetStatusNumber(status, "b", 100);
  EXPECT_EQ(StatusNumber(status, "a"), -1);
  EXPECT_EQ(StatusNumber(status, "b"), 100);
  SetStatusNumber(status, "a", 2);
  EXPECT_EQ(StatusNumber(status, "a"), 2);
}

TEST(StatusNumber, IsMissingWithoutANumber) {
  absl::Status status = absl::NotFoundError("gone");
  EXPECT_EQ(StatusNumber(status, "a"), std::nullopt);
  status.SetPayload("a", absl::Cord("three"));
  EXPECT_EQ(StatusNumber(status, "a"), std::nullopt);
  absl::Status ok;
  SetStatusNumber(ok, "a", 1);
  EXPECT_EQ(StatusNumber(ok, "a"), std::nullopt);
}

}  // namespace
}  // namespace redouble::inline v0_1::base
