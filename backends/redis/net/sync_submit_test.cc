#include "redouble/backends/redis/net/sync_submit.h"

#include <gtest/gtest.h>

#include <boost/asio/post.hpp>
#include <utility>

#include "redouble/backends/redis/fsm/request_for_test.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::redis {
namespace {

using base::IsOkAndHolds;
using store::Reply;

// Replies to a request in a handler of the loop, if it `answers`.
class LateStore final : public store::Store {
 public:
  explicit LateStore(boost::asio::io_context& context) : context_(context) {}

  void Submit(store::Request& request) override {
    under_way_ = &request;
    if (answers) boost::asio::post(context_, [this] { End(Reply::Bulk("value")); });
  }

  void Close() {
    ++closes;
    End(store::NotSentError("closed"));
  }

  bool answers = true;
  int closes = 0;

 private:
  void End(absl::StatusOr<Reply> result) {
    if (under_way_ == nullptr) return;
    std::exchange(under_way_, nullptr)->Complete(std::move(result));
  }

  boost::asio::io_context& context_;
  store::Request* under_way_ = nullptr;
};

class SubmitAndRunTest : public testing::Test {
 protected:
  absl::StatusOr<Reply> Get() {
    RequestForTest get("GET key");
    SubmitAndRun(context, store, get, [this] { store.Close(); });
    return get.result();
  }

  boost::asio::io_context context;
  LateStore store{context};
};

TEST_F(SubmitAndRunTest, RunsTheLoopUntilTheReply) {
  EXPECT_THAT(Get(), IsOkAndHolds(Reply::Bulk("value")));
  EXPECT_THAT(Get(), IsOkAndHolds(Reply::Bulk("value"))) << "the loop had run out of work";
  EXPECT_EQ(store.closes, 0);
}

// A loop stops when its last handler has run, and would not run those of the request then.
TEST_F(SubmitAndRunTest, RunsALoopWhoseLastWorkWasDoneBeforeTheRequest) {
  int events = 0;
  boost::asio::post(context, [&] { ++events; });
  EXPECT_THAT(Get(), IsOkAndHolds(Reply::Bulk("value")));
  EXPECT_EQ(events, 1);
  EXPECT_EQ(store.closes, 0);
}

TEST_F(SubmitAndRunTest, ClosesTheStoreWhenNoReplyCanArrive) {
  store.answers = false;
  EXPECT_EQ(store::ErrorKindOf(Get().status()), store::ErrorKind::kNotSent);
  EXPECT_EQ(store.closes, 1);
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
