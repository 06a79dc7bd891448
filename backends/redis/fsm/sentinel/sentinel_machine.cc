#include "redouble/backends/redis/fsm/sentinel/sentinel_machine.h"

#include <algorithm>
#include <iterator>
#include <variant>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "redouble/backends/redis/fsm/cluster/cluster_redirect.h"
#include "redouble/backends/redis/fsm/cluster/cluster_route.h"
#include "redouble/backends/redis/fsm/cluster/spelled_transaction.h"
#include "redouble/backends/redis/fsm/command_effect.h"
#include "redouble/backends/redis/fsm/replica_exit.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::redis {
namespace {

using store::ErrorKind;
using store::Reply;
using store::Request;

constexpr std::string_view kBecameReplica = "the master became a read-only replica";

std::string Text(const TcpAddress& address) {
  return absl::StrCat(address.host, ":", address.port);
}

std::optional<TcpAddress> ReadAddress(std::string_view host, std::string_view port) {
  uint32_t number = 0;
  if (host.empty() || !absl::SimpleAtoi(base::ToAbsl(port), &number)) return std::nullopt;
  if (number < 1 || number > std::numeric_limits<uint16_t>::max()) return std::nullopt;
  return TcpAddress{std::string(host), static_cast<uint16_t>(number)};
}

// The value of a field in a flat list of fields and values.
std::string_view FieldOf(const Reply& fields, std::string_view name) {
  if (!fields.is_array()) return {};
  const std::vector<Reply>& elements = fields.elements();
  for (size_t i = 0; i + 1 < elements.size(); i += 2) {
    if (elements[i] == Reply::Bulk(name) && elements[i + 1].is_bulk()) {
      return elements[i + 1].text();
    }
  }
  return {};
}

// The address in the reply to SENTINEL GET-MASTER-ADDR-BY-NAME.
std::optional<TcpAddress> ReadMaster(const Reply& reply) {
  if (!reply.is_array() || reply.elements().size() != 2) return std::nullopt;
  const std::vector<Reply>& elements = reply.elements();
  if (!elements[0].is_bulk() || !elements[1].is_bulk()) return std::nullopt;
  return ReadAddress(elements[0].text(), elements[1].text());
}

// The number of the configuration in the reply to SENTINEL MASTER; each failover has a greater one.
// nullopt if the sentinel does not tell, for example because its ACL refuses the command.
std::optional<uint64_t> ReadEpoch(const Reply& reply) {
  uint64_t epoch = 0;
  if (!absl::SimpleAtoi(base::ToAbsl(FieldOf(reply, "config-epoch")), &epoch)) return std::nullopt;
  return epoch;
}

std::vector<TcpAddress> SentinelsOf(const Options& options) {
  std::vector<TcpAddress> sentinels = {std::get<TcpAddress>(options.address)};
  sentinels.insert(sentinels.end(), options.seeds.begin(), options.seeds.end());
  return sentinels;
}

bool SaysMaster(const Reply& role) {
  return role.is_array() && !role.elements().empty() && role.elements()[0] == Reply::Bulk("master");
}

}  // namespace

SentinelMachine::SentinelMachine(const Options& options, IsIdempotent is_idempotent, base::Rng rng,
                                 RequestObserver* observer)
    : options_(options),
      is_idempotent_(std::move(is_idempotent)),
      rounds_(options.refresh_interval),
      limits_(QueueLimits::From(options)),
      rng_(rng),
      read_choice_(options.read_from, rng_.Fork()),
      observer_(observer),
      sentinels_(SentinelsOf(options)),
      given_(sentinels_),
      watch_backoff_(DurationMicros(options.backoff_base), DurationMicros(options.backoff_cap),
                     rng_.Fork()) {}

SentinelMachine::~SentinelMachine() { Close("the client was destroyed"); }

void SentinelMachine::Start(int64_t now_us) { BeginRound(now_us); }

std::optional<SentinelAction> SentinelMachine::NextAction() {
  if (actions_.empty()) ArmTimer();
  if (actions_.empty()) return std::nullopt;
  SentinelAction action = std::move(actions_.front());
  actions_.pop_front();
  return action;
}

// Finding the master.

