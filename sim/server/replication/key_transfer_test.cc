// Goal: the file of keys ends where the master says, however the network splits the bytes.
#include "redouble/sim/server/replication/key_transfer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace redouble::sim {
namespace {

using testing::HasSubstr;

constexpr char kMark[] = "0123456789012345678901234567890123456789";

// Passes `bytes` in parts of `size`, and returns what follows the file.
std::string AddInParts(KeyTransfer& transfer, const std::string& bytes, size_t size) {
  std::string rest;
  for (size_t i = 0; i < bytes.size(); i += size) {
    const std::string part = bytes.substr(i, size);
    rest += transfer.Add(part);
  }
  return rest;
}

TEST(KeyTransfer, EndsAtTheAnnouncedSize) {
  for (size_t size = 1; size <= 12; ++size) {
    absl::StatusOr<KeyTransfer> transfer = KeyTransfer::Announced("$8");
    ASSERT_TRUE(transfer.ok());
    EXPECT_EQ(AddInParts(*transfer, "12345678rest", size), "rest");
    EXPECT_TRUE(transfer->is_whole());
    EXPECT_EQ(transfer->bytes(), "12345678");
  }
}

TEST(KeyTransfer, EndsAtTheMark) {
  const std::string bytes = absl::StrCat("01234567890123", kMark, "rest");
  for (size_t size = 1; size <= bytes.size(); ++size) {
    absl::StatusOr<KeyTransfer> transfer = KeyTransfer::Announced(absl::StrCat("$EOF:", kMark));
    ASSERT_TRUE(transfer.ok());
    EXPECT_EQ(AddInParts(*transfer, bytes, size), "rest");
    EXPECT_TRUE(transfer->is_whole());
    EXPECT_EQ(transfer->bytes(), "01234567890123");
  }
}

TEST(KeyTransfer, IsNotWholeBeforeItsEnd) {
  absl::StatusOr<KeyTransfer> transfer = KeyTransfer::Announced("$8");
  ASSERT_TRUE(transfer.ok());
  EXPECT_EQ(transfer->Add("1234567"), "");
  EXPECT_FALSE(transfer->is_whole());
  absl::StatusOr<KeyTransfer> marked = KeyTransfer::Announced(absl::StrCat("$EOF:", kMark));
  ASSERT_TRUE(marked.ok());
  EXPECT_EQ(marked->Add(std::string(kMark).substr(0, 39)), "");
  EXPECT_FALSE(marked->is_whole());
}

TEST(KeyTransfer, MayBeEmpty) {
  absl::StatusOr<KeyTransfer> transfer = KeyTransfer::Announced("$0");
  ASSERT_TRUE(transfer.ok());
  EXPECT_TRUE(transfer->is_whole());
}

TEST(KeyTransfer, RefusesOtherLines) {
  for (const char* line : {"", "+OK", "$", "$-1", "$x", "$EOF:short", "-ERR no"}) {
    EXPECT_THAT(KeyTransfer::Announced(line).status().message(), HasSubstr("first byte is not '$'"))
        << line;
  }
}

}  // namespace
}  // namespace redouble::sim
