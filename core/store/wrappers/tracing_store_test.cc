#include "core/store/wrappers/tracing_store.h"

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "core/base/run.h"
#include "core/base/virtual_clock.h"
#include "core/store/batch.h"
#include "core/store/errors.h"
#include "core/store/strings.h"
#include "core/store/testing/fake_store.h"
#include "gtest/gtest.h"

namespace redouble::store {
namespace {

class TracingStoreTest : public testing::Test {
 protected:
  FakeStore inner_;
  base::VirtualClock clock_{absl::FromUnixMicros(1000)};
  std::vector<std::string> lines_;
  TracingStore store_{inner_, clock_,
                      [this](const TraceEvent& event) { lines_.push_back(event.ToString()); }};
};

TEST_F(TracingStoreTest, TellsOfEachRequestAndItsReply) {
  inner_.Expect({"GET", "key"}, Reply::Bulk("a\n"));
  inner_.Expect({"INCR", "n"}, Reply::Error("ERR no"));
  EXPECT_EQ(*base::Run(Get(store_, "key")), "a\n");
  clock_.Advance(absl::Microseconds(5));
  EXPECT_FALSE(base::Run(Incr(store_, "n")).ok());
  EXPECT_EQ(lines_, (std::vector<std::string>{
                        "0 1000 1000 get \"key\" -> \"a\\n\"",
                        "1 1005 1005 incr \"n\" -> (error) ERR no",
                    }));
}

TEST_F(TracingStoreTest, TellsOfBatches) {
  inner_.ExpectBatch(Request::Kind::kTransaction, {{"GET", "a"}, {"GET", "b"}},
                     Reply::Array({Reply::Nil(), Reply::Integer(1)}));
  inner_.ExpectBatch(Request::Kind::kPipeline, {{"GET", "a"}}, Reply::Array({Reply::Nil()}));
  Batch transaction(Batch::Atomicity::kTransaction);
  transaction.Add(CommandId::kGet, {"a"});
  transaction.Add(CommandId::kGet, {"b"});
  Batch pipeline(Batch::Atomicity::kPipeline);
  pipeline.Add(CommandId::kGet, {"a"});
  EXPECT_TRUE(base::Run(Execute(store_, transaction)).ok());
  EXPECT_TRUE(base::Run(Execute(store_, pipeline)).ok());
  EXPECT_EQ(lines_, (std::vector<std::string>{
                        "0 1000 1000 transaction get \"a\"; get \"b\" -> [nil, 1]",
                        "1 1000 1000 pipeline get \"a\" -> [nil]",
                    }));
}

TEST_F(TracingStoreTest, TellsOfFailures) {
  inner_.Expect({"GET", "key"}, NotSentError("not connected"));
  EXPECT_FALSE(base::Run(Get(store_, "key")).ok());
  EXPECT_EQ(lines_, (std::vector<std::string>{
                        "0 1000 1000 get \"key\" -> failed: UNAVAILABLE: not connected "
                        "[redouble/error-kind='not sent']",
                    }));
}

TEST_F(TracingStoreTest, TellsInTheOrderOfEnds) {
  inner_.ExpectHeld({"GET", "a"});
  inner_.Expect({"GET", "b"}, Reply::Nil());
  auto a = Get(store_, "a");
  a.Start();
  clock_.Advance(absl::Microseconds(1));
  EXPECT_TRUE(base::Run(Get(store_, "b")).ok());
  clock_.Advance(absl::Microseconds(1));
  inner_.Answer(Reply::Nil());
  EXPECT_TRUE(a.done());
  EXPECT_EQ(lines_, (std::vector<std::string>{
                        "1 1001 1001 get \"b\" -> nil",
                        "0 1000 1002 get \"a\" -> nil",
                    }));
}

TEST_F(TracingStoreTest, TellsOfWhatIsAbandoned) {
  inner_.ExpectHeld({"GET", "a"});
  {
    auto a = Get(store_, "a");
    a.Start();
    clock_.Advance(absl::Microseconds(7));
  }
  EXPECT_EQ(lines_, (std::vector<std::string>{"0 1000 1007 get \"a\" -> abandoned"}));
  EXPECT_EQ(inner_.abandoned(), 1);
}

}  // namespace
}  // namespace redouble::store