void SentinelMachine::BeginRound(int64_t now_us) {
  if (closed_ || searching_) return;
  if (now_us < earliest_round_us_) {
    round_due_us_ = std::min(round_due_us_, earliest_round_us_);
    return;
  }
  ++counters_.rounds;
  round_due_us_ = kNever;
  earliest_round_us_ = LaterMicros(now_us, rounds_.Next(failed_rounds_, rng_));
  round_problem_ = absl::OkStatus();
  asked_ = 0;
  AskNext(now_us);
}

// Asks the server that a message names, else the next sentinel. After the last one the round ends.
void SentinelMachine::AskNext(int64_t now_us) {
  candidate_.reset();
  searching_ = true;
  if (switched_) {
    // A failover that is announced has a greater epoch than those before it.
    const bool is_new = switched_ != newest_master_;
    return AskRole(*std::exchange(switched_, std::nullopt), newest_epoch_ + (is_new ? 1 : 0));
  }
  if (asked_ < sentinels_.size()) {
    actions_.push_back({SentinelAction::Kind::kAskSentinel, sentinels_[asked_]});
    ++asked_;
    return;
  }
  searching_ = false;
  ++failed_rounds_;
  if (!started_) start_status_ = round_problem_;
  round_due_us_ = std::max(now_us, earliest_round_us_);
  SendWaiting(now_us);
}

void SentinelMachine::NoteProblem(absl::Status status) {
  // An unknown master is a better explanation than an unreachable sentinel.
  if (round_problem_.ok() || status.code() == absl::StatusCode::kNotFound) {
    round_problem_ = std::move(status);
  }
}

void SentinelMachine::SentinelAnswered(const absl::StatusOr<Reply>& result, int64_t now_us) {
  if (!searching_ || candidate_) return;
  if (!result.ok()) {
    NoteProblem(result.status());
    return AskNext(now_us);
  }
  const bool complete = result->is_array() && result->elements().size() >= 3;
  const Reply answer = complete ? result->elements()[1] : *result;
  const std::optional<TcpAddress> master = ReadMaster(answer);
  if (!master) {
    const std::string asked = Text(sentinels_[asked_ - 1]);
    if (answer.is_nil()) {
      NoteProblem(store::NotSentError(
          std::string_view(absl::StrCat("the sentinel at ", asked, " knows no master named ",
                                        options_.sentinel_master)),
          absl::StatusCode::kNotFound));
    } else {
      NoteProblem(store::NotSentError(std::string_view(
          absl::StrCat(asked, " did not answer as a sentinel does: ", answer.DebugString()))));
    }
    return AskNext(now_us);
  }
  const uint64_t epoch = ReadEpoch(result->elements()[0]).value_or(newest_epoch_);
  if (IsOutdated(epoch, now_us)) {
    NoteProblem(store::NotSentError(std::string_view(absl::StrCat(
        "the sentinel at ", Text(sentinels_[asked_ - 1]), " has not heard of the last failover"))));
    return AskNext(now_us);
  }
  // The sentinel that answered is asked first in the next round.
  const auto first = sentinels_.begin() + static_cast<std::ptrdiff_t>(asked_ - 1);
  std::rotate(sentinels_.begin(), first, first + 1);
  if (watched_ != sentinels_[0]) StartWatch(sentinels_[0]);
  LearnSentinels(result->elements()[2]);
  if (result->elements().size() > 3) LearnReplicas(result->elements()[3]);
  AskRole(*master, epoch);
}

// Whether a sentinel with this epoch is passed over: it may name a former master that was isolated,
// does not know its successor either, and says that it is a master.
bool SentinelMachine::IsOutdated(uint64_t epoch, int64_t now_us) {
  if (epoch >= newest_epoch_) {
    outdated_since_us_ = kNever;
    return false;
  }
  outdated_since_us_ = std::min(outdated_since_us_, now_us);
  return now_us - outdated_since_us_ < kOutdatedUs;
}

