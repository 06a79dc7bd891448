#include "redouble/backends/redis/fsm/cluster/cluster_job.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "redouble/backends/redis/fsm/cluster/cluster_redirect.h"
#include "redouble/backends/redis/fsm/cluster/spelled_transaction.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/table/command_table.h"

namespace redouble::inline v0_1::redis {
namespace {

using store::Command;
using store::CommandId;
using store::Reply;
using Kind = store::Request::Kind;

// A SCAN with the cursor of the master that it visits.
Command WithOwnCursor(const Command& scan, uint64_t cursor) {
  Command own = Command::Named(scan.name());
  own.AddOwned(absl::StrCat(cursor));
  own.AddAll(scan.arguments().subspan(1));
  return own;
}

}  // namespace

ClusterJob::ClusterJob(store::Request& request)
    : request_(&request),
      answers_(request.kind() == Kind::kTransaction ? 1 : request.commands().size()) {
  for (Answers& answer : answers_) answer.resize(1);
}

void ClusterJob::Split(size_t command, CommandSplit split) {
  Expect(command, split.size());
  splits_.insert_or_assign(command, std::move(split));
}

const CommandSplit* ClusterJob::SplitOf(const Errand& errand) const {
  const auto split = splits_.find(errand.command);
  return split == splits_.end() ? nullptr : &split->second;
}

void ClusterJob::Answer(const Errand& errand, Reply reply) {
  answered_something_ = true;
  if (errand.scan_masters > 0) {
    reply = WithClusterCursor(std::move(reply), errand.scan.master, errand.scan_masters);
  }
  answers_[errand.command][errand.copy] = std::move(reply);
}

void ClusterJob::Fail(absl::Status status) {
  const bool unknown = store::ErrorKindOf(status) != store::ErrorKind::kNotSent;
  // "Outcome unknown" takes precedence over "not sent".
  if (!failure_ || (unknown && store::ErrorKindOf(*failure_) == store::ErrorKind::kNotSent)) {
    failure_ = std::move(status);
  }
}

absl::StatusOr<Reply> ClusterJob::TakeResult() {
  if (failure_) {
    const bool not_sent = store::ErrorKindOf(*failure_) == store::ErrorKind::kNotSent;
    if (!not_sent || !answered_something_) return *std::move(failure_);
    const std::string text = absl::StrCat(
        "a part of the request was answered, another was not sent: ", failure_->message());
    return store::OutcomeUnknownError(std::string_view(text), failure_->code());
  }
  const bool is_single = answers_.size() == 1 && answers_[0].size() == 1 && splits_.empty();
  if (is_single && answers_[0][0] && request_->kind() != Kind::kPipeline) {
    return *std::move(answers_[0][0]);
  }
  std::vector<Reply> replies;
  replies.reserve(answers_.size());
  const std::span<const Command> commands = request_->commands();
  for (size_t i = 0; i < answers_.size(); ++i) {
    std::vector<Reply> copies;
    for (std::optional<Reply>& copy : answers_[i]) {
      if (copy) copies.push_back(*std::move(copy));
    }
    if (copies.empty()) return store::NotSentError("all masters of the cluster were replaced");
    const auto split = splits_.find(i);
    if (split != splits_.end()) {
      replies.push_back(split->second.Merge(std::move(copies)));
    } else {
      replies.push_back(answers_[i].size() == 1 ? std::move(copies[0])
                                                : MergeReplies(commands[i], std::move(copies)));
    }
  }
  if (request_->kind() != Kind::kPipeline) return std::move(replies[0]);
  return Reply::Array(std::move(replies));
}

absl::Status ClusterJob::EarlyResult(const std::string& text, absl::StatusCode code) const {
  const bool unknown = !parts.empty() || answered_something_ ||
                       (failure_ && store::ErrorKindOf(*failure_) != store::ErrorKind::kNotSent);
  return unknown ? store::OutcomeUnknownError(std::string_view(text), code)
                 : store::NotSentError(std::string_view(text), code);
}

absl::Status ClusterJob::TimeoutResult() const {
  const absl::Status& problem = failure_ ? *failure_ : last_problem;
  const absl::Duration limit = absl::Microseconds(self->first - submitted_us);
  return EarlyResult(absl::StrCat("the cluster did not answer within ", absl::FormatDuration(limit),
                                  problem.ok() ? "" : ": ", problem.message()),
                     absl::StatusCode::kDeadlineExceeded);
}

bool ClusterJob::CameFrom(size_t node) const {
  return std::find(moved_from.begin(), moved_from.end(), node) != moved_from.end();
}

ClusterPart::ClusterPart(ClusterJob& job, size_t node, bool asking, Errands errands)
    : job_(job), node_(node), asking_(asking), errands_(std::move(errands)) {
  BuildCommands();
}

void ClusterPart::BuildCommands() {
  const store::Request& request = job_.request();
  const std::span<const Command> all = request.commands();
  bool as_given = !job_.is_transaction() && !asking_ && errands_.size() == all.size();
  for (size_t i = 0; as_given && i < errands_.size(); ++i) {
    as_given = errands_[i].command == i && errands_[i].scan_masters == 0 &&
               job_.SplitOf(errands_[i]) == nullptr;
  }
  if (as_given) {
    kind_ = request.kind();
    commands_ = all;
    return;
  }
  kind_ = Kind::kPipeline;
  if (job_.is_transaction()) {
    if (asking_) own_.push_back(Command::Named("ASKING"));
    for (Command& command : SpellOut(all)) own_.push_back(std::move(command));
  } else {
    for (const Errand& errand : errands_) {
      if (asking_) own_.push_back(Command::Named("ASKING"));
      const Command& command = all[errand.command];
      if (const CommandSplit* split = job_.SplitOf(errand)) {
        own_.push_back(split->CommandOf(errand.copy));
      } else {
        own_.push_back(errand.scan_masters > 0 ? WithOwnCursor(command, errand.scan.cursor)
                                               : SameAs(command));
      }
    }
  }
  commands_ = own_;
}

absl::StatusOr<Replies> ClusterPart::TakeReplies(Reply reply) const {
  Replies taken;
  if (kind_ == Kind::kCommand) {
    taken.push_back(std::move(reply));
    return taken;
  }
  if (!reply.is_array() || reply.elements().size() != commands_.size()) {
    return store::ProtocolError("a node gave another number of replies than it was asked for");
  }
  std::vector<Reply> replies = std::move(reply).elements();
  if (job_.is_transaction()) {
    const auto is_redirect = [](const Reply& r) { return ReadRedirect(r, {}).has_value(); };
    taken.push_back(ResultOfSpelled(std::move(replies), is_redirect));
    return taken;
  }
  // The replies to ASKING, which precedes each command, are left out.
  const size_t step = asking_ ? 2 : 1;
  for (size_t i = step - 1; i < replies.size(); i += step) taken.push_back(std::move(replies[i]));
  return taken;
}

}  // namespace redouble::inline v0_1::redis
