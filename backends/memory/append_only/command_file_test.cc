// Goal: what reading a file of commands needs is bounded by the file, whatever its lengths claim.
#include "redouble/backends/memory/append_only/command_file.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redouble/backends/memory/snapshot/allocated_bytes_for_test.h"
#include "redouble/core/base/status/status_matchers.h"

namespace redouble::inline v0_1::memory {
namespace {

using base::IsOkAndHolds;
using Next = CommandFile::Next;
using testing::ElementsAre;

constexpr size_t kMostBytes = size_t{1} << 20;

TEST(CommandFileTest, ReadsCommandsAndSkipsComments) {
  StringSource source("#TS:1\r\n*1\r\n$4\r\nPING\r\n#end\r\n");
  CommandFile file(source);
  ASSERT_THAT(file.Read(), IsOkAndHolds(Next::kCommand));
  EXPECT_THAT(file.words(), ElementsAre("PING"));
  EXPECT_EQ(file.offset(), 21u);
  EXPECT_THAT(file.Read(), IsOkAndHolds(Next::kEnd));
}

class AbsurdLengths : public testing::TestWithParam<const char*> {};

TEST_P(AbsurdLengths, AllocateNothing) {
  if (AllocatedBytes() == 0) GTEST_SKIP() << "the allocator does not count";
  MeasuringSource source(GetParam());
  CommandFile file(source);
  const size_t before = AllocatedBytes();
  const absl::StatusOr<Next> next = file.Read();
  ASSERT_TRUE(next.ok()) << next.status();
  EXPECT_TRUE(*next == Next::kTruncated || *next == Next::kMalformed);
  EXPECT_EQ(file.offset(), 0u);
  EXPECT_LT(std::max(source.peak.bytes, AllocatedBytes()), before + kMostBytes);
}

INSTANTIATE_TEST_SUITE_P(All, AbsurdLengths,
                         testing::Values("*2\r\n$1000000000000\r\nSET",
                                         "*2147483647\r\n$3\r\nSET\r\n", "*9223372036854775807\r\n",
                                         "*1\r\n$9223372036854775807\r\nx",
                                         "*1\r\n$18446744073709551615\r\nx", "*1\r\n$-1\r\n",
                                         "*99999999999999999999\r\n"));

}  // namespace
}  // namespace redouble::inline v0_1::memory
