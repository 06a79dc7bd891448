// The geo commands on single members. Searches are in geo_search.cc.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "redouble/backends/memory/commands/geo/geo_arguments.h"
#include "redouble/backends/memory/commands/geo/geohash.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/backends/memory/values/sorted_set.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

// Returns `reply_of` the position of each member after the key; `missing` for missing members.
template <typename ReplyOf>
Reply ForEachPosition(CommandContext& context, Arguments arguments, const Reply& missing,
                      ReplyOf reply_of) {
  const Lookup<SortedSet> set = context.Find<SortedSet>(arguments[0]);
  if (set.wrong_type()) return WrongType();
  std::vector<Reply> replies;
  for (const std::string_view member : arguments.subspan(1)) {
    const std::optional<double> score = set ? set->Score(member) : std::nullopt;
    replies.push_back(score ? reply_of(DecodePosition(*score)) : missing);
  }
  return Reply::Array(std::move(replies));
}

}  // namespace

// ZADD with geohashes as scores, including its event.
Reply HandleGeoAdd(CommandContext& context, Arguments arguments) {
  size_t first = 1;
  bool nx = false;
  bool xx = false;
  for (; first < arguments.size(); ++first) {
    if (IsWord(arguments[first], "NX")) {
      nx = true;
    } else if (IsWord(arguments[first], "XX")) {
      xx = true;
    } else if (!IsWord(arguments[first], "CH")) {
      break;
    }
  }
  const Arguments elements = arguments.subspan(first);
  if (elements.size() % 3 != 0 || (nx && xx)) return SyntaxError();
  std::vector<std::string> scores(elements.size() / 3);
  std::vector<std::string_view> words(arguments.begin(), arguments.end() - elements.size());
  for (size_t i = 0; i < scores.size(); ++i) {
    GeoPosition position;
    std::optional<Reply> error = ReadPosition(elements.subspan(i * 3), position);
    if (error) return *std::move(error);
    scores[i] = base::FormatInt64(static_cast<int64_t>(EncodePosition(position)));
    words.push_back(scores[i]);
    words.push_back(elements[i * 3 + 2]);
  }
  if (context.propagates()) {
    std::vector<std::string> effect = {"zadd"};
    effect.insert(effect.end(), words.begin(), words.end());
    context.PropagateAs(std::move(effect));
  }
  return HandleZAdd(context, words);
}

Reply HandleGeoPos(CommandContext& context, Arguments arguments) {
  return ForEachPosition(context, arguments, Reply::NilArray(), [&](const GeoPosition& position) {
    return PositionReply(context, position);
  });
}

Reply HandleGeoHash(CommandContext& context, Arguments arguments) {
  return ForEachPosition(context, arguments, Reply::Nil(), [](const GeoPosition& position) {
    return Reply::Bulk(GeohashText(position));
  });
}

Reply HandleGeoDist(CommandContext& context, Arguments arguments) {
  double unit_m = 1;
  if (arguments.size() > 4) return SyntaxError();
  if (arguments.size() == 4) {
    if (std::optional<Reply> error = ReadGeoUnit(arguments[3], unit_m)) return *std::move(error);
  }
  const Lookup<SortedSet> set = context.Find<SortedSet>(arguments[0]);
  if (set.wrong_type()) return WrongType();
  if (!set) return Reply::Nil();
  const std::optional<double> a = set->Score(arguments[1]);
  const std::optional<double> b = set->Score(arguments[2]);
  if (!a || !b) return Reply::Nil();
  return Reply::Bulk(
      base::FormatDistance(DistanceMeters(DecodePosition(*a), DecodePosition(*b)) / unit_m));
}

}  // namespace redouble::inline v0_1::memory
