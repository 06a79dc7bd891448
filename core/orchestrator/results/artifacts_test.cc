#include "redouble/core/orchestrator/run/artifacts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/orchestrator/results/file_artifacts.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using base::IsOkAndHolds;
using base::StatusIs;
using ::testing::Eq;
using ::testing::Optional;

std::string Folder() { return ::testing::TempDir() + "/artifacts"; }

class ArtifactsTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(Folder());
    if (!GetParam()) {
      artifacts_ = std::make_unique<MemoryArtifacts>();
      return;
    }
    auto opened = FileArtifacts::Open(Folder());
    ASSERT_TRUE(opened.ok()) << opened.status();
    artifacts_ = *std::move(opened);
  }

  std::unique_ptr<Artifacts> artifacts_;
};
INSTANTIATE_TEST_SUITE_P(Stores, ArtifactsTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "File" : "Memory"; });

TEST_P(ArtifactsTest, ReturnWhatWasPut) {
  const std::string output = R"({"n":1})";
  EXPECT_THAT(base::Run(artifacts_->Put(output)), IsOkAndHolds(ContentRef(output)));
  EXPECT_THAT(base::Run(artifacts_->Put(output)), IsOkAndHolds(ContentRef(output)));
  EXPECT_THAT(base::Run(artifacts_->Get(ContentRef(output))), IsOkAndHolds(Optional(output)));
}

TEST_P(ArtifactsTest, KnowNoOtherReference) {
  for (const std::string& ref :
       {ContentRef("{}"), std::string("cas://sha256:x"), std::string("cas://sha256:../../x"),
        "cas://sha256:" + std::string(64, '/'), std::string()}) {
    EXPECT_THAT(base::Run(artifacts_->Get(ref)), IsOkAndHolds(Eq(std::nullopt))) << ref;
  }
}

TEST(FileArtifacts, NoticeADamagedFile) {
  std::filesystem::remove_all(Folder());
  auto artifacts = FileArtifacts::Open(Folder());
  ASSERT_TRUE(artifacts.ok()) << artifacts.status();
  const absl::StatusOr<std::string> ref = base::Run((*artifacts)->Put("{}"));
  ASSERT_TRUE(ref.ok()) << ref.status();
  std::ofstream(Folder() + "/" + ref->substr(13)) << "[]";
  EXPECT_THAT(base::Run((*artifacts)->Get(*ref)), StatusIs(absl::StatusCode::kDataLoss));
}

TEST(FileArtifacts, NeedAFolderThatTheyMayWrite) {
  std::ofstream(::testing::TempDir() + "/file") << "x";
  EXPECT_THAT(FileArtifacts::Open(::testing::TempDir() + "/file/folder").status(),
              StatusIs(absl::StatusCode::kUnavailable));
  std::filesystem::remove_all(Folder());
  auto artifacts = FileArtifacts::Open(Folder());
  ASSERT_TRUE(artifacts.ok()) << artifacts.status();
  std::filesystem::remove_all(Folder());
  EXPECT_THAT(base::Run((*artifacts)->Put("{}")), StatusIs(absl::StatusCode::kUnavailable));
}

}  // namespace
}  // namespace redouble::inline v0_1::orchestrator
