// XPENDING, XCLAIM and XAUTOCLAIM: entries that were delivered and not acknowledged.
#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/commands/streams/stream_arguments.h"
#include "redouble/backends/memory/commands/streams/stream_consumers.h"
#include "redouble/backends/memory/commands/streams/stream_replies.h"
#include "redouble/backends/memory/compatibility/feature.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

// The arguments of XPENDING with a range.
struct PendingQuery {
  int64_t min_idle_ms = 0;
  StreamInterval interval;
  uint64_t count = 0;
  std::optional<std::string_view> consumer;
};

// Reads the words after the group. Returns an error reply, or nil if `query` is filled.
Reply ReadPendingQuery(Arguments arguments, PendingQuery& query) {
  if (arguments.size() < 3 || arguments.size() > 6) return SyntaxError();
  if (IsWord(arguments[0], "IDLE")) {
    const std::optional<int64_t> idle = base::ParseInt64(arguments[1]);
    if (!idle) return Reply::Error(error_text::kNotAnInteger);
    query.min_idle_ms = *idle;
    if (arguments.size() < 5) return SyntaxError();
    arguments = arguments.subspan(2);
  }
  const std::optional<int64_t> count = base::ParseInt64(arguments[2]);
  if (!count) return Reply::Error(error_text::kNotAnInteger);
  query.count = *count < 0 ? 0 : static_cast<uint64_t>(*count);
  if (Reply error = ReadInterval(arguments[0], arguments[1], query.interval); error.is_error()) {
    return error;
  }
  if (arguments.size() > 3) query.consumer = arguments[3];
  return Reply::Nil();
}

Reply PendingSummary(const StreamGroup& group) {
  const StreamGroup::PendingMap& pending = group.pending();
  if (pending.empty()) {
    return Reply::Array({Reply::Integer(0), Reply::Nil(), Reply::Nil(), Reply::NilArray()});
  }
  std::vector<Reply> consumers;
  for (const auto& [name, consumer] : group.consumers()) {
    if (consumer->pending.empty()) continue;
    consumers.push_back(Reply::Array(
        {Reply::Bulk(name),
         Reply::Bulk(base::FormatInt64(static_cast<int64_t>(consumer->pending.size())))}));
  }
  return Reply::Array({CountReply(pending.size()), StreamIdReply(pending.begin()->first),
                       StreamIdReply(pending.rbegin()->first), Reply::Array(std::move(consumers))});
}

Reply PendingEntryReply(StreamId id, const StreamPending& pending, int64_t now_ms) {
  return Reply::Array({StreamIdReply(id), Reply::Bulk(pending.consumer->name),
                       Reply::Integer(std::max<int64_t>(now_ms - pending.delivered_ms, 0)),
                       Reply::Integer(pending.deliveries)});
}

Reply PendingEntries(StreamGroup& group, const PendingQuery& query, int64_t now_ms) {
  std::vector<Reply> entries;
  const auto add = [&](StreamId id, const StreamPending& pending) {
    if (query.min_idle_ms != 0 && now_ms - pending.delivered_ms < query.min_idle_ms) return;
    entries.push_back(PendingEntryReply(id, pending, now_ms));
  };
  const auto [first, last] = query.interval;
  if (query.consumer) {
    const StreamConsumer* consumer = group.FindConsumer(*query.consumer);
    if (consumer == nullptr) return Reply::EmptyArray();
    const auto end = consumer->pending.end();
    for (auto at = consumer->pending.lower_bound(first); at != end && *at <= last; ++at) {
      if (entries.size() == query.count) break;
      add(*at, *group.FindPending(*at));
    }
  } else {
    const auto end = group.pending().end();
    for (auto at = group.pending().lower_bound(first); at != end && at->first <= last; ++at) {
      if (entries.size() == query.count) break;
      add(at->first, at->second);
    }
  }
  return Reply::Array(std::move(entries));
}

// A group and its stream, or the error.
struct GroupOfStream {
  Stream* stream = nullptr;
  StreamGroup* group = nullptr;
  std::optional<Reply> error = std::nullopt;
};

GroupOfStream FindGroup(CommandContext& context, std::string_view key, std::string_view name) {
  const Lookup<Stream> stream = context.Find<Stream>(key);
  context.CountRead(key, stream.exists());
  if (stream.wrong_type()) return {.error = WrongType()};
  StreamGroup* group = stream ? stream->FindGroup(name) : nullptr;
  if (group == nullptr) return {.error = NoSuchKeyOrGroup(key, name)};
  return {.stream = &*stream, .group = group};
}

