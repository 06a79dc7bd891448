#include "redouble/core/base/hash/digest.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace redouble::inline v0_1::base {
namespace {

constexpr std::string_view kSha256OfNothing =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr std::string_view kSha256OfAbc =
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

TEST(Sha1, IsTheBytesThatSha1HexWrites) {
  const Sha1Bytes digest = Sha1("return 1");
  EXPECT_EQ(absl::BytesToHexString({digest.data(), digest.size()}), Sha1Hex("return 1"));
}

TEST(Sha1Hex, NamesScriptsAsScriptLoadDoes) {
  EXPECT_EQ(Sha1Hex("return 1"), "e0e1f9fabfc9d4800c877a703b823ac0578ff8db");
  EXPECT_EQ(Sha1Hex(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  EXPECT_EQ(Sha1Hex("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
}

TEST(Sha256Hex, MatchesTheKnownVectors) {
  EXPECT_EQ(Sha256Hex(""), kSha256OfNothing);
  EXPECT_EQ(Sha256Hex("abc"), kSha256OfAbc);
}

TEST(Sha256, OfNoBytesIsTheEmptyDigest) { EXPECT_EQ(Sha256().HexDigest(), kSha256OfNothing); }

TEST(Sha256, ContinuesAfterADigestWasRead) {
  Sha256 hash;
  hash.Update("ab");
  EXPECT_EQ(hash.HexDigest(), Sha256Hex("ab"));
  hash.Update("c");
  EXPECT_EQ(hash.HexDigest(), kSha256OfAbc);
  EXPECT_EQ(hash.HexDigest(), kSha256OfAbc);
}

TEST(Sha256, CopiesContinueIndependently) {
  Sha256 first;
  first.Update("ab");
  Sha256 second(first);
  second.Update("c");
  EXPECT_EQ(first.HexDigest(), Sha256Hex("ab"));
  EXPECT_EQ(second.HexDigest(), kSha256OfAbc);
  first = second;
  const Sha256& same = first;
  first = same;
  EXPECT_EQ(first.HexDigest(), kSha256OfAbc);
}

TEST(Sha256, MovesItsState) {
  Sha256 first;
  first.Update("abc");
  Sha256 second(std::move(first));
  EXPECT_EQ(second.HexDigest(), kSha256OfAbc);
  Sha256 third;
  third = std::move(second);
  EXPECT_EQ(third.HexDigest(), kSha256OfAbc);
}

RC_GTEST_PROP(Sha256, DependsOnTheBytesNotOnTheParts, (const std::vector<std::string>& parts)) {
  Sha256 hash;
  std::string whole;
  for (const std::string& part : parts) {
    hash.Update(part);
    whole += part;
  }
  RC_ASSERT(hash.HexDigest() == Sha256Hex(whole));
}

}  // namespace
}  // namespace redouble::inline v0_1::base
