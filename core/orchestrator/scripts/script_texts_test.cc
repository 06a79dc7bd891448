#include "redouble/core/orchestrator/scripts/script_texts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "redouble/backends/testing/backends.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using store::Reply;
using ::testing::StartsWith;

using Words = std::vector<std::string>;

const std::map<std::string, std::string_view>& Texts() {
  static const auto& texts = *new std::map<std::string, std::string_view>{
      {"apply_delta_seed", kApplyDeltaText}, {"apply_delta_guarded", kApplyDeltaGuardedText},
      {"finish_run", kFinishRunText},        {"hitl_decide", kHitlDecideText},
      {"hitl_pause", kHitlPauseText},        {"join_arrive", kJoinArriveText},
      {"join_quiesce", kJoinQuiesceText}};
  return texts;
}

// The scripts of the recordings in tests/data/golden/orchestrator.
const nlohmann::json& RecordedTexts() {
  static const nlohmann::json& texts = *new nlohmann::json([] {
    std::ifstream file("tests/data/golden/orchestrator/scripts.json");
    return nlohmann::json::parse(file);
  }());
  return texts;
}

TEST(ScriptTexts, AreTheFiles) {
  EXPECT_THAT(std::string(kApplyDeltaText), StartsWith("-- Keys: applied_set, counter_key\n"));
  for (const auto& [name, text] : Texts()) {
    EXPECT_TRUE(text.ends_with("\n")) << name;
    EXPECT_FALSE(text.ends_with("\n\n")) << name;
    EXPECT_TRUE(RecordedTexts().contains(name)) << name;
  }
}

template <typename Backend>
class ScriptTextsTest : public tests::BackendTest<Backend> {
 protected:
  Reply AskAll(const Words& words) {
    return this->Ask(std::vector<std::string_view>(words.begin(), words.end()));
  }

  // Runs one step for a run: a command, or a script by name. Each # is replaced by the run id.
  Reply Step(const Words& words, std::string_view run, bool recorded) {
    Words command;
    for (const std::string& word : words) {
      command.push_back(absl::StrReplaceAll(word, {{"#", std::string(run)}}));
    }
    if (!Texts().contains(command[0])) return AskAll(command);
    command[0] = recorded ? RecordedTexts()[command[0]].template get<std::string>()
                          : std::string(Texts().at(command[0]));
    command.insert(command.begin(), "EVAL");
    return AskAll(command);
  }

  // The values of the keys of a run, without their TTLs.
  std::string State(std::string_view run) {
    std::string state;
    for (const char* name : {"counter:", "applied:", "pending:", "approval:", "B:", "D:", "ir:"}) {
      const std::string key = name + std::string(run);
      const std::string type = this->Ask({"TYPE", key}).text();
      state += std::string(name) + type;
      if (type == "string") state += this->Value(key);
      if (type == "set" || type == "hash") state += Sorted(key, type);
      state += "\n";
    }
    return state;
  }

 private:
  std::string Sorted(const std::string& key, const std::string& type) {
    const Reply reply = this->Ask({type == "set" ? "SMEMBERS" : "HGETALL", key});
    std::vector<std::string> texts;
    for (const Reply& element : reply.elements()) texts.push_back(element.DebugString());
    if (type == "set") std::sort(texts.begin(), texts.end());
    std::string all;
    for (const std::string& text : texts) all += " " + text;
    return all;
  }
};
TYPED_TEST_SUITE(ScriptTextsTest, tests::Backends, tests::BackendNames);

// The same calls for two runs, with the recorded scripts and with ours. All replies (of finish_run
// the first element), and the keys after each call, must be equal.
TYPED_TEST(ScriptTextsTest, DoWhatTheRecordedScriptsDo) {
  const Words guarded = {"apply_delta_guarded", "2", "applied:#", "counter:#"};
  const Words seed = {"apply_delta_seed", "2", "applied:#", "counter:#"};
  const Words pause = {"hitl_pause", "4", "counter:#", "applied:#", "pending:#", "approval:#"};
  const Words decide = {"hitl_decide", "4", "counter:#", "applied:#", "pending:#", "approval:#"};
  const Words arrive = {"join_arrive", "2", "D:#", "applied:#"};
  const Words quiesce = {"join_quiesce", "5", "counter:#", "pending:#", "B:#", "D:#", "applied:#"};
  const Words finish = {"finish_run", "5",         "counter:#", "pending:#",
                        "context:#",  "applied:#", "ir:#"};
  const auto call = [](Words words, const Words& arguments) {
    words.insert(words.end(), arguments.begin(), arguments.end());
    return words;
  };
  const std::vector<Words> steps = {
      call(guarded, {"emit:t0", "1"}),
      call(pause, {"consume:h", "approval_1", "status", "pending"}),
      call(decide, {"approval_1", "approved", "now", "resume:approval_1"}),
      call(quiesce, {"B", "D"}),
      finish,
      {"SET", "counter:#", "1", "EX", "86400"},
      {"SET", "ir:#", "{}", "EX", "86400"},
      call(guarded, {"emit:t0", "2"}),
      call(guarded, {"emit:t0", "2"}),
      call(guarded, {"consume:t0", "-1"}),
      call(guarded, {"consume:big", "-9"}),
      call(guarded, {"consume:word", "one"}),
      call(guarded, {"consume:nothing", ""}),
      call(guarded, {"consume:half", "1.5"}),
      call(guarded, {"consume:zero", "0"}),
      call(arrive, {"D", "B", "t1", "2"}),
      call(arrive, {"D", "B", "t1", "2"}),
      call(arrive, {"D", "B", "t9", "2"}),
      call(quiesce, {"B", "D"}),
      call(arrive, {"D", "C", "t2", "2"}),
      call(arrive, {"D", "C", "t2", "2"}),
      call(arrive, {"D", "B", "t1", "2"}),
      call(arrive, {"D", "B", "t3", "1"}),
      call(arrive, {"D", "B", "t4", "3"}),
      call(arrive, {"D", "C", "t5", "3"}),
      call(quiesce, {"B", "D"}),
      call(quiesce, {"B", "D"}),
      call(pause, {"consume:h", "approval_1", "status", "pending", "node_id", "n"}),
      call(pause, {"consume:h", "approval_1", "status", "pending", "node_id", "n"}),
      call(quiesce, {"B", "D"}),
      call(guarded, {"consume:t1", "-1"}),
      call(pause, {"consume:i", "approval_2", "status", "pending"}),
      finish,
      call(decide, {"approval_1", "approved", "now", "resume:approval_1"}),
      call(decide, {"approval_1", "rejected", "now", "resume:approval_1"}),
      finish,
      call(guarded, {"consume:approval_1", "-1"}),
      finish,
      finish,
      call(seed, {"late", "-1"}),
      call(seed, {"late", "-1"}),
      call(seed, {"early", "1"}),
  };
  for (size_t i = 0; i < steps.size(); ++i) {
    const Reply recorded = this->Step(steps[i], "recorded", true);
    Reply ours = this->Step(steps[i], "ours", false);
    // Ours also returns the context, after the recorded reply.
    if (steps[i] == finish && ours.is_array()) ours = Reply(ours.elements()[0]);
    ASSERT_EQ(ours, recorded) << "step " << i << ": " << ::testing::PrintToString(steps[i]);
    ASSERT_FALSE(ours.is_error()) << "step " << i << ": " << ours;
    ASSERT_EQ(this->State("ours"), this->State("recorded")) << "step " << i;
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::orchestrator
