// Reads the options of Relayna's stores from the arguments of an operation. relayna_operations.h
// lists them.
//
//   StatusArguments status(reader, context);
//   REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
//   co_await status.store().SetHistory(task_id, event);
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_OPERATIONS_RELAYNA_RELAYNA_ARGUMENTS_H_
#define REDOUBLE_SIM_OPERATIONS_RELAYNA_RELAYNA_ARGUMENTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "redouble/core/relayna/observation_store.h"
#include "redouble/core/relayna/service_event_feed.h"
#include "redouble/core/relayna/status_store.h"
#include "redouble/sim/operations/arguments.h"
#include "redouble/sim/operations/operation.h"

namespace redouble::inline v0_1::scenarios {

// Null is no TTL; absence is the default.
std::optional<int64_t> ReadTtl(sim::ArgumentReader& reader, std::optional<int64_t> otherwise);
std::string ReadPrefix(sim::ArgumentReader& reader, std::string otherwise);
relayna::FeedOptions ReadFeedOptions(sim::ArgumentReader& reader);
// Reads the feed that a store also writes to.
std::optional<relayna::ServiceEventFeed> ReadFeed(sim::ArgumentReader& reader, store::Store& store);
// Reads the options that only one of the stores has.
relayna::StatusOptions ReadHardening(sim::ArgumentReader& reader, relayna::StatusOptions options);
relayna::ObservationOptions ReadHardening(sim::ArgumentReader& reader,
                                          relayna::ObservationOptions options);

// Reads the options of a store of events, and keeps the feed that it is coupled with.
template <typename Store, typename Options>
class EventStoreArguments {
 public:
  EventStoreArguments(sim::ArgumentReader& reader, const sim::OperationContext& context)
      : feed_(ReadFeed(reader, context.store)), store_(context.store, Read(reader, feed_)) {}

  Store& store() { return store_; }

 private:
  static Options Read(sim::ArgumentReader& reader, std::optional<relayna::ServiceEventFeed>& feed) {
    Options options;
    options.prefix = ReadPrefix(reader, options.prefix);
    options.ttl_seconds = ReadTtl(reader, options.ttl_seconds);
    options.history_maxlen = reader.IntegerOr("history_maxlen", options.history_maxlen);
    options.hardening.atomic_events = reader.BoolOr("atomic_events", false);
    options.feed = feed ? &*feed : nullptr;
    return ReadHardening(reader, std::move(options));
  }

  std::optional<relayna::ServiceEventFeed> feed_;
  Store store_;
};

using StatusArguments = EventStoreArguments<relayna::StatusStore, relayna::StatusOptions>;
using ObservationArguments =
    EventStoreArguments<relayna::ObservationStore, relayna::ObservationOptions>;

}  // namespace redouble::inline v0_1::scenarios

#endif  // REDOUBLE_SIM_OPERATIONS_RELAYNA_RELAYNA_ARGUMENTS_H_
