#include "redouble/core/store/cluster/slot_move.h"

#include <string>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/testing/fake_store.h"

namespace redouble::inline v0_1::store {
namespace {

using base::IsOkAndHolds;

// What two masters reply to CLUSTER NODES, as redis-server 7.0.15 does.
absl::StatusOr<bool> Agree(const absl::StatusOr<Reply>& first,
                           const absl::StatusOr<Reply>& second) {
  FakeStore a;
  FakeStore b;
  a.Expect({"CLUSTER", "NODES"}, first);
  b.Expect({"CLUSTER", "NODES"}, second);
  return base::Run(AgreeOnEpochs({&a, &b}));
}

Reply Nodes(const std::string& flags_of_a, const std::string& flags_of_b,
            const std::string& epoch_of_b) {
  return Reply::Bulk("aa 127.0.0.1:7000@17000 " + flags_of_a +
                     " - 0 0 1 connected 0-8191\n"
                     "bb 127.0.0.1:7001@17001 " +
                     flags_of_b + " - 0 1764417600000 " + epoch_of_b +
                     " connected 8192-16383\n"
                     "cc 127.0.0.1:7002@17002 slave aa 0 1764417600000 1 connected\n");
}

TEST(AgreeOnEpochs, ComparesTheEpochsOfTheMasters) {
  const Reply of_a = Nodes("myself,master", "master", "2");
  EXPECT_THAT(Agree(of_a, Nodes("master", "myself,master", "2")), IsOkAndHolds(true));
  EXPECT_THAT(Agree(of_a, Nodes("master", "myself,master", "3")), IsOkAndHolds(false));
}

TEST(AgreeOnEpochs, PassesAnErrorOn) {
  const Reply nodes = Nodes("myself,master", "master", "2");
  const auto refused = Agree(nodes, Reply::Error("ERR This instance has cluster support disabled"));
  EXPECT_EQ(ServerErrorCode(refused.status()), "ERR") << refused.status();
}

}  // namespace
}  // namespace redouble::inline v0_1::store
