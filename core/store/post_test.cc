#include "redouble/core/store/post.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace redouble::inline v0_1::store {
namespace {

// Keeps requests until the test completes them.
class HoldingStore final : public Store {
 public:
  void Submit(Request& request) override { held.push_back(&request); }

  std::vector<Request*> held;
};

TEST(Post, SendsABatchThatNeedsNothingOfTheCaller) {
  HoldingStore store;
  {
    const auto value = std::make_unique<std::string>("a value of the caller");
    Batch batch(Batch::Atomicity::kPipeline);
    batch.Add(CommandId::kSet, {"key", *value});
    batch.Add(CommandId::kXGroupCreate, {"s", "g"}).AddInteger(0);
    Post(store, batch);
  }
  ASSERT_EQ(store.held.size(), 1u);
  Request& request = *store.held[0];
  EXPECT_EQ(request.kind(), Request::Kind::kPipeline);
  ASSERT_EQ(request.commands().size(), 2u);
  EXPECT_EQ(request.commands()[0].id(), CommandId::kSet);
  EXPECT_EQ(request.commands()[0].DebugString(), "set \"key\" \"a value of the caller\"");
  EXPECT_EQ(request.commands()[1].DebugString(), "xgroup \"create\" \"s\" \"g\" \"0\"");
  request.Complete(Reply::Error("ERR dropped"));  // Deletes the request; the sanitizer checks it.
}

TEST(Post, KeepsATransactionTogether) {
  HoldingStore store;
  Batch batch(Batch::Atomicity::kTransaction);
  batch.Add(CommandId::kIncr, {"n"});
  Post(store, batch);
  ASSERT_EQ(store.held.size(), 1u);
  EXPECT_EQ(store.held[0]->kind(), Request::Kind::kTransaction);
  store.held[0]->Complete(Reply::EmptyArray());
}

TEST(Post, SendsNothingForAnEmptyBatch) {
  HoldingStore store;
  Post(store, Batch(Batch::Atomicity::kPipeline));
  EXPECT_TRUE(store.held.empty());
}

}  // namespace
}  // namespace redouble::inline v0_1::store
