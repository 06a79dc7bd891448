#include "backends/redis/spawn/private_folder.h"

#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include "gtest/gtest.h"

namespace redouble::redis {
namespace {

namespace fs = std::filesystem;

// Sets a variable of the environment for one test.
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
  ASSERT_TRUE(folder.ok()) << folder.status();
  EXPECT_TRUE(fs::is_empty(folder->path()));
  struct stat status;
  ASSERT_EQ(stat(folder->path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST(PrivateFolder, GivesEachCallerAnotherOne) {
  auto first = PrivateFolder::Create("folder-");
  auto second = PrivateFolder::Create("folder-");
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_NE(first->path(), second->path());
}

TEST(PrivateFolder, IsRemovedWithEverythingInIt) {
  std::string path;
  {
    auto folder = PrivateFolder::Create("folder-");
    ASSERT_TRUE(folder.ok());
    path = folder->path();
    fs::create_directories(folder->PathOf("a/b"));
    std::ofstream(folder->PathOf("a/b/c")) << "content";
    ASSERT_TRUE(fs::exists(path + "/a/b/c"));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(PrivateFolder, MovesWithItsOwner) {
  auto folder = PrivateFolder::Create("folder-");
  ASSERT_TRUE(folder.ok());
  const std::string path = folder->path();
  {
    PrivateFolder moved = *std::move(folder);
    EXPECT_EQ(moved.path(), path);
    EXPECT_TRUE(fs::exists(path));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(PrivateFolder, IsMadeInTheFolderForTemporaryFiles) {
  auto parent = PrivateFolder::Create("parent-");
  ASSERT_TRUE(parent.ok());
  const ScopedVariable variable("TMPDIR", parent->path());
  auto folder = PrivateFolder::Create("folder-");
  ASSERT_TRUE(folder.ok());
  EXPECT_EQ(fs::path(folder->path()).parent_path(), parent->path());
}

TEST(PrivateFolder, StaysShortEnoughForASocketWhereThatFolderIsNot) {
  const ScopedVariable variable("TMPDIR", "/" + std::string(80, 'x'));
  auto folder = PrivateFolder::Create("folder-");
  ASSERT_TRUE(folder.ok()) << folder.status();
  EXPECT_EQ(fs::path(folder->path()).parent_path(), "/tmp");
}

TEST(PrivateFolder, SaysWhereItCannotBeMade) {
  const ScopedVariable variable("TMPDIR", "/no/such/place");
  const auto folder = PrivateFolder::Create("folder-");
  EXPECT_EQ(folder.status().code(), absl::StatusCode::kNotFound);
  EXPECT_NE(folder.status().message().find("/no/such/place/folder-"), std::string::npos);
}

TEST(PrivateFolder, FilesComeBackByteForByte) {
  auto folder = PrivateFolder::Create("folder-");
  ASSERT_TRUE(folder.ok());
  std::string content;
  for (int i = 0; i < 10000; ++i) content.push_back(static_cast<char>(i * 7));
  ASSERT_TRUE(WriteFile(folder->PathOf("file"), "longer, and overwritten").ok());
  ASSERT_TRUE(WriteFile(folder->PathOf("file"), content).ok());
  EXPECT_EQ(ReadFile(folder->PathOf("file")).value(), content);
}

TEST(PrivateFolder, NamesTheFileThatCannotBeReadOrWritten) {
  const auto read = ReadFile("/no/such/file");
  EXPECT_EQ(read.status().code(), absl::StatusCode::kNotFound);
  EXPECT_NE(read.status().message().find("/no/such/file"), std::string::npos);
  EXPECT_FALSE(ReadFile("/").ok());
  const absl::Status written = WriteFile("/no/such/file", "x");
  EXPECT_EQ(written.code(), absl::StatusCode::kNotFound);
  EXPECT_NE(written.message().find("/no/such/file"), std::string::npos);
  EXPECT_FALSE(WriteFile("/dev/full", "x").ok());
}

}  // namespace
}  // namespace redouble::redis
