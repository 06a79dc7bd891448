#include "redouble/sim/cli/migrate/resume_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "redouble/core/base/status/status_matchers.h"

namespace redouble::inline v0_1::sim {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using base::StatusIs;
using ::testing::HasSubstr;

std::filesystem::path PathOf(const char* name) {
  return std::filesystem::path(std::getenv("TEST_TMPDIR")) / name;
}

TEST(ResumeFile, KeepsTheCursorUntilTheCopyIsComplete) {
  const std::filesystem::path path = PathOf("at.txt");
  const ResumeFile file(path, "gateway", {});
  EXPECT_THAT(file.Read(), IsOkAndHolds("0"));
  EXPECT_THAT(file.Write("7"), IsOk());
  EXPECT_THAT(file.Read(), IsOkAndHolds("7"));
  EXPECT_THAT(file.Write("18446744073709551615"), IsOk());
  EXPECT_THAT(ResumeFile(path, "gateway", {}).Read(), IsOkAndHolds("18446744073709551615"));

  // Another migration does not continue there.
  const LayoutPair back{store::KeyLayout::kCluster, store::KeyLayout::kDocumented};
  EXPECT_THAT(ResumeFile(path, "gateway", back).Read(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("expected \"gateway cluster documented CURSOR\", got \"gateway "
                                 "documented cluster 18446744073709551615\"")));

  EXPECT_THAT(file.Write("0"), IsOk());
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_THAT(file.Write("0"), IsOk()) << "a copy of one page writes no file";
}

TEST(ResumeFile, NamesAFileThatCannotBeWritten) {
  const ResumeFile file(PathOf("no/such/folder.txt"), "gateway", {});
  EXPECT_THAT(file.Write("7"),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("no/such/folder.txt: ")));
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
