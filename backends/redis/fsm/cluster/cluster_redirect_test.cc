#include "redouble/backends/redis/fsm/cluster/cluster_redirect.h"

#include <gtest/gtest.h>

#include <string_view>

namespace redouble::inline v0_1::redis {
namespace {

using Kind = Redirect::Kind;
using store::Reply;

const TcpAddress kAsked{"10.0.0.9", 7000};

std::optional<Redirect> Read(std::string_view error) {
  return ReadRedirect(Reply::Error(error), kAsked);
}

TEST(ClusterRedirect, ReadsWhereASlotMoved) {
  EXPECT_EQ(Read("MOVED 3443 127.0.0.1:7001"), (Redirect{Kind::kMoved, 3443, {"127.0.0.1", 7001}}));
  EXPECT_EQ(Read("MOVED 0 node.example:1"), (Redirect{Kind::kMoved, 0, {"node.example", 1}}));
}

TEST(ClusterRedirect, ReadsWhomToAsk) {
  EXPECT_EQ(Read("ASK 16383 127.0.0.1:7001"), (Redirect{Kind::kAsk, 16383, {"127.0.0.1", 7001}}));
}

TEST(ClusterRedirect, ReadsAnIpv6AddressUpToItsLastColon) {
  EXPECT_EQ(Read("MOVED 1 ::1:7001"), (Redirect{Kind::kMoved, 1, {"::1", 7001}}));
}

TEST(ClusterRedirect, TakesTheAskedHostWhenNoneIsNamed) {
  EXPECT_EQ(Read("MOVED 1 :7001"), (Redirect{Kind::kMoved, 1, {"10.0.0.9", 7001}}));
}

TEST(ClusterRedirect, RecognizesErrorsThatAreWorthARetry) {
  EXPECT_EQ(Read("TRYAGAIN Multiple keys request during rehashing of slot"),
            Redirect{Kind::kTryAgain});
  EXPECT_EQ(Read("CLUSTERDOWN The cluster is down"), Redirect{Kind::kDown});
  EXPECT_EQ(Read("CLUSTERDOWN Hash slot not served"), Redirect{Kind::kDown});
  EXPECT_EQ(Read("LOADING Redis is loading the dataset in memory"), Redirect{Kind::kDown});
  EXPECT_EQ(Read("MASTERDOWN Link with MASTER is down"), Redirect{Kind::kDown});
}

TEST(ClusterRedirect, LeavesOtherRepliesAlone) {
  EXPECT_EQ(Read("WRONGTYPE Operation against a key"), std::nullopt);
  EXPECT_EQ(Read("CROSSSLOT Keys in request don't hash to the same slot"), std::nullopt);
  EXPECT_EQ(Read("MOVEDX 1 a:1"), std::nullopt);
  EXPECT_EQ(Read(""), std::nullopt);
  EXPECT_EQ(ReadRedirect(Reply::Bulk("MOVED 1 a:1"), kAsked), std::nullopt);
}

TEST(ClusterRedirect, LeavesAnAddressThatIsNoneToTheCaller) {
  for (const std::string_view text :
       {"MOVED", "MOVED 1", "MOVED x a:1", "MOVED -1 a:1", "MOVED 16384 a:1", "MOVED 1 a",
        "MOVED 1 a:", "MOVED 1 a:0", "MOVED 1 a:65536", "MOVED 1 a:1 b", "ASK 1 a:x"}) {
    EXPECT_EQ(Read(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