// Reads the minimum idle time of XCLAIM and XAUTOCLAIM. Returns an error reply, or nil if
// `min_idle_ms` is set.
Reply ReadMinIdle(std::string_view text, std::string_view command, int64_t& min_idle_ms) {
  const std::optional<int64_t> idle = base::ParseInt64(text);
  if (!idle) {
    return Reply::Error(
        absl::StrCat("ERR Invalid min-idle-time argument for ", base::ToAbsl(command)));
  }
  min_idle_ms = std::max<int64_t>(*idle, 0);
  return Reply::Nil();
}

struct ClaimOptions {
  std::vector<StreamId> ids;
  int64_t min_idle_ms = 0;
  std::optional<int64_t> delivered_ms;
  std::optional<int64_t> deliveries;
  StreamId last_id;
  bool force = false;
  bool just_id = false;
  // A log may have been written by a clock that is ahead of the engine's that reads it.
  bool takes_future = false;
};

// Reads the ids and options of XCLAIM. Returns an error reply, or nil if `claim` is filled.
class ClaimReader {
 public:
  ClaimReader(Arguments arguments, int64_t now_ms) : arguments_(arguments), now_ms_(now_ms) {}

  Reply Read(ClaimOptions& claim) {
    for (; at_ < arguments_.size(); ++at_) {
      const std::optional<StreamId> id = ReadStreamId(arguments_[at_]);
      if (!id) break;
      claim.ids.push_back(*id);
    }
    for (; at_ < arguments_.size(); ++at_) {
      if (Reply error = ReadOption(claim); error.is_error()) return error;
    }
    return Reply::Nil();
  }

 private:
  Reply ReadOption(ClaimOptions& claim) {
    const std::string_view word = arguments_[at_];
    const bool has_value = at_ + 1 < arguments_.size();
    if (IsWord(word, "FORCE")) {
      claim.force = true;
    } else if (IsWord(word, "JUSTID")) {
      claim.just_id = true;
    } else if (has_value && IsWord(word, "IDLE")) {
      int64_t idle_ms = 0;
      if (Reply error = ReadNumber("IDLE", idle_ms); error.is_error()) return error;
      // Wraps around for huge values, as in Redis; Claim checks the result.
      claim.delivered_ms =
          static_cast<int64_t>(static_cast<uint64_t>(now_ms_) - static_cast<uint64_t>(idle_ms));
    } else if (has_value && IsWord(word, "TIME")) {
      int64_t time_ms = 0;
      if (Reply error = ReadNumber("TIME", time_ms); error.is_error()) return error;
      claim.delivered_ms = time_ms;
    } else if (has_value && IsWord(word, "RETRYCOUNT")) {
      int64_t count = 0;
      if (Reply error = ReadNumber("RETRYCOUNT", count); error.is_error()) return error;
      claim.deliveries = count < 0 ? std::nullopt : std::optional(count);
    } else if (has_value && IsWord(word, "LASTID")) {
      const std::optional<StreamId> id = ReadStreamId(arguments_[++at_]);
      if (!id) return InvalidStreamId();
      claim.last_id = *id;
    } else {
      return Reply::Error(absl::StrCat("ERR Unrecognized XCLAIM option '", InError(word), "'"));
    }
    return Reply::Nil();
  }

  Reply ReadNumber(std::string_view option, int64_t& number) {
    const std::optional<int64_t> value = base::ParseInt64(arguments_[++at_]);
    if (!value) {
      return Reply::Error(
          absl::StrCat("ERR Invalid ", base::ToAbsl(option), " option argument for XCLAIM"));
    }
    number = *value;
    return Reply::Nil();
  }

  const Arguments arguments_;
  const int64_t now_ms_;
  size_t at_ = 0;
};

// The claiming consumer: created, or marked as seen, when it claims its first entry.
class Claimer {
 public:
  // `arguments`: key, group and consumer.
  Claimer(CommandContext& context, Arguments arguments, StreamGroup& group)
      : context_(context),
        group_name_{.key = arguments[0], .group = arguments[1]},
        group_(group),
        name_(arguments[2]) {
    context_.PropagateOnlyOthers();
  }

