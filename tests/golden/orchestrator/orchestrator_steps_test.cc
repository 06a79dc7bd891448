// Replays the recorded workflows through the operations of the system: a start by
// Coordinator::Start, a signal by Coordinator::ProcessSignal, a pause and a decision by Approvals,
// a patch by ReplaceIr. After each step the keys of the run must equal the recorded ones, except
// for what this project adds to the recorded protocol (see Recorded and Ours).
//
// The recorder used token ids of its own; ours are paths in the graph. The two are matched in the
// order of publication.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/snapshot/file_stream.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/time/utc.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/orchestrator/approvals/approvals.h"
#include "redouble/core/orchestrator/run/coordinator.h"
#include "redouble/core/orchestrator/scripts/run_scripts.h"
#include "redouble/core/store/typed/hashes.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/sets.h"
#include "redouble/core/store/typed/streams.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/tests/golden/replay/golden.h"

namespace redouble::inline v0_1::golden {
namespace {

using base::IsOk;
using orchestrator::Approvals;
using orchestrator::ApprovalTerms;
using orchestrator::Artifacts;
using orchestrator::CompletionSignal;
using orchestrator::ContentRef;
using orchestrator::Coordinator;
using orchestrator::CoordinatorOptions;
using orchestrator::DecideApproval;
using orchestrator::Decision;
using orchestrator::DecisionRequest;
using orchestrator::FormatSignal;
using orchestrator::Keys;
using orchestrator::ParseApprovalMember;
using orchestrator::ParseSignal;
using orchestrator::ParseToken;
using orchestrator::ReplaceIr;
using orchestrator::ReplaceIrRequest;
using orchestrator::TaskTypes;
using orchestrator::Token;
using orchestrator::TokenIdForm;

std::string TextOf(const std::string& name) {
  return memory::ReadFile("tests/data/golden/orchestrator/" + name + ".json").value();
}

// Every node of the recorded loop fails.
class FailingOutputs final : public Artifacts {
 public:
  base::Task<absl::StatusOr<std::string>> Put(std::string_view output_json) override {
    const std::string ref = ContentRef(output_json);
    co_return ref;
  }
  base::Task<absl::StatusOr<std::optional<std::string>>> Get(std::string_view) override {
    co_return std::optional<std::string>(R"({"status":"failed"})");
  }
};

// The keys of a run that are compared: texts by name.
using Facts = std::map<std::string, std::string>;

// Runs a task to its end. An error fails the test; the result is then `otherwise`.
template <typename T>
T ValueOf(base::Task<absl::StatusOr<T>> task, T otherwise = T()) {
  absl::StatusOr<T> result = base::Run(std::move(task));
  EXPECT_THAT(result, IsOk());
  return std::move(result).value_or(std::move(otherwise));
}

class StepReplay {
 public:
  explicit StepReplay(const std::string& name) {
    const Scripts scripts = ParseScripts(TextOf("scripts")).value();
    absl::StatusOr<Golden> golden = ParseGolden(TextOf(name), name, System::kOrchestrator, scripts);
    EXPECT_TRUE(golden.ok()) << golden.status();
    if (golden.ok()) golden_ = *std::move(golden);
  }

  // Returns how many steps were done by an operation.
  int Run() {
    int operations = 0;
    for (const RecordedStep& step : golden_.steps) {
      clock_.AdvanceTo(start_ + step.at.value_or(absl::ZeroDuration()));
      bool has_finished = false;
      int done = 0;
      for (const RecordedCommand& command : step.commands) {
        done += Do(step, command) ? 1 : 0;
        if (command.script == "finish_run" && command.reply == Json(1)) has_finished = true;
      }
      operations += done;
      if (done == 0 && !has_finished) continue;
      // The coordinator ends the run with its last token; the recorder did so a moment later.
      const bool ended = !ValueOf(store::Exists(*session_, "counter:" + run_));
      if (ended && !has_finished) continue;
      EXPECT_EQ(Ours(), ended ? Facts() : Recorded(*step.keyspace)) << step.path;
    }
    return operations;
  }

 private:
  // Runs the operation that the command represents. Returns false if it represents none.
  bool Do(const RecordedStep& step, const RecordedCommand& command) {
    const std::vector<std::string>& words = command.words;
    if (words[0] == "SET" && words[1].starts_with("ir:")) return DoIr(step, words);
    if (command.script == "apply_delta_guarded" && words[5].starts_with("consume:")) {
      return DoSignal(step, words[5].substr(8));
    }
    if (command.script == "hitl_pause") return DoPause(words);
    if (command.script == "hitl_decide") return DoDecision(step, words);
    if (words[0] == "RPUSH") Remember(words[2]);
    return false;
  }

