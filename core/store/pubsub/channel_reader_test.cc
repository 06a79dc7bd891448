#include "redouble/core/store/pubsub/channel_reader.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "redouble/core/base/task/run.h"
#include "redouble/core/base/time/virtual_clock.h"

namespace redouble::inline v0_1::store {
namespace {

using Payload = std::optional<std::string>;

// Confirms every subscription and delivers messages published afterwards.
class Source final : public MessageSource {
 public:
  void Submit(Request& request) override {
    subscribed_ = true;
    request.Complete(refuses ? Reply::Error("NOPERM no channel") : Reply::Array({}));
  }
  void Listen(PushListener* listener) override { listener_ = listener; }

  void Publish(const char* channel, const char* payload) {
    if (!subscribed_ || listener_ == nullptr) return;
    listener_->OnPush(
        Reply::Array({Reply::Bulk("message"), Reply::Bulk(channel), Reply::Bulk(payload)}));
  }
  void LoseConnection() { listener_->OnGap(); }
  void Confirm() { listener_->OnPush(Reply::Array({Reply::Bulk("subscribe")})); }

  bool refuses = false;

 private:
  PushListener* listener_ = nullptr;
  bool subscribed_ = false;
};

class ChannelReaderTest : public ::testing::Test {
 protected:
  void Publish(const char* channel, const char* payload) { source_.Publish(channel, payload); }

  base::VirtualClock clock_;
  Source source_;
};

TEST_F(ChannelReaderTest, ReturnsPayloadsInTheOrderOfPublication) {
  ChannelReader reader(source_, clock_, "news");
  Publish("news", "too early");
  ASSERT_TRUE(base::Run(reader.Subscribe()).ok());
  Publish("news", "1");
  Publish("other", "2");
  Publish("news", "3");
  EXPECT_EQ(base::Run(reader.Next(absl::Seconds(1))), Payload("1"));
  EXPECT_EQ(base::Run(reader.Next(std::nullopt)), Payload("3"));
}

TEST_F(ChannelReaderTest, WaitsAsLongAsItsPatienceLasts) {
  ChannelReader reader(source_, clock_, "news");
  ASSERT_TRUE(base::Run(reader.Subscribe()).ok());
  base::Task<Payload> next = reader.Next(absl::Seconds(15));
  next.Start();
  clock_.Advance(absl::Seconds(15) - absl::Microseconds(1));
  EXPECT_FALSE(next.done());
  clock_.Advance(absl::Microseconds(1));
  ASSERT_TRUE(next.done());
  EXPECT_EQ(next.TakeResult(), std::nullopt);
}

TEST_F(ChannelReaderTest, WaitsForEverWithoutPatience) {
  ChannelReader reader(source_, clock_, "news");
  ASSERT_TRUE(base::Run(reader.Subscribe()).ok());
  base::Task<Payload> next = reader.Next(std::nullopt);
  next.Start();
  clock_.Advance(absl::Hours(24));
  EXPECT_FALSE(next.done());
  Publish("news", "at last");
  ASSERT_TRUE(next.done());
  EXPECT_EQ(next.TakeResult(), Payload("at last"));
}

TEST_F(ChannelReaderTest, ReturnsTheErrorOfTheSubscription) {
  source_.refuses = true;
  ChannelReader reader(source_, clock_, "news");
  EXPECT_FALSE(base::Run(reader.Subscribe()).ok());
}

TEST_F(ChannelReaderTest, DoesNotReturnConfirmationsAsPayloads) {
  ChannelReader reader(source_, clock_, "news");
  ASSERT_TRUE(base::Run(reader.Subscribe()).ok());
  base::Task<Payload> next = reader.Next(std::nullopt);
  next.Start();
  source_.Confirm();
  EXPECT_FALSE(next.done());
}

TEST_F(ChannelReaderTest, KeepsThePayloadOfACancelledTask) {
  ChannelReader reader(source_, clock_, "news");
  ASSERT_TRUE(base::Run(reader.Subscribe()).ok());
  {
    base::Task<Payload> next = reader.Next(absl::Seconds(15));
    next.Start();
  }
  Publish("news", "1");
  EXPECT_EQ(base::Run(reader.Next(absl::Seconds(15))), Payload("1"));
}

TEST_F(ChannelReaderTest, TellsAGapToWhoWaitsAndToWhoAsksLater) {
  ChannelReader reader(source_, clock_, "news");
  ASSERT_TRUE(base::Run(reader.Subscribe()).ok());
  base::Task<Payload> next = reader.Next(std::nullopt);
  next.Start();
  source_.LoseConnection();
  ASSERT_TRUE(next.done());
  EXPECT_EQ(next.TakeResult(), std::nullopt);
  EXPECT_TRUE(reader.TakeGap());
  EXPECT_FALSE(reader.TakeGap());

  Publish("news", "1");
  source_.LoseConnection();
  Publish("news", "2");
  EXPECT_EQ(base::Run(reader.Next(std::nullopt)), Payload("1"));
  EXPECT_TRUE(reader.TakeGap());
  EXPECT_EQ(base::Run(reader.Next(std::nullopt)), Payload("2"));
  EXPECT_FALSE(reader.TakeGap());
}

TEST_F(ChannelReaderTest, IgnoresSubscriptionsOfOtherReaders) {
  ChannelReader reader(source_, clock_, "news");
  ASSERT_TRUE(base::Run(reader.Subscribe()).ok());
  { ChannelReader other(source_, clock_, "other"); }
  Publish("news", "1");
  base::Task<Payload> next = reader.Next(std::nullopt);
  next.Start();
  EXPECT_FALSE(next.done()) << "the last reader took the listener along";
}

}  // namespace
}  // namespace redouble::inline v0_1::store
