#include "redouble/core/orchestrator/token_ids.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace redouble::inline v0_1::orchestrator {
namespace {

constexpr TokenIdForm kHashed = TokenIdForm::kHashed;
constexpr TokenIdForm kPath = TokenIdForm::kPath;

TEST(TokenIds, APathSaysWhereATokenComesFrom) {
  EXPECT_EQ(ChildTokenId(kPath, {"token_001", "process"}, {}), "token_001/process");
  EXPECT_EQ(ChildTokenId(kPath, {"t.k2", "E"}, {}), "t/E");
  EXPECT_EQ(ChildTokenId(kPath, {"t", "E", 1}, {}), "t/E#1");
  EXPECT_EQ(JoinTokenId(kPath, {"D", "t0/C"}, {.join_count = 2, .loops = {}}), "join:D:t0/C.k2");
}

TEST(TokenIds, AHashHasAFixedLength) {
  EXPECT_EQ(ChildTokenId(kHashed, {std::string(500, 'x'), "E"}, {}).size(), 32u);
  EXPECT_NE(ChildTokenId(kHashed, {"t", "E"}, {}), ChildTokenId(kHashed, {"t", "E", 1}, {}));
  EXPECT_NE(ChildTokenId(kHashed, {"t.k2", "E"}, {}), ChildTokenId(kHashed, {"t", "E"}, {}));
  EXPECT_NE(JoinTokenId(kHashed, {"D", "t"}, {}), ChildTokenId(kHashed, {"D", "t"}, {}));
}

TEST(TokenIds, AnIdFromElsewhereHasNoMark) {
  for (const char* id : {"t", "t.", "t.x", "t.k0", "t.kx", "t.i:1", "t.iR", "t.iR:0", "a.b.k2",
                         "approval_456", "approval_x_2e6b32"}) {
    EXPECT_EQ(ParseTokenMark(id), TokenMark()) << id;
  }
}

TEST(TokenIds, AnApprovalKeepsTheLoopsButNotTheWeight) {
  const TokenMark mark = {.join_count = 2, .loops = {{"R", 3}}};
  const std::string id = ApprovalIdOf(ChildTokenId(kHashed, {"t", "ask"}, mark));
  EXPECT_EQ(ParseTokenMark("approval_" + id), (TokenMark{.join_count = 1, .loops = {{"R", 3}}}));
  EXPECT_EQ(id.find_first_not_of("0123456789abcdef_"), std::string::npos);
  EXPECT_EQ(ApprovalIdOf("t").size(), 32u);
}

RC_GTEST_PROP(TokenIds, GiveTheMarkBack, ()) {
  TokenMark mark;
  mark.join_count = *rc::gen::inRange<int64_t>(1, 50);
  const int loops = *rc::gen::inRange(0, 4);
  for (int i = 0; i < loops; ++i) {
    mark.loops["loop-" + std::to_string(i) + "_k2"] = *rc::gen::inRange<int64_t>(1, 1000);
  }
  RC_ASSERT(ParseTokenMark(ChildTokenId(kHashed, {"p", "t"}, mark)) == mark);
  RC_ASSERT(ParseTokenMark(ChildTokenId(kPath, {"p/q", "t"}, mark)) == mark);
}

}  // namespace
}  // namespace redouble::inline v0_1::orchestrator
