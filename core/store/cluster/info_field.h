// InfoField: a value of the text that INFO and CLUSTER INFO return.
//
// For programs that need one field, such as the epoch of a cluster:
//
//   InfoField("cluster_state:ok\r\ncluster_size:3\r\n", "cluster_size")   // "3"
//
// Thread-safety: a free function.
// Source: Redis 7.0 INFO: lines of "name:value", each with \r\n at its end.
#ifndef REDOUBLE_CORE_STORE_CLUSTER_INFO_FIELD_H_
#define REDOUBLE_CORE_STORE_CLUSTER_INFO_FIELD_H_

#include <string_view>

namespace redouble::inline v0_1::store {

// Returns the value, which points into `info`; empty if the field is missing.
std::string_view InfoField(std::string_view info, std::string_view name);

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_CLUSTER_INFO_FIELD_H_
