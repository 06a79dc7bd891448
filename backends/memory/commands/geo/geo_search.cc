// GEOSEARCH, GEOSEARCHSTORE and the GEORADIUS family.
#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/commands/geo/geo_arguments.h"
#include "redouble/backends/memory/commands/geo/geohash.h"
#include "redouble/backends/memory/commands/keys/partial_sort.h"
#include "redouble/backends/memory/commands/reply_array.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/backends/memory/values/sorted_set.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

// The commands of this family, by the positions of their arguments.
struct Dialect {
  bool search = false;  // GEOSEARCH: FROMMEMBER and FROMLONLAT are options.
  bool by_member = false;
  bool may_store = false;
  bool stores = false;  // GEOSEARCHSTORE: the destination key is the first argument.
  size_t options = 0;   // Index of the first option.
};
constexpr Dialect kGeoRadius = {false, false, true, false, 5};
constexpr Dialect kGeoRadiusRo = {false, false, false, false, 5};
constexpr Dialect kGeoRadiusByMember = {false, true, true, false, 4};
constexpr Dialect kGeoRadiusByMemberRo = {false, true, false, false, 4};
constexpr Dialect kGeoSearch = {true, false, false, false, 1};
constexpr Dialect kGeoSearchStore = {true, false, false, true, 2};

enum class Order { kNone, kNearestFirst, kFarthestFirst };

struct Query {
  GeoShape shape;
  double unit_m = 1;
  bool with_distance = false;
  bool with_hash = false;
  bool with_position = false;
  bool from_member = false;
  bool from_position = false;
  bool by_radius = false;
  bool by_box = false;
  bool any = false;
  int64_t count = 0;  // 0: all.
  Order order = Order::kNone;
  std::optional<std::string_view> destination;
  bool store_distance = false;
};

struct Hit {
  std::string member;
  double score;
  GeoPosition position;
  double distance;  // In the query's unit.
};

using Error = std::optional<Reply>;

// A radius and its unit.
Error ReadRadius(Arguments words, Query& query) {
  double radius = 0;
  if (Error error = ReadLength(words[0], "radius", radius)) return error;
  if (radius < 0) return Reply::Error("ERR radius cannot be negative");
  if (Error error = ReadGeoUnit(words[1], query.unit_m)) return error;
  query.shape.kind = GeoShape::Kind::kCircle;
  query.shape.radius_m = radius * query.unit_m;
  return std::nullopt;
}

// A width, a height and their unit.
Error ReadBox(Arguments words, Query& query) {
  double width = 0;
  double height = 0;
  if (Error error = ReadLength(words[0], "width", width)) return error;
  if (Error error = ReadLength(words[1], "height", height)) return error;
  if (width < 0 || height < 0) return Reply::Error("ERR height or width cannot be negative");
  if (Error error = ReadGeoUnit(words[2], query.unit_m)) return error;
  query.shape.kind = GeoShape::Kind::kBox;
  query.shape.width_m = width * query.unit_m;
  query.shape.height_m = height * query.unit_m;
  return std::nullopt;
}

Error ReadMember(const Lookup<SortedSet>& set, std::string_view member, Query& query) {
  const std::optional<double> score = set->Score(member);
  if (!score) return Reply::Error("ERR could not decode requested zset member");
  query.shape.center = DecodePosition(*score);
  return std::nullopt;
}

// Reads the words of a query one by one, from `next` on.
class QueryReader {
 public:
  QueryReader(const Dialect& dialect, Arguments words, const Lookup<SortedSet>& set, Query& query)
      : dialect_(dialect), words_(words), set_(set), query_(query) {}

  Error Read() {
    while (next_ < words_.size()) {
      word_ = words_[next_++];
      if (ReadFlag()) continue;
      if (Error error = ReadOption()) return error;
    }
    return std::nullopt;
  }

 private:
  bool Is(std::string_view word, size_t values) const {
    return IsWord(word_, word) && words_.size() - next_ >= values;
  }
  Arguments Take(size_t count) {
    next_ += count;
    return words_.subspan(next_ - count, count);
  }

  bool ReadFlag() {
    if (Is("WITHDIST", 0)) return query_.with_distance = true;
    if (Is("WITHHASH", 0)) return query_.with_hash = true;
    if (Is("WITHCOORD", 0)) return query_.with_position = true;
    if (Is("ANY", 0)) return query_.any = true;
    if (dialect_.stores && Is("STOREDIST", 0)) return query_.store_distance = true;
    if (Is("ASC", 0)) {
      query_.order = Order::kNearestFirst;
    } else if (Is("DESC", 0)) {
      query_.order = Order::kFarthestFirst;
    } else {
      return false;
    }
    return true;
  }

