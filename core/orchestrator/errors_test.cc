#include "redouble/core/orchestrator/errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using base::StatusIs;

TEST(Errors, HaveARowForEachCodeInOrder) {
  int code = 0;
  std::set<std::string_view> names;
  for (const ErrorSpec& spec : ErrorSpecs()) {
    EXPECT_EQ(static_cast<int>(spec.code), code++);
    EXPECT_TRUE(names.insert(spec.name).second) << spec.name;
    EXPECT_FALSE(spec.when.empty()) << spec.name;
    const absl::Status status = MakeError(spec.code, "why");
    EXPECT_THAT(status, StatusIs(spec.status_code));
    EXPECT_EQ(ErrorCodeOf(status), spec.code);
    EXPECT_EQ(&SpecOf(spec.code), &spec);
  }
}

TEST(Errors, BeginWithTheirSubject) {
  EXPECT_EQ(MakeError(ErrorCode::kInvalidIr, "/nodes: expected an array").message(),
            "IR: /nodes: expected an array");
  EXPECT_EQ(MakeError(ErrorCode::kStorageUnavailable, "/tmp/a: cannot be read").message(),
            "/tmp/a: cannot be read");
}

TEST(Errors, HaveNoCodeIfTheyAreNotOfTheOrchestrator) {
  EXPECT_EQ(ErrorCodeOf(absl::OkStatus()), std::nullopt);
  EXPECT_EQ(ErrorCodeOf(absl::InvalidArgumentError("IR: x")), std::nullopt);
  EXPECT_EQ(ErrorCodeOf(store::NotSentError("no connection")), std::nullopt);
}

}  // namespace
}  // namespace redouble::inline v0_1::orchestrator
