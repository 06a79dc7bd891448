// ReadSystem: what programs read of a system through its own classes, as texts, in either layout.
//
// Two databases with equal readings are the same to the users of the system.
//
//   const Reading before = ReadSystem("korvet", *session, clock, KeyLayout::kDocumented, ids);
//
// Thread-safety: one thread. For tests only.
#ifndef REDOUBLE_TESTS_PROPERTY_MIGRATE_READINGS_H_
#define REDOUBLE_TESTS_PROPERTY_MIGRATE_READINGS_H_

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/core/base/time/clock.h"
#include "redouble/core/store/keyspace/key_layout.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::tests {

// The ids that occur in the keys of a database, by the name of their placeholder.
using Ids = std::map<std::string, std::set<std::string>, std::less<>>;
using Reading = std::vector<std::string>;

// `store` must reply at once.
Reading ReadSystem(std::string_view system, store::Store& store, base::Clock& clock,
                   store::KeyLayout layout, const Ids& ids);

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_PROPERTY_MIGRATE_READINGS_H_
