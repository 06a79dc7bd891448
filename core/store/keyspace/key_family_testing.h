// Property tests of a system's key families.
//
// A system's keys_test.cc calls them on its table, with the bindings that it uses:
//
//   TEST(Keys, RoundTrip) { store::ExpectKeyFamiliesRoundTrip(KeyFamilies()); }
//
// For tests only: needs GoogleTest and RapidCheck.
//
// Thread-safety: one thread, as GoogleTest's assertions.
#ifndef REDOUBLE_CORE_STORE_KEYSPACE_KEY_FAMILY_TESTING_H_
#define REDOUBLE_CORE_STORE_KEYSPACE_KEY_FAMILY_TESTING_H_

#include <rapidcheck.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "redouble/core/store/keyspace/key_family.h"

namespace redouble::inline v0_1::store {

// Generates valid values for the placeholder at `index`, often with colons, slashes, braces, spaces
// and bytes that are not UTF-8 where the kind allows it. An `any` value never contains the text
// that follows it in the pattern, so that it survives the round trip.
rc::Gen<std::string> GenKeyValue(const KeyPattern& pattern, size_t index);
// Generates one value per placeholder.
rc::Gen<std::vector<std::string>> GenKeyValues(const KeyPattern& pattern);

// Checks for random values of every family that the key can be built, that it parses to the same
// values and is built again from them, and that it matches its own family and no other family of
// the system, except for declared overlaps. Fails the current test otherwise.
void ExpectKeyFamiliesRoundTrip(std::span<const KeyFamily> families,
                                std::span<const KeyBinding> bindings = {});

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_KEYSPACE_KEY_FAMILY_TESTING_H_
