#include "redouble/backends/redis/spawn/private_folder.h"

#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include "gtest/gtest.h"
#include "redouble/core/base/status/status_matchers.h"

namespace redouble::inline v0_1::redis {
namespace {

using base::IsOk;
using base::StatusIs;

namespace fs = std::filesystem;

// Sets an environment variable for the duration of one test.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = getenv(name)) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  ~ScopedVariable() {
    if (before_.has_value()) {
      setenv(name_, before_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }

 private:
  const char* const name_;
  std::optional<std::string> before_;
};

TEST(PrivateFolder, IsEmptyAndReadableByItsUserAlone) {
  auto folder = PrivateFolder::Create("folder-");
  ASSERT_THAT(folder, IsOk());
  EXPECT_TRUE(fs::is_empty(folder->path()));
  struct stat status;
  ASSERT_EQ(stat(folder->path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST(PrivateFolder, ReturnsADifferentFolderToEachCaller) {
  auto first = PrivateFolder::Create("folder-");
  auto second = PrivateFolder::Create("folder-");
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_NE(first->path(), second->path());
}

TEST(PrivateFolder, IsRemovedWithEverythingInIt) {
  std::string path;
  {
    auto folder = PrivateFolder::Create("folder-");
    ASSERT_THAT(folder, IsOk());
    path = folder->path();
    fs::create_directories(folder->PathOf("a/b"));
    std::ofstream(folder->PathOf("a/b/c")) << "content";
    ASSERT_TRUE(fs::exists(path + "/a/b/c"));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(PrivateFolder, MovesWithItsOwner) {
  auto folder = PrivateFolder::Create("folder-");
  ASSERT_THAT(folder, IsOk());
  const std::string path = folder->path();
  {
    PrivateFolder moved = std::move(folder).value();
    EXPECT_EQ(moved.path(), path);
    EXPECT_TRUE(fs::exists(path));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(PrivateFolder, IsMadeInTheFolderForTemporaryFiles) {
  auto parent = PrivateFolder::Create("parent-");
  ASSERT_THAT(parent, IsOk());
  const ScopedVariable variable("TMPDIR", parent->path());
  auto folder = PrivateFolder::Create("folder-");
  ASSERT_THAT(folder, IsOk());
  EXPECT_EQ(fs::path(folder->path()).parent_path(), parent->path());
}

TEST(PrivateFolder, StaysShortEnoughForASocketWhereThatFolderIsNot) {
  const ScopedVariable variable("TMPDIR", "/" + std::string(80, 'x'));
  auto folder = PrivateFolder::Create("folder-");
  ASSERT_THAT(folder, IsOk());
  EXPECT_EQ(fs::path(folder->path()).parent_path(), "/tmp");
}

TEST(PrivateFolder, ReportsThePathThatCannotBeCreated) {
  const ScopedVariable variable("TMPDIR", "/no/such/place");
  const auto folder = PrivateFolder::Create("folder-");
  EXPECT_THAT(folder, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_NE(folder.status().message().find("/no/such/place/folder-"), std::string::npos);
}

TEST(PrivateFolder, FilesComeBackByteForByte) {
  auto folder = PrivateFolder::Create("folder-");
  ASSERT_THAT(folder, IsOk());
  std::string content;
  for (int i = 0; i < 10000; ++i) content.push_back(static_cast<char>(i * 7));
  ASSERT_THAT(WriteFile(folder->PathOf("file"), "longer, and overwritten"), IsOk());
  ASSERT_THAT(WriteFile(folder->PathOf("file"), content), IsOk());
  EXPECT_EQ(ReadFile(folder->PathOf("file")).value(), content);
}

TEST(PrivateFolder, NamesTheFileThatCannotBeReadOrWritten) {
  const auto read = ReadFile("/no/such/file");
  EXPECT_THAT(read, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_NE(read.status().message().find("/no/such/file"), std::string::npos);
  EXPECT_FALSE(ReadFile("/").ok());
  const absl::Status written = WriteFile("/no/such/file", "x");
  EXPECT_THAT(written, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_NE(written.message().find("/no/such/file"), std::string::npos);
  EXPECT_FALSE(WriteFile("/dev/full", "x").ok());
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
