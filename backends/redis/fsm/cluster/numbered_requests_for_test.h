// NumberedRequests: requests whose commands carry numbers of their own, and what must hold of their
// results; for property tests of machines that choose a server for each request.
//
//   NumberedRequests requests(timeout_us, now_us);
//   machine.Submit(requests.Add(Kind::kPipeline, {"a", "b"}), now_us);
//   ...
//   requests.CountRun(number);  // Whenever a server of the model has run a command.
//   ...
//   requests.CheckResults();
//
// Thread-safety: one thread at a time.
#ifndef REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_NUMBERED_REQUESTS_FOR_TEST_H_
#define REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_NUMBERED_REQUESTS_FOR_TEST_H_

#include <rapidcheck.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/backends/redis/fsm/request_for_test.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::redis {

class NumberedRequests {
 public:
  using Kind = store::Request::Kind;

  // How long a blocking command blocks, in addition to the time limit of all requests.
  static constexpr int64_t kBlockUs = 20'000;

  // `now_us` is the clock of the model.
  NumberedRequests(int64_t timeout_us, const int64_t& now_us)
      : timeout_us_(timeout_us), now_us_(now_us) {}

  // A request of one command or, for a pipeline, of two: "SET key number", one for each key.
  store::Request& Add(Kind kind, const std::vector<std::string>& keys) {
    std::vector<std::string> lines;
    for (const std::string& key : keys) {
      lines.push_back("SET " + key + " " + std::to_string(next_number_++));
    }
    return Make(kind, std::move(lines), timeout_us_);
  }
  // "BLPOP key {key}number 0.02", whose keys belong to one slot.
  store::Request& AddBlocking(const std::string& key) {
    const std::string number = "{" + key + "}" + std::to_string(next_number_++);
    const std::string line = "BLPOP " + key + " " + number + " 0.02";
    return Make(Kind::kCommand, {line}, timeout_us_ + kBlockUs);
  }

  // "HGET key number" for each key, of which there are one or two: commands that only read.
  store::Request& AddRead(Kind kind, const std::vector<std::string>& keys) {
    std::vector<std::string> lines;
    for (const std::string& key : keys) {
      lines.push_back("HGET " + key + " " + std::to_string(next_number_++));
    }
    return Make(kind, std::move(lines), timeout_us_);
  }

  // "MSET key number key number".
  store::Request& AddMSet(const std::vector<std::string>& keys) {
    std::string line = "MSET";
    for (const std::string& key : keys) line += " " + key + " " + std::to_string(next_number_++);
    return Make(Kind::kCommand, {line}, timeout_us_);
  }

  // "KEYS number", which goes to all masters of a cluster.
  store::Request& AddKeys() {
    return Make(Kind::kCommand, {"KEYS " + std::to_string(next_number_++)}, timeout_us_);
  }

  static std::vector<std::string> NumbersOf(const store::Command& command) {
    const bool has_several = command.id() == store::CommandId::kMSet;
    std::vector<std::string> numbers;
    if (command.id() == store::CommandId::kKeys) return {std::string(command.arguments()[0])};
    for (size_t i = 1; i < (has_several ? command.arguments().size() : 2); i += 2) {
      numbers.emplace_back(command.arguments()[i]);
    }
    return numbers;
  }
  void CountRun(const std::string& number) { ++runs_[number]; }
  // The reply of a node that runs the command: OK for MSET, for others the number.
  static store::Reply ReplyTo(const store::Command& command) {
    if (command.id() == store::CommandId::kMSet) return store::Reply::Ok();
    return store::Reply::Bulk(NumbersOf(command)[0]);
  }

  // Destroys one of the requests, unless it has its result.
  void AbandonOne(size_t index) {
    if (submitted_.empty()) return;
    Submitted& one = submitted_[index % submitted_.size()];
    if (one.request != nullptr && !one.request->completed()) one.request.reset();
  }

  // Checks that each request that was not abandoned has ended once and in time, that no command ran
  // twice unless it reads, that each reply belongs to the request's own command, and that no
  // command ran whose result is "not sent". The reply to KEYS must have each node once at most.
  void CheckResults() const {
    for (const Submitted& one : submitted_) {
      if (one.request != nullptr) CheckResult(one);
    }
  }

 private:
  struct Submitted {
    std::vector<std::string> lines;
    std::unique_ptr<RequestForTest> request;
    int64_t deadline_us;
    int completions = 0;
    bool in_time = true;
  };

  store::Request& Make(Kind kind, std::vector<std::string> lines, int64_t timeout_us) {
    Submitted& one = submitted_.emplace_back();
    one.lines = std::move(lines);
    one.deadline_us = now_us_ + timeout_us;
    using Lines = std::initializer_list<std::string_view>;
    one.request = one.lines.size() == 2
                      ? std::make_unique<RequestForTest>(kind, Lines{one.lines[0], one.lines[1]})
                      : std::make_unique<RequestForTest>(kind, Lines{one.lines[0]});
    one.request->on_complete = [this, &one] {
      ++one.completions;
      one.in_time = now_us_ <= one.deadline_us;
    };
    return *one.request;
  }

  int RunsOf(const std::string& number) const {
    const auto found = runs_.find(number);
    return found == runs_.end() ? 0 : found->second;
  }

  void CheckResult(const Submitted& one) const {
    RC_ASSERT(one.completions == 1);
    RC_ASSERT(one.in_time);
    const absl::StatusOr<store::Reply>& result = one.request->result();
    if (one.request->commands()[0].id() == store::CommandId::kKeys) return CheckKeys(one);
    int runs = 0;
    for (const store::Command& command : one.request->commands()) {
      for (const std::string& number : NumbersOf(command)) {
        RC_ASSERT(RunsOf(number) <= 1 || command.id() == store::CommandId::kHGet);
        runs += RunsOf(number);
      }
    }
    if (!result.ok()) {
      RC_ASSERT(store::ErrorKindOf(result.status()).has_value());
      if (store::ErrorKindOf(result.status()) == store::ErrorKind::kNotSent) RC_ASSERT(runs == 0);
      return;
    }
    const std::vector<store::Reply> replies =
        result->is_array() ? result->elements() : std::vector<store::Reply>{*result};
    for (size_t i = 0; i < replies.size(); ++i) {
      // After too many redirections the reply is the last error.
      if (replies[i].is_error()) continue;
      const store::Command& command = one.request->commands()[i];
      RC_ASSERT(replies[i] == ReplyTo(command));
      for (const std::string& number : NumbersOf(command)) {
        RC_ASSERT(RunsOf(number) == 1 ||
                  (RunsOf(number) > 1 && command.id() == store::CommandId::kHGet));
      }
    }
  }

  void CheckKeys(const Submitted& one) const {
    const absl::StatusOr<store::Reply>& result = one.request->result();
    if (!result.ok()) {
      const bool not_sent = store::ErrorKindOf(result.status()) == store::ErrorKind::kNotSent;
      if (not_sent) RC_ASSERT(RunsOf(NumbersOf(one.request->commands()[0])[0]) == 0);
      return;
    }
    if (result->is_error()) return;
    std::set<std::string> nodes;
    for (const store::Reply& node : result->elements()) {
      RC_ASSERT(nodes.insert(std::string(node.text())).second);
    }
  }

  const int64_t timeout_us_;
  const int64_t& now_us_;
  std::deque<Submitted> submitted_;
  std::map<std::string, int> runs_;  // By the number of a command.
  int next_number_ = 0;
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_NUMBERED_REQUESTS_FOR_TEST_H_