  Error ReadOption() {
    if (Is("COUNT", 1)) return ReadCount(Take(1)[0]);
    if (dialect_.may_store && (Is("STORE", 1) || Is("STOREDIST", 1))) {
      query_.store_distance = Is("STOREDIST", 1);
      query_.destination = Take(1)[0];
      return std::nullopt;
    }
    return dialect_.search ? ReadSearchOption() : Error(SyntaxError());
  }

  Error ReadSearchOption() {
    if (Is("FROMMEMBER", 1) && !query_.from_position) {
      query_.from_member = true;
      const std::string_view member = Take(1)[0];
      // Without a sorted set the other arguments are still checked.
      return set_ ? ReadMember(set_, member, query_) : std::nullopt;
    }
    if (Is("FROMLONLAT", 2) && !query_.from_member) {
      query_.from_position = true;
      return ReadPosition(Take(2), query_.shape.center);
    }
    if (Is("BYRADIUS", 2) && !query_.by_box) {
      query_.by_radius = true;
      return ReadRadius(Take(2), query_);
    }
    if (Is("BYBOX", 3) && !query_.by_radius) {
      query_.by_box = true;
      return ReadBox(Take(3), query_);
    }
    return SyntaxError();
  }

  Error ReadCount(std::string_view text) {
    const std::optional<int64_t> count = base::ParseInt64(text);
    if (!count) return Reply::Error(error_text::kNotAnInteger);
    if (*count <= 0) return Reply::Error("ERR COUNT must be > 0");
    query_.count = *count;
    return std::nullopt;
  }

  const Dialect& dialect_;
  const Arguments words_;
  const Lookup<SortedSet>& set_;
  Query& query_;
  size_t next_ = 0;
  std::string_view word_;
};

// The center and the radius of the GEORADIUS family.
Error ReadRadiusQuery(const Dialect& dialect, Arguments arguments, const Lookup<SortedSet>& set,
                      Query& query) {
  if (!dialect.by_member) {
    if (Error error = ReadPosition(arguments.subspan(1), query.shape.center)) return error;
    return ReadRadius(arguments.subspan(3), query);
  }
  // Without a sorted set Redis checks neither.
  if (!set) return std::nullopt;
  if (Error error = ReadMember(set, arguments[1], query)) return error;
  return ReadRadius(arguments.subspan(2), query);
}

// Incompatible options.
Error CheckQuery(const Dialect& dialect, std::string_view called_name, const Query& query) {
  if (query.destination && (query.with_distance || query.with_hash || query.with_position)) {
    return Reply::Error(
        absl::StrCat("ERR ", dialect.search ? "GEOSEARCHSTORE" : "STORE option in GEORADIUS",
                     " is not compatible with WITHDIST, WITHHASH and WITHCOORD options"));
  }
  const auto exactly_one = [&](std::string_view words) {
    return Reply::Error(absl::StrCat("ERR exactly one of ", base::ToAbsl(words),
                                     " can be specified for ", base::ToAbsl(called_name)));
  };
  if (dialect.search && !query.from_member && !query.from_position) {
    return exactly_one("FROMMEMBER or FROMLONLAT");
  }
  if (dialect.search && !query.by_radius && !query.by_box) return exactly_one("BYRADIUS and BYBOX");
  if (query.any && query.count == 0) {
    return Reply::Error("ERR the ANY argument requires COUNT argument");
  }
  return std::nullopt;
}

// The members in the shape, cell by cell; with ANY no more than COUNT.
std::vector<Hit> Search(const SortedSet& set, const Query& query) {
  std::vector<Hit> hits;
  const auto enough = [&] { return query.any && static_cast<int64_t>(hits.size()) >= query.count; };
  for (const GeoScoreRange& range : SearchRanges(query.shape)) {
    const RankRange ranks = set.Find(ScoreRange{range.min, range.max, false, true});
    if (ranks.size() == 0) continue;
    set.ForEach(ranks.first, ranks.size(), false, [&](std::string_view member, double score) {
      const GeoPosition position = DecodePosition(score);
      if (enough() || !Contains(query.shape, position)) return;
      const double distance = DistanceMeters(query.shape.center, position) / query.unit_m;
      hits.push_back({std::string(member), score, position, distance});
    });
    if (enough()) break;
  }
  return hits;
}

