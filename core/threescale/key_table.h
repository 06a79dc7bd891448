// KeyTable: the key families of 3scale in both layouts, for keys.cc.
//
// Programs use KeyFamilies and Keys (keys.h). The rows are long and have a file of their own.
//
//   KeyTable().pattern(store::KeyLayout::kCluster, row).Build(service_id)
//
// Thread-safety: constant data.
// Source: docs/systems/threescale.md 1.
#ifndef REDOUBLE_CORE_THREESCALE_KEY_TABLE_H_
#define REDOUBLE_CORE_THREESCALE_KEY_TABLE_H_

#include "redouble/core/store/keyspace/key_layout.h"
#include "redouble/core/threescale/keys.h"

namespace redouble::inline v0_1::threescale {

// The rows of KeyFamilies, in its order.
const store::LayoutTable& KeyTable();

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_KEY_TABLE_H_
