// Goal: the file of keys ends where the master says, however the network splits the bytes.
#include "redouble/sim/server/replication/key_transfer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/persistence/byte_stream.h"

namespace redouble::inline v0_1::sim {
namespace {

using testing::HasSubstr;

constexpr char kMark[] = "0123456789012345678901234567890123456789";

// Passes `bytes` in parts of `size`, and returns what follows the file.
std::string AddInParts(KeyTransfer& transfer, const std::string& bytes, size_t size) {
  std::string rest;
  for (size_t i = 0; i < bytes.size(); i += size) {
    const std::string part = bytes.substr(i, size);
    const absl::StatusOr<std::string_view> after = transfer.Add(part);
    EXPECT_TRUE(after.ok()) << after.status();
    rest += *after;
  }
  return rest;
}

TEST(KeyTransfer, EndsAtTheAnnouncedSize) {
  for (size_t size = 1; size <= 12; ++size) {
    memory::StringSink file;
    absl::StatusOr<KeyTransfer> transfer = KeyTransfer::Announced("$8", file);
    ASSERT_TRUE(transfer.ok());
    EXPECT_EQ(AddInParts(*transfer, "12345678rest", size), "rest");
    EXPECT_TRUE(transfer->is_whole());
    EXPECT_EQ(file.bytes(), "12345678");
  }
}

TEST(KeyTransfer, EndsAtTheMark) {
  const std::string bytes = absl::StrCat("01234567890123", kMark, "rest");
  for (size_t size = 1; size <= bytes.size(); ++size) {
    memory::StringSink file;
    absl::StatusOr<KeyTransfer> transfer =
        KeyTransfer::Announced(absl::StrCat("$EOF:", kMark), file);
    ASSERT_TRUE(transfer.ok());
    EXPECT_EQ(AddInParts(*transfer, bytes, size), "rest");
    EXPECT_TRUE(transfer->is_whole());
    EXPECT_EQ(file.bytes(), "01234567890123");
  }
}

// Memory does not grow with the file.
TEST(KeyTransfer, PassesTheBytesOnAsTheyCome) {
  memory::StringSink file;
  absl::StatusOr<KeyTransfer> transfer = KeyTransfer::Announced(absl::StrCat("$EOF:", kMark), file);
  ASSERT_TRUE(transfer.ok());
  AddInParts(*transfer, std::string(1000, 'x'), 100);
  EXPECT_EQ(file.bytes().size(), 961u);
  EXPECT_EQ(transfer->read_bytes(), 1000u);
}

TEST(KeyTransfer, IsNotWholeBeforeItsEnd) {
  memory::StringSink file;
  absl::StatusOr<KeyTransfer> transfer = KeyTransfer::Announced("$8", file);
  ASSERT_TRUE(transfer.ok());
  EXPECT_EQ(AddInParts(*transfer, "1234567", 7), "");
  EXPECT_FALSE(transfer->is_whole());
  absl::StatusOr<KeyTransfer> marked = KeyTransfer::Announced(absl::StrCat("$EOF:", kMark), file);
  ASSERT_TRUE(marked.ok());
  EXPECT_EQ(AddInParts(*marked, std::string(kMark).substr(0, 39), 39), "");
  EXPECT_FALSE(marked->is_whole());
}

TEST(KeyTransfer, MayBeEmpty) {
  memory::StringSink file;
  absl::StatusOr<KeyTransfer> transfer = KeyTransfer::Announced("$0", file);
  ASSERT_TRUE(transfer.ok());
  EXPECT_TRUE(transfer->is_whole());
}

TEST(KeyTransfer, RefusesOtherLines) {
  memory::StringSink file;
  for (const char* line : {"", "+OK", "$", "$-1", "$x", "$EOF:short", "-ERR no"}) {
    EXPECT_THAT(KeyTransfer::Announced(line, file).status().message(),
                HasSubstr("first byte is not '$'"))
        << line;
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
