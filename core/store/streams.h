// Typed commands of Redis streams and consumer groups.
//
// Each function sends one command: one round trip. Arguments are views that must live until the
// task has finished. Errors common to all: WRONGTYPE (FailedPrecondition) when the key holds
// another type, and those of the store itself (errors.h). Commands of a group answer NotFound
// (NOGROUP) when the key or the group does not exist, unless they say otherwise. Source: Redis 7.0,
// the command of the same name.
//
//   const std::pair<std::string_view, std::string_view> fields[] = {{"token", token}};
//   absl::StatusOr<std::optional<StreamId>> id = co_await store::XAdd(store, "tasks", fields);
//
//   const StreamRead reads[] = {{.key = "tasks"}};
//   auto tasks = co_await store::XReadGroup(store, {"workers", "worker-1"}, reads,
//                                           {.count = 1, .block = absl::Seconds(5)});
//   ... co_await store::XAck(store, "tasks", "workers", ids);
//
// Thread-safety: as Store.
#ifndef REDOUBLE_CORE_STORE_STREAMS_H_
#define REDOUBLE_CORE_STORE_STREAMS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/task.h"
#include "core/store/store.h"
#include "core/store/stream_types.h"

namespace redouble::store {

using StreamFieldList = std::span<const std::pair<std::string_view, std::string_view>>;
using StreamIdList = std::span<const StreamId>;

struct XAddOptions {
  // The entry's id, above all before it. None: the server takes its clock's milliseconds, or the
  // last id's when those are greater, and the next sequence.
  std::optional<StreamId> id = std::nullopt;
  // Only these milliseconds given, the sequence by the server. Not together with `id`.
  std::optional<uint64_t> id_ms = std::nullopt;
  // Adds nothing when the stream does not exist.
  bool only_if_exists = false;
  StreamTrimming trimming = {};
};

// Adds an entry of at least one field and gives its id; none when the stream does not exist and
// should. Trims afterwards. Errors: InvalidArgument when the id is not above the last one, or when
// `trimming` is not one that Redis takes.
base::Task<absl::StatusOr<std::optional<StreamId>>> XAdd(Store& store, std::string_view key,
                                                         StreamFieldList fields,
                                                         XAddOptions options = {});

// How many entries there are; 0 when the key does not exist.
base::Task<absl::StatusOr<int64_t>> XLen(Store& store, std::string_view key);
// Removes entries; gives how many existed. The stream stays, empty if need be.
base::Task<absl::StatusOr<int64_t>> XDel(Store& store, std::string_view key, StreamIdList ids);
// Removes entries from the front; gives how many. Errors: InvalidArgument when `trimming` names no
// bound, or both.
base::Task<absl::StatusOr<int64_t>> XTrim(Store& store, std::string_view key,
                                          StreamTrimming trimming);

// The entries of a range, in the order of ids, or the other way round.
base::Task<absl::StatusOr<std::vector<StreamEntry>>> XRange(Store& store, std::string_view key,
                                                            StreamRange range = {});
base::Task<absl::StatusOr<std::vector<StreamEntry>>> XRevRange(Store& store, std::string_view key,
                                                               StreamRange range = {});

struct XReadOptions {
  // At most that many entries of each stream.
  std::optional<int64_t> count = std::nullopt;
  // Waits so long when there is nothing, whole milliseconds, rounded up;
  // absl::InfiniteDuration(): for ever. Not in a transaction.
  std::optional<absl::Duration> block = std::nullopt;
};

// Entries behind the given ids, of the streams that have any; nothing when none has, or when the
// time is over.
base::Task<absl::StatusOr<std::vector<StreamEntries>>> XRead(Store& store,
                                                             std::span<const StreamRead> reads,
                                                             XReadOptions options = {});

struct XReadGroupOptions {
  std::optional<int64_t> count = std::nullopt;
  std::optional<absl::Duration> block = std::nullopt;
  // What is delivered is not pending, as if acknowledged.
  bool no_ack = false;
};

// Reads for a consumer, which is added when it does not exist: entries that the group delivered to
// nobody yet, or, of a read with an id, the consumer's own pending entries behind it. Errors:
// Aborted (UNBLOCKED) when the key goes while the call waits.
base::Task<absl::StatusOr<std::vector<StreamEntries>>> XReadGroup(Store& store,
                                                                  GroupConsumer consumer,
                                                                  std::span<const StreamRead> reads,
                                                                  XReadGroupOptions options = {});

// Entries are pending no more; gives how many were. Also 0 when the key or group does not exist.
base::Task<absl::StatusOr<int64_t>> XAck(Store& store, std::string_view key, std::string_view group,
                                         StreamIdList ids);

// What is pending in all.
base::Task<absl::StatusOr<PendingSummary>> XPending(Store& store, std::string_view key,
                                                    std::string_view group);

struct XPendingOptions {
  StreamId first = StreamId::Min();
  StreamId last = StreamId::Max();
  int64_t count = 100;
  // Only what was delivered so long ago, or longer.
  std::optional<absl::Duration> min_idle = std::nullopt;
  // Only what is pending with that consumer.
  std::optional<std::string_view> consumer = std::nullopt;
};

// What is pending, entry by entry, in the order of ids.
base::Task<absl::StatusOr<std::vector<PendingEntry>>> XPendingRange(Store& store,
                                                                    std::string_view key,
                                                                    std::string_view group,
                                                                    XPendingOptions options = {});

struct XClaimOptions {
  // Only what was delivered so long ago, or longer.
  absl::Duration min_idle = absl::ZeroDuration();
  // What the entry's idle time and number of deliveries become. None: 0, and one more.
  std::optional<absl::Duration> idle = std::nullopt;
  std::optional<int64_t> deliveries = std::nullopt;
  // Also entries of the stream that are not pending.
  bool force = false;
};

// Makes pending entries the consumer's; gives those that it got. Entries that left the stream are
// pending no more.
base::Task<absl::StatusOr<std::vector<StreamEntry>>> XClaim(Store& store, std::string_view key,
                                                            GroupConsumer consumer,
                                                            StreamIdList ids,
                                                            XClaimOptions options = {});
// The same without reading the entries or counting a delivery.
base::Task<absl::StatusOr<std::vector<StreamId>>> XClaimIds(Store& store, std::string_view key,
                                                            GroupConsumer consumer,
                                                            StreamIdList ids,
                                                            XClaimOptions options = {});

struct XAutoClaimOptions {
  absl::Duration min_idle = absl::ZeroDuration();
  // Looks at pending entries from there on.
  StreamId start = StreamId::Min();
  // Claims so many at most, and looks at ten times as many.
  int64_t count = 100;
};

// Makes the pending entries of whichever consumer the given one's.
base::Task<absl::StatusOr<AutoClaimed>> XAutoClaim(Store& store, std::string_view key,
                                                   GroupConsumer consumer,
                                                   XAutoClaimOptions options = {});

struct XGroupOptions {
  // The group reads what is behind this id; none: what comes from now on.
  std::optional<StreamId> after = StreamId::Min();
  // How many entries the stream ever had up to there, for the group's lag; none: unknown.
  std::optional<int64_t> entries_read = std::nullopt;
  // Adds an empty stream when the key does not exist. XGroupCreate only.
  bool make_stream = false;
};

// Adds a group. Errors: AlreadyExists (BUSYGROUP); InvalidArgument when the key does not exist.
base::Task<absl::Status> XGroupCreate(Store& store, std::string_view key, std::string_view group,
                                      XGroupOptions options = {});
// Sets where a group reads on; what is pending stays so.
base::Task<absl::Status> XGroupSetId(Store& store, std::string_view key, std::string_view group,
                                     XGroupOptions options = {});
// Removes a group with all that is pending; false when there is none. Errors: InvalidArgument when
// the key does not exist.
base::Task<absl::StatusOr<bool>> XGroupDestroy(Store& store, std::string_view key,
                                               std::string_view group);
// Adds a consumer; false when it exists.
base::Task<absl::StatusOr<bool>> XGroupCreateConsumer(Store& store, std::string_view key,
                                                      GroupConsumer consumer);
// Removes a consumer; gives how many entries were pending with it: those are lost to the group.
base::Task<absl::StatusOr<int64_t>> XGroupDelConsumer(Store& store, std::string_view key,
                                                      GroupConsumer consumer);

// Errors of all three: InvalidArgument ("ERR no such key") when the key does not exist.
base::Task<absl::StatusOr<StreamInfo>> XInfoStream(Store& store, std::string_view key);
// In the order of names.
base::Task<absl::StatusOr<std::vector<StreamGroupInfo>>> XInfoGroups(Store& store,
                                                                     std::string_view key);
base::Task<absl::StatusOr<std::vector<StreamConsumerInfo>>> XInfoConsumers(Store& store,
                                                                           std::string_view key,
                                                                           std::string_view group);

}  // namespace redouble::store

#endif  // REDOUBLE_CORE_STORE_STREAMS_H_