  // Redis 7.2 creates or sees the consumer also if it claims nothing.
  void See() {
    if (context_.engine().Has(Feature::kActiveTime)) Get();
  }
  StreamConsumer& Get() {
    if (consumer_ == nullptr) consumer_ = &SeeConsumer(context_, group_name_.key, group_, name_);
    return *consumer_;
  }

  // Counts and propagates the new state of an entry, or the one that it had when it was deleted.
  void Propagate(std::string_view id, const StreamPending& pending) {
    context_.CountChange();
    PropagateClaim(context_, group_name_, group_, id, pending);
    has_propagated_ = true;
  }
  // Propagates the position that LASTID has set, unless a claim has.
  void PropagateNewPosition() {
    if (has_propagated_) return;
    context_.CountChange();
    PropagatePosition(context_, group_name_, group_);
  }

 private:
  CommandContext& context_;
  const GroupName group_name_;
  StreamGroup& group_;
  const std::string_view name_;
  StreamConsumer* consumer_ = nullptr;
  bool has_propagated_ = false;
};

// Removes an entry from the pending ones that the stream no longer has, if it is one. Replicas
// learn it from a claim, which does the same there.
void ForgetDeleted(Claimer& claimer, StreamGroup& group, StreamId id, std::string_view text) {
  if (const StreamPending* pending = group.FindPending(id)) claimer.Propagate(text, *pending);
  group.Acknowledge(id);
}

// Claims one entry. Returns its reply; nullopt if it is not claimed.
std::optional<Reply> Claim(const GroupOfStream& found, const ClaimOptions& claim, StreamId id,
                           std::string_view text, Claimer& claimer, int64_t now_ms) {
  StreamGroup& group = *found.group;
  if (!found.stream->Contains(id)) {
    ForgetDeleted(claimer, group, id, text);
    return std::nullopt;
  }
  StreamPending* pending = group.FindPending(id);
  if (pending == nullptr) {
    if (!claim.force) return std::nullopt;
    group.Deliver(id, claimer.Get(), now_ms);
    pending = group.FindPending(id);
  } else if (claim.min_idle_ms != 0 && now_ms - pending->delivered_ms < claim.min_idle_ms) {
    return std::nullopt;
  }
  group.Assign(id, *pending, claimer.Get());
  claimer.Get().active_ms = now_ms;
  // A time in the future or before the epoch counts as now.
  const int64_t wanted_ms = claim.delivered_ms.value_or(now_ms);
  const bool is_future = wanted_ms > now_ms && !claim.takes_future;
  pending->delivered_ms = wanted_ms < 0 || is_future ? now_ms : wanted_ms;
  if (claim.deliveries) {
    pending->deliveries = *claim.deliveries;
  } else if (!claim.just_id) {
    ++pending->deliveries;
  }
  claimer.Propagate(text, *pending);
  return claim.just_id ? StreamIdReply(id) : StreamEntryReply(*found.stream, id);
}

struct AutoClaimOptions {
  int64_t min_idle_ms = 0;
  StreamId start;
  int64_t count = 100;
  bool just_id = false;
};

// Reads the words after the consumer. Returns an error reply, or nil if `claim` is filled.
Reply ReadAutoClaim(Arguments arguments, AutoClaimOptions& claim) {
  constexpr int64_t kMaxCount = std::numeric_limits<int64_t>::max() / 16;
  if (Reply error = ReadMinIdle(arguments[0], "XAUTOCLAIM", claim.min_idle_ms); error.is_error()) {
    return error;
  }
  if (Reply error = ReadIntervalStart(arguments[1], claim.start); error.is_error()) return error;
  for (size_t i = 2; i < arguments.size(); ++i) {
    if (IsWord(arguments[i], "COUNT") && i + 1 < arguments.size()) {
      const std::optional<int64_t> count = base::ParseInt64(arguments[++i]);
      if (!count || *count < 1 || *count > kMaxCount) {
        // lint: one-home: Redis writes this text in both commands
        return Reply::Error("ERR COUNT must be > 0");
      }
      claim.count = *count;
    } else if (IsWord(arguments[i], "JUSTID")) {
      claim.just_id = true;
    } else {
      return SyntaxError();
    }
  }
  return Reply::Nil();
}

// Redis allocates room for this many deleted ids at once. The limit depends on the machine;
// addresses have at most 47 bits.
bool FitsInMemory(int64_t count) {
  return count < (int64_t{1} << 47) / static_cast<int64_t>(sizeof(StreamId));
}

