#include "redouble/core/studio/scripts/script_texts.h"

#include <gtest/gtest.h>

#include "redouble/core/base/hash/digest.h"

namespace redouble::inline v0_1::studio {
namespace {

// The SHA-1 of a script is visible to other clients: EVALSHA sends it, and MONITOR shows it.
TEST(StudioScripts, KeepTheirSha1) {
  EXPECT_EQ(base::Sha1Hex(kCreateServiceText), "cb9fdb0fdecfd6fab8b9a5d4bb52e28e9e895e0d");
  EXPECT_EQ(base::Sha1Hex(kDeleteServiceText), "0cea267908e2003227f26c2a7eb163ea88c52f4a");
  EXPECT_EQ(base::Sha1Hex(kExchangeDocumentText), "cf968cfcad5a5372f21b6004d7dc65e34693517b");
  EXPECT_EQ(base::Sha1Hex(kInsertEventText), "c9125594fb52e6a9d89e80f04a695b61c6c036df");
  EXPECT_EQ(base::Sha1Hex(kLeaveLostDocumentText), "8d7225cb581cd3c57bc5cf9ff3543f2a2973108c");
  EXPECT_EQ(base::Sha1Hex(kSetHealthText), "6de3d009d0c0b5f5fd47eb0c1fe1887ca97c257a");
  EXPECT_EQ(base::Sha1Hex(kUpdateServiceText), "d6ed0a42e850d49dd16704d3fe9196465b8b28df");
}

}  // namespace
}  // namespace redouble::inline v0_1::studio
