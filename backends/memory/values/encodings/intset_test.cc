// The bytes in hexadecimal are the values in DUMP payloads of redis-server 7.0.15.

#include "redouble/backends/memory/values/encodings/intset.h"

#include <cstdint>
#include <iterator>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/text/hex.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::memory {
namespace {

using base::StatusIs;
std::string Hex(std::string_view bytes) { return absl::BytesToHexString(base::ToAbsl(bytes)); }

Intset Of(const std::vector<int64_t>& members) {
  Intset set;
  for (const int64_t member : members) set.Add(member);
  return set;
}

std::vector<int64_t> Members(const Intset& set) {
  std::vector<int64_t> members;
  for (size_t i = 0; i < set.count(); ++i) members.push_back(set.At(i));
  return members;
}

TEST(Intset, HasRedissBytesAtEveryWidth) {
  EXPECT_EQ(Hex(Intset().bytes()), "0200000000000000");
  EXPECT_EQ(Hex(Of({3, 1, 2}).bytes()), "0200000003000000010002000300");
  EXPECT_EQ(Hex(Of({3, 1, 70000}).bytes()), "0400000003000000010000000300000070110100");
  EXPECT_EQ(Hex(Of({3, -1, 9999999999, -32768}).bytes()),
            "08000000040000000080ffffffffffffffffffffffffffff0300000000000000ffe30b5402000000");
}

TEST(Intset, WidensForAMemberThatNeedsIt) {
  const struct {
    int64_t member;
    size_t width;
  } kRows[] = {{32767, 2},
               {-32768, 2},
               {32768, 4},
               {-32769, 4},
               {2147483647, 4},
               {-2147483648, 4},
               {2147483648, 8},
               {-2147483649, 8},
               {std::numeric_limits<int64_t>::min(), 8},
               {std::numeric_limits<int64_t>::max(), 8}};
  for (const auto& row : kRows) {
    const Intset set = Of({-1, 1, row.member});
    EXPECT_EQ(set.size_bytes(), 8 + 3 * row.width) << row.member;
    EXPECT_TRUE(set.Contains(row.member));
    EXPECT_TRUE(set.Contains(-1));
    EXPECT_TRUE(set.Contains(1));
  }
}

TEST(Intset, DoesNotNarrowWhenTheWideMemberGoes) {
  Intset set = Of({1, 70000});
  EXPECT_TRUE(set.Remove(70000));
  EXPECT_EQ(Hex(set.bytes()), "040000000100000001000000");
}

TEST(Intset, ReportsWhetherItChanged) {
  Intset set;
  EXPECT_TRUE(set.empty());
  EXPECT_TRUE(set.Add(5));
  EXPECT_FALSE(set.Add(5));
  EXPECT_FALSE(set.Remove(4));
  EXPECT_FALSE(set.Remove(6));
  EXPECT_TRUE(set.Remove(5));
  EXPECT_FALSE(set.Remove(5));
  EXPECT_TRUE(set.empty());
}

TEST(Intset, RanksMembersAndOthers) {
  const Intset set = Of({-5, 0, 10});
  EXPECT_EQ(set.Rank(-6), 0u);
  EXPECT_EQ(set.Rank(-5), 0u);
  EXPECT_EQ(set.Rank(1), 2u);
  EXPECT_EQ(set.Rank(10), 2u);
  EXPECT_EQ(set.Rank(std::numeric_limits<int64_t>::max()), 3u);
  EXPECT_FALSE(set.Contains(std::numeric_limits<int64_t>::max()));
}

TEST(Intset, CopiesAndMoves) {
  const Intset original = Of({1, 2});
  Intset copy(original);
  copy.Add(3);
  EXPECT_EQ(Members(original), (std::vector<int64_t>{1, 2}));
  Intset assigned;
  assigned = copy;
  const Intset& itself = assigned;
  assigned = itself;
  Intset moved(std::move(copy));
  EXPECT_EQ(Members(moved), (std::vector<int64_t>{1, 2, 3}));
  moved = std::move(assigned);
  EXPECT_EQ(Members(moved), (std::vector<int64_t>{1, 2, 3}));
}

TEST(Intset, GivesMemoryBackWhenItShrinks) {
  Intset set;
  for (int64_t member = 0; member < 10000; ++member) set.Add(member);
  const size_t full = set.allocated_bytes();
  for (int64_t member = 10; member < 10000; ++member) set.Remove(member);
  EXPECT_LT(set.allocated_bytes(), full / 10);
}

TEST(IntsetParse, NamesWhatIsWrong) {
  const struct {
    std::string_view hex;
    std::string_view message;
  } kRows[] = {
      {"", "too few bytes"},
      {"02000000000000", "too few bytes"},
      {"0000000000000000", "wrong width"},
      {"0300000000000000", "wrong width"},
      {"1000000000000000", "wrong width"},
      {"02000000010000000100ff", "wrong size"},
      {"020000000200000001", "wrong size"},
      {"02000000ffffffff0100", "wrong size"},
      {"020000000200000001000100", "members do not ascend"},
      {"02000000020000000100ffff", "members do not ascend"},
      {"0400000002000000010000000000000080"
       "000000",
       "wrong size"},
      {"04000000020000000100000000000080", "members do not ascend"},
      {"080000000200000001000000000000000000000000000080", "members do not ascend"},
  };
  for (const auto& row : kRows) {
    EXPECT_THAT(
        Intset::Parse(base::HexToBytes(row.hex).value()),
        StatusIs(absl::StatusCode::kInvalidArgument, "not an intset: " + std::string(row.message)))
        << row.hex;
  }
}

// Members of every width, close enough to collide.
rc::Gen<std::vector<int64_t>> SomeMembers() {
  return rc::gen::container<std::vector<int64_t>>(rc::gen::map(
      rc::gen::pair(rc::gen::inRange<int64_t>(-20, 20), rc::gen::element(0, 0, 0, 12, 30, 58)),
      [](const std::pair<int64_t, int>& part) {
        return part.first * (int64_t{1} << part.second);
      }));
}

RC_GTEST_PROP(Intset, AgreesWithAStandardSet, ()) {
  Intset set;
  std::set<int64_t> model;
  for (const int64_t member : *SomeMembers())
    RC_ASSERT(set.Add(member) == model.insert(member).second);
  for (const int64_t member : *SomeMembers())
    RC_ASSERT(set.Remove(member) == (model.erase(member) > 0));
  RC_ASSERT(Members(set) == std::vector<int64_t>(model.begin(), model.end()));
  for (const int64_t value : *SomeMembers()) {
    RC_ASSERT(set.Contains(value) == model.contains(value));
    const auto rank = std::distance(model.begin(), model.lower_bound(value));
    RC_ASSERT(set.Rank(value) == static_cast<size_t>(rank));
  }
}

RC_GTEST_PROP(IntsetParse, ReadsBackTheBytes, ()) {
  const Intset set = Of(*SomeMembers());
  const absl::StatusOr<Intset> parsed = Intset::Parse(set.bytes());
  RC_ASSERT(parsed.ok());
  RC_ASSERT(parsed->bytes() == set.bytes());
}

RC_GTEST_PROP(IntsetParse, LetsOnlySoundBytesThrough, ()) {
  std::string bytes(Of(*SomeMembers()).bytes());
  const auto place = *rc::gen::inRange<size_t>(0, bytes.size());
  bytes[place] = *rc::gen::arbitrary<char>();
  absl::StatusOr<Intset> set = Intset::Parse(bytes);
  if (!set.ok()) return;
  for (const int64_t member : Members(*set)) RC_ASSERT(set->Contains(member));
  while (!set->empty()) RC_ASSERT(set->Remove(set->At(0)));
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
