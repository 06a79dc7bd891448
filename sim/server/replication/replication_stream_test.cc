// Goal: a replica gets exactly what it lacks, or learns that it needs all keys.
#include "redouble/sim/server/replication/replication_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace redouble::inline v0_1::sim {
namespace {

using testing::Eq;
using testing::Optional;

class ReplicationStreamTest : public testing::Test {
 protected:
  int ids_ = 0;
  ReplicationStream stream_{[this] { return "id" + std::to_string(++ids_); }};
};

TEST_F(ReplicationStreamTest, KeepsNothingBeforeItBegins) {
  EXPECT_EQ(stream_.id(), "id1");
  EXPECT_EQ(stream_.From("id1", 1), std::nullopt);
}

TEST_F(ReplicationStreamTest, ReturnsWhatIsLacking) {
  stream_.Begin(100);
  stream_.Append("abc");
  EXPECT_EQ(stream_.offset(), 3);
  EXPECT_THAT(stream_.From("id1", 1), Optional(Eq("abc")));
  EXPECT_THAT(stream_.From("id1", 3), Optional(Eq("c")));
  EXPECT_THAT(stream_.From("id1", 4), Optional(Eq("")));
  EXPECT_EQ(stream_.From("id1", 5), std::nullopt);
  EXPECT_EQ(stream_.From("id1", 0), std::nullopt);
  EXPECT_EQ(stream_.From("other", 1), std::nullopt);
}

TEST_F(ReplicationStreamTest, ForgetsOldBytes) {
  stream_.Begin(4);
  for (int i = 0; i < 10; ++i) stream_.Append(std::to_string(i));
  EXPECT_EQ(stream_.offset(), 10);
  EXPECT_EQ(stream_.kept_bytes(), 4);
  EXPECT_THAT(stream_.From("id1", 7), Optional(Eq("6789")));
  EXPECT_EQ(stream_.From("id1", 1), std::nullopt);
}

TEST_F(ReplicationStreamTest, ForgetsBytesWithALowerLimit) {
  stream_.Begin(100);
  stream_.Append("0123456789");
  stream_.SetLimit(4);
  EXPECT_EQ(stream_.kept_bytes(), 4);
  EXPECT_THAT(stream_.From("id1", 7), Optional(Eq("6789")));
  EXPECT_EQ(stream_.From("id1", 1), std::nullopt);
}

TEST_F(ReplicationStreamTest, KeepsWhatIsHeld) {
  stream_.Begin(4);
  stream_.Append("01234");
  stream_.Hold(3);
  for (int i = 5; i < 30; ++i) stream_.Append(std::to_string(i % 10));
  EXPECT_EQ(stream_.kept_bytes(), 28);
  EXPECT_THAT(stream_.From("id1", 3), Optional(Eq("2345678901234567890123456789")));
  stream_.Hold(std::nullopt);
  EXPECT_EQ(stream_.kept_bytes(), 4);
  EXPECT_THAT(stream_.From("id1", 27), Optional(Eq("6789")));
  EXPECT_EQ(stream_.From("id1", 3), std::nullopt);
}

TEST_F(ReplicationStreamTest, KnowsItsFormerIdUpToTheTakeover) {
  stream_.Begin(100);
  stream_.Append("abc");
  stream_.TakeOver();
  stream_.Append("de");
  EXPECT_EQ(stream_.id(), "id2");
  EXPECT_EQ(stream_.former_id(), "id1");
  EXPECT_EQ(stream_.former_end(), 4);
  EXPECT_THAT(stream_.From("id1", 2), Optional(Eq("bcde")));
  EXPECT_THAT(stream_.From("id1", 4), Optional(Eq("de")));
  // That server wrote something of its own.
  EXPECT_EQ(stream_.From("id1", 5), std::nullopt);
  EXPECT_THAT(stream_.From("id2", 5), Optional(Eq("e")));
}

TEST_F(ReplicationStreamTest, AdoptsTheStreamOfAMaster) {
  stream_.Begin(100);
  stream_.Append("abc");
  stream_.Adopt("master", 1000);
  stream_.Append("xyz");
  EXPECT_EQ(stream_.From("id1", 2), std::nullopt);
  EXPECT_THAT(stream_.From("master", 1001), Optional(Eq("xyz")));
  EXPECT_EQ(stream_.From("master", 1000), std::nullopt);
  EXPECT_EQ(stream_.former_end(), -1);
}

TEST_F(ReplicationStreamTest, IsUnknownWhenItStartsAnew) {
  stream_.Begin(100);
  stream_.Append("abc");
  stream_.End();
  stream_.StartAnew();
  EXPECT_FALSE(stream_.is_kept());
  stream_.Begin(100);
  EXPECT_EQ(stream_.From("id1", 4), std::nullopt);
  EXPECT_THAT(stream_.From("id2", 4), Optional(Eq("")));
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
