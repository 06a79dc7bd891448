// Checks, for a system's tests, that its key families keep their promises.
//
//   TEST(Keys, RoundTrip) { store::ExpectKeyFamiliesRoundTrip(KeyFamilies()); }
//
// For test code only: needs googletest and RapidCheck.
#ifndef REDOUBLE_CORE_STORE_KEY_FAMILY_TESTING_H_
#define REDOUBLE_CORE_STORE_KEY_FAMILY_TESTING_H_

#include <rapidcheck.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/store/key_family.h"

namespace redouble::store {

// Values that `pattern` takes for the placeholder at `index`: often with colons, slashes, braces,
// spaces and bytes that are no text where the kind allows it. An `any` value never contains what
// follows it, so that it survives the round trip.
rc::Gen<std::string> GenKeyValue(const KeyPattern& pattern, size_t index);
// One value per placeholder.
rc::Gen<std::vector<std::string>> GenKeyValues(const KeyPattern& pattern);

// Fails the running test unless, for random values of every family: the key builds, parses back to
// the same values and builds again to the same key, and is recognised by its family and by no
// other family of its system, overlaps declared apart.
void ExpectKeyFamiliesRoundTrip(std::span<const KeyFamily> families,
                                std::span<const KeyBinding> bindings = {});

}  // namespace redouble::store

#endif  // REDOUBLE_CORE_STORE_KEY_FAMILY_TESTING_H_
