#include "redouble/core/korvet/scripts/script_texts.h"

#include <gtest/gtest.h>

#include "redouble/core/base/hash/digest.h"

namespace redouble::inline v0_1::korvet {
namespace {

// EVALSHA sends the SHA-1, so that a change of a text changes the commands on the wire.
TEST(ScriptTexts, HaveTheirSha1) {
  EXPECT_EQ(base::Sha1Hex(kAddPartitionsText), "564072bb5e08e1dff75a95dd2eabbfac81f00217");
  EXPECT_EQ(base::Sha1Hex(kAppendGivenIdsText), "2dac7622189fd78f2531401db78d725646de306a");
  EXPECT_EQ(base::Sha1Hex(kAppendRecordsText), "a57e3d2fda45c8b96230037e1031d5eaf986ec96");
  EXPECT_EQ(base::Sha1Hex(kCreateGroupText), "6c82f8b05bfc6767881d5b59b185d3a0024d63b7");
  EXPECT_EQ(base::Sha1Hex(kCommitOwnEntriesText), "7f4199668188db22d62674af92f6480ff53c78f4");
  EXPECT_EQ(base::Sha1Hex(kCommitOwnedText), "2fad2eaf078ffc77266bdb6b9e6219e23fb95c52");
  EXPECT_EQ(base::Sha1Hex(kDeleteIdleGroupText), "3e912eb5e263a80aae1736f65c750a0785a03a2e");
  EXPECT_EQ(base::Sha1Hex(kGroupMemberText), "2226cfcc5a55ae758c4450bd10453a8486ba9673");
  EXPECT_EQ(base::Sha1Hex(kCreateTopicText), "04cf1c8134c062c1e3dfe548c9f688c9a7ef4492");
  EXPECT_EQ(base::Sha1Hex(kRepairTopicText), "6d7e9b33a917927cc2be85e43ec70d363c42d35c");
}

// What is sent before and after kAppendRecordsText with write_batches_once.
TEST(ScriptTexts, OfABatchThatIsWrittenOnceHaveTheirSha1) {
  EXPECT_EQ(base::Sha1Hex(kAppendOnceBeginText), "15bef8719063db50ad8c19eb122afeff61b101c0");
  EXPECT_EQ(base::Sha1Hex(kAppendOnceEndText), "1347505beead19d6764e02193881f0307152b267");
}

// Those of the cluster layout. kAppendInPartitionText is sent in front of kAppendRecordsText.
// kReplaceHashText is sent in front of kDropPartitionText, kTopicStepText and kWriteCopyText.
TEST(ScriptTexts, OfTheClusterLayoutHaveTheirSha1) {
  EXPECT_EQ(base::Sha1Hex(kAppendInPartitionText), "a5e2a9872612e8924700b033e54b6a2ffc77ea61");
  EXPECT_EQ(base::Sha1Hex(kCommitPendingIdsText), "4ae26365b92a52e033ddc27b4b336a7301f26fc9");
  EXPECT_EQ(base::Sha1Hex(kDropPartitionText), "ed7e7e3fb2352e848e479356fe990306dba24ba2");
  EXPECT_EQ(base::Sha1Hex(kReplaceHashText), "f09696d83a1d82b69f45cd0f8d3b0f61c6c7d691");
  EXPECT_EQ(base::Sha1Hex(kTopicStepText), "432c3889d004c96103eeb71cb67551bdbec8bc06");
  EXPECT_EQ(base::Sha1Hex(kUnlistTopicText), "a81fa1d6b1a0509068dfb6cb4f5f7341f3e5b988");
  EXPECT_EQ(base::Sha1Hex(kWriteCopyText), "0ab61bd7407c224f226f75adc207199240022476");
}

}  // namespace
}  // namespace redouble::inline v0_1::korvet