// Redis scans ten entries for each one that it may claim.
Reply AutoClaim(const GroupOfStream& found, const AutoClaimOptions& claim, Claimer& claimer,
                int64_t now_ms) {
  StreamGroup& group = *found.group;
  std::vector<Reply> claimed;
  std::vector<Reply> deleted;
  int64_t attempts = claim.count * 10;
  auto at = group.pending().lower_bound(claim.start);
  for (int64_t left = claim.count; attempts > 0 && left > 0 && at != group.pending().end();
       --attempts) {
    const StreamId id = at->first;
    if (!found.stream->Contains(id)) {
      ForgetDeleted(claimer, group, id, id.ToString());
      deleted.push_back(StreamIdReply(id));
      --left;
      at = group.pending().upper_bound(id);
      continue;
    }
    ++at;
    StreamPending& pending = *group.FindPending(id);
    if (claim.min_idle_ms != 0 && now_ms - pending.delivered_ms < claim.min_idle_ms) continue;
    group.Assign(id, pending, claimer.Get());
    claimer.Get().active_ms = now_ms;
    pending.delivered_ms = now_ms;
    if (!claim.just_id) ++pending.deliveries;
    claimer.Propagate(id.ToString(), pending);
    claimed.push_back(claim.just_id ? StreamIdReply(id) : StreamEntryReply(*found.stream, id));
    --left;
  }
  const StreamId next = at == group.pending().end() ? StreamId::Min() : at->first;
  return Reply::Array(
      {StreamIdReply(next), Reply::Array(std::move(claimed)), Reply::Array(std::move(deleted))});
}

}  // namespace

Reply HandleXPending(CommandContext& context, Arguments arguments) {
  const bool summary = arguments.size() == 2;
  PendingQuery query;
  if (!summary) {
    if (Reply error = ReadPendingQuery(arguments.subspan(2), query); error.is_error()) {
      return error;
    }
  }
  GroupOfStream found = FindGroup(context, arguments[0], arguments[1]);
  if (found.error) return *std::move(found.error);
  return summary ? PendingSummary(*found.group)
                 : PendingEntries(*found.group, query, context.now_ms());
}

Reply HandleXClaim(CommandContext& context, Arguments arguments) {
  GroupOfStream found = FindGroup(context, arguments[0], arguments[1]);
  if (found.error) return *std::move(found.error);
  ClaimOptions claim;
  claim.takes_future = context.session().is_obeyed();
  if (Reply error = ReadMinIdle(arguments[3], "XCLAIM", claim.min_idle_ms); error.is_error()) {
    return error;
  }
  ClaimReader reader(arguments.subspan(4), context.now_ms());
  if (Reply error = reader.Read(claim); error.is_error()) return error;
  StreamId& last_delivered_id = found.group->position.last_delivered_id;
  const bool has_moved = claim.last_id > last_delivered_id;
  if (has_moved) last_delivered_id = claim.last_id;
  Claimer claimer(context, arguments, *found.group);
  claimer.See();
  std::vector<Reply> claimed;
  for (size_t i = 0; i < claim.ids.size(); ++i) {
    std::optional<Reply> reply =
        Claim(found, claim, claim.ids[i], arguments[4 + i], claimer, context.now_ms());
    if (reply) claimed.push_back(*std::move(reply));
  }
  if (has_moved) claimer.PropagateNewPosition();
  context.Resized(arguments[0]);
  return Reply::Array(std::move(claimed));
}

Reply HandleXAutoClaim(CommandContext& context, Arguments arguments) {
  // Redis looks the group's key up first, and reports errors of the options first.
  GroupOfStream found = FindGroup(context, arguments[0], arguments[1]);
  AutoClaimOptions claim;
  if (Reply error = ReadAutoClaim(arguments.subspan(3), claim); error.is_error()) return error;
  if (found.error) return *std::move(found.error);
  if (!FitsInMemory(claim.count)) {
    return Reply::Error(
        "ERR Insufficient memory, failed allocating transient memory, COUNT too high.");
  }
  Claimer claimer(context, arguments, *found.group);
  claimer.See();
  context.Resized(arguments[0]);
  return AutoClaim(found, claim, claimer, context.now_ms());
}

}  // namespace redouble::inline v0_1::memory
