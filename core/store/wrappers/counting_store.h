// CountingStore: counts what passes: requests, commands and errors, in all and per command.
//
//   CountingStore counted(store);
//   co_await limiter.Check(counted, ...);
//   EXPECT_EQ(counted.counts().requests, 1);  // one round trip, as documented
//
// Thread-safety: as the store behind it.
#ifndef REDOUBLE_CORE_STORE_WRAPPERS_COUNTING_STORE_H_
#define REDOUBLE_CORE_STORE_WRAPPERS_COUNTING_STORE_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "core/base/task.h"
#include "core/store/reply.h"
#include "core/store/store.h"
#include "core/store/wrappers/intercepting_store.h"

namespace redouble::store {

// Of one command name.
struct CommandCounts {
  int64_t commands = 0;
  int64_t error_replies = 0;
};

struct StoreCounts {
  int64_t requests = 0;  // Round trips: a batch is one.
  int64_t commands = 0;  // Those of batches included, MULTI and EXEC not.
  // Requests that got no reply, by what is known of them (errors.h); `other` for a status that none
  // of errors.h made.
  int64_t not_sent = 0;
  int64_t outcome_unknown = 0;
  int64_t protocol_errors = 0;
  int64_t other_errors = 0;
  // Commands that were answered by an error, those of batches included. A transaction that was
  // refused as a whole is one, and belongs to no command.
  int64_t error_replies = 0;
  // Requests whose waiter went away.
  int64_t abandoned = 0;
  // By the table's name, "xgroup|create"; a name without a row as it was given, in lower case.
  std::map<std::string, CommandCounts> by_command;
};

class CountingStore final : public InterceptingStore {
 public:
  // `inner` must outlive this store.
  using InterceptingStore::InterceptingStore;

  // Since the beginning or the last Reset().
  const StoreCounts& counts() const { return counts_; }
  void Reset() { counts_ = {}; }

 private:
  base::Task<absl::StatusOr<Reply>> Intercept(const Request& request) override;
  void CountRequest(const Request& request);
  void CountResult(const Request& request, const absl::StatusOr<Reply>& result);
  void CountFailure(const absl::Status& status);
  void CountErrorReply(const Command& command);

  StoreCounts counts_;
};

}  // namespace redouble::store

#endif  // REDOUBLE_CORE_STORE_WRAPPERS_COUNTING_STORE_H_
