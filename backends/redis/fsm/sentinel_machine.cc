#include "backends/redis/fsm/sentinel_machine.h"

#include <algorithm>
#include <variant>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "backends/redis/fsm/command_effect.h"
#include "core/base/string_bridge.h"
#include "core/store/command_table.h"
#include "core/store/errors.h"

namespace redouble::redis {
namespace {

using store::ErrorKind;
using store::Reply;
using store::Request;

// Asked again at once, sentinels that are not ready would be asked thousands of times.
constexpr int64_t kLeastWaitUs = 1000;

int64_t Microseconds(absl::Duration duration) {
  return duration == absl::InfiniteDuration() ? SentinelMachine::kNever
                                              : absl::ToInt64Microseconds(duration);
}

int64_t Later(int64_t now_us, int64_t duration_us) {
  return duration_us >= SentinelMachine::kNever - now_us ? SentinelMachine::kNever
                                                         : now_us + duration_us;
}

bool OnlyReads(const Request& request) {
  return std::all_of(request.commands().begin(), request.commands().end(),
                     [](const store::Command& command) {
                       const store::CommandId id = command.id();
                       return id != store::CommandId::kUnknown &&
                              store::SpecOf(id).Has(store::command_flag::kReadOnly);
                     });
}

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

// The address in the answer to SENTINEL GET-MASTER-ADDR-BY-NAME.
std::optional<TcpAddress> ReadMaster(const Reply& reply) {
  if (!reply.is_array() || reply.elements().size() != 2) return std::nullopt;
  const std::vector<Reply>& elements = reply.elements();
  if (!elements[0].is_bulk() || !elements[1].is_bulk()) return std::nullopt;
  return ReadAddress(elements[0].text(), elements[1].text());
}

bool SaysMaster(const Reply& role) {
  return role.is_array() && !role.elements().empty() && role.elements()[0] == Reply::Bulk("master");
}

}  // namespace

SentinelMachine::SentinelMachine(const Options& options, IsIdempotent is_idempotent)
    : options_(options),
      is_idempotent_(std::move(is_idempotent)),
      refresh_interval_us_(std::max(kLeastWaitUs, Microseconds(options.refresh_interval))),
      command_timeout_us_(Microseconds(options.command_timeout)) {
  sentinels_.push_back(std::get<TcpAddress>(options_.address));
  for (const TcpAddress& seed : options_.seeds) sentinels_.push_back(seed);
}

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
  earliest_round_us_ = Later(now_us, refresh_interval_us_);
  round_problem_ = absl::OkStatus();
  asked_ = 0;
  AskNext(now_us);
}

void SentinelMachine::AskNext(int64_t now_us) {
  candidate_.reset();
  searching_ = true;
  if (switched_) return AskRole(*std::exchange(switched_, std::nullopt));
  if (asked_ < sentinels_.size()) {
    actions_.push_back({SentinelAction::Kind::kAskSentinel, sentinels_[asked_]});
    ++asked_;
    return;
  }
  searching_ = false;
  if (!started_) start_status_ = round_problem_;
  round_due_us_ = std::max(now_us, earliest_round_us_);
}

void SentinelMachine::NoteProblem(absl::Status status) {
  // That nobody knows the master says more than that somebody could not be asked.
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
  const bool pair = result->is_array() && result->elements().size() == 2;
  const Reply answer = pair ? result->elements()[0] : *result;
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
  // Who answers is asked first the next time.
  const auto first = sentinels_.begin() + static_cast<std::ptrdiff_t>(asked_ - 1);
  std::rotate(sentinels_.begin(), first, first + 1);
  if (watched_ != sentinels_[0]) {
    watched_ = sentinels_[0];
    actions_.push_back({SentinelAction::Kind::kWatch, *watched_});
  }
  LearnSentinels(result->elements()[1]);
  AskRole(*master);
}

// The other sentinels, as one of them knows them. Those of the options stay.
void SentinelMachine::LearnSentinels(const Reply& reply) {
  if (!reply.is_array()) return;
  for (const Reply& fields : reply.elements()) {
    const std::optional<TcpAddress> sentinel =
        ReadAddress(FieldOf(fields, "ip"), FieldOf(fields, "port"));
    if (!sentinel) continue;
    const bool known =
        std::find(sentinels_.begin(), sentinels_.end(), *sentinel) != sentinels_.end();
    if (!known) sentinels_.push_back(*sentinel);
  }
}

