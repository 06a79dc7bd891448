#include "redouble/sim/cli/record/trace_reader.h"

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/store.h"
#include "redouble/sim/scenario/memory_backend.h"
#include "redouble/sim/trace/trace.h"

namespace redouble::inline v0_1::sim {
namespace {

using base::IsOk;
using base::StatusIs;
using store::Batch;
using store::CommandId;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// "US DB CLIENT: WORD WORD" of each command of a trace.
std::vector<std::string> Commands(TraceReader& reader, const std::vector<std::string>& trace) {
  std::vector<std::string> commands;
  for (const std::string& event : trace) {
    const absl::StatusOr<std::vector<MonitorLine>> lines = reader.Read(event);
    EXPECT_THAT(lines, IsOk()) << event;
    if (!lines.ok()) continue;
    for (const MonitorLine& line : *lines) {
      std::string text = absl::StrCat(line.us, " ", line.db, " ", line.client, ":");
      for (const std::string& word : line.words) absl::StrAppend(&text, " ", word);
      commands.push_back(std::move(text));
    }
  }
  return commands;
}

TEST(TraceReader, ReadsWhatTraceWrites) {
  MemoryBackend backend;
  ASSERT_THAT(backend.Begin({.start = absl::FromUnixSeconds(7)}), IsOk());
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<store::Store> client, backend.Connect());
  std::vector<std::string> lines;
  Trace trace(backend.clock(), [&](std::string_view line) { lines.emplace_back(line); });
  const auto run = [&](store::Store::Execution&& execution) {
    const absl::StatusOr<store::Reply> reply = base::Run(execution);
    trace.AddRequest("app", execution, reply);
  };

  const auto set = store::Command::Named("set", std::array<std::string_view, 2>{"k", "\xff"});
  run(client->Execute(set));
  ASSERT_THAT(backend.AdvanceTo(absl::FromUnixSeconds(8)), IsOk());
  trace.AddAdvance(absl::Seconds(1));
  for (const auto atomicity : {Batch::Atomicity::kPipeline, Batch::Atomicity::kTransaction}) {
    Batch batch(atomicity);
    batch.Add(CommandId::kIncr, {"n"});
    batch.Add(CommandId::kGet, {"k"});
    run(client->ExecuteRaw(batch));
  }

  TraceReader reader;
  EXPECT_THAT(Commands(reader, lines),
              ElementsAre("7000000 0 app: SET k \xff", "8000000 0 app: INCR n",
                          "8000000 0 app: GET k", "8000000 0 app: MULTI", "8000000 0 app: INCR n",
                          "8000000 0 app: GET k", "8000000 0 app: EXEC"));
}

TEST(TraceReader, ReadsCommandsPipelinesAndTransactions) {
  TraceReader reader;
  EXPECT_THAT(
      Commands(
          reader,
          {R"({"index":0,"us":7000000,"client":"a","command":["SET","k","bytes:\\x00"],"reply":{"status":"OK"}})",
           R"({"index":1,"us":7500000,"client":"a","pipeline":[["INCR","n"],["GET","k"]],"reply":[1,null]})",
           R"({"index":2,"us":8000000,"advance":500000})",
           R"({"index":3,"us":8000000,"client":"b","transaction":[["DEL","k"]],"reply":[1]})",
           R"({"index":4,"us":8000000,"client":"b","event":"receives"})"}),
      ElementsAre(std::string("7000000 0 a: SET k \0", 20), "7500000 0 a: INCR n",
                  "7500000 0 a: GET k", "8000000 0 b: MULTI", "8000000 0 b: DEL k",
                  "8000000 0 b: EXEC"));
  EXPECT_EQ(reader.unanswered(), 0u);
}

TEST(TraceReader, FollowsTheDatabaseOfEachClient) {
  TraceReader reader;
  EXPECT_THAT(
      Commands(reader, {R"({"us":1,"client":"a","command":["SELECT","3"],"reply":{"status":"OK"}})",
                        R"({"us":1,"client":"a","command":["PING"],"reply":{"status":"PONG"}})",
                        R"({"us":1,"client":"a","command":["SELECT","x"],"reply":{"error":"ERR"}})",
                        R"({"us":1,"client":"a","command":["PING"],"reply":{"status":"PONG"}})",
                        R"({"us":1,"client":"b","command":["PING"],"reply":{"status":"PONG"}})"}),
      ElementsAre("1 0 a: SELECT 3", "1 3 a: PING", "1 3 a: SELECT x", "1 3 a: PING",
                  "1 0 b: PING"));
}

TEST(TraceReader, CountsRequestsWithoutAReply) {
  TraceReader reader;
  EXPECT_THAT(
      Commands(
          reader,
          {R"({"us":1,"client":"a","command":["INCR","n"],"reply":{"failure":"outcome unknown"}})",
           R"({"us":1,"client":"a","command":["INCR","n"],"reply":{"failure":"not sent"}})"}),
      IsEmpty());
  EXPECT_EQ(reader.unanswered(), 2u);
}

TEST(TraceReader, RefusesEverythingElse) {
  TraceReader reader;
  for (const char* line : {"", "7", "{}", "{", R"({"us":1,"client":"a","command":["GET","k"]})",
                           R"({"us":1,"client":"a","command":"GET","reply":null})",
                           R"({"us":1,"client":"a","command":[],"reply":null})",
                           R"({"us":1,"client":"a","command":[7],"reply":null})",
                           R"({"us":1,"client":"a","command":["bytes:\\x0"],"reply":null})",
                           R"({"us":1,"client":7,"command":["GET","k"],"reply":null})",
                           R"({"us":"1","client":"a","command":["GET","k"],"reply":null})",
                           R"({"us":1,"client":"a","transaction":[],"reply":[]})",
                           R"({"us":1,"client":"a","reply":null})"}) {
    EXPECT_THAT(reader.Read(line), StatusIs(absl::StatusCode::kInvalidArgument,
                                            absl::StrCat("no event of a trace: ", line)));
  }
  EXPECT_THAT(reader.Read(R"({"index":3,"us":1,"fault":"restart"})"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("the trace has a fault")));
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
