#include "redouble/sim/trace/trace.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "redouble/core/base/hash/digest.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::sim {
namespace {

using store::Batch;
using store::Command;
using store::Reply;

class NoStore : public store::Store {
 public:
  void Submit(store::Request&) override {}
};

class TraceTest : public testing::Test {
 protected:
  void Add(std::string_view client, const Command& command, absl::StatusOr<Reply> result) {
    trace_.AddRequest(client, store_.Execute(command), std::move(result));
  }

  NoStore store_;
  base::VirtualClock clock_{absl::FromUnixSeconds(5)};
  std::vector<std::string> lines_;
  Trace trace_{clock_, [this](std::string_view line) { lines_.emplace_back(line); }};
};

TEST_F(TraceTest, WritesOneLinePerEvent) {
  Add("main", Command::Named("GET").Add("k\xff"), Reply::Nil());
  clock_.Advance(absl::Seconds(60));
  trace_.AddAdvance(absl::Seconds(60));
  trace_.AddFault("restart");
  Add("a", Command::Named("INCR").Add("n"), store::OutcomeUnknownError("gone"));
  EXPECT_EQ(lines_,
            (std::vector<std::string>{
                R"({"index":0,"us":5000000,"client":"main","command":["GET","bytes:k\\xff"],)"
                R"("reply":null})",
                R"({"index":1,"us":65000000,"advance":60000000})",
                R"({"index":2,"us":65000000,"fault":"restart"})",
                R"({"index":3,"us":65000000,"client":"a","command":["INCR","n"],)"
                R"("reply":{"failure":"outcome unknown"}})"}));
}

TEST_F(TraceTest, WritesBatchesAsOneEvent) {
  for (const Batch::Atomicity atomicity :
       {Batch::Atomicity::kPipeline, Batch::Atomicity::kTransaction}) {
    Batch batch(atomicity);
    batch.Add(Command::Named("INCR")).Add("n");
    batch.Add(Command::Named("GET")).Add("n");
    trace_.AddRequest("a", store_.ExecuteRaw(batch),
                      Reply::Array({Reply::Integer(1), Reply::Bulk("1")}));
  }
  EXPECT_EQ(lines_,
            (std::vector<std::string>{
                R"({"index":0,"us":5000000,"client":"a","pipeline":[["INCR","n"],["GET","n"]],)"
                R"("reply":[1,"1"]})",
                R"({"index":1,"us":5000000,"client":"a","transaction":[["INCR","n"],["GET","n"]],)"
                R"("reply":[1,"1"]})"}));
  EXPECT_EQ(trace_.commands(), 2 + 4);
}

TEST_F(TraceTest, HashesItsLines) {
  EXPECT_EQ(trace_.Hash(), base::Sha256Hex(""));
  trace_.AddFault("flush");
  Add("a", Command::Named("PING"), Reply::Status("PONG"));
  EXPECT_EQ(trace_.Hash(), base::Sha256Hex(lines_[0] + "\n" + lines_[1] + "\n"));
}

TEST_F(TraceTest, RecordsNothingBehindWhereItIsStopped) {
  std::vector<std::string> lines;
  Trace trace(
      clock_, [&](std::string_view line) { lines.emplace_back(line); },
      [](std::string_view line) { return line.find("flush") != std::string_view::npos; });
  trace.AddFault("restart");
  EXPECT_FALSE(trace.stopped());
  trace.AddFault("flush");
  EXPECT_TRUE(trace.stopped());
  const std::string hash = trace.Hash();
  trace.AddFault("restart");
  trace.AddAdvance(absl::Seconds(1));
  const Command ping = Command::Named("PING");
  trace.AddRequest("a", store_.Execute(ping), Reply::Status("PONG"));
  EXPECT_EQ(lines.size(), 2u);
  EXPECT_EQ(trace.commands(), 0);
  EXPECT_EQ(trace.Hash(), hash);
}

TEST_F(TraceTest, HashesDifferInOneReply) {
  Trace other(clock_);
  Add("a", Command::Named("GET").Add("k"), Reply::Bulk("1"));
  const Command get = std::move(Command::Named("GET").Add("k"));
  other.AddRequest("a", store_.Execute(get), Reply::Integer(1));
  EXPECT_NE(trace_.Hash(), other.Hash());
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
