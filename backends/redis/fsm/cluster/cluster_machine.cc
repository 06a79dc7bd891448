#include "redouble/backends/redis/fsm/cluster/cluster_machine.h"

#include <algorithm>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "absl/time/time.h"
#include "redouble/backends/redis/fsm/command_effect.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::redis {
namespace {

using store::ErrorKind;
using store::Reply;
using store::Request;

// A map of an older epoch is not believed in this many rounds, while some node does not answer.
constexpr int kDoubtedRounds = 3;

bool Blocks(const Request& request) {
  return request.kind() == Request::Kind::kCommand &&
         EffectOf(request.commands()[0]) == CommandEffect::kBlocks;
}

}  // namespace

ClusterMachine::ClusterMachine(const Options& options, IsIdempotent is_idempotent, base::Rng rng,
                               RequestObserver* observer)
    : options_(options),
      is_idempotent_(std::move(is_idempotent)),
      rounds_(options.refresh_interval),
      limits_(QueueLimits::From(options)),
      rng_(rng),
      read_choice_(options.read_from, rng_.Fork()),
      observer_(observer) {
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
  size_t free = nodes_.size();
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].known && nodes_[i].address == address) return i;
    if (!nodes_[i].known) free = i;
  }
  if (free == nodes_.size()) nodes_.emplace_back();
  nodes_[free] = Node{address};
  return free;
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
  if (std::optional<absl::Status> refusal =
          limits_.Refuse(jobs_.size(), queued_bytes_, "the cluster")) {
    return request.Complete(*std::move(refusal));
  }
  const absl::Duration limit =
      TimeLimit(request, options_.command_timeout, options_.blocking_timeout);
  const int64_t deadline_us = LaterMicros(now_us, DurationMicros(limit));
  const Jobs::iterator self = jobs_.emplace(deadline_us, request);
  ClusterJob& job = self->second;
  job.self = self;
  job.submitted_us = now_us;
  absl::StatusOr<Errands> errands = ErrandsOf(job);
  if (!errands.ok()) {
    jobs_.erase(self);
    return request.Complete(errands.status());
  }
  job.bytes = BytesOf(request);
  queued_bytes_ += job.bytes;
  job_of_.emplace(&request, &job);
  if (ready_) return Dispatch(job, *std::move(errands), now_us);
  // Without a map it is not known how many nodes a command goes to.
  ++counters_.waited;
  job.unrouted = true;
  job.waiting = 1;
  unrouted_.push_back(&job);
}

// Sends the jobs that waited for the first map.
void ClusterMachine::RouteAll(int64_t now_us) {
  while (!unrouted_.empty()) {
    ClusterJob& job = *unrouted_.front();
    unrouted_.pop_front();
    job.unrouted = false;
    job.waiting = 0;
    // It was routed once, when it was submitted, so it can be routed.
    Dispatch(job, ErrandsOf(job).value(), now_us);
  }
}

absl::StatusOr<Errands> ClusterMachine::ErrandsOf(ClusterJob& job) {
  const std::span<const store::Command> commands = job.request().commands();
  const bool reads = read_choice_.Concerns(job.request());
  Errands errands;
  if (job.is_transaction()) {
    REDOUBLE_ASSIGN_OR_RETURN(const Route route, RouteOfTransaction(commands, &server_commands_));
    errands.push_back(Errand{.route = route});
    return errands;
  }
  for (size_t i = 0; i < commands.size(); ++i) {
    if (options_.split_commands) {
      if (std::optional<CommandSplit> split = CommandSplit::Of(commands[i])) {
        for (size_t part = 0; part < split->size(); ++part) {
          const Route route{Route::Kind::kSlot, split->slot(part)};
          errands.push_back(Errand{.command = i, .copy = part, .route = route, .reads = reads});
        }
        job.Split(i, *std::move(split));
        continue;
      }
    }
    REDOUBLE_ASSIGN_OR_RETURN(const Route route, RouteOf(commands[i], &server_commands_));
    Errand errand{.command = i, .route = route};
    errand.reads = reads && route.kind == Route::Kind::kSlot;
    const size_t masters = std::max<size_t>(masters_.size(), 1);
    if (route.kind == Route::Kind::kScan) {
      if (const auto position = ReadScanCursor(commands[i], masters)) {
        errand.scan = *position;
        errand.scan_masters = masters;
      }
    }
    const size_t copies = route.kind == Route::Kind::kAllMasters ? masters : 1;
    job.Expect(i, copies);
    for (errand.copy = 0; errand.copy < copies; ++errand.copy) {
      if (errand.copy < masters_.size()) errand.node = masters_[errand.copy];
      errands.push_back(errand);
    }
  }
  return errands;
}

