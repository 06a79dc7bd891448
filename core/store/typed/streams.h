// Typed commands of Redis streams and consumer groups.
//
//   const std::pair<std::string_view, std::string_view> fields[] = {{"token", token}};
//   absl::StatusOr<std::optional<StreamId>> id = co_await store::XAdd(store, "tasks", fields);
//
//   const StreamRead reads[] = {{.key = "tasks"}};
//   auto tasks = co_await store::XReadGroup(store, {"workers", "worker-1"}, reads,
//                                           {.count = 1, .block = absl::Seconds(5)});
//   ... co_await store::XAck(store, "tasks", "workers", ids);
//
// Each function sends one command: one round trip. Arguments are views that must outlive the task.
// Errors of all functions: WRONGTYPE (FailedPrecondition) if the key holds another type, and those
// of the store (errors.h). Commands of a group return NotFound (NOGROUP) if the key or the group
// does not exist, unless a function says otherwise.
// Source: Redis 7.0, the command of the same name.
//
// Thread-safety: as Store.
#ifndef REDOUBLE_CORE_STORE_TYPED_STREAMS_H_
#define REDOUBLE_CORE_STORE_TYPED_STREAMS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/store.h"
#include "redouble/core/store/typed/stream_types.h"

namespace redouble::inline v0_1::store {

// Views of the fields of an entry, and of ids. They must outlive the task that takes them.
using StreamFieldList = std::span<const std::pair<std::string_view, std::string_view>>;
using StreamIdList = std::span<const StreamId>;

struct XAddOptions {
  // The entry's id, which must be above the last one. By default the server takes its time in
  // milliseconds, or the last id's if that is greater, and the next sequence number.
  std::optional<StreamId> id = std::nullopt;
  // The milliseconds of the id; the server picks the sequence number. Not together with `id`.
  std::optional<uint64_t> id_ms = std::nullopt;
  // Adds nothing if the stream does not exist (NOMKSTREAM).
  bool only_if_exists = false;
  StreamTrimming trimming = {};
};

// Adds an entry with at least one field, trims the stream, and returns the entry's id. Returns
// nullopt if `only_if_exists` is set and the stream does not exist. Errors: InvalidArgument if the
// id is not above the last one, or if Redis does not accept `trimming`.
base::Task<absl::StatusOr<std::optional<StreamId>>> XAdd(Store& store, std::string_view key,
                                                         StreamFieldList fields,
                                                         XAddOptions options = {});

// Returns the number of entries; 0 if the key does not exist.
base::Task<absl::StatusOr<int64_t>> XLen(Store& store, std::string_view key);
// Removes entries and returns how many of them existed. An empty stream is not deleted.
base::Task<absl::StatusOr<int64_t>> XDel(Store& store, std::string_view key, StreamIdList ids);
// Removes entries from the front and returns how many. Errors: InvalidArgument if `trimming` has no
// bound or both.
base::Task<absl::StatusOr<int64_t>> XTrim(Store& store, std::string_view key,
                                          StreamTrimming trimming);

// Return the entries of a range, by rising ids (XRange) or falling ids (XRevRange).
base::Task<absl::StatusOr<std::vector<StreamEntry>>> XRange(Store& store, std::string_view key,
                                                            StreamRange range = {});
base::Task<absl::StatusOr<std::vector<StreamEntry>>> XRevRange(Store& store, std::string_view key,
                                                               StreamRange range = {});

struct XReadOptions {
  // The maximum number of entries per stream.
  std::optional<int64_t> count = std::nullopt;
  // Blocks for so long if there are no entries, in milliseconds, rounded up; InfiniteDuration()
  // blocks without a timeout. A transaction does not block.
  std::optional<absl::Duration> block = std::nullopt;
};

// Returns the entries after the given ids, of the streams that have any. Empty if no stream has
// any, or after the timeout of `block`.
base::Task<absl::StatusOr<std::vector<StreamEntries>>> XRead(Store& store,
                                                             std::span<const StreamRead> reads,
                                                             XReadOptions options = {});

struct XReadGroupOptions {
  std::optional<int64_t> count = std::nullopt;
  std::optional<absl::Duration> block = std::nullopt;
  // Delivered entries do not become pending, as if they were acknowledged at once.
  bool no_ack = false;
};

// Reads as a consumer, which is created if it does not exist: entries that the group has not
// delivered to any consumer, or, for a read with an id, the consumer's own pending entries after
// that id. Errors: Aborted (UNBLOCKED) if the key is deleted while the command is blocked.
base::Task<absl::StatusOr<std::vector<StreamEntries>>> XReadGroup(Store& store,
                                                                  GroupConsumer consumer,
                                                                  std::span<const StreamRead> reads,
                                                                  XReadGroupOptions options = {});

// Removes entries from the pending ones of the group and returns how many were pending; 0 if the
// key or the group does not exist.
base::Task<absl::StatusOr<int64_t>> XAck(Store& store, std::string_view key, std::string_view group,
                                         StreamIdList ids);

// Returns a summary of the group's pending entries.
base::Task<absl::StatusOr<PendingSummary>> XPending(Store& store, std::string_view key,
                                                    std::string_view group);

struct XPendingOptions {
  StreamId first = StreamId::Min();
  StreamId last = StreamId::Max();
  int64_t count = 100;
  // Only entries whose last delivery is at least so long ago.
  std::optional<absl::Duration> min_idle = std::nullopt;
  // Only entries of that consumer.
  std::optional<std::string_view> consumer = std::nullopt;
};

// Returns the pending entries by rising ids.
base::Task<absl::StatusOr<std::vector<PendingEntry>>> XPendingRange(Store& store,
                                                                    std::string_view key,
                                                                    std::string_view group,
                                                                    XPendingOptions options = {});

struct XClaimOptions {
  // Only entries whose last delivery is at least so long ago.
  absl::Duration min_idle = absl::ZeroDuration();
  // The entries' new idle time and number of deliveries. By default the idle time becomes 0 and the
  // number grows by one.
  std::optional<absl::Duration> idle = std::nullopt;
  std::optional<int64_t> deliveries = std::nullopt;
  // Also claims entries of the stream that are not pending.
  bool force = false;
};

// Makes the consumer the owner of pending entries and returns those that it got. Entries that were
// removed from the stream are no longer pending afterwards.
base::Task<absl::StatusOr<std::vector<StreamEntry>>> XClaim(Store& store, std::string_view key,
                                                            GroupConsumer consumer,
                                                            StreamIdList ids,
                                                            XClaimOptions options = {});
// As XClaim, but returns only the ids and does not count a delivery (JUSTID).
base::Task<absl::StatusOr<std::vector<StreamId>>> XClaimIds(Store& store, std::string_view key,
                                                            GroupConsumer consumer,
                                                            StreamIdList ids,
                                                            XClaimOptions options = {});

struct XAutoClaimOptions {
  absl::Duration min_idle = absl::ZeroDuration();
  // The id at which the scan of pending entries starts.
  StreamId start = StreamId::Min();
  // The maximum number of entries claimed. The server scans ten times as many at most.
  int64_t count = 100;
};

// Makes the consumer the owner of pending entries of any consumer.
base::Task<absl::StatusOr<AutoClaimed>> XAutoClaim(Store& store, std::string_view key,
                                                   GroupConsumer consumer,
                                                   XAutoClaimOptions options = {});

struct XGroupOptions {
  // The group reads entries after this id; nullopt: entries added from now on ("$").
  std::optional<StreamId> after = StreamId::Min();
  // How many entries were ever added up to `after`, from which Redis computes the group's lag;
  // nullopt: unknown.
  std::optional<int64_t> entries_read = std::nullopt;
  // Creates an empty stream if the key does not exist (MKSTREAM). XGroupCreate only.
  bool make_stream = false;
};

// Creates a group. Errors: AlreadyExists (BUSYGROUP); InvalidArgument if the key does not exist.
base::Task<absl::Status> XGroupCreate(Store& store, std::string_view key, std::string_view group,
                                      XGroupOptions options = {});
// Sets the id after which the group reads. Pending entries stay pending.
base::Task<absl::Status> XGroupSetId(Store& store, std::string_view key, std::string_view group,
                                     XGroupOptions options = {});
// Removes a group with its pending entries; returns false if it does not exist. Errors:
// InvalidArgument if the key does not exist.
base::Task<absl::StatusOr<bool>> XGroupDestroy(Store& store, std::string_view key,
                                               std::string_view group);
// Creates a consumer; returns false if it exists.
base::Task<absl::StatusOr<bool>> XGroupCreateConsumer(Store& store, std::string_view key,
                                                      GroupConsumer consumer);
// Removes a consumer and returns how many pending entries it had. The group does not deliver those
// entries again.
base::Task<absl::StatusOr<int64_t>> XGroupDelConsumer(Store& store, std::string_view key,
                                                      GroupConsumer consumer);

// Return information about a stream, its groups and the consumers of a group. Errors of all three:
// InvalidArgument ("ERR no such key") if the key does not exist.
base::Task<absl::StatusOr<StreamInfo>> XInfoStream(Store& store, std::string_view key);
// Ordered by name.
base::Task<absl::StatusOr<std::vector<StreamGroupInfo>>> XInfoGroups(Store& store,
                                                                     std::string_view key);
base::Task<absl::StatusOr<std::vector<StreamConsumerInfo>>> XInfoConsumers(Store& store,
                                                                           std::string_view key,
                                                                           std::string_view group);

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_TYPED_STREAMS_H_
