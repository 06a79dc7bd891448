// The pub/sub commands.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "redouble/backends/memory/commands/help.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/backends/memory/engine/session_core.h"
#include "redouble/core/base/text/glob.h"

namespace redouble::inline v0_1::memory {
namespace {

using Kind = SubscriptionKind;

// The name of each kind in a confirmation, by its number.
constexpr std::string_view kSubscribed[] = {"subscribe", "psubscribe", "ssubscribe"};
constexpr std::string_view kUnsubscribed[] = {"unsubscribe", "punsubscribe", "sunsubscribe"};

// Channels and patterns are counted together.
int64_t CountAfter(const SessionCore& session, Kind kind) {
  if (kind == Kind::kShard) return static_cast<int64_t>(session.subscribed(kind).size());
  return static_cast<int64_t>(session.subscribed(Kind::kChannel).size() +
                              session.subscribed(Kind::kPattern).size());
}

Reply Confirmation(const SessionCore& session, std::string_view what, Reply name, Kind kind) {
  return Reply::Push(
      {Reply::Bulk(what), std::move(name), Reply::Integer(CountAfter(session, kind))});
}

// The first confirmation is the reply; the others follow as pushes.
Reply Confirm(CommandContext& context, std::vector<Reply> confirmations) {
  for (size_t i = 1; i < confirmations.size(); ++i) {
    context.engine().PushLater(context.session(), std::move(confirmations[i]));
  }
  return std::move(confirmations.front());
}

Reply SubscribeTo(CommandContext& context, Kind kind, Arguments names) {
  SessionCore& session = context.session();
  std::vector<Reply> confirmations;
  for (const std::string_view name : names) {
    session.SubscribeTo(kind, name);
    confirmations.push_back(
        Confirmation(session, kSubscribed[static_cast<size_t>(kind)], Reply::Bulk(name), kind));
  }
  return Confirm(context, std::move(confirmations));
}

Reply UnsubscribeFrom(CommandContext& context, Kind kind, Arguments arguments) {
  SessionCore& session = context.session();
  const std::string_view what = kUnsubscribed[static_cast<size_t>(kind)];
  std::vector<std::string> names(arguments.begin(), arguments.end());
  if (names.empty()) names = session.subscribed(kind);
  if (names.empty()) return Confirmation(session, what, Reply::Nil(), kind);
  std::vector<Reply> confirmations;
  for (const std::string& name : names) {
    session.UnsubscribeFrom(kind, name);
    confirmations.push_back(Confirmation(session, what, Reply::Bulk(name), kind));
  }
  return Confirm(context, std::move(confirmations));
}

// PUBSUB CHANNELS and SHARDCHANNELS.
Reply ActiveChannels(CommandContext& context, Kind kind, Arguments arguments) {
  if (arguments.size() > 1) return WrongSubcommandUse(context);
  std::vector<Reply> channels;
  for (const auto& [name, subscribers] : context.engine().subscriptions().table(kind)) {
    if (!arguments.empty() && !base::GlobMatch(arguments[0], name)) continue;
    channels.push_back(Reply::Bulk(name));
  }
  return Reply::Array(std::move(channels));
}

Reply SubscriberCounts(CommandContext& context, Kind kind, Arguments names) {
  std::vector<Reply> counts;
  for (const std::string_view name : names) {
    const size_t count = context.engine().subscriptions().Of(kind, name).size();
    counts.push_back(Reply::Bulk(name));
    counts.push_back(Reply::Integer(static_cast<int64_t>(count)));
  }
  return Reply::Array(std::move(counts));
}

}  // namespace

Reply HandlePSubscribe(CommandContext& context, Arguments arguments) {
  return SubscribeTo(context, Kind::kPattern, arguments);
}

Reply HandlePublish(CommandContext& context, Arguments arguments) {
  if (context.engine().cluster() == nullptr) context.PropagateAlways(EffectTargets::kReplicas);
  return Reply::Integer(context.engine().Publish(arguments[0], arguments[1]));
}

Reply HandlePubSubChannels(CommandContext& context, Arguments arguments) {
  return ActiveChannels(context, Kind::kChannel, arguments);
}

Reply HandlePubSubHelp(CommandContext& context, Arguments) {
  static constexpr HelpLine kLines[] = {
      "CHANNELS [<pattern>]",
      "    Return the currently active channels matching a <pattern> (default: '*').",
      "NUMPAT",
      "    Return number of subscriptions to patterns.",
      "NUMSUB [<channel> ...]",
      "    Return the number of subscribers for the specified channels, excluding",
      "    pattern subscriptions(default: no channels).",
      "SHARDCHANNELS [<pattern>]",
      "    Return the currently active shard level channels matching a <pattern> (default: '*').",
      "SHARDNUMSUB [<shardchannel> ...]",
      "    Return the number of subscribers for the specified shard level channel(s)",
  };
  return HelpReply(context, kLines);
}

Reply HandlePubSubNumPat(CommandContext& context, Arguments) {
  return Reply::Integer(
      static_cast<int64_t>(context.engine().subscriptions().table(Kind::kPattern).size()));
}

Reply HandlePubSubNumSub(CommandContext& context, Arguments arguments) {
  return SubscriberCounts(context, Kind::kChannel, arguments);
}

Reply HandlePubSubShardChannels(CommandContext& context, Arguments arguments) {
  return ActiveChannels(context, Kind::kShard, arguments);
}

Reply HandlePubSubShardNumSub(CommandContext& context, Arguments arguments) {
  return SubscriberCounts(context, Kind::kShard, arguments);
}

Reply HandlePUnsubscribe(CommandContext& context, Arguments arguments) {
  return UnsubscribeFrom(context, Kind::kPattern, arguments);
}

Reply HandleSPublish(CommandContext& context, Arguments arguments) {
  if (context.engine().cluster() == nullptr) context.PropagateAlways(EffectTargets::kReplicas);
  return Reply::Integer(context.engine().PublishToShard(arguments[0], arguments[1]));
}

Reply HandleSSubscribe(CommandContext& context, Arguments arguments) {
  return SubscribeTo(context, Kind::kShard, arguments);
}

Reply HandleSubscribe(CommandContext& context, Arguments arguments) {
  return SubscribeTo(context, Kind::kChannel, arguments);
}

Reply HandleSUnsubscribe(CommandContext& context, Arguments arguments) {
  return UnsubscribeFrom(context, Kind::kShard, arguments);
}

Reply HandleUnsubscribe(CommandContext& context, Arguments arguments) {
  return UnsubscribeFrom(context, Kind::kChannel, arguments);
}

}  // namespace redouble::inline v0_1::memory
