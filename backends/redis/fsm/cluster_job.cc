#include "backends/redis/fsm/cluster_job.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/redis/fsm/cluster_redirect.h"
#include "core/base/string_bridge.h"
#include "core/store/command_table.h"
#include "core/store/errors.h"

namespace redouble::redis {
namespace {

using store::Command;
using store::CommandId;
using store::Reply;
using Kind = store::Request::Kind;

// A second command with the same words: the arguments stay the request's, which outlives the part.
Command SameAs(const Command& command) {
  return Command::Named(command.name(), command.arguments());
}

// A SCAN with the cursor of the master that it visits.
Command WithOwnCursor(const Command& scan, uint64_t cursor) {
  Command own = Command::Named(scan.name());
  own.AddOwned(absl::StrCat(cursor));
  own.AddAll(scan.arguments().subspan(1));
  return own;
}

bool OnlyReads(const Command& command) {
  const CommandId id = RowOf(command);
  return id != CommandId::kUnknown && store::SpecOf(id).Has(store::command_flag::kReadOnly);
}

}  // namespace

ClusterJob::ClusterJob(store::Request& request)
    : request_(&request),
      answers_(request.kind() == Kind::kTransaction ? 1 : request.commands().size()) {
  for (std::vector<Reply>& answer : answers_) answer.resize(1);
}

bool ClusterJob::only_reads() const {
  return std::all_of(request_->commands().begin(), request_->commands().end(), OnlyReads);
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
  // What may have run outweighs what certainly has not.
  if (!failure_ || (unknown && store::ErrorKindOf(*failure_) == store::ErrorKind::kNotSent)) {
    failure_ = std::move(status);
  }
}

absl::StatusOr<Reply> ClusterJob::TakeResult() {
  if (failure_) {
    const bool not_sent = store::ErrorKindOf(*failure_) == store::ErrorKind::kNotSent;
    if (!not_sent || !answered_something_) return *std::move(failure_);
    const std::string text = absl::StrCat(
        "a part of the pipeline was answered, another was not sent: ", failure_->message());
    return store::OutcomeUnknownError(std::string_view(text), failure_->code());
  }
  std::vector<Reply> replies;
  replies.reserve(answers_.size());
  const std::span<const Command> commands = request_->commands();
  for (size_t i = 0; i < answers_.size(); ++i) {
    replies.push_back(answers_[i].size() == 1 ? std::move(answers_[i][0])
                                              : MergeReplies(commands[i], std::move(answers_[i])));
  }
  if (request_->kind() != Kind::kPipeline) return std::move(replies[0]);
  return Reply::Array(std::move(replies));
}

absl::Status ClusterJob::TimeoutResult(const std::string& limit) const {
  constexpr absl::StatusCode kCode = absl::StatusCode::kDeadlineExceeded;
  const absl::Status& problem = failure_ ? *failure_ : last_problem;
  const std::string text = absl::StrCat("the cluster did not answer within ", limit,
                                        problem.ok() ? "" : ": ", problem.message());
  const bool unknown = !parts.empty() || answered_something_ ||
                       (failure_ && store::ErrorKindOf(*failure_) != store::ErrorKind::kNotSent);
  return unknown ? store::OutcomeUnknownError(std::string_view(text), kCode)
                 : store::NotSentError(std::string_view(text), kCode);
}

ClusterPart::ClusterPart(ClusterJob& job, size_t node, bool asking, std::vector<Errand> errands)
    : job_(job), node_(node), asking_(asking), errands_(std::move(errands)) {
  BuildCommands();
}

void ClusterPart::BuildCommands() {
  const store::Request& request = job_.request();
  const std::span<const Command> all = request.commands();
  bool as_given = !job_.is_transaction() && !asking_ && errands_.size() == all.size();
  for (size_t i = 0; as_given && i < errands_.size(); ++i) {
    as_given = errands_[i].command == i && errands_[i].scan_masters == 0;
  }
  if (as_given) {
    kind_ = request.kind();
    commands_ = all;
    return;
  }
  kind_ = Kind::kPipeline;
  if (job_.is_transaction()) {
    if (asking_) own_.push_back(Command::Named("ASKING"));
    own_.emplace_back(CommandId::kMulti);
    for (const Command& command : all) own_.push_back(SameAs(command));
    own_.emplace_back(CommandId::kExec);
  } else {
    for (const Errand& errand : errands_) {
      if (asking_) own_.push_back(Command::Named("ASKING"));
      const Command& command = all[errand.command];
      own_.push_back(errand.scan_masters > 0 ? WithOwnCursor(command, errand.scan.cursor)
                                             : SameAs(command));
    }
  }
  commands_ = own_;
}

absl::StatusOr<std::vector<Reply>> ClusterPart::TakeReplies(Reply reply) const {
  if (kind_ == Kind::kCommand) {
    std::vector<Reply> replies;
    replies.push_back(std::move(reply));
    return replies;
  }
  if (!reply.is_array() || reply.elements().size() != commands_.size()) {
    return store::ProtocolError("a node gave another number of replies than it was asked for");
  }
  std::vector<Reply> replies = std::move(reply).elements();
  if (job_.is_transaction()) {
    Reply result = std::move(replies.back());
    // What a node discards, it has not run: why it did is in the replies before.
    if (result.is_error()) {
      const auto is_redirect = [](const Reply& r) { return ReadRedirect(r, {}).has_value(); };
      const auto redirect = std::find_if(replies.begin(), replies.end() - 1, is_redirect);
      if (redirect != replies.end() - 1) result = std::move(*redirect);
    }
    replies.clear();
    replies.push_back(std::move(result));
  } else if (asking_) {
    for (size_t i = 0; i < errands_.size(); ++i) replies[i] = std::move(replies[2 * i + 1]);
    replies.resize(errands_.size());
  }
  return replies;
}

}  // namespace redouble::redis