  void Remember(const std::string& text) {
    const auto signal = ParseSignal(text);
    if (signal.ok()) signals_[signal->job_id] = *signal;
  }

  bool DoIr(const RecordedStep& step, const std::vector<std::string>& words) {
    if (words.size() > 3 && words[3] == "KEEPTTL") {
      const auto before = base::Run(store::Get(*session_, words[1]));
      ReplaceIrRequest request;
      request.run_id = run_;
      EXPECT_THAT(before, IsOk());
      const std::string expected = before.value_or(std::nullopt).value_or("");
      request.expected = expected;
      request.ir = words[2];
      EXPECT_TRUE(base::Run(ReplaceIr(*session_, Keys(), request)).ok());
      return true;
    }
    if (!run_.empty()) return false;
    run_ = words[1].substr(3);
    const auto started = base::Run(coordinator_.Start(run_, words[2]));
    EXPECT_TRUE(started.ok()) << started.status();
    Match(step);
    return true;
  }

  // For this signal the coordinator does what the recorder's did in several commands.
  bool DoSignal(const RecordedStep& step, const std::string& job) {
    const auto recorded = signals_.find(job);
    if (recorded == signals_.end()) return false;
    CompletionSignal signal = recorded->second;
    signal.job_id = OurId(job);
    const absl::StatusOr<std::string> text = FormatSignal(signal);
    EXPECT_THAT(text, IsOk());
    EXPECT_THAT(base::Run(coordinator_.ProcessSignal(text.value_or(""))), IsOk());
    Match(step);
    return true;
  }

  bool DoPause(const std::vector<std::string>& words) {
    const std::string token_id = OurId(words[7].substr(8));
    for (const Token& token : Published()) {
      if (token.id != token_id) continue;
      ApprovalTerms terms;
      terms.approval_id = std::string(*ParseApprovalMember(words[8]));
      EXPECT_TRUE(base::Run(approvals_.Request(token, terms)).ok());
      return true;
    }
    return false;
  }

  // The signal of our decision contains the output itself, that of the recorded one a reference.
  bool DoDecision(const RecordedStep& step, const std::vector<std::string>& words) {
    DecisionRequest request;
    const std::string id(*ParseApprovalMember(words[7]));
    request.run_id = run_;
    request.approval_id = id;
    request.decided_at = *base::ParseRfc3339(words[9]);
    const auto decision = base::Run(DecideApproval(*session_, Keys(), request));
    EXPECT_TRUE(decision.ok() && decision->outcome == Decision::Outcome::kDecided) << step.path;
    ids_[words[7]] = words[7];
    return true;
  }

  // Returns all tokens that our coordinator has published, in order.
  std::vector<Token> Published() {
    std::vector<Token> tokens;
    for (const std::string_view type : TaskTypes()) {
      const store::StreamRange range;
      const std::string stream = Keys().TaskStream(type).value_or("");
      for (const store::StreamEntry& entry : ValueOf(store::XRange(*session_, stream, range))) {
        const absl::StatusOr<Token> token = ParseToken(entry.Find("token").value_or(""));
        EXPECT_THAT(token, IsOk());
        if (token.ok()) tokens.push_back(*token);
      }
    }
    return tokens;
  }

  // Matches the tokens that the step published with the recorded ones: they must have the same
  // targets in the same order.
  void Match(const RecordedStep& step) {
    std::vector<Token> fresh;
    for (const Token& token : Published()) {
      if (known_.insert(token.id).second) fresh.push_back(token);
    }
    size_t next = 0;
    for (const RecordedCommand& command : step.commands) {
      if (command.words[0] != "XADD") continue;
      const auto token = ParseToken(command.words[4]);
      ASSERT_TRUE(token.ok()) << token.status();
      ASSERT_LT(next, fresh.size()) << "nobody published " << token->id;
      EXPECT_EQ(fresh[next].to_node, token->to_node) << step.path;
      EXPECT_EQ(fresh[next].payload_ref, token->payload_ref) << step.path;
      EXPECT_EQ(fresh[next].from_node, token->from_node) << step.path;
      EXPECT_EQ(fresh[next].join_count, token->join_count) << step.path;
      ids_[token->id] = fresh[next++].id;
    }
    EXPECT_EQ(next, fresh.size()) << step.path << ": more is published than was recorded";
  }

  std::string OurId(const std::string& recorded) const {
    const auto id = ids_.find(recorded);
    return id == ids_.end() ? recorded : id->second;
  }

  // Returns an operation with our token ids: "emit:t0", "arrive:D:t0/B", "consume:t0".
  std::string OurOperation(const std::string& operation) const {
    for (const std::string name : {"emit:", "consume:"}) {
      if (operation.starts_with(name)) return name + OurId(operation.substr(name.size()));
    }
    if (!operation.starts_with("arrive:") && !operation.starts_with("fire:")) return operation;
    const size_t colon = operation.find(':', operation.find(':') + 1);
    return operation.substr(0, colon + 1) + OurId(operation.substr(colon + 1));
  }