void SortAndCut(const Query& query, std::vector<Hit>& hits) {
  Order order = query.order;
  // COUNT without an order means the nearest members.
  if (order == Order::kNone && query.count > 0 && !query.any) order = Order::kNearestFirst;
  const bool cuts = query.count > 0 && static_cast<int64_t>(hits.size()) > query.count;
  if (order != Order::kNone) {
    const auto compare = [order](const Hit& a, const Hit& b) {
      const int by_distance = (a.distance > b.distance) - (a.distance < b.distance);
      return order == Order::kNearestFirst ? by_distance : -by_distance;
    };
    if (cuts) {
      PartialSort(std::span(hits), 0, static_cast<size_t>(query.count) - 1, compare);
    } else {
      std::stable_sort(hits.begin(), hits.end(),
                       [&](const Hit& a, const Hit& b) { return compare(a, b) < 0; });
    }
  }
  if (cuts) hits.erase(hits.begin() + query.count, hits.end());
}

Reply HitReply(const CommandContext& context, const Query& query, const Hit& hit) {
  if (!query.with_distance && !query.with_hash && !query.with_position) {
    return Reply::Bulk(hit.member);
  }
  std::vector<Reply> parts = {Reply::Bulk(hit.member)};
  if (query.with_distance) parts.push_back(Reply::Bulk(base::FormatDistance(hit.distance)));
  if (query.with_hash) parts.push_back(Reply::Integer(static_cast<int64_t>(hit.score)));
  if (query.with_position) parts.push_back(PositionReply(context, hit.position));
  return Reply::Array(std::move(parts));
}

Reply StoreHits(CommandContext& context, const Dialect& dialect, const Query& query,
                const std::vector<Hit>& hits) {
  const std::string_view key = *query.destination;
  if (hits.empty()) {
    if (context.Remove(key)) context.Changed(key, EventClass::kGeneric, "del");
    return Reply::Integer(0);
  }
  SortedSet set;
  for (const Hit& hit : hits) {
    set.Set(hit.member, query.store_distance ? hit.distance : hit.score, context.limits());
  }
  context.Put(key, Value::Of(std::move(set)));
  context.Changed(key, EventClass::kSortedSet,
                  dialect.search ? "geosearchstore" : "georadiusstore");
  return Reply::Integer(static_cast<int64_t>(hits.size()));
}

Reply SearchGeneric(CommandContext& context, const Dialect& dialect, Arguments arguments) {
  const std::string_view key = arguments[dialect.stores ? 1 : 0];
  const Lookup<SortedSet> set = context.Find<SortedSet>(key);
  context.CountRead(key, set.exists());
  if (set.wrong_type()) return WrongType();
  Query query;
  if (dialect.stores) query.destination = arguments[0];
  if (!dialect.search) {
    if (Error error = ReadRadiusQuery(dialect, arguments, set, query)) return *std::move(error);
  }
  QueryReader reader(dialect, arguments.subspan(dialect.options), set, query);
  if (Error error = reader.Read()) return *std::move(error);
  if (Error error = CheckQuery(dialect, context.called_name(), query)) return *std::move(error);
  std::vector<Hit> hits;
  if (set) hits = Search(*set, query);
  SortAndCut(query, hits);
  if (query.destination) return StoreHits(context, dialect, query, hits);
  ReplyArray replies(context, Reply::Shape::kPlain, hits.size());
  for (const Hit& hit : hits) replies.Add(HitReply(context, query, hit));
  return std::move(replies).Finish();
}

}  // namespace

Reply HandleGeoRadius(CommandContext& context, Arguments arguments) {
  return SearchGeneric(context, kGeoRadius, arguments);
}

Reply HandleGeoRadiusRo(CommandContext& context, Arguments arguments) {
  return SearchGeneric(context, kGeoRadiusRo, arguments);
}

Reply HandleGeoRadiusByMember(CommandContext& context, Arguments arguments) {
  return SearchGeneric(context, kGeoRadiusByMember, arguments);
}

Reply HandleGeoRadiusByMemberRo(CommandContext& context, Arguments arguments) {
  return SearchGeneric(context, kGeoRadiusByMemberRo, arguments);
}

Reply HandleGeoSearch(CommandContext& context, Arguments arguments) {
  return SearchGeneric(context, kGeoSearch, arguments);
}

Reply HandleGeoSearchStore(CommandContext& context, Arguments arguments) {
  return SearchGeneric(context, kGeoSearchStore, arguments);
}

}  // namespace redouble::inline v0_1::memory
