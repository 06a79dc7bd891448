#include "tests/support/intercepted_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/store/batch.h"
#include "core/store/strings.h"
#include "tests/support/backends.h"

namespace redouble::tests {
namespace {

using store::Batch;
using store::CommandId;
using store::Reply;
using ::testing::ElementsAre;

class InterceptedStoreTest : public BackendTest<MemoryBackend> {};

TEST_F(InterceptedStoreTest, NotesWhatPasses) {
  InterceptedStore middle(store());
  EXPECT_EQ(*Run(store::Incr(middle, "a")), 1);
  Batch batch(Batch::Atomicity::kTransaction);
  batch.Add(CommandId::kIncr, {"a"});
  EXPECT_EQ((*Run(store::Execute(middle, batch)))[0], Reply::Integer(2));
  EXPECT_THAT(middle.log(), ElementsAre("INCR a", "MULTI", "INCR a", "EXEC"));
  EXPECT_EQ(middle.requests(), 2u);
}

TEST_F(InterceptedStoreTest, LetsATestStepInOrAnswer) {
  InterceptedStore middle(store());
  middle.on_request = [&](size_t index) -> std::optional<absl::StatusOr<Reply>> {
    if (index == 0) Ask({"SET", "a", "41"});
    if (index == 1) return Reply::Integer(-1);
    return std::nullopt;
  };
  EXPECT_EQ(*Run(store::Incr(middle, "a")), 42);
  EXPECT_EQ(*Run(store::Incr(middle, "a")), -1);
  EXPECT_EQ(Value("a"), "42") << "the second never arrived";
}

}  // namespace
}  // namespace redouble::tests