// Keeps the sentinel that answered, those that it names, and those of the options.
void SentinelMachine::LearnSentinels(const Reply& reply) {
  if (!reply.is_array()) return;
  std::vector<TcpAddress> named = {sentinels_[0]};
  for (const Reply& fields : reply.elements()) {
    const std::optional<TcpAddress> sentinel =
        ReadAddress(FieldOf(fields, "ip"), FieldOf(fields, "port"));
    if (sentinel) named.push_back(*sentinel);
  }
  named.insert(named.end(), given_.begin(), given_.end());
  const auto in = [](const std::vector<TcpAddress>& all, const TcpAddress& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  };
  const auto is_gone = [&](const TcpAddress& known) { return !in(named, known); };
  const auto first_unasked = sentinels_.begin() + static_cast<std::ptrdiff_t>(asked_);
  asked_ -= static_cast<size_t>(std::count_if(sentinels_.begin(), first_unasked, is_gone));
  std::erase_if(sentinels_, is_gone);
  for (const TcpAddress& sentinel : named) {
    if (!in(sentinels_, sentinel)) sentinels_.push_back(sentinel);
  }
}

// Keeps the replicas that serve and follow the master, as the sentinel says.
void SentinelMachine::LearnReplicas(const Reply& reply) {
  if (!reply.is_array()) return;
  replicas_.clear();
  for (const Reply& fields : reply.elements()) {
    const std::optional<TcpAddress> replica =
        ReadAddress(FieldOf(fields, "ip"), FieldOf(fields, "port"));
    const std::string_view flags = FieldOf(fields, "flags");
    const bool is_down =
        flags.find("_down") != flags.npos || flags.find("disconnected") != flags.npos;
    const bool follows = FieldOf(fields, "master-link-status") == "ok";
    if (replica && !is_down && follows) replicas_.push_back(*replica);
  }
}

// The subscription.

void SentinelMachine::StartWatch(const TcpAddress& sentinel) {
  watched_ = sentinel;
  watch_due_us_ = kNever;
  actions_.push_back({SentinelAction::Kind::kWatch, sentinel});
}

void SentinelMachine::Watching(int64_t now_us) {
  watch_backoff_.Reset();
  if (std::exchange(watch_was_lost_, false)) MasterLost(now_us);
}

void SentinelMachine::WatchEnded(int64_t now_us) {
  if (closed_ || !watched_) return;
  watched_.reset();
  watch_was_lost_ = true;
  const int64_t wait_us = std::max(rounds_.interval_us(), watch_backoff_.AddFailure());
  watch_due_us_ = LaterMicros(now_us, wait_us);
}

void SentinelMachine::AskRole(const TcpAddress& address, uint64_t epoch) {
  candidate_ = address;
  candidate_epoch_ = epoch;
  searching_ = true;
  actions_.push_back({SentinelAction::Kind::kAskRole, address});
}

void SentinelMachine::RoleAnswered(const absl::StatusOr<Reply>& result, int64_t now_us) {
  if (!candidate_) return;
  if (!result.ok() || !SaysMaster(*result)) {
    NoteProblem(result.ok() ? store::NotSentError(std::string_view(absl::StrCat(
                                  Text(*candidate_), " is no master, though a sentinel says so")))
                            : result.status());
    return AskNext(now_us);
  }
  // The message is newer than the reply of the sentinel.
  if (switched_ && *switched_ != *candidate_) return AskNext(now_us);
  switched_.reset();
  if (master_ != candidate_) ++counters_.masters;
  master_ = *std::exchange(candidate_, std::nullopt);
  newest_master_ = master_;
  newest_epoch_ = candidate_epoch_;
  outdated_since_us_ = kNever;
  searching_ = false;
  failed_rounds_ = 0;
  started_ = true;
  start_status_ = absl::OkStatus();
  if (read_choice_.uses_replicas()) {
    const int64_t interval_us = DurationMicros(options_.health_check_interval);
    round_due_us_ = std::min(round_due_us_, LaterMicros(now_us, interval_us));
  }
  SendWaiting(now_us);
}

void SentinelMachine::SendWaiting(int64_t now_us) {
  for (auto& [id, job] : jobs_) {
    if (!job.sent) Send(id, job, now_us);
  }
}

void SentinelMachine::LoseMaster(int64_t now_us) {
  master_.reset();
  BeginRound(now_us);
}

void SentinelMachine::MasterLost(int64_t now_us) {
  if (master_) LoseMaster(now_us);
}

