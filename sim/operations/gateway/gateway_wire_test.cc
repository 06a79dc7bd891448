// Replays every golden of tests/data/golden/gateway on the memory engine and compares each command
// that the gateway sends, byte by byte, and each reply.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "redouble/backends/testing/backends.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/sim/operations/gateway/gateway_operations.h"
#include "redouble/tests/support/intercepted_store.h"

namespace redouble::inline v0_1::scenarios {
namespace {

using sim::Json;

std::vector<std::filesystem::path> Recordings() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator("tests/data/golden/gateway")) {
    if (entry.path().extension() == ".json") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// Returns a recorded command in the format of InterceptedStore's log.
std::string Line(const Json& words) {
  std::string line;
  for (const Json& word : words) {
    if (!line.empty()) line += ' ';
    line += word.get<std::string>();
  }
  return line;
}

class GatewayWireTest : public tests::BackendTest<tests::MemoryBackend> {
 protected:
  void Replay(const Json& recording) {
    Ask({"FLUSHALL"});
    for (const Json& step : recording["ops"]) {
      // A recorded race has the reads in a step of their own, and the writes in a step without
      // reads.
      const bool settles = step["op"] == "reconcile_budget_reservation";
      if (step["op"] == "raw" || (settles && Line(step["commands"][0]["cmd"]) == "MULTI")) {
        for (const Json& command : step["commands"]) Send(command["cmd"]);
      } else {
        Call(step);
      }
    }
    ExpectKeyspace(recording["keyspace"]);
  }

 private:
  void Send(const Json& words) {
    const auto texts = words.get<std::vector<std::string>>();
    Ask(std::vector<std::string_view>(texts.begin(), texts.end()));
  }

  void Call(const Json& step) {
    tests::InterceptedStore store(this->store());
    base::VirtualClock clock(now());
    base::Rng rng(1);
    const sim::OperationContext context(store, clock, rng);
    const sim::Operation* operation = operations_.Find(step["op"].get<std::string>());
    ASSERT_NE(operation, nullptr) << step["op"];
    const sim::OperationResult result = Run((*operation)(context, step["args"]));
    EXPECT_EQ(result.ok() ? *result : GatewayErrorResult(result.status()).value_or(Json()),
              step["result"]);
    std::vector<std::string> recorded;
    for (const Json& command : step["commands"]) recorded.push_back(Line(command["cmd"]));
    EXPECT_EQ(store.log(), recorded);
  }

  void ExpectKeyspace(const Json& keyspace) {
    EXPECT_EQ(KeyCount(), static_cast<int64_t>(keyspace.size()));
    for (const auto& [key, expected] : keyspace.items()) {
      EXPECT_EQ(Ttl(key), expected["ttl"]) << key;
      if (expected["type"] != "string") continue;
      EXPECT_EQ(Value(key), expected["value"].get<std::string>()) << key;
    }
  }

  const sim::OperationTable operations_ = GatewayOperations();
};

TEST_F(GatewayWireTest, SendsWhatTheRecordingsSay) {
  const std::vector<std::filesystem::path> recordings = Recordings();
  EXPECT_GE(recordings.size(), 50u);
  for (const std::filesystem::path& path : recordings) {
    SCOPED_TRACE(path.filename().string());
    std::ifstream file(path);
    Replay(Json::parse(file));
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::scenarios
