// The commands that count a transaction, independent of a store.
//
// Each metric and each response code of a transaction is counted for the service in five periods
// and for the application in seven; the counter of the minute expires. These are 13 commands. The
// groups are in a fixed order: the class of the response code ("2XX"), the code, and the metrics in
// the order of the usage.
//
//   store::Batch batch(store::Batch::Atomicity::kPipeline);
//   AddCounterCommands({.service_id = "2", .application_id = "37ba04ec", .time = now,
//                       .usage = {{"6", "1"}}, .response_code = "200"},
//                      Keys(), StampFormat::kFixedWidth, batch);       // 39 commands
//
// Thread-safety: pure functions.
// Source: docs/systems/threescale.md 4.19.
#ifndef REDOUBLE_CORE_THREESCALE_AUTHORIZE_COUNTERS_H_
#define REDOUBLE_CORE_THREESCALE_AUTHORIZE_COUNTERS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/threescale/keys.h"
#include "redouble/core/threescale/model/usage.h"
#include "redouble/core/threescale/text/periods.h"

namespace redouble::inline v0_1::threescale {

// A validated transaction.
struct CountedTransaction {
  std::string service_id;
  std::string application_id;
  absl::Time time;
  Usage usage;  // By metric ids, including parents.
  std::string response_code;
};

// Returns what is counted for a response code: its class if that is 2XX, 4XX or 5XX, then the code
// itself if it is 200, 403, 404, 500 or 503. Empty for a text that is not three digits.
std::vector<std::string> CountedResponseCodes(std::string_view code);

// Appends the commands: INCRBY, or SET for a replacing value, or DEL for a replacing 0. EXPIRE
// follows each INCRBY and SET of a minute; the TTL starts at the write, not at the counted minute.
void AddCounterCommands(const CountedTransaction& transaction, const Keys& keys, StampFormat format,
                        store::Batch& batch);

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_AUTHORIZE_COUNTERS_H_