  // The exact TTL depends on when a key was created; all are a day, minus some seconds.
  static std::string Lives(int64_t seconds) { return seconds > 80'000 ? "a day" : "not a day"; }

  // Returns the recorded keys of the run whose values follow from the protocol.
  Facts Recorded(const RecordedKeyspace& keyspace) const {
    Facts facts;
    for (const auto& [key, recorded] : keyspace) {
      if (recorded.type == "stream" || key.starts_with("completion_signals")) continue;
      // One recording does not have the TTL of a key; the protocol sets it.
      facts["ttl " + key] = recorded.ttl < 0 ? "a day" : Lives(recorded.ttl);
      if (recorded.type == "string") facts[key] = recorded.value.get<std::string>();
      if (recorded.type == "set") {
        for (const Json& member : recorded.value) {
          facts[key + " " + OurOperation(member.get<std::string>())] = "member";
        }
      }
      if (recorded.type != "hash") continue;
      for (const auto& [field, value] : recorded.value.items()) {
        if (!IsAnybodys(field)) facts[key + " " + field] = value.get<std::string>();
      }
    }
    return facts;
  }

  // Returns the keys of the run without what this project adds: the recorded route of an emission,
  // and the times of a node.
  Facts Ours() {
    Facts facts;
    for (const std::string& key : ValueOf(store::Keys(*session_, "*"))) {
      if (key.starts_with("wf.tasks.") || key.starts_with("completion_signals")) continue;
      const store::Ttl ttl = ValueOf(store::TimeToLive(*session_, key), store::Ttl(-1));
      facts["ttl " + key] =
          Lives(ttl.expires() ? absl::ToInt64Seconds(ttl.remaining()) : int64_t{-1});
      const store::KeyType type = ValueOf(store::TypeOf(*session_, key));
      if (type == store::KeyType::kString) {
        facts[key] = ValueOf(store::Get(*session_, key)).value_or("");
      }
      if (type == store::KeyType::kSet) {
        for (const std::string& member : ValueOf(store::SMembers(*session_, key))) {
          if (!member.starts_with("route:")) facts[key + " " + member] = "member";
        }
      }
      if (type != store::KeyType::kHash) continue;
      for (const auto& [field, value] : ValueOf(store::HGetAll(*session_, key))) {
        if (!IsAnybodys(field)) facts[key + " " + field] = value;
      }
    }
    return facts;
  }
  static bool IsAnybodys(std::string_view field) {
    return field.ends_with(":completed_at") || field.ends_with(":duration_ms") ||
           field == "created_at" || field == "timeout_at" || field == "approver" ||
           field == "payload_cas_ref";
  }

  static CoordinatorOptions Options(Artifacts& artifacts) {
    CoordinatorOptions options;
    options.token_ids = TokenIdForm::kPath;
    options.artifacts = &artifacts;
    return options;
  }

  const absl::Time start_ = *base::ParseRfc3339("2025-10-15T10:00:00Z");
  base::VirtualClock clock_{start_};
  memory::Engine engine_{clock_, {}};
  std::unique_ptr<memory::Session> session_ = engine_.Connect();
  FailingOutputs artifacts_;
  Coordinator coordinator_{*session_, clock_, Keys(), Options(artifacts_)};
  Approvals approvals_{*session_, clock_, Keys()};
  Golden golden_;
  std::string run_;
  std::map<std::string, CompletionSignal> signals_;  // By the recorded job.
  std::map<std::string, std::string> ids_;           // Our ids by the recorded ones.
  std::set<std::string> known_;
};

TEST(OrchestratorSteps, TheLifecycleOfTheSeedEqualsTheCoordinators) {
  EXPECT_EQ(StepReplay("02_seed_lifecycle_normative").Run(), 9);
}

TEST(OrchestratorSteps, ADiamondWithACrashAndARedeliveryEqualsTheCoordinators) {
  EXPECT_EQ(StepReplay("04_diamond_fan_out_fan_in").Run(), 6);
}

TEST(OrchestratorSteps, ALoopEqualsTheCoordinators) {
  EXPECT_EQ(StepReplay("05_loop_iteration_cap").Run(), 5);
}

TEST(OrchestratorSteps, ADuplicateSignalEqualsTheCoordinators) {
  EXPECT_EQ(StepReplay("06_duplicate_completion_signal").Run(), 4);
}

TEST(OrchestratorSteps, APatchEqualsTheCoordinators) {
  EXPECT_GE(StepReplay("15_agent_patch").Run(), 5);
}

}  // namespace
}  // namespace redouble::inline v0_1::golden