void SentinelMachine::Switched(std::string_view message, int64_t now_us) {
  const std::vector<std::string> words = absl::StrSplit(base::ToAbsl(message), ' ');
  if (words.size() != 5 || words[0] != options_.sentinel_master) return;
  const std::optional<TcpAddress> address = ReadAddress(words[3], words[4]);
  if (!address || address == master_) return;
  master_.reset();
  switched_ = address;
  // A search under way asks this server next. Otherwise no sentinel needs to be asked: the message
  // names the server.
  if (searching_) return;
  asked_ = 0;
  round_problem_ = absl::OkStatus();
  AskNext(now_us);
}

// Requests.

void SentinelMachine::Submit(Request& request, int64_t now_us) {
  if (closed_) return request.Complete(store::NotSentError(std::string_view(*closed_)));
  const bool blocks = MayBlock(request);
  const Sharing sharing = blocks ? Sharing::kPooled : Sharing::kShared;
  if (std::optional<absl::Status> refusal = Refusal(request, sharing)) {
    return request.Complete(*std::move(refusal));
  }
  const bool reads = read_choice_.Concerns(request);
  if (!master_ && !options_.reconnect && started_ && (!reads || replicas_.empty())) {
    return request.Complete(store::NotSentError("no master is known"));
  }
  if (std::optional<absl::Status> refusal =
          limits_.Refuse(jobs_.size(), queued_bytes_, "the master")) {
    return request.Complete(*std::move(refusal));
  }
  const uint64_t id = next_job_++;
  const absl::Duration limit =
      TimeLimit(request, options_.command_timeout, options_.blocking_timeout);
  const int64_t deadline_us = LaterMicros(now_us, DurationMicros(limit));
  Job& job = jobs_.emplace(id, Job{&request, now_us, deadline_us, BytesOf(request)}).first->second;
  job.reads = reads;
  if (request.kind() == Request::Kind::kTransaction) job.spelled = SpellOut(request.commands());
  deadlines_.emplace(deadline_us, id);
  job_of_.emplace(&request, id);
  queued_bytes_ += job.bytes;
  if (Send(id, job, now_us)) return;
  ++counters_.waited;
  // A round may find a replica.
  if (master_) BeginRound(now_us);
}

Request::Kind SentinelMachine::KindOf(uint64_t request) const {
  const Job& job = jobs_.at(request);
  return job.spelled.empty() ? job.request->kind() : Request::Kind::kPipeline;
}

std::span<const store::Command> SentinelMachine::CommandsOf(uint64_t request) const {
  const Job& job = jobs_.at(request);
  return job.spelled.empty() ? job.request->commands() : std::span(job.spelled);
}

// Returns false if there is no server for the job.
bool SentinelMachine::Send(uint64_t id, Job& job, int64_t now_us, bool only_available) {
  const std::optional<TcpAddress> server =
      job.reads
          ? read_choice_.Choose(master_ ? &*master_ : nullptr, replicas_, now_us, only_available)
          : master_;
  if (!server) return false;
  job.sent = true;
  job.server = *server;
  if (observer_ != nullptr) observer_->Sent(*job.request, NodeName(*server));
  actions_.push_back({SentinelAction::Kind::kSend, *server, id});
  return true;
}

void SentinelMachine::Wait(Job& job, absl::Status problem) {
  ++counters_.waited;
  job.sent = false;
  job.last_problem = std::move(problem);
}

bool SentinelMachine::MayTryAgain(const Job& job, const absl::Status& status) const {
  if (status.code() != absl::StatusCode::kUnavailable) return false;
  switch (store::ErrorKindOf(status).value_or(ErrorKind::kProtocol)) {
    case ErrorKind::kNotSent:
      return options_.retry != RetryPolicy::kNever && job.redirections < options_.redirections;
    case ErrorKind::kOutcomeUnknown:
      return options_.retry == RetryPolicy::kIdempotent && MayRunTwice(*job.request) &&
             job.losses + 1 < options_.attempts;
    case ErrorKind::kServer:
    case ErrorKind::kProtocol:
      return false;
  }
  return false;
}

bool SentinelMachine::MayRunTwice(const Request& request) const {
  return OnlyReads(request) || (is_idempotent_ && is_idempotent_(request));
}

