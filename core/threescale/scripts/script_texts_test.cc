#include "redouble/core/threescale/scripts/script_texts.h"

#include <gtest/gtest.h>

#include "redouble/core/base/hash/digest.h"

namespace redouble::inline v0_1::threescale {
namespace {

// EVALSHA sends the SHA-1, so that a change of a text changes the commands on the wire.
TEST(ScriptTexts, HaveTheirSha1) {
  EXPECT_EQ(base::Sha1Hex(kPublishEventText), "bcf10248b830127a5c8c1f8a88fc712d7409d814");
  EXPECT_EQ(base::Sha1Hex(kRaiseAlertText), "1acb26b296bacb6786afc3b42df4e4559ec6a723");
  EXPECT_EQ(base::Sha1Hex(kClaimAlertText), "4c4fe5f5846fb3b9877b8bd153848e168f1b9944");
  EXPECT_EQ(base::Sha1Hex(kFinishAlertText), "bf0d78adfe7a7fc2be5fbec1db655f27bcc6818f");
  EXPECT_EQ(base::Sha1Hex(kCountWithinLimitsText), "fd23daecfbea8b24f3911ad77f22745bb794943a");
  EXPECT_EQ(base::Sha1Hex(kCountSliceText), "6a251a9ff5a30b8c0ddd20e9a972adfb272a4eb6");
  EXPECT_EQ(base::Sha1Hex(kNoteFirstTrafficText), "aee5b18a51927094c06305e783208cf121047739");
  EXPECT_EQ(base::Sha1Hex(kNoteDailyTrafficText), "aedee18a1ba190287139109254f926efd39b2295");
  EXPECT_EQ(base::Sha1Hex(kSaveMetricText), "790276a4df6125a0629e9410b8a4c3b2c2d4702b");
  EXPECT_EQ(base::Sha1Hex(kDeleteMetricText), "8aba83028f2ed617c8769c47f30810a14c483d25");
  EXPECT_EQ(base::Sha1Hex(kSaveServiceText), "04f632bbb462a40d32956db070963aece1e4aba7");
  EXPECT_EQ(base::Sha1Hex(kDeleteServiceText), "1e8555360b248aab54b43970e54211217897f340");
  EXPECT_EQ(base::Sha1Hex(kChangeProviderKeyText), "cc6ae42a3d68addebab8a8c9a6bd0ca97b66b6f1");
}

}  // namespace
}  // namespace redouble::inline v0_1::threescale
