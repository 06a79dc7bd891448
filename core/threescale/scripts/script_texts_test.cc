#include "redouble/core/threescale/scripts/script_texts.h"

#include <gtest/gtest.h>

#include "redouble/core/base/hash/digest.h"

namespace redouble::inline v0_1::threescale {
namespace {

// EVALSHA sends the SHA-1, so that a change of a text changes the commands on the wire.
TEST(ScriptTexts, HaveTheirSha1) {
  EXPECT_EQ(base::Sha1Hex(kPublishEventText), "bcf10248b830127a5c8c1f8a88fc712d7409d814");
  EXPECT_EQ(base::Sha1Hex(kRaiseAlertText), "1fce1aebb5d9ad9710fb6e33662344bc86e26cdd");
  EXPECT_EQ(base::Sha1Hex(kClaimAlertText), "f4b63e173dde1611bc7772c85b8254dec9252d6b");
  EXPECT_EQ(base::Sha1Hex(kFinishAlertText), "bf0d78adfe7a7fc2be5fbec1db655f27bcc6818f");
  EXPECT_EQ(base::Sha1Hex(kCountWithinLimitsText), "78c71605ed36bf3e0bc08071e1a85633638aa62c");
}

}  // namespace
}  // namespace redouble::inline v0_1::threescale
