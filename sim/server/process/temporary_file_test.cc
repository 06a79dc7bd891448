#include "redouble/sim/server/process/temporary_file.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace redouble::inline v0_1::sim {
namespace {

TEST(TemporaryFile, IsReadFromTheBeginningAsItWasWritten) {
  const auto file = TemporaryFile::Create();
  ASSERT_TRUE(file.ok()) << file.status();
  std::string written;
  for (int i = 0; i < 1000; ++i) written += std::to_string(i) + ",";
  ASSERT_TRUE((*file)->Write(written.substr(0, 7)).ok());
  ASSERT_TRUE((*file)->Write(written.substr(7)).ok());
  EXPECT_EQ((*file)->bytes(), written.size());
  std::string read;
  std::array<char, 100> buffer = {};
  for (;;) {
    const absl::StatusOr<size_t> count = (*file)->Read(buffer);
    ASSERT_TRUE(count.ok()) << count.status();
    if (*count == 0) break;
    read.append(buffer.data(), *count);
  }
  EXPECT_EQ(read, written);
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
