// Checks that the keys of a cluster layout spread over the nodes of a cluster.
//
//   std::vector<std::string> keys;
//   for (...) keys.push_back(layout.Ir(run_id).value());
//   store::ExpectEvenSpread(keys, /*masters=*/6);
//
// Thread-safety: one thread, as GoogleTest's assertions.
#ifndef REDOUBLE_CORE_STORE_KEYSPACE_KEY_SPREAD_FOR_TEST_H_
#define REDOUBLE_CORE_STORE_KEYSPACE_KEY_SPREAD_FOR_TEST_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "redouble/core/base/hash/crc.h"
#include "redouble/core/base/random/rng.h"

namespace redouble::inline v0_1::store {

// Fails the test unless each of `masters` nodes, which share the slots as `redis-cli --cluster
// create` divides them, serves a number of the keys within 20 % of even. With 1,000 tags for each
// node, tags that hash at random deviate by 3 % of even on average.
inline void ExpectEvenSpread(std::span<const std::string> keys, int masters) {
  std::vector<size_t> served(static_cast<size_t>(masters));
  for (const std::string& key : keys) {
    ++served[static_cast<size_t>(base::KeySlot(key) * masters / base::kClusterSlots)];
  }
  const double even = static_cast<double>(keys.size()) / masters;
  for (size_t node = 0; node < served.size(); ++node) {
    EXPECT_GT(static_cast<double>(served[node]), 0.8 * even) << "node " << node;
    EXPECT_LT(static_cast<double>(served[node]), 1.2 * even) << "node " << node;
  }
}

// Returns a UUID in lower case with random digits.
inline std::string RandomUuid(base::Rng& rng) {
  char text[37];
  std::snprintf(
      text, sizeof(text), "%08x-%04x-%04x-%04x-%012llx",
      static_cast<unsigned>(rng.Below(1ull << 32)), static_cast<unsigned>(rng.Below(1u << 16)),
      static_cast<unsigned>(rng.Below(1u << 16)), static_cast<unsigned>(rng.Below(1u << 16)),
      static_cast<unsigned long long>(rng.Below(1ull << 48)));
  return text;
}

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_KEYSPACE_KEY_SPREAD_FOR_TEST_H_
