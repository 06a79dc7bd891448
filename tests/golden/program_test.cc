#include "redouble/tests/golden/program.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "redouble/tests/golden/golden_for_test.h"
#include "redouble/tests/support/json_mistakes.h"

namespace redouble::inline v0_1::golden {
namespace {

namespace fs = std::filesystem;

constexpr char kGatewaySequencesFolder[] = "tests/data/golden/gateway_sequences";
constexpr char kKorvetFolder[] = "tests/data/golden/korvet";
constexpr char kOrchestratorFolder[] = "tests/data/golden/orchestrator";
constexpr char kRelaynaFolder[] = "tests/data/golden/relayna";
constexpr char kRelaynaSequencesFolder[] = "tests/data/golden/relayna_sequences";
constexpr char kThreescaleFolder[] = "tests/data/golden/threescale";

class GoldenProgram : public testing::Test {
 protected:
  // Creates an empty folder for the test.
  GoldenProgram()
      : folder_(fs::path(testing::TempDir()) /
                testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }

  void Write(const std::string& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }

  // Runs the program in the folder and keeps its output.
  int Run(std::vector<std::string> arguments) { return RunIn(folder_, std::move(arguments)); }

  int RunIn(const fs::path& folder, std::vector<std::string> arguments) {
    std::ostringstream out;
    std::ostringstream err;
    const int code = RunGoldens(std::move(arguments), {out, err, folder, {}});
    out_ = out.str();
    err_ = err.str();
    return code;
  }

  const fs::path folder_;
  std::string out_;
  std::string err_;
};

std::string LastLine(const std::string& text) {
  const size_t end = text.find_last_not_of('\n');
  const size_t begin = text.rfind('\n', end);
  return text.substr(begin + 1, end - begin);
}

// All goldens of the gateway, in both modes.
TEST_F(GoldenProgram, PassesAllGoldensOfTheGateway) {
  size_t files = 0;
  for (const auto& entry : fs::directory_iterator(kGatewayFolder)) {
    files += entry.path().extension() == ".json" ? 1 : 0;
  }
  ASSERT_GE(files, 51u);
  EXPECT_EQ(RunIn(fs::current_path(), {"--system", "gateway", std::string(kGatewayFolder)}), 0)
      << out_;
  EXPECT_EQ(LastLine(out_), std::to_string(files) + " passed, 0 failed");
  EXPECT_EQ(out_.find("domain: "), std::string::npos) << "a domain replay was skipped";
}

// With a wrong value anywhere in a file, the program passes it or prints a line with the error.
TEST_F(GoldenProgram, ReportsAWrongValueAnywhere) {
  int failed = 0;
  for (const char* name :
       {"rate_limit_wrong_type", "race_concurrent_reconcile", "float_format_incrbyfloat"}) {
    tests::ForEachMistake(ReadGatewayGolden(name), [&](const Json& bad) {
      Write("bad.json", bad.dump());
      failed += Run({"--system", "gateway", "bad.json"});
      EXPECT_TRUE(LastLine(out_) == "1 passed, 0 failed" || LastLine(out_) == "0 passed, 1 failed")
          << bad << out_ << err_;
    });
  }
  EXPECT_GT(failed, 1000);
}

// In both modes. The three tables have no commands to replay.
TEST_F(GoldenProgram, PassesAllGoldensOfKorvet) {
  EXPECT_EQ(RunIn(fs::current_path(), {"--system", "korvet", kKorvetFolder}), 0) << out_;
  EXPECT_NE(out_.find("raw skipped for 3 files\n"), std::string::npos) << out_;
  EXPECT_EQ(LastLine(out_), "26 passed, 0 failed");
  EXPECT_EQ(out_.find("domain: "), std::string::npos) << "a domain replay was skipped";
}

TEST_F(GoldenProgram, PassesAllGoldensOfTheOrchestrator) {
  const std::vector<std::string> arguments = {"--system", "orchestrator", kOrchestratorFolder};
  EXPECT_EQ(RunIn(fs::current_path(), arguments), 0) << out_;
  EXPECT_EQ(out_.find("FAIL"), std::string::npos) << out_;
  EXPECT_EQ(LastLine(out_), "12 passed, 0 failed");
}

// Both replies are those of redis-server 7.0.15; the first is from a node of a cluster.
TEST_F(GoldenProgram, ReplaysARecordingOfAClusterNodeOnAClusterNode) {
  Write("slots.json", R"({"name":"n","steps":[{"at_ms":0,"commands":[
      ["CLUSTER","KEYSLOT","ir:{run_123}"],["MGET","ir:run_123","counter:run_123"]],"replies":[748,
      {"error":"CROSSSLOT Keys in request don't hash to the same slot"}],"keyspace":{}}]})");
  EXPECT_EQ(Run({"--system", "orchestrator", "slots.json"}), 0) << out_;
  Write("alone.json", R"({"name":"n","steps":[{"at_ms":0,"commands":[["CLUSTER","KEYSLOT","a"]],
      "replies":[{"error":"ERR This instance has cluster support disabled"}],"keyspace":{}}]})");
  EXPECT_EQ(Run({"--system", "orchestrator", "alone.json"}), 0) << out_;
}

