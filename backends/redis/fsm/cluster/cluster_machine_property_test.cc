// ClusterMachine under random events, compared with a model of the cluster: every request ends once
// and in time, its replies are those of its own commands from the node that serves them, nothing
// runs twice, what is called "not sent" has not run, a command for all masters counts each of them
// once, and once all nodes answer, every request is served by the node of its slot. Reads may go to
// replicas, writes never.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/backends/redis/fsm/cluster/cluster_machine.h"
#include "redouble/backends/redis/fsm/cluster/machine_driver_for_test.h"
#include "redouble/backends/redis/fsm/cluster/numbered_requests_for_test.h"
#include "redouble/core/base/hash/crc.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::redis {
namespace {

using store::Reply;
using Kind = store::Request::Kind;

constexpr int kNodes = 3;
constexpr int64_t kTimeoutUs = 50'000;
constexpr int64_t kRefreshUs = 1000;
constexpr size_t kQueueLimit = 12;

class Model : public MachineDriver<ClusterMachine> {
 public:
  Model(const Options& options, uint64_t seed) : MachineDriver(options, nullptr, base::Rng(seed)) {
    machine.Start(now_us);
    Collect();
  }

  using MachineDriver::Submit;
  void Submit(Kind kind, int commands) {
    std::vector<std::string> keys;
    for (int i = 0; i < commands; ++i) keys.push_back(DrawKey());
    Submit(requests.Add(kind, keys));
  }
  store::Request& SubmitTo(int key) {
    store::Request& request = requests.Add(Kind::kCommand, {kKeys[key]});
    Submit(request);
    return request;
  }
  void SubmitReads(Kind kind, int commands) {
    std::vector<std::string> keys;
    for (int i = 0; i < commands; ++i) keys.push_back(DrawKey());
    Submit(requests.AddRead(kind, keys));
  }
  store::Request& SubmitReadTo(int key) {
    store::Request& request = requests.AddRead(Kind::kCommand, {kKeys[key]});
    Submit(request);
    return request;
  }
  void SubmitMSet() { Submit(requests.AddMSet({DrawKey(), DrawKey()})); }
  void SubmitKeys() { Submit(requests.AddKeys()); }
  void SubmitBlocking() { Submit(requests.AddBlocking(DrawKey())); }

  // A node answers one part, or its connection fails.
  void AnswerPart(size_t index, int how) {
    if (sent.empty()) return;
    const auto part = std::next(sent.begin(), static_cast<std::ptrdiff_t>(index % sent.size()));
    const uint64_t id = part->first;
    const std::string host = part->second;
    sent.erase(part);
    if (how == 0) {
      machine.PartUnreachable(id, store::NotSentError("unreachable"), now_us);
    } else if (how == 1) {
      machine.PartAnswered(id, store::NotSentError("lost before the write"), now_us);
    } else {
      Reply reply = Run(machine.Part(id), host, how == kDown);
      // With how == 3 the node has run the part, but the connection is lost before the reply.
      machine.PartAnswered(
          id,
          how == 3 ? absl::StatusOr<Reply>(store::OutcomeUnknownError("lost")) : std::move(reply),
          now_us);
    }
    Collect();
  }

  void AnswerMap(int how) {
    if (!map_asked) return;
    const size_t node = *std::exchange(map_asked, std::nullopt);
    if (how == 0) {
      machine.MapAnswered(node, store::NotSentError("unreachable"), now_us);
    } else {
      std::vector<Reply> rows;
      for (const auto& [slot, owner] : owners) {
        if (owner == kNobody) continue;
        rows.push_back(Reply::Array(
            {Reply::Integer(slot), Reply::Integer(slot),
             Reply::Array({Reply::Bulk(absl::StrCat("n", owner)), Reply::Integer(7)}),
             Reply::Array({Reply::Bulk(absl::StrCat("r", owner)), Reply::Integer(7)})}));
      }
      const std::string info = absl::StrCat("cluster_state:", how == 1 ? "fail" : "ok",
                                            "\r\ncluster_current_epoch:", epoch);
      machine.MapAnswered(node, Reply::Array({Reply::Array(std::move(rows)), Reply::Bulk(info)}),
                          now_us);
    }
    Collect();
  }

