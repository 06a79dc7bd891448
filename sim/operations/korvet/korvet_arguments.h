// Reads the arguments that Korvet's operations share, and declares the tables that make up
// KorvetOperations. Part of korvet_operations.h; do not include it elsewhere.
//
// The Read functions record errors in the reader and return a harmless default after one, as the
// reader's own getters do.
//
// Thread-safety: free functions.
#ifndef REDOUBLE_SIM_OPERATIONS_KORVET_KORVET_ARGUMENTS_H_
#define REDOUBLE_SIM_OPERATIONS_KORVET_KORVET_ARGUMENTS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/korvet/keys.h"
#include "redouble/core/korvet/log/log_record.h"
#include "redouble/core/korvet/log/retention.h"
#include "redouble/core/korvet/topics/topics.h"
#include "redouble/sim/operations/arguments.h"
#include "redouble/sim/operations/operation.h"

namespace redouble::inline v0_1::scenarios {

// Reads `keyspace`, an argument of every operation.
absl::StatusOr<korvet::Keys> ReadKorvetKeys(sim::ArgumentReader& reader);
// Returns the first error of the arguments, or else the error of the keyspace.
absl::Status FinishReading(sim::ArgumentReader& reader, const absl::StatusOr<korvet::Keys>& keys);

int32_t ReadInt32(sim::ArgumentReader& reader, std::string_view name, int64_t value);
// Reads `partitions`, an array of numbers, or `partition`, one number.
std::vector<int32_t> ReadPartitions(sim::ArgumentReader& reader);
// Reads `trimming`: "exact" (the default), "approximate" or "none".
korvet::Trimming ReadTrimming(sim::ArgumentReader& reader);

sim::OperationResult OkOr(const absl::Status& status);
// Returns {"offset", "key", "value", "timestamp", "headers"}; the last three only if present.
sim::Json RecordToJson(const korvet::LogRecord& record);

// Reads the topic from Redis (HGETALL). Operations on logs and groups need it.
base::Task<absl::StatusOr<korvet::Topic>> DescribeNow(sim::OperationContext context,
                                                      const korvet::Keys& keys,
                                                      std::string_view name);

void AddKorvetLogOperations(sim::OperationTable& table);
void AddKorvetGroupOperations(sim::OperationTable& table);
void AddKorvetMemberOperations(sim::OperationTable& table);

}  // namespace redouble::inline v0_1::scenarios

#endif  // REDOUBLE_SIM_OPERATIONS_KORVET_KORVET_ARGUMENTS_H_