// The status of an operation is compared with the reply of the command that it replaces.
TEST_F(GoldenProgram, ComparesTheErrorsOfOperationsAsReplies) {
  const std::string script = "return redis.error_reply('ERR no')";
  Write("scripts.json", R"({"apply_delta_guarded":")" + script + "\"}");
  Write("error.json", R"({"name":"n","steps":[{"at_ms":0,"commands":[["SET","counter:r","abc"],
      ["EVAL","@apply_delta_guarded","2","applied:r","counter:r","emit:t","1"]],
      "replies":["OK",{"error":"ERR value is not an integer or out of range"}],
      "keyspace":{"counter:r":{"type":"string","value":"abc","ttl":-1}}}]})");
  EXPECT_EQ(Run({"--system", "orchestrator", "--mode", "domain", "error.json"}), 0) << out_;
}

// Four of the files are tables. In the fifth, health_refresh_cycle, the recorder inserted an event
// and deleted a service without recording the commands.
TEST_F(GoldenProgram, PassesTheRawCommandsOfRelayna) {
  EXPECT_EQ(RunIn(fs::current_path(), {"--system", "relayna", "--mode", "raw", kRelaynaFolder}), 0)
      << out_;
  EXPECT_NE(out_.find("raw skipped for 5 files\n"), std::string::npos) << out_;
  EXPECT_EQ(LastLine(out_), "37 passed, 0 failed");
}

TEST_F(GoldenProgram, PassesTheRandomSequencesOfTheGateway) {
  EXPECT_EQ(RunIn(fs::current_path(), {"--system", "gateway", kGatewaySequencesFolder}), 0) << out_;
  EXPECT_EQ(LastLine(out_), "12 passed, 0 failed");
}

TEST_F(GoldenProgram, PassesTheRandomSequencesOfRelayna) {
  EXPECT_EQ(RunIn(fs::current_path(), {"--system", "relayna", kRelaynaSequencesFolder}), 0) << out_;
  EXPECT_EQ(LastLine(out_), "67 passed, 0 failed");
}

TEST_F(GoldenProgram, PassesTheRawCommandsOfThreescale) {
  EXPECT_EQ(
      RunIn(fs::current_path(), {"--system", "threescale", "--mode", "raw", kThreescaleFolder}), 0)
      << out_;
  EXPECT_EQ(LastLine(out_), "38 passed, 0 failed");
}

TEST_F(GoldenProgram, PrintsALinePerFileAndTheFirstDifferenceOfEachMode) {
  Json json = ReadGatewayGolden("rate_limit_basic");
  Write("good.json", json.dump());
  json["/ops/1/result/count"_json_pointer] = 7;
  json["/ops/1/commands/3/reply/0"_json_pointer] = 7;
  Write("sub/bad.json", json.dump());
  EXPECT_EQ(Run({"--system", "gateway", "good.json", (folder_ / "sub").string()}), 1);
  EXPECT_EQ(out_, "good.json: raw PASS, domain PASS\n" + (folder_ / "sub/bad.json").string() +
                      ": raw FAIL, domain FAIL\n"
                      "  raw: /ops/1/commands/3/reply/0: not as recorded ([\"EXEC\"]): "
                      "expected 7, got 2\n"
                      "  domain: /ops/1/result/count: not as recorded: expected 7, got 2\n"
                      "1 passed, 1 failed\n");
  EXPECT_EQ(err_, "");
}

TEST_F(GoldenProgram, RunsOneModeIfModeIsGiven) {
  Json json = ReadGatewayGolden("rate_limit_basic");
  json["/ops/1/result/count"_json_pointer] = 7;
  Write("x.json", json.dump());
  EXPECT_EQ(Run({"--system", "gateway", "--mode", "raw", "x.json"}), 0);
  EXPECT_EQ(out_, "x.json: raw PASS\n1 passed, 0 failed\n");
  EXPECT_EQ(Run({"--system", "gateway", "--mode", "domain", "x.json"}), 1);
  EXPECT_EQ(LastLine(out_), "0 passed, 1 failed");
}