void SentinelMachine::AskRole(const TcpAddress& address) {
  candidate_ = address;
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
  // Newer than the answer that led here.
  if (switched_ && *switched_ != *candidate_) return AskNext(now_us);
  switched_.reset();
  ++counters_.masters;
  master_ = *std::exchange(candidate_, std::nullopt);
  searching_ = false;
  started_ = true;
  start_status_ = absl::OkStatus();
  for (auto& [id, job] : jobs_) {
    if (!job.sent) Send(id, job);
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
  // A search under way comes to it next; otherwise the news needs no round to be believed.
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
  if (!master_ && !options_.reconnect && started_) {
    return request.Complete(store::NotSentError("no master is known"));
  }
  const uint64_t id = next_job_++;
  Job& job = jobs_[id];
  job.request = &request;
  job.deadline_us = blocks ? kNever : Later(now_us, command_timeout_us_);
  if (master_) {
    Send(id, job);
  } else {
    ++counters_.waited;
  }
}

void SentinelMachine::Send(uint64_t id, Job& job) {
  job.sent = true;
  actions_.push_back({SentinelAction::Kind::kSend, *master_, id});
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

void SentinelMachine::Answered(uint64_t request, absl::StatusOr<Reply> result, int64_t now_us) {
  const auto found = jobs_.find(request);
  if (found == jobs_.end()) return;
  Job& job = found->second;
  const bool demoted = result.ok() && job.request->kind() == Request::Kind::kCommand &&
                       result->is_error() && absl::StartsWith(result->text(), "READONLY ");
  const bool lost = !result.ok() && result.status().code() == absl::StatusCode::kUnavailable;
  if (demoted && job.redirections < options_.redirections) {
    ++job.redirections;
    Wait(job, store::ServerError(result->text()));
  } else if (lost && MayTryAgain(job, result.status())) {
    ++job.redirections;
    ++job.losses;
    Wait(job, result.status());
  }
  // One of a dead connection's requests is enough to look; the others find the search begun.
  if ((demoted || lost) && master_) LoseMaster(now_us);
  if (job.sent) return Finish(found, std::move(result));
  if (master_) Send(request, job);
}

void SentinelMachine::Unreachable(uint64_t request, const absl::Status& status, int64_t now_us) {
  const auto found = jobs_.find(request);
  if (found == jobs_.end()) return;
  if (master_) LoseMaster(now_us);
  if (!options_.reconnect) return Finish(found, status);
  Wait(found->second, status);
  if (master_) Send(request, found->second);
}

void SentinelMachine::Finish(Jobs::iterator job, absl::StatusOr<Reply> result) {
  Request& request = *job->second.request;
  jobs_.erase(job);
  request.Complete(std::move(result));
}

void SentinelMachine::Forget(Jobs::iterator job) {
  const uint64_t id = job->first;
  const bool sent = job->second.sent;
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
  const auto job = std::find_if(jobs_.begin(), jobs_.end(), [&](const auto& entry) {
    return entry.second.request == &request;
  });
  if (job != jobs_.end()) Forget(job);
}

void SentinelMachine::Close(const std::string& reason) {
  if (!closed_) closed_ = reason;
  while (!jobs_.empty()) {
    Request& request = *jobs_.begin()->second.request;
    const bool sent = jobs_.begin()->second.sent;
    Forget(jobs_.begin());
    request.Complete(sent ? store::OutcomeUnknownError(std::string_view(*closed_))
                          : store::NotSentError(std::string_view(*closed_)));
  }
}

// Time.

void SentinelMachine::Timer(int64_t now_us) {
  armed_us_ = kNever;
  if (round_due_us_ <= now_us) BeginRound(now_us);
  ExpireJobs(now_us);
}

void SentinelMachine::ExpireJobs(int64_t now_us) {
  // Deadlines grow with the ids, but for blocking requests, which have none.
  const auto is_due = [&](const auto& entry) { return entry.second.deadline_us <= now_us; };
  for (auto job = std::find_if(jobs_.begin(), jobs_.end(), is_due); job != jobs_.end();
       job = std::find_if(jobs_.begin(), jobs_.end(), is_due)) {
    Request& request = *job->second.request;
    const bool sent = job->second.sent;
    const absl::Status& problem =
        job->second.last_problem.ok() ? round_problem_ : job->second.last_problem;
    const std::string text =
        absl::StrCat(sent ? "the master did not answer within " : "there was no master within ",
                     absl::FormatDuration(options_.command_timeout),
                     problem.ok() || sent ? "" : ": ", sent ? "" : problem.message());
    Forget(job);
    constexpr absl::StatusCode kCode = absl::StatusCode::kDeadlineExceeded;
    request.Complete(sent ? store::OutcomeUnknownError(std::string_view(text), kCode)
                          : store::NotSentError(std::string_view(text), kCode));
  }
}

void SentinelMachine::ArmTimer() {
  int64_t wake_us = searching_ ? kNever : round_due_us_;
  const auto timed = std::find_if(jobs_.begin(), jobs_.end(), [](const auto& entry) {
    return entry.second.deadline_us != kNever;
  });
  if (timed != jobs_.end()) wake_us = std::min(wake_us, timed->second.deadline_us);
  if (wake_us >= armed_us_) return;
  armed_us_ = wake_us;
  actions_.push_back({.kind = SentinelAction::Kind::kWake, .at_us = wake_us});
}

}  // namespace redouble::redis
