#include "redouble/sim/operations/relayna/relayna_arguments.h"

namespace redouble::inline v0_1::scenarios {

using relayna::ServiceEventFeed;
using sim::ArgumentReader;
using sim::Json;

std::optional<int64_t> ReadTtl(ArgumentReader& reader, std::optional<int64_t> otherwise) {
  const Json* ttl = reader.FindOrNull("ttl_seconds");
  if (ttl == nullptr) return otherwise;
  return ttl->is_null() ? std::nullopt : reader.OptionalInteger("ttl_seconds");
}

std::string ReadPrefix(ArgumentReader& reader, std::string otherwise) {
  return reader.OptionalString("prefix").value_or(std::move(otherwise));
}

relayna::FeedOptions ReadFeedOptions(ArgumentReader& reader) {
  relayna::FeedOptions options;
  options.prefix = ReadPrefix(reader, options.prefix);
  options.ttl_seconds = ReadTtl(reader, options.ttl_seconds);
  options.feed_maxlen = reader.IntegerOr("feed_maxlen", options.feed_maxlen);
  options.hardening.atomic_events = reader.BoolOr("atomic_events", false);
  return options;
}

std::optional<ServiceEventFeed> ReadFeed(ArgumentReader& reader, store::Store& store) {
  const Json* feed = reader.Find("feed");
  if (feed == nullptr) return std::nullopt;
  ArgumentReader inner(*feed, "/feed");
  std::optional<ServiceEventFeed> result;
  result.emplace(store, ReadFeedOptions(inner));
  if (absl::Status status = inner.Finish(); !status.ok()) reader.Refuse("feed", "unknown options");
  return result;
}

relayna::StatusOptions ReadHardening(ArgumentReader& reader, relayna::StatusOptions options) {
  options.hardening.newest_first = reader.BoolOr("newest_first", false);
  return options;
}

relayna::ObservationOptions ReadHardening(ArgumentReader&, relayna::ObservationOptions options) {
  return options;
}

}  // namespace redouble::inline v0_1::scenarios