TEST_F(GoldenProgram, CountsAMalformedFileAsFailedAndNamesTheExpectedValue) {
  Write("good.json", ReadGatewayGolden("rate_limit_basic").dump());
  Write("odd.json", R"({"name":"n","ops":[]})");
  Write("torn.json", R"({"name":)");
  EXPECT_EQ(Run({"--system", "gateway", "."}), 1);
  EXPECT_NE(out_.find("odd.json: FAIL\n  no golden of gateway: the file: expected the member "
                      "\"keyspace\""),
            std::string::npos)
      << out_;
  EXPECT_NE(out_.find("torn.json: FAIL\n"), std::string::npos);
  EXPECT_EQ(LastLine(out_), "1 passed, 2 failed");
}

// A skipped file is not a passed one, in its line, in the count and in the exit code.
TEST_F(GoldenProgram, ListsSkippedFiles) {
  Write("race.json", R"({"name":"n","steps":[{"client":"A","command":["DEL","k"],"reply":0}],
      "keyspace":{}})");
  EXPECT_EQ(Run({"--system", "threescale", "race.json"}), 0);
  EXPECT_EQ(out_, "race.json: raw PASS, domain PASS\n1 passed, 0 failed\n");
  Write("ext_new.json", R"({"name":"n","ops":[{"op":"new","args":{},"commands":[]}],
      "keyspace":{}})");
  EXPECT_EQ(Run({"--system", "gateway", "ext_new.json"}), 1);
  EXPECT_EQ(out_,
            "ext_new.json: raw: no commands recorded (SKIP), domain: there is no operation "
            "\"new\", newer than the seed (SKIP)\n"
            "raw skipped for 1 files\ndomain skipped for 1 files\n"
            "1 files neither passed nor failed\n0 passed, 0 failed\n");
}

TEST_F(GoldenProgram, ReadsTheScriptsBesideTheOrchestratorsGoldens) {
  const std::string golden = R"({"name":"n","steps":[
      {"at_ms":0,"commands":[["EVAL","@f","x"]],"replies":[1],"keyspace":{}}]})";
  Write("x.json", golden);
  EXPECT_EQ(Run({"--system", "orchestrator", "."}), 1);
  EXPECT_NE(out_.find("expected a script of scripts.json beside the file"), std::string::npos);
  Write("scripts.json", R"({"f":1})");
  EXPECT_EQ(Run({"--system", "orchestrator", "."}), 1);
  EXPECT_NE(out_.find("scripts.json: /f: expected the text of a script"), std::string::npos);
  Write("scripts.json", R"({"f":"return 1"})");
  EXPECT_EQ(Run({"--system", "orchestrator", "."}), 1);
  EXPECT_NE(out_.find("x.json: raw FAIL"), std::string::npos) << out_;
  EXPECT_EQ(Run({"--system", "orchestrator", "scripts.json"}), 2);
}

TEST_F(GoldenProgram, RefusesBadUsage) {
  Write("x.json", "{}");
  fs::create_directories(folder_ / "empty");
  const std::vector<std::vector<std::string>> usages = {
      {},
      {"--system", "gateway"},
      {"x.json"},
      {"--system", "nobody", "x.json"},
      {"--system", "gateway", "--mode", "both", "x.json"},
      {"--system", "gateway", "--nonsense", "x.json"},
      {"--system", "gateway", "no_such_file.json"},
      {"--system", "gateway", "empty"},
  };
  for (const std::vector<std::string>& usage : usages) {
    EXPECT_EQ(Run(usage), 2) << testing::PrintToString(usage);
    EXPECT_NE(err_, "") << testing::PrintToString(usage);
    EXPECT_EQ(out_, "") << testing::PrintToString(usage);
  }
  Run({"--system", "gateway", "empty"});
  EXPECT_EQ(err_, "golden: empty: no *.json file in this folder\n");
}

TEST_F(GoldenProgram, ExplainsItselfByExample) {
  EXPECT_EQ(Run({"--help"}), 0);
  EXPECT_NE(out_.find("bazel run //tests/golden:run -- --system gateway"), std::string::npos);
}

}  // namespace
}  // namespace redouble::inline v0_1::golden
