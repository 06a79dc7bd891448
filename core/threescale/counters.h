// Counters: the commands by which a transaction is counted, without a store to send them to.
//
// Each metric of a transaction, and each response code, is counted for the service in five periods
// and for the application in seven; the counter of the minute expires. That is 13 commands each,
// in a fixed order, of which the order of groups is: the class of the code ("2XX"), the code, the
// metrics in the order of the usage.
//
//   store::Batch batch(store::Batch::Atomicity::kPipeline);
//   AddCounterCommands({.service_id = "2", .application_id = "37ba04ec", .time = now,
//                       .usage = {{"6", "1"}}, .response_code = "200"},
//                      StampFormat::kFixedWidth, batch);       // 39 commands
//
// Thread-safety: pure functions.
// Source: seed 004 Stats; reference/threescale.md 5.2.
#ifndef REDOUBLE_CORE_THREESCALE_COUNTERS_H_
#define REDOUBLE_CORE_THREESCALE_COUNTERS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "core/store/batch.h"
#include "core/threescale/periods.h"
#include "core/threescale/usage.h"

namespace redouble::threescale {

// A transaction that was found valid.
struct CountedTransaction {
  std::string service_id;
  std::string application_id;
  absl::Time time;
  Usage usage;  // By ids of metrics, parents included.
  std::string response_code;
};

// What is counted of a response code: its class, if that is 2XX, 4XX or 5XX, then the code itself,
// if it is 200, 403, 404, 500 or 503. None of a text that is not three digits.
std::vector<std::string> CountedResponseCodes(std::string_view code);

// Appends the commands: INCRBY, or for a value that sets, SET, or DEL when it sets to 0. EXPIRE
// follows each write of the minute, from now on whatever minute it is, but for a DEL.
void AddCounterCommands(const CountedTransaction& transaction, StampFormat format,
                        store::Batch& batch);

}  // namespace redouble::threescale

#endif  // REDOUBLE_CORE_THREESCALE_COUNTERS_H_
