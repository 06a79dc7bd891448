#include "redouble/sim/server/process/text_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace redouble::inline v0_1::sim {
namespace {

std::string PathOf(const std::string& name) { return testing::TempDir() + "/" + name; }

TEST(TextFile, IsReadAsItWasWritten) {
  const std::string path = PathOf("text");
  const std::string text = std::string(10'000, 'x') + "\n\0y";
  ASSERT_TRUE(ReplaceTextFile(path, "before").ok());
  ASSERT_TRUE(ReplaceTextFile(path, text).ok());
  EXPECT_EQ(ReadTextFile(path).value(), text);
  ASSERT_TRUE(ReplaceTextFile(path, "").ok());
  EXPECT_EQ(ReadTextFile(path).value(), "");
}

TEST(TextFile, ErrorsAreTheReasonsAlone) {
  const absl::Status missing = ReadTextFile(PathOf("none")).status();
  EXPECT_TRUE(absl::IsNotFound(missing));
  EXPECT_EQ(missing.message(), "No such file or directory");
  EXPECT_EQ(ReadTextFile(testing::TempDir()).status().message(), "Is a directory");
  EXPECT_EQ(ReplaceTextFile(PathOf("none/text"), "x").message(), "No such file or directory");
}

TEST(TextFile, AFolderIsNotReplaced) {
  const std::string folder = PathOf("folder");
  std::filesystem::create_directory(folder);
  EXPECT_EQ(ReplaceTextFile(folder, "x").message(), "Is a directory");
  EXPECT_FALSE(std::filesystem::exists(folder + ".partial"));
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