  // The slot of the key moves to a node, or no node serves it any more.
  void MoveSlot(int key, int owner) {
    owners[base::KeySlot(kKeys[key])] = owner;
    ++epoch;
  }

  // All nodes answer, and truthfully.
  void AnswerAll() {
    for (int i = 0; i < 10; ++i) {
      AnswerMap(kTruthfully);
      while (!sent.empty()) AnswerPart(0, kTruthfully);
      PassInSteps(2 * kRefreshUs);
    }
  }

  // All nodes refuse what is under way.
  void RefuseAll() {
    for (size_t left = sent.size(); left > 0; --left) AnswerPart(0, kDown);
  }

  static constexpr int kNobody = 0;
  static constexpr int kDown = 2;
  static constexpr int kTruthfully = 4;

 private:
  static constexpr const char* kKeys[] = {"a", "b", "c"};

  static std::string DrawKey() { return kKeys[*rc::gen::inRange(0, 3)]; }

  // What the node does with a part: it runs the commands whose keys it serves.
  Reply Run(const ClusterPart& part, const std::string& host, bool down) {
    std::vector<Reply> replies;
    std::vector<std::string> queued;
    bool in_transaction = false, refused = false;
    for (const store::Command& command : part.commands()) {
      if (command.id() == store::CommandId::kMulti) {
        in_transaction = true;
        replies.push_back(Reply::Ok());
      } else if (command.id() == store::CommandId::kExec) {
        std::vector<Reply> results;
        for (const std::string& number : queued) {
          if (refused) break;
          requests.CountRun(number);
          results.push_back(Reply::Bulk(number));
        }
        replies.push_back(refused ? Reply::Error("EXECABORT discarded")
                                  : Reply::Array(std::move(results)));
      } else if (command.id() == store::CommandId::kKeys) {
        replies.push_back(RunKeys(command, host, down));
      } else {
        const std::vector<std::string> numbers = NumberedRequests::NumbersOf(command);
        const int slot = base::KeySlot(command.arguments()[0]);
        const std::string owner = absl::StrCat("n", owners.at(slot));
        const bool served = !down && owners.at(slot) != kNobody;
        const bool reads = command.id() == store::CommandId::kHGet;
        RC_ASSERT(reads || !host.starts_with("r"));
        const bool replicates = reads && host == absl::StrCat("r", owners.at(slot));
        if (!served || (owner != host && !replicates)) {
          refused = true;
          replies.push_back(!served ? Reply::Error("CLUSTERDOWN Hash slot not served")
                                    : Reply::Error(absl::StrCat("MOVED ", slot, " ", owner, ":7")));
        } else if (in_transaction) {
          queued.push_back(numbers[0]);
          replies.push_back(Reply::Status("QUEUED"));
        } else {
          for (const std::string& number : numbers) requests.CountRun(number);
          replies.push_back(NumberedRequests::ReplyTo(command));
        }
      }
    }
    return part.kind() == Kind::kCommand ? std::move(replies[0]) : Reply::Array(std::move(replies));
  }

  // The node's only key is its own name.
  Reply RunKeys(const store::Command& command, const std::string& host, bool down) {
    if (down) return Reply::Error("CLUSTERDOWN The cluster is down");
    requests.CountRun(NumberedRequests::NumbersOf(command)[0]);
    return Reply::Array({Reply::Bulk(host)});
  }

  void Collect() override {
    for (const uint64_t part : machine.TakeDropped()) sent.erase(part);
    while (const std::optional<ClusterAction> action = machine.NextAction()) {
      switch (action->kind) {
        case ClusterAction::Kind::kSend:
          sent.emplace(action->part, machine.Address(action->node).host);
          break;
        case ClusterAction::Kind::kAskMap:
          map_asked = action->node;
          break;
        case ClusterAction::Kind::kWake:
          wake_us = action->at_us;
      }
    }
    machine.TakeForgotten();
  }

  std::optional<size_t> map_asked;
  std::map<int, int> owners = {{7365, 1}, {3300, 2}, {15495, 3}};  // Of the slots of the keys.
  int64_t epoch = 1;

