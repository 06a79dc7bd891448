#include "redouble/tests/support/intercepted_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redouble/backends/testing/backends.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble::inline v0_1::tests {
namespace {

using base::IsOkAndHolds;
using store::Batch;
using store::CommandId;
using store::Reply;
using ::testing::ElementsAre;

class InterceptedStoreTest : public BackendTest<MemoryBackend> {};

TEST_F(InterceptedStoreTest, NotesWhatPasses) {
  InterceptedStore middle(store());
  EXPECT_THAT(Run(store::Incr(middle, "a")), IsOkAndHolds(1));
  Batch batch(Batch::Atomicity::kTransaction);
  batch.Add(CommandId::kIncr, {"a"});
  EXPECT_THAT(Run(store::Execute(middle, batch)), IsOkAndHolds(ElementsAre(Reply::Integer(2))));
  EXPECT_THAT(middle.log(), ElementsAre("INCR a", "MULTI", "INCR a", "EXEC"));
  EXPECT_EQ(middle.requests(), 2u);
}

TEST_F(InterceptedStoreTest, LetsATestInterveneOrReply) {
  InterceptedStore middle(store());
  middle.on_request = [&](size_t index) -> std::optional<absl::StatusOr<Reply>> {
    if (index == 0) Ask({"SET", "a", "41"});
    if (index == 1) return Reply::Integer(-1);
    return std::nullopt;
  };
  EXPECT_THAT(Run(store::Incr(middle, "a")), IsOkAndHolds(42));
  EXPECT_THAT(Run(store::Incr(middle, "a")), IsOkAndHolds(-1));
  EXPECT_EQ(Value("a"), "42") << "the second never arrived";
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
