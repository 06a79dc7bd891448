// A fetch that waits for a minimum number of bytes, on both backends, while another client writes
// and time passes.

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/redis/net/client/client.h"
#include "redouble/backends/redis/net/client/sync_client.h"
#include "redouble/backends/redis/spawn/spawned_server.h"
#include "redouble/backends/testing/backends.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/korvet/keys.h"
#include "redouble/core/korvet/log/log.h"
#include "redouble/core/korvet/log/producer.h"
#include "redouble/core/korvet/topics/topics.h"
#include "redouble/tests/property/korvet/ask.h"

namespace redouble::inline v0_1::korvet {
namespace {

using base::IsOk;
using Fetching = base::Task<absl::StatusOr<std::vector<FetchedPartition>>>;

// Two clients of one server whose time is controlled. The reader's tasks run by themselves.
class MemoryHost {
 public:
  static constexpr std::string_view kName = "Memory";

  bool Start() { return true; }
  store::Store& reader() { return *reader_; }
  store::Store& writer() { return *writer_; }
  base::VirtualClock& clock() { return clock_; }
  void Advance(absl::Duration step) { clock_.Advance(step); }
  // Returns when the reader waits for Redis or its task is done.
  void Settle(const Fetching&) {}

 private:
  base::VirtualClock clock_{tests::DefaultStart()};
  memory::Engine engine_{clock_};
  std::unique_ptr<memory::Session> reader_ = engine_.Connect();
  std::unique_ptr<memory::Session> writer_ = engine_.Connect();
};

class LiveHost {
 public:
  static constexpr std::string_view kName = "Live";

  bool Start() {
    redis::SpawnedServerOptions options;
    options.held_time = clock_.Now();
    auto server = redis::SpawnedServer::Start(options);
    if (!server.ok()) return false;
    server_ = *std::move(server);
    writer_ = redis::SyncClient::Connect(server_->uri()).value();
    auto connecting = redis::Client::Connect(context_.get_executor(),
                                             redis::Options::Parse(server_->uri()).value(),
                                             redis::Sharing::kDedicated);
    connecting.Start();
    while (!connecting.done()) context_.run_one();
    reader_ = connecting.TakeResult().value();
    return true;
  }
  store::Store& reader() { return *reader_; }
  store::Store& writer() { return *writer_; }
  base::VirtualClock& clock() { return clock_; }
  void Advance(absl::Duration step) {
    clock_.Advance(step);
    ASSERT_THAT(server_->AdvanceTime(step), IsOk());
    ASSERT_THAT(server_->Settle(), IsOk());
  }
  // Waits until the server reports the reader as blocked in two replies in a row, with all earlier
  // requests processed in between, or until the reader is done.
  void Settle(const Fetching& task) {
    for (int blocked = 0; blocked < 2 && !task.done();) {
      context_.restart();
      context_.poll();
      blocked = IsBlocked() ? blocked + 1 : 0;
    }
  }

 private:
  bool IsBlocked() {
    return Ask(*writer_, {"INFO", "clients"}).text().find("blocked_clients:1") != std::string::npos;
  }

  base::VirtualClock clock_{tests::DefaultStart()};
  std::unique_ptr<redis::SpawnedServer> server_;
  boost::asio::io_context context_{1};
  std::unique_ptr<redis::Client> reader_;
  std::unique_ptr<redis::SyncClient> writer_;
};

template <typename Host>
class LogWait : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!host_.Start()) GTEST_SKIP() << "there is no redis-server";
    Topics topics(host_.writer(), rng_, keys_);
    topic_ = base::Run(topics.Create({.name = "orders", .partitions = 2})).value();
    log_.emplace(host_.reader(), host_.clock(), keys_, topic_);
    positions_ = {{0, 0}, {1, 0}};
    request_.positions = positions_;
    request_.max_wait = absl::Milliseconds(500);
  }
  // Starts to fetch at least that many bytes, and runs until the fetch waits for Redis.
  Fetching& Fetch(int64_t min_bytes) {
    request_.min_bytes = min_bytes;
    fetch_.emplace(log_->Fetch(request_));
    fetch_->Start();
    host_.Settle(*fetch_);
    return *fetch_;
  }
  void Write(int32_t partition, std::string value) {
    Producer producer(host_.writer(), host_.clock(), keys_, topic_);
    NewRecord record;
    record.value = std::move(value);
    ASSERT_THAT(base::Run(producer.Append(partition, std::span(&record, 1))), IsOk());
    Settle();
  }
  void Advance(absl::Duration step) {
    host_.Advance(step);
    Settle();
  }
  void Settle() {
    if (fetch_) host_.Settle(*fetch_);
  }

 private:
  Host host_;
  base::Rng rng_{1};
  const Keys keys_ = Keys::Create().value();
  Topic topic_;
  std::vector<FetchPosition> positions_;
  FetchRequest request_;
  std::optional<Log> log_;
  std::optional<Fetching> fetch_;
};
using Hosts = ::testing::Types<MemoryHost, LiveHost>;
TYPED_TEST_SUITE(LogWait, Hosts, tests::BackendNames);

TYPED_TEST(LogWait, EndsWithTheFirstBytes) {
  Fetching& fetch = this->Fetch(1);
  this->Advance(absl::Milliseconds(100));
  EXPECT_FALSE(fetch.done());
  this->Write(1, "v");
  ASSERT_TRUE(fetch.done());
  EXPECT_EQ(fetch.TakeResult().value()[1].records.size(), 1u);
}

TYPED_TEST(LogWait, ReturnsAvailableRecordsAtTheTimeout) {
  this->Write(0, "12");
  Fetching& fetch = this->Fetch(5);
  this->Write(1, "34");
  EXPECT_FALSE(fetch.done());
  this->Advance(absl::Milliseconds(499));
  EXPECT_FALSE(fetch.done());
  this->Advance(absl::Milliseconds(2));
  ASSERT_TRUE(fetch.done());
  const auto fetched = fetch.TakeResult().value();
  EXPECT_EQ(fetched[0].records.size(), 1u);
  EXPECT_EQ(fetched[1].records.size(), 1u);
}

TYPED_TEST(LogWait, ReturnsNothingIfNothingIsWritten) {
  Fetching& fetch = this->Fetch(1);
  this->Advance(absl::Milliseconds(501));
  ASSERT_TRUE(fetch.done());
  const auto fetched = fetch.TakeResult().value();
  for (const FetchedPartition& partition : fetched) {
    EXPECT_THAT(partition.status, IsOk());
    EXPECT_TRUE(partition.records.empty());
  }
}

TYPED_TEST(LogWait, EndsAsSoonAsThereIsEnough) {
  Fetching& fetch = this->Fetch(4);
  this->Write(0, "12");
  EXPECT_FALSE(fetch.done());
  this->Write(1, "34");
  ASSERT_TRUE(fetch.done());
  EXPECT_THAT(fetch.TakeResult(), IsOk());
}

}  // namespace
}  // namespace redouble::inline v0_1::korvet