std::optional<size_t> ClusterMachine::NodeOf(const Errand& errand) const {
  if (masters_.empty()) return std::nullopt;
  switch (errand.route.kind) {
    case Route::Kind::kAllMasters:
      return errand.node;
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

// The node for an errand that reads.
std::optional<size_t> ClusterMachine::ReaderOf(const Errand& errand, int64_t now_us) {
  const std::optional<TcpAddress> node = read_choice_.Choose(
      map_.MasterOf(errand.route.slot), map_.ReplicasOf(errand.route.slot), now_us);
  return node ? std::optional<size_t>(NodeAt(*node)) : std::nullopt;
}

// Sends the errands, grouped by node and in order. Errands without a node wait.
void ClusterMachine::Dispatch(ClusterJob& job, Errands errands, int64_t now_us) {
  absl::InlinedVector<std::pair<size_t, Errands>, 1> by_node;
  std::map<const TcpAddress*, std::optional<size_t>> readers;  // By the master of the shard.
  bool waits = false;
  for (const Errand& errand : errands) {
    std::optional<size_t> node;
    if (errand.reads) {
      const auto [reader, is_new] = readers.try_emplace(map_.MasterOf(errand.route.slot));
      if (is_new) reader->second = ReaderOf(errand, now_us);
      node = reader->second;
    } else {
      node = NodeOf(errand);
    }
    if (!node) {
      waits = true;
      Wait(job, errand, now_us);
      continue;
    }
    // The master of this copy may have left while the copy waited.
    const bool is_master = std::find(masters_.begin(), masters_.end(), *node) != masters_.end();
    if (errand.route.kind == Route::Kind::kAllMasters && !is_master) {
      job.Drop(errand);
      continue;
    }
    auto group = std::find_if(by_node.begin(), by_node.end(),
                              [&](const auto& entry) { return entry.first == *node; });
    if (group == by_node.end()) {
      by_node.emplace_back().first = *node;
      group = by_node.end() - 1;
    }
    group->second.push_back(errand);
  }
  if (waits) {
    ++counters_.waited;
    job.last_problem = store::NotSentError(errands[0].reads ? "no replica serves the slot"
                                                            : "no node serves the slot");
    WantMap(now_us);
  }
  for (auto& [node, group] : by_node) Send(job, node, /*asking=*/false, std::move(group));
}

void ClusterMachine::Send(ClusterJob& job, size_t node, bool asking, Errands errands) {
  const uint64_t id = next_part_++;
  parts_.try_emplace(id, job, node, asking, std::move(errands));
  job.parts.push_back(id);
  if (observer_ != nullptr) observer_->Sent(job.request(), NodeName(Address(node)));
  actions_.push_back({.kind = ClusterAction::Kind::kSend, .node = node, .part = id});
}

void ClusterMachine::Wait(ClusterJob& job, const Errand& errand, int64_t now_us) {
  ++job.waiting;
  waiting_.push_back(Waiting{&job, errand, LaterMicros(now_us, rounds_.interval_us())});
}

// Removes the part from the tables; nullopt if it is no longer needed.
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
  absl::StatusOr<Replies> replies =
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
  NoteFailure(taken->mapped().node(), now_us);
  if (options_.reconnect) {
    ++counters_.waited;
    job.last_problem = status;
    for (const Errand& errand : taken->mapped().errands()) Wait(job, errand, now_us);
  } else {
    job.Fail(status);
  }
  FinishIfDone(job);
}

void ClusterMachine::NoteFailure(size_t node, int64_t now_us) {
  nodes_[node].failed = true;
  read_choice_.NoteFailure(Address(node), now_us);
  WantMap(now_us);
}

bool ClusterMachine::MayTryAgain(const ClusterJob& job, const absl::Status& status) const {
  if (job.redirections >= options_.redirections) return false;
  switch (store::ErrorKindOf(status).value_or(ErrorKind::kProtocol)) {
    case ErrorKind::kNotSent:
      // Other codes are refusals and timeouts, which another attempt cannot fix.
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
  return OnlyReads(job.request()) || (is_idempotent_ && is_idempotent_(job.request()));
}

void ClusterMachine::TakeFailure(ClusterPart& part, absl::Status status, int64_t now_us) {
  ClusterJob& job = part.job();
  if (status.code() == absl::StatusCode::kUnavailable) NoteFailure(part.node(), now_us);
  if (!MayTryAgain(job, status)) return job.Fail(std::move(status));
  ++job.redirections;
  if (store::ErrorKindOf(status) == ErrorKind::kOutcomeUnknown) ++job.losses;
  ++counters_.waited;
  for (const Errand& errand : part.errands()) Wait(job, errand, now_us);
}

void ClusterMachine::TakeReplies(ClusterPart& part, Replies replies, int64_t now_us) {
  ClusterJob& job = part.job();
  const bool may_redirect = job.redirections < options_.redirections;
  nodes_[part.node()].failed = false;
  read_choice_.NoteAnswer(Address(part.node()));
  std::optional<size_t> redirection;  // The first reply that names another node.
  bool moved = false;
  // By target node and whether ASKING is needed.
  std::map<std::pair<size_t, bool>, Errands> sent_on;
  for (size_t i = 0; i < replies.size(); ++i) {
    const Errand& errand = part.errands()[i];
    const std::optional<Redirect> redirect = ReadRedirect(replies[i], Address(part.node()));
    const bool names_node = redirect && (redirect->kind == Redirect::Kind::kMoved ||
                                         redirect->kind == Redirect::Kind::kAsk);
    if (redirect) NoteRedirect(part, *redirect, now_us);
    if (!redirect || (names_node && !may_redirect)) {
      job.Answer(errand, std::move(replies[i]));
      continue;
    }
    CountRedirect(redirect->kind);
    if (names_node && !redirection) redirection = i;
    moved |= redirect->kind == Redirect::Kind::kMoved;
    if (names_node && GoesOnAtOnce(part, *redirect)) {
      const bool asking = redirect->kind == Redirect::Kind::kAsk;
      sent_on[{NodeAt(redirect->node), asking}].push_back(errand);
    } else {
      job.last_problem = store::ServerError(replies[i].text());
      Wait(job, errand, now_us);
    }
  }
  if (redirection) {
    ++job.redirections;
    if (observer_ != nullptr) {
      observer_->Redirected(job.request(), NodeName(Address(part.node())),
                            replies[*redirection].text());
    }
  }
  if (moved && !job.CameFrom(part.node())) job.moved_from.push_back(part.node());
  for (auto& [target, errands] : sent_on) {
    Send(job, target.first, target.second, std::move(errands));
  }
}

// What a redirection says about the cluster, whether or not the command follows it.
void ClusterMachine::NoteRedirect(const ClusterPart& part, const Redirect& redirect,
                                  int64_t now_us) {
  switch (redirect.kind) {
    case Redirect::Kind::kDown:
      return NoteFailure(part.node(), now_us);
    case Redirect::Kind::kMoved: {
      map_.Move(redirect.slot, redirect.node);
      const size_t master = NodeAt(redirect.node);
      if (std::find(masters_.begin(), masters_.end(), master) == masters_.end()) {
        masters_.push_back(master);
      }
      return WantMap(now_us);
    }
    case Redirect::Kind::kAsk:
    case Redirect::Kind::kTryAgain:
      return;
  }
}

// Whether a command follows MOVED or ASK at once. A blocking command cannot share a connection, as
// ASKING requires; it waits, because the migration of the slot ends soon. Nodes that disagree send
// a command in a circle, which is slowed down until they agree.
bool ClusterMachine::GoesOnAtOnce(const ClusterPart& part, const Redirect& redirect) {
  if (redirect.kind == Redirect::Kind::kAsk) return !Blocks(part.job().request());
  const size_t target = NodeAt(redirect.node);
  return target != part.node() && !part.job().CameFrom(target);
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
      return;
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

// Removes the job and all its parts and errands from the tables.
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
  if (job.unrouted) std::erase(unrouted_, &job);
  job_of_.erase(&job.request());
  queued_bytes_ -= job.bytes;
  jobs_.erase(job.self);
}

void ClusterMachine::Abandon(Request& request) {
  const auto job = job_of_.find(&request);
  if (job != job_of_.end()) Forget(*job->second);
}

void ClusterMachine::Close(const std::string& reason) {
  if (!closed_) closed_ = reason;
  while (!jobs_.empty()) {
    ClusterJob& job = jobs_.begin()->second;
    Finish(job, job.EarlyResult(*closed_, absl::StatusCode::kUnavailable));
  }
}

// Time.

void ClusterMachine::Timer(int64_t now_us) {
  armed_us_ = kNever;
  if (map_due_us_ <= now_us && !asking_map_) {
    map_due_us_ = kNever;
    earliest_map_us_ = LaterMicros(now_us, rounds_.Next(failed_rounds_, rng_));
    best_view_.reset();
    all_answered_ = true;
    candidates_ = Candidates();
    AskNextCandidate(now_us);
  }
  ExpireJobs(now_us);
  WakeWaiting(now_us);
}

void ClusterMachine::WakeWaiting(int64_t now_us) {
  // Dispatch may queue an errand again, at the end and with a later due time.
  while (!waiting_.empty() && waiting_.front().due_us <= now_us) {
    ClusterJob& job = *waiting_.front().job;
    Errands errands;
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
  while (!jobs_.empty() && jobs_.begin()->first <= now_us) {
    ClusterJob& job = jobs_.begin()->second;
    Finish(job, job.TimeoutResult());
  }
}

void ClusterMachine::ArmTimer() {
  int64_t wake_us = asking_map_ ? kNever : map_due_us_;
  if (!waiting_.empty()) wake_us = std::min(wake_us, waiting_.front().due_us);
  if (!jobs_.empty()) wake_us = std::min(wake_us, jobs_.begin()->first);
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
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng_.Below(i)]);
  add(std::get<TcpAddress>(options_.address));
  for (const TcpAddress& seed : options_.seeds) add(seed);
  std::stable_partition(order.begin(), order.end(),
                        [&](size_t node) { return !nodes_[node].failed; });
  std::reverse(order.begin(), order.end());
  return order;
}

void ClusterMachine::AskNextCandidate(int64_t now_us) {
  if (candidates_.empty()) return EndRound(now_us);
  asking_map_ = true;
  const size_t node = candidates_.back();
  candidates_.pop_back();
  actions_.push_back({.kind = ClusterAction::Kind::kAskMap, .node = node});
}

void ClusterMachine::MapAnswered(size_t node, const absl::StatusOr<Reply>& result, int64_t now_us) {
  absl::StatusOr<ClusterView> view =
      result.ok() ? ClusterView::FromReplies(*result, Address(node)) : result.status();
  nodes_[node].failed = !view.ok() || !view->is_up;
  if (!view.ok()) {
    all_answered_ = false;
    if (!ready_ && candidates_.empty()) start_status_ = view.status();
    return AskNextCandidate(now_us);
  }
  // A node without a majority may know a greater epoch than the others: a replica counts it up for
  // each election that it cannot win.
  const auto rank = [&](const ClusterView& v) {
    return std::pair(v.is_up, v.epoch.value_or(epoch_));
  };
  if (!best_view_ || rank(*best_view_) < rank(*view)) best_view_ = *std::move(view);
  if (rank(*best_view_) >= std::pair(true, epoch_)) return EndRound(now_us);
  AskNextCandidate(now_us);
}

// The nodes to ask have been asked, or one has given a map that is good enough.
void ClusterMachine::EndRound(int64_t now_us) {
  asking_map_ = false;
  candidates_.clear();
  const bool is_older = best_view_ && best_view_->epoch.value_or(epoch_) < epoch_;
  const bool is_doubted = is_older && !all_answered_ && failed_rounds_ < kDoubtedRounds;
  if (best_view_ && !is_doubted) {
    return TakeMap(*std::exchange(best_view_, std::nullopt), now_us);
  }
  ++failed_rounds_;
  earliest_map_us_ =
      std::max(earliest_map_us_, LaterMicros(now_us, rounds_.Next(failed_rounds_, rng_)));
  WantMap(now_us);
}

void ClusterMachine::TakeMap(ClusterView view, int64_t now_us) {
  ++counters_.map_reads;
  failed_rounds_ = 0;
  if (view.is_up) epoch_ = view.epoch.value_or(epoch_);
  map_ = std::move(view.map);
  masters_.clear();
  for (const TcpAddress& master : map_.Masters()) masters_.push_back(NodeAt(master));
  ForgetNodes();
  ready_ = true;
  start_status_ = absl::OkStatus();
  if (read_choice_.uses_replicas()) {
    const int64_t interval_us = DurationMicros(options_.health_check_interval);
    map_due_us_ = std::min(map_due_us_, LaterMicros(now_us, interval_us));
  }
  RouteAll(now_us);
  WakeWaiting(now_us);
}

// Forgets the nodes that neither the map nor the options name and to which nothing is under way.
void ClusterMachine::ForgetNodes() {
  std::vector<bool> needed(nodes_.size());
  const auto need = [&](size_t node) {
    needed.resize(std::max(needed.size(), node + 1));
    needed[node] = true;
  };
  for (const size_t master : masters_) need(master);
  for (const TcpAddress& replica : map_.replicas()) need(NodeAt(replica));
  need(NodeAt(std::get<TcpAddress>(options_.address)));
  for (const TcpAddress& seed : options_.seeds) need(NodeAt(seed));
  for (const auto& [id, part] : parts_) need(part.node());
  for (const auto& [deadline_us, job] : jobs_) {
    for (const size_t node : job.moved_from) need(node);
  }
  for (const Waiting& waiting : waiting_) {
    if (waiting.errand.route.kind == Route::Kind::kAllMasters) need(waiting.errand.node);
  }
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (needed[i] || !nodes_[i].known) continue;
    nodes_[i].known = false;
    forgotten_.push_back(nodes_[i].address);
  }
}

}  // namespace redouble::inline v0_1::redis
