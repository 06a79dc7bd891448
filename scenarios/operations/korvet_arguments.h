// What Korvet's operations have in common: reading their arguments, and the tables that
// KorvetOperations is made of. Part of korvet_operations.h; not for use on its own.
//
// Thread-safety: free functions.
#ifndef REDOUBLE_SCENARIOS_OPERATIONS_KORVET_ARGUMENTS_H_
#define REDOUBLE_SCENARIOS_OPERATIONS_KORVET_ARGUMENTS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/korvet/keys.h"
#include "core/korvet/log_record.h"
#include "core/korvet/retention.h"
#include "core/korvet/topics.h"
#include "sim/scenario/arguments.h"
#include "sim/scenario/operation.h"

namespace redouble::scenarios {

// Reads `keyspace`, which every operation takes.
absl::StatusOr<korvet::Keys> ReadKorvetKeys(sim::ArgumentReader& reader);
// What was wrong with the arguments, or else with the keyspace.
absl::Status FinishReading(sim::ArgumentReader& reader, const absl::StatusOr<korvet::Keys>& keys);

int32_t ReadInt32(sim::ArgumentReader& reader, std::string_view name, int64_t value);
// `partitions`, an array of numbers; those that `partition`, one number, names otherwise.
std::vector<int32_t> ReadPartitions(sim::ArgumentReader& reader);
// "exact" unless given, "approximate" or "none".
korvet::Trimming ReadTrimming(sim::ArgumentReader& reader);

sim::OperationResult OkOr(const absl::Status& status);
// {"offset", "key", "value", "timestamp", "headers"}, the last three as far as there are any.
sim::Json RecordToJson(const korvet::LogRecord& record);

// The topic as it is described now: what the operations of logs and groups work on.
base::Task<absl::StatusOr<korvet::Topic>> DescribeNow(sim::OperationContext context,
                                                      const korvet::Keys& keys,
                                                      std::string_view name);

void AddKorvetLogOperations(sim::OperationTable& table);
void AddKorvetGroupOperations(sim::OperationTable& table);

}  // namespace redouble::scenarios

#endif  // REDOUBLE_SCENARIOS_OPERATIONS_KORVET_ARGUMENTS_H_
