#include "redouble/core/relayna/scripts/script_texts.h"

#include <gtest/gtest.h>

#include "redouble/core/base/hash/digest.h"

namespace redouble::inline v0_1::relayna {
namespace {

// The SHA-1 of a script is visible to other clients: EVALSHA sends it, and MONITOR shows it.
TEST(RelaynaScripts, KeepTheirSha1) {
  EXPECT_EQ(base::Sha1Hex(kAddOnceText), "622e8f6f63fd2404e42de904ade8f2081f9abf8e");
  EXPECT_EQ(base::Sha1Hex(kAppendOnceText), "7be0e309fc1098fc2e8207fba6608f051a317852");
  EXPECT_EQ(base::Sha1Hex(kForgetExpiredText), "b4e41c55b1adc31b85babf0c7cfa8c2be3992a04");
  EXPECT_EQ(base::Sha1Hex(kReleaseReplayLockText), "5cc6d104eee5ae16a86a81093eac2520548f852e");
  EXPECT_EQ(base::Sha1Hex(kRemoveContractText), "01e2b6e3e4a6b126f4fe3c5455b13196c833d21c");
  EXPECT_EQ(base::Sha1Hex(kReplaceRecordText), "f7ce6c51555560f88e51e526d3652225f6664324");
}

}  // namespace
}  // namespace redouble::inline v0_1::relayna
