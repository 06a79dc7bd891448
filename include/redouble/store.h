// Commands, replies, stores and typed commands: the interface that code uses and all backends
// implement.
//
// Include it in code that takes a store::Store&, which runs on the memory engine
// (redouble/memory.h) and on live Redis (redouble/redis.h):
//
//   base::Task<absl::StatusOr<int64_t>> CountVisit(store::Store& redis, std::string_view page) {
//     co_return co_await store::Incr(redis, page);
//   }
//
// Thread-safety: as Store: one connection belongs to one thread.
#ifndef REDOUBLE_STORE_H_
#define REDOUBLE_STORE_H_

#include "redouble/version.h"

#if REDOUBLE_HAS_CPP20

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/base/time/clock.h"
#include "redouble/core/base/time/system_clock.h"
#include "redouble/core/base/time/utc.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/message_source.h"
#include "redouble/core/store/pubsub/channel.h"
#include "redouble/core/store/pubsub/channel_reader.h"
#include "redouble/core/store/pubsub/pubsub.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/script.h"
#include "redouble/core/store/store.h"
#include "redouble/core/store/typed/expiry.h"
#include "redouble/core/store/typed/hashes.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/lists.h"
#include "redouble/core/store/typed/sets.h"
#include "redouble/core/store/typed/sorted_sets.h"
#include "redouble/core/store/typed/stream_id.h"
#include "redouble/core/store/typed/stream_types.h"
#include "redouble/core/store/typed/streams.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/core/store/wrappers/forwarding_store.h"
#include "redouble/core/store/wrappers/intercepting_store.h"

#endif  // REDOUBLE_HAS_CPP20

#endif  // REDOUBLE_STORE_H_
