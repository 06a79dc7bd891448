#include "redouble/backends/memory/values/encodings/radix_tree_size.h"

#include <vector>

#include "gtest/gtest.h"

namespace redouble::inline v0_1::memory {
namespace {

using store::StreamId;

// The numbers are those of redis-server 7.0.15 for streams with one entry per node.
TEST(RadixTreeSize, OfNoKeysIsTheRoot) { EXPECT_EQ(RadixTreeSize({}), 1U); }

TEST(RadixTreeSize, OfOneKeyIsItsBytesAndItsEnd) {
  const std::vector<StreamId> ids = {{1, 1}};
  EXPECT_EQ(RadixTreeSize(ids), 2U);
}

TEST(RadixTreeSize, BranchesAtTheLastByteWithoutRunsBehindIt) {
  const std::vector<StreamId> ids = {{1, 1}, {1, 2}, {1, 3}};
  EXPECT_EQ(RadixTreeSize(ids), 5U);
}

TEST(RadixTreeSize, BranchesInTheMiddleWithARunForEachKey) {
  const std::vector<StreamId> ids = {{1, 1}, {2, 1}};
  EXPECT_EQ(RadixTreeSize(ids), 6U);
}

TEST(RadixTreeSize, BranchesAtTheRootWithoutARunInFrontOfIt) {
  const std::vector<StreamId> ids = {{1, 1}, {StreamId::Max().ms, 1}};
  EXPECT_EQ(RadixTreeSize(ids), 5U);
}

TEST(RadixTreeSize, BranchesBelowBranches) {
  const std::vector<StreamId> ids = {{1, 1}, {1, 2}, {2, 1}};
  EXPECT_EQ(RadixTreeSize(ids), 8U);
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
