#include "redouble/core/gateway/readiness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redouble/backends/testing/backends.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/gateway/errors.h"
#include "redouble/core/store/errors.h"
#include "redouble/tests/support/intercepted_store.h"

namespace redouble::inline v0_1::gateway {
namespace {

using base::IsOk;
using store::Reply;
using ::testing::ElementsAre;
using tests::InterceptedStore;

template <typename Backend>
class ReadinessTest : public tests::BackendTest<Backend> {};
TYPED_TEST_SUITE(ReadinessTest, tests::Backends, tests::BackendNames);

TYPED_TEST(ReadinessTest, PingsAndLeavesNoKeyBehind) {
  InterceptedStore store(this->store());
  EXPECT_THAT(this->Run(ProbeControlState(store)), IsOk());
  EXPECT_THAT(store.log(), ElementsAre("PING"));
  EXPECT_EQ(this->KeyCount(), 0);
}

class ProbeTest : public tests::BackendTest<tests::MemoryBackend> {
 protected:
  absl::Status Probe(absl::StatusOr<Reply> answer) {
    InterceptedStore store(this->store());
    store.on_request = [&](size_t) { return std::optional(answer); };
    return Run(ProbeControlState(store));
  }
};

TEST_F(ProbeTest, AcceptsAnyStringReply) {
  EXPECT_THAT(Probe(Reply::Status("PONG")), IsOk());
  EXPECT_THAT(Probe(Reply::Bulk("hello")), IsOk());
}

TEST_F(ProbeTest, FailsOnAnythingElse) {
  EXPECT_TRUE(IsControlStateUnavailable(Probe(Reply::Nil())));
  EXPECT_TRUE(IsControlStateUnavailable(Probe(Reply::Integer(1))));
  EXPECT_TRUE(IsControlStateUnavailable(Probe(Reply::Error("NOAUTH Authentication required."))));
  EXPECT_TRUE(IsControlStateUnavailable(Probe(store::NotSentError("refused"))));
}

TEST(Readiness, NeedsBothStores) {
  const absl::Status down = absl::UnavailableError("down");
  EXPECT_EQ(Readiness(absl::OkStatus(), absl::OkStatus()).http_status, 200);
  EXPECT_EQ(Readiness(absl::OkStatus(), absl::OkStatus()).body, R"({"status":"ready"})");
  for (const ReadinessResponse& response :
       {Readiness(down, absl::OkStatus()), Readiness(absl::OkStatus(), down),
        Readiness(down, down)}) {
    EXPECT_EQ(response.http_status, 503);
    EXPECT_EQ(response.body, R"({"status":"not_ready"})");
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::gateway
