#include "redouble/core/python/error.h"

#include <gtest/gtest.h>

namespace redouble::inline v0_1::python {
namespace {

TEST(PythonError, RemembersTheClassAndKeepsTheMessage) {
  const absl::Status status = Error(absl::StatusCode::kNotFound, "KeyError", "'x'");
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(status.message(), "'x'");
  EXPECT_EQ(ErrorType(status), "KeyError");
}

TEST(PythonError, NamesTheUsualClasses) {
  EXPECT_EQ(ErrorType(TypeError("m")), "TypeError");
  EXPECT_EQ(ErrorType(ValueError("m")), "ValueError");
  EXPECT_EQ(ErrorType(ValidationError("m")), "ValidationError");
  EXPECT_TRUE(absl::IsInvalidArgument(TypeError("m")));
  EXPECT_TRUE(absl::IsInvalidArgument(ValueError("m")));
  EXPECT_TRUE(absl::IsInvalidArgument(ValidationError("m")));
}

TEST(PythonError, KnowsNoClassOfOtherErrors) {
  EXPECT_EQ(ErrorType(absl::InternalError("TypeError")), std::nullopt);
  EXPECT_EQ(ErrorType(absl::OkStatus()), std::nullopt);
}

}  // namespace
}  // namespace redouble::inline v0_1::python