// The result of the request from what its server answered, and whether the server is a replica.
absl::StatusOr<Reply> SentinelMachine::ReadResult(const Job& job, absl::StatusOr<Reply> result,
                                                  Demotion& demotion) const {
  demotion = Demotion::kNone;
  REDOUBLE_RETURN_IF_ERROR(result.status());
  if (job.request->kind() == Request::Kind::kCommand) {
    if (IsReadOnly(*result)) demotion = Demotion::kRefusedAll;
    return result;
  }
  const size_t expected = CommandsOf(job_of_.at(job.request)).size();
  if (!result->is_array() || result->elements().size() != expected) {
    return store::ProtocolError("the master gave another number of replies than it was asked for");
  }
  const std::vector<Reply>& replies = result->elements();
  const auto refused = std::count_if(replies.begin(), replies.end(), IsReadOnly);
  if (job.spelled.empty()) {
    if (refused > 0) demotion = Demotion::kRefusedSome;
    if (refused == std::ssize(replies)) demotion = Demotion::kRefusedAll;
    return result;
  }
  // Commands of a script in the transaction are refused when EXEC runs, after others have run.
  const Reply& exec = replies.back();
  const bool within =
      exec.is_array() && std::any_of(exec.elements().begin(), exec.elements().end(), IsReadOnly);
  if (within) demotion = Demotion::kRefusedSome;
  if (exec.is_error() && refused > 0) demotion = Demotion::kRefusedAll;
  return exec;
}

void SentinelMachine::Answered(uint64_t request, absl::StatusOr<Reply> result, int64_t now_us) {
  const auto found = jobs_.find(request);
  if (found == jobs_.end()) return;
  Job& job = found->second;
  if (job.reads) {
    if (FailsOver(job, result, now_us)) {
      Send(request, job, now_us, /*only_available=*/true);
      return;
    }
    if (job.server != master_) return Finish(found, std::move(result));
  }
  Demotion demotion = Demotion::kNone;
  result = ReadResult(job, std::move(result), demotion);
  const bool lost = !result.ok() && result.status().code() == absl::StatusCode::kUnavailable;
  if (demotion == Demotion::kRefusedAll && job.redirections < options_.redirections) {
    ++job.redirections;
    if (observer_ != nullptr) observer_->Redirected(*job.request, std::nullopt, kBecameReplica);
    Wait(job, store::NotSentError(kBecameReplica));
  } else if (lost && MayTryAgain(job, result.status())) {
    ++job.redirections;
    ++job.losses;
    job.may_have_run |= store::ErrorKindOf(result.status()) == ErrorKind::kOutcomeUnknown;
    Wait(job, result.status());
  }
  // The first failed request of a lost connection starts the search. What a former master did tells
  // nothing of this one.
  if ((demotion != Demotion::kNone || lost) && job.server == master_) LoseMaster(now_us);
  if (job.sent) return Finish(found, std::move(result));
  if (master_) Send(request, job, now_us);
}

// Whether a read waits for another server, because this one did not or could not answer it.
bool SentinelMachine::FailsOver(Job& job, const absl::StatusOr<Reply>& result, int64_t now_us) {
  const auto is_unable = [&](const Reply& reply) {
    const std::optional<Redirect> redirect = ReadRedirect(reply, job.server);
    return redirect && redirect->kind == Redirect::Kind::kDown;
  };
  const bool refused =
      result.ok() && (is_unable(*result) || (result->is_array() && !result->elements().empty() &&
                                             std::all_of(result->elements().begin(),
                                                         result->elements().end(), is_unable)));
  const bool lost = !result.ok() && result.status().code() == absl::StatusCode::kUnavailable;
  if (!refused && !lost) {
    read_choice_.NoteAnswer(job.server);
    return false;
  }
  read_choice_.NoteFailure(job.server, now_us);
  if (job.server == master_) return false;
  BeginRound(now_us);
  const bool again =
      refused ? job.redirections < options_.redirections : MayTryAgain(job, result.status());
  if (!again) return false;
  ++job.redirections;
  if (lost) ++job.losses;
  job.may_have_run |= lost && store::ErrorKindOf(result.status()) == ErrorKind::kOutcomeUnknown;
  Wait(job, refused ? store::NotSentError("the replica cannot answer") : result.status());
  return true;
}