 public:
  // The last member, because a request that is destroyed early is abandoned.
  NumberedRequests requests{kTimeoutUs, now_us};
};

void TakeRandomStep(Model& model) {
  switch (*rc::gen::inRange(0, 16)) {
    case 0:
    case 1:
      return model.Submit(Kind::kCommand, 1);
    case 2:
      return model.Submit(Kind::kPipeline, 2);
    case 3:
      return model.Submit(Kind::kTransaction, 1);
    case 4:
      return model.SubmitBlocking();
    case 5:
    case 6:
    case 7:
      return model.AnswerPart(*rc::gen::inRange<size_t>(0, 10), *rc::gen::inRange(0, 12));
    case 8:
      return model.AnswerMap(*rc::gen::inRange(0, 5));
    case 9:
      return model.PassInSteps(*rc::gen::inRange(0, 4000));
    case 10:
      return model.MoveSlot(*rc::gen::inRange(0, 3), *rc::gen::inRange(Model::kNobody, kNodes + 1));
    case 11:
      return model.SubmitMSet();
    case 12:
      return model.requests.AbandonOne(*rc::gen::inRange<size_t>(0, 1000));
    case 13:
      return model.SubmitKeys();
    case 14:
      return model.SubmitReads(Kind::kCommand, 1);
    case 15:
      return model.SubmitReads(Kind::kPipeline, 2);
  }
}

Options DrawOptions() {
  Options options;
  options.address = TcpAddress{"n1", 7};
  options.seeds = {{"n2", 7}, {"n3", 7}};
  options.cluster = true;
  options.redirections = *rc::gen::inRange(0, 6);
  options.refresh_interval = absl::Microseconds(kRefreshUs);
  options.command_timeout = absl::Microseconds(kTimeoutUs);
  options.queue_limit = static_cast<int>(kQueueLimit);
  options.reconnect = *rc::gen::arbitrary<bool>();
  options.retry = static_cast<RetryPolicy>(*rc::gen::inRange(0, 3));
  options.split_commands = *rc::gen::arbitrary<bool>();
  options.read_from = static_cast<ReadFrom>(*rc::gen::inRange(0, 4));
  return options;
}

RC_GTEST_PROP(ClusterMachineProperty, EveryRequestEndsOnceInTimeOnTheRightNode, ()) {
  Model model(DrawOptions(), *rc::gen::arbitrary<uint64_t>());
  const int steps = *rc::gen::inRange(0, 150);
  for (int step = 0; step < steps; ++step) {
    TakeRandomStep(model);
    RC_ASSERT(model.machine.queued() <= kQueueLimit);
  }
  // No node answers any more: the time limits end everything.
  model.PassInSteps(kTimeoutUs + NumberedRequests::kBlockUs);
  RC_ASSERT(model.machine.queued() == 0u);
  model.requests.CheckResults();
}

RC_GTEST_PROP(ClusterMachineProperty, ServesEveryRequestOnceAllNodesAnswer, ()) {
  Options options = DrawOptions();
  options.reconnect = true;
  Model model(options, *rc::gen::arbitrary<uint64_t>());
  const int steps = *rc::gen::inRange(0, 150);
  for (int step = 0; step < steps; ++step) TakeRandomStep(model);
  // The masters change while a command for all of them waits.
  model.SubmitKeys();
  model.RefuseAll();
  for (int key = 0; key < 3; ++key) model.MoveSlot(key, *rc::gen::inRange(1, kNodes + 1));
  // Without redirections, a request returns MOVED, and the map that is read then is right.
  for (int i = 0; i < 2; ++i) {
    for (int key = 0; key < 3; ++key) model.SubmitTo(key);
    model.AnswerAll();
  }
  std::vector<store::Request*> last;
  for (int key = 0; key < 3; ++key) {
    last.push_back(&model.SubmitTo(key));
    last.push_back(&model.SubmitReadTo(key));
  }
  model.AnswerAll();
  for (const store::Request* request : last) {
    RC_ASSERT(request->completed());
    const auto& result = static_cast<const RequestForTest*>(request)->result();
    RC_ASSERT(result.ok() && !result->is_error());
  }
  RC_ASSERT(model.machine.queued() == 0u);
  model.requests.CheckResults();
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
