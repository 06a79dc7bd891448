#include "redouble/backends/memory/append_only/log_manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "redouble/core/base/status/status_matchers.h"

namespace redouble::inline v0_1::memory {
namespace {

using base::StatusIs;
using testing::EndsWith;
using testing::IsEmpty;
using testing::SizeIs;

constexpr char kText[] =
    "file a.1.base.rdb seq 1 type b\n"
    "file a.1.incr.aof seq 1 type h\n"
    "file a.2.incr.aof seq 2 type i\n";

TEST(LogManifest, IsWrittenAsItWasRead) {
  ASSERT_OK_AND_ASSIGN(const LogManifest manifest, LogManifest::Parse(kText));
  EXPECT_EQ(manifest.base()->name, "a.1.base.rdb");
  EXPECT_THAT(manifest.history(), SizeIs(1));
  EXPECT_EQ(manifest.increments().at(0).sequence, 2);
  EXPECT_EQ(manifest.Text(), kText);
}

TEST(LogManifest, AcceptsCommentsQuotesAndLaterWords) {
  ASSERT_OK_AND_ASSIGN(const LogManifest manifest,
                       LogManifest::Parse("# a comment\nTYPE i SEQ 3 FILE \"a b\" later word\r\n"));
  EXPECT_EQ(manifest.Text(), "file \"a b\" seq 3 type i\n");
}

TEST(LogManifest, RefusesWhatRedisRefuses) {
  const std::pair<std::string, std::string_view> cases[] = {
      {"", "Found an empty AOF manifest"},
      {"file a seq 1 type b", "The AOF manifest file contains too long line"},
      {"file a seq 1 type b" + std::string(1024, ' ') + "\n",
       "The AOF manifest file contains too long line"},
      {"\n", "Invalid AOF manifest file format"},
      {"file a seq 1 type\n", "Invalid AOF manifest file format"},
      {"file \"a seq 1 type b\n", "Invalid AOF manifest file format"},
      {"file a seq 0 type b\n", "Invalid AOF manifest file format"},
      {"file a seq 1 type \"\"\n", "Invalid AOF manifest file format"},
      {"file d/a seq 1 type b\n", "File can't be a path, just a filename"},
      {"file a seq 1 type x\n", "Unknown AOF file type"},
      {"file a seq 1 type b\nfile b seq 2 type b\n", "Found duplicate base file information"},
      {"file a seq 2 type i\nfile b seq 2 type i\n", "Found a non-monotonic sequence number"},
  };
  for (const auto& [text, reason] : cases) {
    EXPECT_THAT(LogManifest::Parse(text).status(),
                StatusIs(absl::StatusCode::kDataLoss, EndsWith(std::string(reason))))
        << text;
  }
}

TEST(LogManifest, NumbersNewFilesAndRetiresOldOnes) {
  LogManifest manifest;
  EXPECT_TRUE(manifest.empty());
  EXPECT_EQ(manifest.AddBase("a", /*is_rdb=*/true), "a.1.base.rdb");
  EXPECT_EQ(manifest.AddIncrement("a"), "a.1.incr.aof");
  EXPECT_EQ(manifest.AddIncrement("a"), "a.2.incr.aof");
  EXPECT_EQ(manifest.AddBase("a", /*is_rdb=*/false), "a.2.base.aof");
  manifest.RetireIncrements(/*is_used=*/true);
  EXPECT_EQ(manifest.Text(),
            "file a.2.base.aof seq 2 type b\nfile a.1.base.rdb seq 1 type h\n"
            "file a.1.incr.aof seq 1 type h\nfile a.2.incr.aof seq 2 type i\n");
  manifest.ForgetHistory();
  manifest.RetireIncrements(/*is_used=*/false);
  EXPECT_THAT(manifest.increments(), IsEmpty());
  EXPECT_EQ(manifest.AddIncrement("a"), "a.3.incr.aof");
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
