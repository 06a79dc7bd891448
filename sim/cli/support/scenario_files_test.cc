#include "redouble/sim/cli/support/scenario_files.h"

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace redouble::inline v0_1::sim {
namespace {

namespace fs = std::filesystem;

class FindScenarioFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(std::getenv("TEST_TMPDIR")) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::create_directories(folder_);
  }

  void Write(const std::string& name) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << name;
  }

  // Returns the names of the files found, or the error.
  std::vector<std::string> Find(const std::vector<std::string>& arguments) {
    const ProgramContext context{std::cout, std::cerr, folder_, roots_};
    const auto files = FindScenarioFiles(arguments, context);
    if (!files.ok()) return {std::string(files.status().message())};
    std::vector<std::string> names;
    for (const ScenarioFile& file : *files) {
      EXPECT_TRUE(fs::exists(file.path)) << file.path;
      names.push_back(file.name);
    }
    return names;
  }

  using Names = std::vector<std::string>;

  fs::path folder_;
  std::vector<fs::path> roots_;
};

TEST_F(FindScenarioFilesTest, AcceptsNamedFilesWithAnyEnding) {
  Write("b.json");
  Write("a.txt");
  EXPECT_EQ(Find({"b.json", "./a.txt"}), (Names{"b.json", "./a.txt"}));
  const std::string absolute = (folder_ / "b.json").string();
  EXPECT_EQ(Find({absolute}), Names{absolute});
}

TEST_F(FindScenarioFilesTest, ListsFoldersInOrder) {
  Write("dir/z.json");
  Write("dir/sub/a.json");
  Write("dir/notes.md");
  EXPECT_EQ(Find({"dir"}), (Names{"dir/sub/a.json", "dir/z.json"}));
  EXPECT_EQ(Find({"dir/"}), (Names{"dir/sub/a.json", "dir/z.json"}));
}

TEST_F(FindScenarioFilesTest, FindsAFileOnce) {
  Write("dir/a.json");
  Write("dir/b.json");
  EXPECT_EQ(Find({"dir/b.json", "dir", "./dir/a.json"}), (Names{"dir/b.json", "dir/a.json"}));
}

TEST_F(FindScenarioFilesTest, FollowsSymbolicLinks) {
  Write("real/a.json");
  fs::create_directories(folder_ / "dir");
  fs::create_symlink(folder_ / "real/a.json", folder_ / "dir/linked.json");
  fs::create_directory_symlink(folder_ / "real", folder_ / "dir/folder");
  EXPECT_EQ(Find({"dir"}).size(), 1u) << "one file under two names is one scenario";
}

TEST_F(FindScenarioFilesTest, WithoutArgumentsUsesTheFirstRootWithScenarios) {
  Write("one/other/a.json");
  Write("two/scenarios/gateway/a.json");
  Write("three/scenarios/gateway/b.json");
  roots_ = {folder_ / "zero", folder_ / "one", folder_ / "two", folder_ / "three"};
  EXPECT_EQ(Find({}), Names{"scenarios/gateway/a.json"});
}

TEST_F(FindScenarioFilesTest, NamesAMissingPath) {
  EXPECT_EQ(Find({"x.json"}), Names{"x.json: no such file or folder"});
  fs::create_directories(folder_ / "empty");
  EXPECT_EQ(Find({"empty"}), Names{"empty: no *.json file in this folder"});
  EXPECT_EQ(Find({}), Names{"no folder \"scenarios\" beside the program or in this folder; name "
                            "files or folders"});
}

TEST_F(FindScenarioFilesTest, ReadsFilesWhole) {
  Write("a.json");
  EXPECT_EQ(ReadFile(folder_ / "a.json").value(), "a.json");
  EXPECT_EQ(ReadFile(folder_ / "none").status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ReadFile(folder_).status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