void SentinelMachine::Unreachable(uint64_t request, const absl::Status& status, int64_t now_us) {
  const auto found = jobs_.find(request);
  if (found == jobs_.end()) return;
  Job& job = found->second;
  if (job.reads) read_choice_.NoteFailure(job.server, now_us);
  if (master_ && job.server == *master_) {
    LoseMaster(now_us);
  } else if (job.reads) {
    BeginRound(now_us);
  }
  if (!options_.reconnect) return Finish(found, status);
  Wait(job, status);
  Send(request, job, now_us, /*only_available=*/true);
}

void SentinelMachine::Finish(Jobs::iterator job, absl::StatusOr<Reply> result) {
  Request& request = *job->second.request;
  if (job->second.may_have_run && !result.ok() &&
      store::ErrorKindOf(result.status()) == ErrorKind::kNotSent) {
    const std::string text(result.status().message());
    result = store::OutcomeUnknownError(std::string_view(text), result.status().code());
  }
  job->second.sent = false;
  Forget(job);
  request.Complete(std::move(result));
}

void SentinelMachine::Forget(Jobs::iterator job) {
  const uint64_t id = job->first;
  const bool sent = job->second.sent;
  deadlines_.erase({job->second.deadline_us, id});
  job_of_.erase(job->second.request);
  queued_bytes_ -= job->second.bytes;
  jobs_.erase(job);
  if (!sent) return;
  const auto unsent = std::find_if(actions_.begin(), actions_.end(), [&](const auto& action) {
    return action.kind == SentinelAction::Kind::kSend && action.request == id;
  });
  if (unsent != actions_.end()) {
    actions_.erase(unsent);
  } else {
    dropped_.push_back(id);
  }
}

void SentinelMachine::Abandon(Request& request) {
  const auto id = job_of_.find(&request);
  if (id != job_of_.end()) Forget(jobs_.find(id->second));
}

void SentinelMachine::Close(const std::string& reason) {
  if (!closed_) closed_ = reason;
  while (!jobs_.empty()) {
    Request& request = *jobs_.begin()->second.request;
    const bool sent = jobs_.begin()->second.sent || jobs_.begin()->second.may_have_run;
    Forget(jobs_.begin());
    request.Complete(sent ? store::OutcomeUnknownError(std::string_view(*closed_))
                          : store::NotSentError(std::string_view(*closed_)));
  }
}

// Time.

void SentinelMachine::Timer(int64_t now_us) {
  armed_us_ = kNever;
  if (round_due_us_ <= now_us) BeginRound(now_us);
  if (watch_due_us_ <= now_us && !closed_) {
    StartWatch(sentinels_[++watch_turn_ % sentinels_.size()]);
  }
  ExpireJobs(now_us);
}

void SentinelMachine::ExpireJobs(int64_t now_us) {
  while (!deadlines_.empty() && deadlines_.begin()->first <= now_us) {
    const Jobs::iterator job = jobs_.find(deadlines_.begin()->second);
    Request& request = *job->second.request;
    const bool sent = job->second.sent || job->second.may_have_run;
    const bool reads = job->second.reads;
    const char* const missing =
        reads ? "there was no server to read from within " : "there was no master within ";
    const absl::Status& problem =
        job->second.last_problem.ok() ? round_problem_ : job->second.last_problem;
    const std::string text =
        absl::StrCat(sent ? "the master did not answer within " : missing,
                     absl::FormatDuration(
                         absl::Microseconds(job->second.deadline_us - job->second.submitted_us)),
                     problem.ok() || sent ? "" : ": ", sent ? "" : problem.message());
    Forget(job);
    constexpr absl::StatusCode kCode = absl::StatusCode::kDeadlineExceeded;
    request.Complete(sent ? store::OutcomeUnknownError(std::string_view(text), kCode)
                          : store::NotSentError(std::string_view(text), kCode));
  }
}

void SentinelMachine::ArmTimer() {
  int64_t wake_us = searching_ ? kNever : round_due_us_;
  wake_us = std::min(wake_us, watch_due_us_);
  if (!deadlines_.empty()) wake_us = std::min(wake_us, deadlines_.begin()->first);
  if (wake_us >= armed_us_) return;
  armed_us_ = wake_us;
  actions_.push_back({.kind = SentinelAction::Kind::kWake, .at_us = wake_us});
}

}  // namespace redouble::inline v0_1::redis
