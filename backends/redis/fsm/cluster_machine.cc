#include "backends/redis/fsm/cluster_machine.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "backends/redis/fsm/command_effect.h"
#include "core/store/errors.h"

namespace redouble::redis {
namespace {

using store::ErrorKind;
using store::Reply;
using store::Request;

// Asked again at once, a node that is not ready would be asked thousands of times.
constexpr int64_t kLeastWaitUs = 1000;

// What a node says when nobody serves a slot.
constexpr std::string_view kNotServed = "CLUSTERDOWN Hash slot not served";

int64_t Microseconds(absl::Duration duration) {
  return duration == absl::InfiniteDuration() ? ClusterMachine::kNever
                                              : absl::ToInt64Microseconds(duration);
}

int64_t Later(int64_t now_us, int64_t duration_us) {
  return duration_us >= ClusterMachine::kNever - now_us ? ClusterMachine::kNever
                                                        : now_us + duration_us;
}

bool Blocks(const Request& request) {
  return request.kind() == Request::Kind::kCommand &&
         EffectOf(request.commands()[0]) == CommandEffect::kBlocks;
}

}  // namespace

ClusterMachine::ClusterMachine(const Options& options, IsIdempotent is_idempotent)
    : options_(options),
      is_idempotent_(std::move(is_idempotent)),
      refresh_interval_us_(std::max(kLeastWaitUs, Microseconds(options.refresh_interval))),
      command_timeout_us_(Microseconds(options.command_timeout)) {
  NodeAt(std::get<TcpAddress>(options_.address));
  for (const TcpAddress& seed : options_.seeds) NodeAt(seed);
}

ClusterMachine::~ClusterMachine() { Close("the client was destroyed"); }

void ClusterMachine::Start(int64_t now_us) {
  WantMap(now_us);
  Timer(now_us);
}

std::optional<ClusterAction> ClusterMachine::NextAction() {
  if (actions_.empty()) ArmTimer();
  if (actions_.empty()) return std::nullopt;
  const ClusterAction action = actions_.front();
  actions_.pop_front();
  return action;
}

size_t ClusterMachine::NodeAt(const TcpAddress& address) {
  const auto known = std::find_if(nodes_.begin(), nodes_.end(),
                                  [&](const Node& node) { return node.address == address; });
  const auto index = static_cast<size_t>(known - nodes_.begin());
  if (known == nodes_.end()) nodes_.push_back(Node{address});
  return index;
}

// Requests.

void ClusterMachine::Submit(Request& request, int64_t now_us) {
  if (closed_) return request.Complete(store::NotSentError(std::string_view(*closed_)));
  const bool blocks = Blocks(request);
  if (!blocks) {
    if (std::optional<absl::Status> refusal = Refusal(request, Sharing::kShared)) {
      return request.Complete(*std::move(refusal));
    }
  }
  std::list<ClusterJob>& jobs = blocks || command_timeout_us_ == kNever ? blocked_ : jobs_;
  ClusterJob& job = jobs.emplace_back(request);
  job.self = std::prev(jobs.end());
  job.deadline_us = blocks ? kNever : Later(now_us, command_timeout_us_);
  absl::StatusOr<std::vector<Errand>> errands = ErrandsOf(job);
  if (!errands.ok()) {
    jobs.pop_back();
    return request.Complete(errands.status());
  }
  job_of_.emplace(&request, &job);
  Dispatch(job, *std::move(errands), now_us);
}

absl::StatusOr<std::vector<Errand>> ClusterMachine::ErrandsOf(ClusterJob& job) {
  const std::span<const store::Command> commands = job.request().commands();
  std::vector<Errand> errands;
  if (job.is_transaction()) {
    const absl::StatusOr<Route> route = RouteOfTransaction(commands);
    if (!route.ok()) return route.status();
    errands.push_back(Errand{.route = *route});
    return errands;
  }
  for (size_t i = 0; i < commands.size(); ++i) {
    const absl::StatusOr<Route> route = RouteOf(commands[i]);
    if (!route.ok()) return route.status();
    Errand errand{.command = i, .route = *route};
    const size_t masters = std::max<size_t>(masters_.size(), 1);
    if (route->kind == Route::Kind::kScan) {
      if (const auto position = ReadScanCursor(commands[i], masters)) {
        errand.scan = *position;
        errand.scan_masters = masters;
      }
    }
    const size_t copies = route->kind == Route::Kind::kAllMasters ? masters : 1;
    job.Expect(i, copies);
    for (errand.copy = 0; errand.copy < copies; ++errand.copy) errands.push_back(errand);
  }
  return errands;
}

std::optional<size_t> ClusterMachine::NodeOf(const Errand& errand) const {
  if (masters_.empty()) return std::nullopt;
  switch (errand.route.kind) {
    case Route::Kind::kAllMasters:
      return masters_[errand.copy % masters_.size()];
    case Route::Kind::kScan:
      return masters_[errand.scan.master % masters_.size()];
    case Route::Kind::kSlot:
    case Route::Kind::kNoKeys:
      break;
  }
  const TcpAddress* master = map_.MasterOf(errand.route.slot);
  if (master == nullptr) {
    if (errand.route.kind == Route::Kind::kNoKeys) return masters_[0];
    return std::nullopt;
  }
  const auto node = std::find_if(masters_.begin(), masters_.end(),
                                 [&](size_t index) { return nodes_[index].address == *master; });
  return node == masters_.end() ? std::nullopt : std::optional<size_t>(*node);
}

// Sends the errands, those of one node together and in their order. Those that nobody can do wait.
void ClusterMachine::Dispatch(ClusterJob& job, std::vector<Errand> errands, int64_t now_us) {
  std::vector<std::pair<size_t, std::vector<Errand>>> by_node;
  bool waits = false;
  for (const Errand& errand : errands) {
    const std::optional<size_t> node = NodeOf(errand);
    if (!node && ready_ && job.redirections >= options_.redirections) {
      job.Answer(errand, Reply::Error(kNotServed));
      continue;
    }
    if (!node) {
      waits = true;
      Wait(job, errand, now_us);
      continue;
    }
    auto group = std::find_if(by_node.begin(), by_node.end(),
                              [&](const auto& entry) { return entry.first == *node; });
    if (group == by_node.end()) group = by_node.insert(by_node.end(), {*node, {}});
    group->second.push_back(errand);
  }
  if (waits) {
    ++counters_.waited;
    if (ready_) {
      ++job.redirections;
      WantMap(now_us);
    }
  }
  for (auto& [node, group] : by_node) Send(job, node, /*asking=*/false, std::move(group));
}

void ClusterMachine::Send(ClusterJob& job, size_t node, bool asking, std::vector<Errand> errands) {
  const uint64_t id = next_part_++;
  parts_.try_emplace(id, job, node, asking, std::move(errands));
  job.parts.push_back(id);
  actions_.push_back({.kind = ClusterAction::Kind::kSend, .node = node, .part = id});
}

void ClusterMachine::Wait(ClusterJob& job, const Errand& errand, int64_t now_us) {
  ++job.waiting;
  waiting_.push_back(Waiting{&job, errand, Later(now_us, refresh_interval_us_)});
}

// Out of the books, if the part is still wanted.
std::optional<std::map<uint64_t, ClusterPart>::node_type> ClusterMachine::TakePart(uint64_t part) {
  auto taken = parts_.extract(part);
  if (taken.empty()) return std::nullopt;
  absl::InlinedVector<uint64_t, 2>& parts = taken.mapped().job().parts;
  parts.erase(std::find(parts.begin(), parts.end(), part));
  return taken;
}

void ClusterMachine::PartAnswered(uint64_t part, absl::StatusOr<Reply> result, int64_t now_us) {
  const auto taken = TakePart(part);
  if (!taken) return;
  ClusterPart& answered = taken->mapped();
  absl::StatusOr<std::vector<Reply>> replies =
      result.ok() ? answered.TakeReplies(*std::move(result)) : result.status();
  if (replies.ok()) {
    TakeReplies(answered, *std::move(replies), now_us);
  } else {
    TakeFailure(answered, replies.status(), now_us);
  }
  FinishIfDone(answered.job());
}

void ClusterMachine::PartUnreachable(uint64_t part, const absl::Status& status, int64_t now_us) {
  const auto taken = TakePart(part);
  if (!taken) return;
  ClusterJob& job = taken->mapped().job();
  nodes_[taken->mapped().node()].failed = true;
  WantMap(now_us);
  if (options_.reconnect) {
    ++counters_.waited;
    job.last_problem = status;
    for (const Errand& errand : taken->mapped().errands()) Wait(job, errand, now_us);
  } else {
    job.Fail(status);
  }
  FinishIfDone(job);
}

bool ClusterMachine::MayTryAgain(const ClusterJob& job, const absl::Status& status) const {
  if (job.redirections >= options_.redirections) return false;
  switch (store::ErrorKindOf(status).value_or(ErrorKind::kProtocol)) {
    case ErrorKind::kNotSent:
      // Other codes are refusals and time-outs, which another attempt does not mend.
      return options_.retry != RetryPolicy::kNever &&
             status.code() == absl::StatusCode::kUnavailable;
    case ErrorKind::kOutcomeUnknown:
      return options_.retry == RetryPolicy::kIdempotent && MayRunTwice(job) &&
             job.losses + 1 < options_.attempts && status.code() == absl::StatusCode::kUnavailable;
    case ErrorKind::kServer:
    case ErrorKind::kProtocol:
      return false;
  }
  return false;
}

bool ClusterMachine::MayRunTwice(const ClusterJob& job) const {
  return job.only_reads() || (is_idempotent_ && is_idempotent_(job.request()));
}

void ClusterMachine::TakeFailure(ClusterPart& part, absl::Status status, int64_t now_us) {
  ClusterJob& job = part.job();
  if (status.code() == absl::StatusCode::kUnavailable) {
    nodes_[part.node()].failed = true;
    WantMap(now_us);
  }
  if (!MayTryAgain(job, status)) return job.Fail(std::move(status));
  ++job.redirections;
  if (store::ErrorKindOf(status) == ErrorKind::kOutcomeUnknown) ++job.losses;
  ++counters_.waited;
  for (const Errand& errand : part.errands()) Wait(job, errand, now_us);
}

void ClusterMachine::TakeReplies(ClusterPart& part, std::vector<Reply> replies, int64_t now_us) {
  ClusterJob& job = part.job();
  const bool may_redirect = job.redirections < options_.redirections;
  bool redirected = false;
  // By target and whether it wants ASKING.
  std::map<std::pair<size_t, bool>, std::vector<Errand>> sent_on;
  for (size_t i = 0; i < replies.size(); ++i) {
    const Errand& errand = part.errands()[i];
    const std::optional<Redirect> redirect = ReadRedirect(replies[i], Address(part.node()));
    if (redirect && redirect->kind != Redirect::Kind::kAsk &&
        redirect->kind != Redirect::Kind::kTryAgain) {
      WantMap(now_us);
    }
    if (!redirect || !may_redirect) {
      job.Answer(errand, std::move(replies[i]));
      continue;
    }
    redirected = true;
    CountRedirect(redirect->kind);
    if (redirect->kind == Redirect::Kind::kMoved) {
      map_.Move(redirect->slot, redirect->node);
      const size_t master = NodeAt(redirect->node);
      if (std::find(masters_.begin(), masters_.end(), master) == masters_.end()) {
        masters_.push_back(master);
      }
    }
    // ASKING and a blocking command cannot share a connection with others, and need not: the slot
    // will have moved soon.
    const bool asks = redirect->kind == Redirect::Kind::kAsk && !Blocks(job.request());
    if (redirect->kind == Redirect::Kind::kMoved || asks) {
      sent_on[{NodeAt(redirect->node), asks}].push_back(errand);
    } else {
      Wait(job, errand, now_us);
    }
  }
  if (redirected) ++job.redirections;
  for (auto& [target, errands] : sent_on) {
    Send(job, target.first, target.second, std::move(errands));
  }
}

void ClusterMachine::CountRedirect(Redirect::Kind kind) {
  switch (kind) {
    case Redirect::Kind::kMoved:
      ++counters_.moved;
      return;
    case Redirect::Kind::kAsk:
      ++counters_.asked;
      return;
    case Redirect::Kind::kTryAgain:
    case Redirect::Kind::kDown:
      ++counters_.waited;
  }
}

void ClusterMachine::FinishIfDone(ClusterJob& job) {
  if (!job.parts.empty() || job.waiting > 0) return;
  Finish(job, job.TakeResult());
}

void ClusterMachine::Finish(ClusterJob& job, absl::StatusOr<Reply> result) {
  Request& request = job.request();
  Forget(job);
  request.Complete(std::move(result));
}

// Takes the job and all that it has under way out of the books.
void ClusterMachine::Forget(ClusterJob& job) {
  for (const uint64_t part : job.parts) {
    parts_.erase(part);
    const auto unsent = std::find_if(actions_.begin(), actions_.end(), [&](const auto& action) {
      return action.kind == ClusterAction::Kind::kSend && action.part == part;
    });
    if (unsent != actions_.end()) {
      actions_.erase(unsent);
    } else {
      dropped_.push_back(part);
    }
  }
  if (job.waiting > 0) {
    std::erase_if(waiting_, [&](const Waiting& waiting) { return waiting.job == &job; });
  }
  job_of_.erase(&job.request());
  std::list<ClusterJob>& jobs = job.deadline_us == kNever ? blocked_ : jobs_;
  jobs.erase(job.self);
}

void ClusterMachine::Abandon(Request& request) {
  const auto job = job_of_.find(&request);
  if (job != job_of_.end()) Forget(*job->second);
}

void ClusterMachine::Close(const std::string& reason) {
  if (!closed_) closed_ = reason;
  while (!job_of_.empty()) {
    ClusterJob& job = jobs_.empty() ? blocked_.front() : jobs_.front();
    const std::string& text = *closed_;
    Finish(job, !job.parts.empty() ? store::OutcomeUnknownError(std::string_view(text))
                                   : store::NotSentError(std::string_view(text)));
  }
}

// Time.

void ClusterMachine::Timer(int64_t now_us) {
  armed_us_ = kNever;
  if (map_due_us_ <= now_us && !asking_map_) {
    map_due_us_ = kNever;
    earliest_map_us_ = Later(now_us, refresh_interval_us_);
    candidates_ = Candidates();
    AskNextCandidate(now_us);
  }
  ExpireJobs(now_us);
  WakeWaiting(now_us);
}

void ClusterMachine::WakeWaiting(int64_t now_us) {
  // Dispatching may let an errand wait again, at the end and with a later due time.
  while (!waiting_.empty() && waiting_.front().due_us <= now_us) {
    ClusterJob& job = *waiting_.front().job;
    std::vector<Errand> errands;
    while (!waiting_.empty() && waiting_.front().job == &job && waiting_.front().due_us <= now_us) {
      errands.push_back(waiting_.front().errand);
      waiting_.pop_front();
      --job.waiting;
    }
    Dispatch(job, std::move(errands), now_us);
    FinishIfDone(job);
  }
}

void ClusterMachine::ExpireJobs(int64_t now_us) {
  while (!jobs_.empty() && jobs_.front().deadline_us <= now_us) {
    ClusterJob& job = jobs_.front();
    Finish(job, job.TimeoutResult(absl::FormatDuration(options_.command_timeout)));
  }
}

void ClusterMachine::ArmTimer() {
  int64_t wake_us = asking_map_ ? kNever : map_due_us_;
  if (!waiting_.empty()) wake_us = std::min(wake_us, waiting_.front().due_us);
  if (!jobs_.empty()) wake_us = std::min(wake_us, jobs_.front().deadline_us);
  if (wake_us >= armed_us_) return;
  armed_us_ = wake_us;
  actions_.push_back({.kind = ClusterAction::Kind::kWake, .at_us = wake_us});
}

// The map.

void ClusterMachine::WantMap(int64_t now_us) {
  if (closed_) return;
  map_due_us_ = std::min(map_due_us_, std::max(now_us, earliest_map_us_));
}

std::vector<size_t> ClusterMachine::Candidates() {
  std::vector<size_t> order;
  const auto add = [&](const TcpAddress& address) {
    const size_t node = NodeAt(address);
    if (std::find(order.begin(), order.end(), node) == order.end()) order.push_back(node);
  };
  for (const TcpAddress& master : map_.Masters()) add(master);
  for (const TcpAddress& replica : map_.replicas()) add(replica);
  add(std::get<TcpAddress>(options_.address));
  for (const TcpAddress& seed : options_.seeds) add(seed);
  std::stable_partition(order.begin(), order.end(),
                        [&](size_t node) { return !nodes_[node].failed; });
  std::reverse(order.begin(), order.end());
  return order;
}

void ClusterMachine::AskNextCandidate(int64_t now_us) {
  if (candidates_.empty()) {
    asking_map_ = false;
    return WantMap(now_us);
  }
  asking_map_ = true;
  const size_t node = candidates_.back();
  candidates_.pop_back();
  actions_.push_back({.kind = ClusterAction::Kind::kAskMap, .node = node});
}

void ClusterMachine::MapAnswered(size_t node, const absl::StatusOr<Reply>& result, int64_t now_us) {
  absl::StatusOr<SlotMap> map =
      result.ok() ? SlotMap::FromReply(*result, Address(node)) : result.status();
  if (map.ok() && map->assigned_slots() == 0) {
    map = store::NotSentError(std::string_view(absl::StrCat(
        Address(node).host, ":", Address(node).port, " belongs to a cluster without slots")));
  }
  if (map.ok()) return TakeMap(*std::move(map), now_us);
  nodes_[node].failed = true;
  if (!ready_ && candidates_.empty()) start_status_ = map.status();
  AskNextCandidate(now_us);
}

void ClusterMachine::TakeMap(SlotMap map, int64_t now_us) {
  ++counters_.map_reads;
  asking_map_ = false;
  candidates_.clear();
  map_ = std::move(map);
  masters_.clear();
  for (const TcpAddress& master : map_.Masters()) masters_.push_back(NodeAt(master));
  for (Node& node : nodes_) node.failed = false;
  ready_ = true;
  start_status_ = absl::OkStatus();
  WakeWaiting(now_us);
}

}  // namespace redouble::redis
